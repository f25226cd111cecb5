import HTTPServerKit

/// The page of a fleet's center: the key `collect.page` of the configuration.
///
///     page: { port: 8643 }   // on this machine only
package struct CenterPageConfiguration: Decodable, Sendable {
    /// The address to listen on, which is loopback unless another one is given.
    package var listen: ListeningAddress
    /// Allowed host names besides `localhost` and its own address.
    package var hosts: [String]

    /// The keys of the object `collect.page`.
    static let knownKeys = ["port", "address", "hosts"]

    private enum Key: String, CodingKey { case port, address, hosts }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let port = try members.decode(Int.self, forKey: .port)
        guard (0...65_535).contains(port) else {
            throw ConfigurationError("'collect.page.port': expected a whole number from 0 to 65535")
        }
        let address = try members.decodeIfPresent(String.self, forKey: .address) ?? "127.0.0.1"
        guard let listen = ListeningAddress((address.contains(":") ? "[\(address)]" : address) + ":\(port)") else {
            throw ConfigurationError("'collect.page.address': expected an IP address such as 192.168.1.2")
        }
        self.listen = listen
        hosts = try members.decodeIfPresent([String].self, forKey: .hosts) ?? []
    }
}

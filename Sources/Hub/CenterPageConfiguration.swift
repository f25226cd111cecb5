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

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(hasOnly: Self.knownKeys)
        _ = try members.decode(Int.self, forKey: SettingKey("port"))
        let port = try members.number("port", in: 0...65_535) ?? 0
        let address = try members["address"] ?? "127.0.0.1"
        guard let listen = ListeningAddress((address.contains(":") ? "[\(address)]" : address) + ":\(port)") else {
            throw members.fault("address", "expected an IP address such as 192.168.1.2")
        }
        (self.listen, hosts) = (listen, try members["hosts"] ?? [])
    }
}

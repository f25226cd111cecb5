import Glibc

/// A password or a token, identified by its location: a file or the environment. Secrets are never in the configuration, a command's
/// arguments or a log.
///
///     password: { file: "/etc/vitalgate/influx.password" }   // its first line
///     password: { environment: "INFLUX_PASSWORD" }
public enum Secret: Hashable, Sendable {
    case file(String)
    case environment(String)

    /// The maximum length in bytes.
    private static let maximumLength = 65_536

    /// The secret, without the line break.
    ///
    /// - Throws: ``DeliveryError`` of the kind `unfit` if the secret is missing or empty, or if the file is readable for users other than
    ///   its owner and group.
    public func read() throws(DeliveryError) -> String {
        switch self {
        case .environment(let name):
            guard let value = getenv(name), value.pointee != 0 else {
                throw DeliveryError(.unfit, "the environment has no \(name)")
            }
            return String(cString: value)
        case .file(let path):
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { throw DeliveryError(.unfit, "\(path): \(String(cString: strerror(errno)))") }
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw DeliveryError(.unfit, "\(path): it is not a file")
            }
            guard status.st_mode & 0o007 == 0 else {
                throw DeliveryError(.unfit, "\(path): every user of this machine can read it: run 'chmod o= \(path)'")
            }
            var bytes = [UInt8](repeating: 0, count: Self.maximumLength)
            let count = Glibc.read(file, &bytes, bytes.count)
            guard count > 0 else { throw DeliveryError(.unfit, "\(path): it is empty") }
            let line = bytes.prefix(count).prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            guard !line.isEmpty else { throw DeliveryError(.unfit, "\(path): its first line is empty") }
            return String(decoding: line, as: UTF8.self)
        }
    }
}

extension Secret: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case file, environment }

    /// The keys of a secret, of which it has one.
    public static let knownKeys = Key.allCases.map(\.rawValue)

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let key = decoder.codingPath.last?.stringValue ?? ""
        if let path = try members.decodeIfPresent(String.self, forKey: .file) {
            guard path.hasPrefix("/") else { throw SettingsFault(key, "the path of a secret's file must begin with /") }
            self = .file(path)
        } else if let name = try members.decodeIfPresent(String.self, forKey: .environment), !name.isEmpty {
            self = .environment(name)
        } else {
            throw SettingsFault(key, "expected { file: \"/PATH\" } or { environment: \"NAME\" }")
        }
    }
}

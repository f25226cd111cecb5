import Glibc
import HealthModel
import Ingestion

/// A zone's name, and who gave it: a person who is told that it is wrong has to find it.
public struct ZoneName: Hashable, Sendable {
    /// Where a name comes from.
    public enum Origin: Hashable, Sendable {
        /// `--time-zone`.
        case option
        /// The environment's `TZ`, the only place where POSIX rules and paths are understood.
        case variable
        /// A configuration file.
        case configuration(String)
        /// `/etc/localtime`.
        case system
    }

    /// As it was given.
    public var name: String
    /// Who gave it.
    public var origin: Origin

    /// A name that is not looked up yet.
    public init(_ name: String, from origin: Origin) {
        self.name = name
        self.origin = origin
    }

    /// The name, where the configuration gives it.
    public var configured: String? { if case .configuration = origin { name } else { nil } }

    /// `TZ: `, to go in front of what is wrong.
    fileprivate var source: String {
        switch origin {
        case .option: "--time-zone: "
        case .variable: "TZ: "
        case .configuration(let path): "\(path): timeZone: "
        case .system: ""
        }
    }
}

extension Machine {
    /// The rules of a zone: `UTC`, an offset such as `+01:00`, or a name of the tz database such as `Europe/Berlin`; from `TZ`
    /// also a zone file's path or a POSIX rule.
    public func zone(_ zone: ZoneName) throws(ConfigurationError) -> TimeZoneRules {
        let name = zone.name
        if name == "UTC" { return TimeZoneRules(fixed: .utc) }
        if let offset = ZoneOffset(name) { return TimeZoneRules(fixed: offset) }
        let isMachines = zone.origin == .variable || zone.origin == .system
        if name.hasPrefix("/"), isMachines { return try rules(ofFile: name, identifier: name, zone) }
        // The name becomes part of a path.
        let isName = name.utf8.allSatisfy {
            ($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z"))
                || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
                || "/_+-".utf8.contains($0)
        }
        let path = "\(zoneDirectory)/\(name)"
        if isName, !name.isEmpty, !name.hasPrefix("/"), name.utf8.count < 128, SmallFile.read(path, limit: 1 << 20) != nil {
            return try rules(ofFile: path, identifier: name, zone)
        }
        if zone.origin == .variable, let rules = try? TimeZoneRules(posix: name) { return rules }
        throw ConfigurationError(
            "\(zone.source)'\(name)' is not a time zone: give a name such as Europe/Berlin (package tzdata holds them) or an offset such as +01:00",
            isOfOption: zone.origin == .option || zone.origin == .variable)
    }

    private func rules(ofFile path: String, identifier: String, _ zone: ZoneName) throws(ConfigurationError) -> TimeZoneRules {
        guard let bytes = SmallFile.read(path, limit: 1 << 20) else {
            throw ConfigurationError(
                "\(zone.source)\(path): the zone file cannot be read: \(String(cString: strerror(errno)))",
                isOfOption: zone.origin == .option || zone.origin == .variable)
        }
        do throws(TimeZoneError) {
            return try TimeZoneRules(identifier: identifier, tzif: bytes)
        } catch {
            throw ConfigurationError(
                "\(zone.source)time zone '\(identifier)': \(error)",
                isOfOption: zone.origin == .option || zone.origin == .variable)
        }
    }

    /// The zone the machine is set to: `TZ`, else /etc/localtime, else UTC.
    public var zoneName: ZoneName {
        if let name = environment["TZ"], !name.isEmpty {
            let name = name.hasPrefix(":") ? String(name.dropFirst()) : name
            // A path into the tz database, or a link to one, has a name that means the same on other machines.
            return ZoneName(name.hasPrefix("/") ? Self.databaseName(of: name) ?? name : name, from: .variable)
        }
        let file = "/etc/localtime"
        guard access(file, R_OK) == 0 else { return ZoneName("UTC", from: .system) }
        return ZoneName(Self.databaseName(of: file) ?? file, from: .system)
    }

    /// What the tz database calls the zone of a link into it.
    private static func databaseName(of path: String) -> String? {
        var target = path
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink(path, &buffer, buffer.count - 1)
        if length > 0 { target = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        guard let range = target.firstRange(of: "zoneinfo/") else { return nil }
        let name = String(target[range.upperBound...])
        return ["Etc/UTC", "Etc/UCT", "Zulu", "Universal", "Etc/Universal"].contains(name) ? "UTC" : name
    }
}

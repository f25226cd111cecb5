import Glibc
import HealthModel
import Ingestion

/// A zone's name and its origin, so that the user can find a wrong setting.
package struct ZoneName: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        /// `--time-zone`.
        case option
        /// The environment's `TZ`, the only origin for which POSIX rules and paths are accepted.
        case variable
        case configuration(String)
        /// `/etc/localtime`.
        case system
    }

    package var name: String
    package var origin: Origin

    /// Creates a name without looking it up.
    package init(_ name: String, from origin: Origin) {
        self.name = name
        self.origin = origin
    }

    package var configured: String? { if case .configuration = origin { name } else { nil } }

    /// A prefix for error messages, such as `TZ: `.
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
    /// Returns the rules of a zone: `UTC`, an offset such as `+01:00`, or a tz database name such as `Europe/Berlin`. `TZ` may
    /// also contain a zone file's path or a POSIX rule.
    package func zone(_ zone: ZoneName) throws(ConfigurationError) -> TimeZoneRules {
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
            "\(zone.source)'\(name)' is not a time zone: "
                + "use a name such as Europe/Berlin (from the tzdata package) or an offset such as +01:00",
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

    /// The machine's zone: `TZ`, or else /etc/localtime, or else UTC.
    package var zoneName: ZoneName {
        if let name = environment["TZ"], !name.isEmpty {
            let name = name.hasPrefix(":") ? String(name.dropFirst()) : name
            // A path into the tz database, or a link to one, is converted to a name that is valid on other machines.
            return ZoneName(name.hasPrefix("/") ? Self.databaseName(of: name) ?? name : name, from: .variable)
        }
        let file = "/etc/localtime"
        guard access(file, R_OK) == 0 else { return ZoneName("UTC", from: .system) }
        return ZoneName(Self.databaseName(of: file) ?? file, from: .system)
    }

    /// Returns the tz database's name for a link into it.
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

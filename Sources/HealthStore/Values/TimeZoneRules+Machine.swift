import FoundationEssentials
import Glibc
import HealthModel

extension TimeZoneRules {
    private static let directory = "/usr/share/zoneinfo"

    /// The rules of a time zone: a name of the tz database such as `Europe/Berlin`, an offset such as `+01:00`, or `UTC`.
    ///
    /// - Returns: `nil` if the machine does not know the zone. On Debian, the package tzdata contains the zones.
    public static func named(_ name: String) -> TimeZoneRules? {
        if name == "UTC" { return TimeZoneRules(fixed: .utc) }
        if let offset = ZoneOffset(name) { return TimeZoneRules(fixed: offset) }
        // The name becomes part of a path, so only safe characters are allowed.
        let isName = name.utf8.allSatisfy { byte in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/_+-".utf8.contains(byte)
        }
        guard isName, !name.isEmpty, name.utf8.count < 128, !name.hasPrefix("/") else { return nil }
        return ofFile("\(directory)/\(name)", named: name)
    }

    /// The rules of the machine's time zone, from the variable `TZ`, or else `/etc/localtime`, or else UTC.
    public static var machine: TimeZoneRules {
        let variable = getenv("TZ").map { String(cString: $0) } ?? ""
        let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if !name.isEmpty {
            let rules = name.hasPrefix("/") ? ofFile(name, named: name) : named(name)
            if let rules = rules ?? (try? TimeZoneRules(posix: name)) { return rules }
        }
        return ofFile("/etc/localtime", named: linkedName ?? "/etc/localtime") ?? TimeZoneRules(fixed: .utc)
    }

    /// The tz database name of the zone that `/etc/localtime` links to.
    private static var linkedName: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let length = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/etc/localtime", $0, bytes.count) } ?? -1
        }
        guard length > 0 else { return nil }
        let target = String(decoding: buffer[..<length], as: UTF8.self)
        return target.firstRange(of: "zoneinfo/").map { String(target[$0.upperBound...]) }
    }

    /// Reads a zone file. Zone files have a few kilobytes, so files over 1 MiB are rejected.
    private static func ofFile(_ path: String, named name: String) -> TimeZoneRules? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 20,
            let bytes = try? Data(contentsOf: URL(filePath: path))
        else { return nil }
        return try? TimeZoneRules(identifier: name, tzif: Array(bytes))
    }
}

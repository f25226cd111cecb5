import HealthModel
import Pipeline

extension TimeZoneRules {
    /// A zone that follows one yearly rule (POSIX TZ) forever, read from a zone file with only this rule.
    package init(rule: String, identifier: String) throws {
        // The same content twice: for readers of 32-bit times, and for readers of 64-bit times, who continue to the rule.
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 19) + [1, 0, 0, 0, 4]
        let body: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
        try self.init(identifier: identifier, tzif: header + body + header + body + Array("\n\(rule)\n".utf8))
    }

    package static var berlin: TimeZoneRules {
        get throws { try TimeZoneRules(rule: "CET-1CEST,M3.5.0,M10.5.0/3", identifier: "Europe/Berlin") }
    }
}

extension WallTime {
    /// `2026-10-25T02:30:00`
    package init(_ text: String) throws { self = try Timestamp(iso8601: text).wall }
}

extension Instant {
    package struct WithoutOffset: Error, Sendable {}

    /// `2026-10-25T02:30:00+01:00`
    package init(_ text: String) throws {
        guard let instant = try Timestamp(iso8601: text).instant else { throw WithoutOffset() }
        self = instant
    }
}

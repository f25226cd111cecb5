import HealthModel

struct HealthAutoExportPoint {
    let time: HealthAutoExportTime
    let end: HealthAutoExportTime?
    /// The names of the sources, each once, in a fixed order.
    let sources: [String]
    /// The UUID of a sample that Vitalgate's webhook sent.
    let uuid: SampleIdentity?
    /// The facts about a meal or a dose.
    let metadata: [(String, MetadataValue)]
    /// Distinguishes values of one period.
    private let apart: String
    /// Whether the time is only the start of some period.
    let isOfUnknownPeriod: Bool

    /// - Parameter start: the name of the member with the time.
    init(_ line: LineObject, start: String = "date") throws(LineFault) {
        guard let time = try Self.time(line, start) else { throw LineFault(start, "it is missing") }
        self.time = time
        end = start == "date" ? try Self.time(line, "end") : nil
        sources = Self.sources(try line.text("source", atMost: 4096) ?? "")
        uuid = try line.text("uuid").flatMap { SampleIdentity($0) }
        var (entries, apart): ([(String, MetadataValue)], String) = ([], "")
        for (member, key, words) in Self.facts {
            guard let word = try line.text(member, atMost: 256), word != "Unspecified" else { continue }
            entries.append(words[word].map { (key, .string($0)) } ?? (member, .string(word)))
            apart += " \(word)"
        }
        (metadata, self.apart, isOfUnknownPeriod) = (entries, apart, false)
    }

    /// The same point as one whose period is not known.
    init(_ point: HealthAutoExportPoint, isOfUnknownPeriod: Bool) {
        (time, end, sources, uuid) = (point.time, point.end, point.sources, point.uuid)
        (metadata, apart, self.isOfUnknownPeriod) = (point.metadata, point.apart, isOfUnknownPeriod)
    }

    private static let facts: [(member: String, key: String, words: [String: String])] = [
        ("mealTime", "bloodGlucoseMealTime", ["Before Meal": "preprandial", "After Meal": "postprandial"]),
        ("reason", "insulinDeliveryReason", ["Bolus": "bolus", "Basal": "basal"]),
    ]

    /// Reads a time, or returns `nil` if it is missing.
    static func time(_ line: LineObject, _ name: String) throws(LineFault) -> HealthAutoExportTime? {
        guard let text = try line.text(name, atMost: 64) else { return nil }
        guard let time = HealthAutoExportTime(text) else { throw line.fault(name, "it is not a time with an offset") }
        return time
    }

    /// The names in a list such as `Mara’s Apple Watch|Mara’s iPhone`. Their order changes, and the app uses no-break spaces.
    private static func sources(_ text: String) -> [String] {
        let names = text.split(separator: "|").map { name in
            String(String.UnicodeScalarView(name.unicodeScalars.map { $0 == "\u{A0}" || $0 == "\u{202F}" ? " " : $0 }))
                .split(separator: " ").joined(separator: " ")
        }
        return Set(names).subtracting([""]).sorted()
    }

    /// The name of the record of a period in seconds, or of an instant.
    func recordName(_ start: Instant, _ end: Instant) -> String {
        "\(start.microseconds / 1_000_000)+\((end.microseconds - start.microseconds) / 1_000_000)\(apart)"
    }
}

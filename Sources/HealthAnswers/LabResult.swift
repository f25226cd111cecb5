import FoundationEssentials
import HealthModel
import SampleStore

/// The value of a FHIR Observation with its reference range, as a person reads it.
///
///     LabResult(record, zone: zone)?.value  // 5.4
public struct LabResult: Sendable {
    /// A reference range as the laboratory wrote it.
    public struct ReferenceRange: Hashable, Sendable {
        /// The bounds, or `nil` if unbounded.
        public var (low, high): (Double?, Double?)
        /// The range in words, if the laboratory wrote some.
        public var text: String?
    }

    /// The code that identifies the measurement in other results: system and code.
    public let key: String
    /// The value, or `nil` for a result in words.
    public let value: Double?
    /// The comparator of the value: `<`, `<=`, `>=`, or `>`.
    public let comparator: String?
    /// The unit as written.
    public let unit: String
    /// The result in words.
    public let words: String?
    /// The reference range, if there is one.
    public let range: ReferenceRange?
    /// The laboratory's interpretation as written, such as `High`.
    public let interpretation: String?
    /// Comments.
    public let notes: [String]
    /// The time of the measurement according to the resource, or else the start of the sample. The start of a day or month without a time.
    public let time: Instant

    /// Whether the value is outside the reference range. `nil` if one of them is missing.
    public var isOutside: Bool? {
        guard let value, let range, range.low != nil || range.high != nil else { return nil }
        return value < range.low ?? -.infinity || value > range.high ?? .infinity
    }

    private static let longest = 1 << 20

    /// Returns `nil` if the sample is not a record of an Observation.
    ///
    /// - Parameter zone: The zone of dates without one.
    public init?(_ sample: Sample, zone: TimeZoneRules) {
        guard sample.origin.kind == .clinicalRecord, let body = sample.body, let content = body.content,
            content.length <= Self.longest, let record = try? body.decoded(as: ClinicalRecord.self),
            record.resourceType == "Observation", let octets = try? content.octets(),
            let told = try? JSONDecoder().decode(Observation.self, from: Data(octets))
        else { return nil }
        let coding = told.code?.coding?.first { $0.code != nil }
        key = coding.map { "\($0.system ?? "")|\($0.code ?? "")" } ?? record.displayName
        (value, comparator) = (told.valueQuantity?.value, told.valueQuantity?.comparator)
        unit = told.valueQuantity?.unit ?? told.valueQuantity?.code ?? ""
        words = told.valueString ?? told.valueCodeableConcept?.words
        let first = told.referenceRange?.first
        range = first.map { ReferenceRange(low: $0.low?.value, high: $0.high?.value, text: $0.text) }
        interpretation = told.interpretation?.words
        notes = (told.note ?? []).compactMap(\.text)
        let dates = ["effective", "issued"].lazy.compactMap { record.dates[$0] }
        time = dates.compactMap { Self.instant($0, zone) }.first ?? sample.start
    }

    /// The time of a date as written: a year, a month, a day, or a moment.
    private static func instant(_ text: String, _ zone: TimeZoneRules) -> Instant? {
        let rest = text.utf8.count == 4 ? "-01-01" : text.utf8.count == 7 ? "-01" : ""
        return Instant(iso8601: text + rest, zone: zone)
    }

    /// The earlier and later results of the same measurement in the same unit, by time.
    public func others(like sample: Sample, in store: SampleStore, zone: TimeZoneRules) throws(StoreError) -> [LabResult] {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [sample.origin.type], subject: sample.origin.subject, descending: true, limit: 2000))
        defer { cursor.close() }
        var found: [LabResult] = []
        while found.count < 200, let next = try cursor.next()?.sample {
            if let other = LabResult(next, zone: zone), other.key == key, other.unit == unit, other.value != nil {
                found.append(other)
            }
        }
        return found.sorted { $0.time < $1.time }
    }
}

// The parts of a FHIR Observation (R4 and DSTU2) that are shown.
private struct Observation: Decodable {
    struct Quantity: Decodable { var value: Double?, comparator: String?, unit: String?, code: String? }
    struct Range: Decodable { var low: Quantity?, high: Quantity?, text: String? }
    struct Note: Decodable { var text: String? }
    struct Concept: Decodable {
        var coding: [Coding]?, text: String?
        var words: String? { text ?? coding?.lazy.compactMap { $0.display ?? $0.code }.first }
    }
    /// One concept in DSTU2, a list in R4.
    struct Interpretation: Decodable {
        var words: String?
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let all = try (try? container.decode([Concept].self)) ?? [container.decode(Concept.self)]
            words = all.lazy.compactMap(\.words).first
        }
    }

    var code: Concept?, valueQuantity: Quantity?, valueString: String?, valueCodeableConcept: Concept?
    var referenceRange: [Range]?, interpretation: Interpretation?, note: [Note]?
}

import HealthModel
import Pipeline
import SampleStore

/// The sources and devices of a member's readings. A member has at most a number of them for each type, because readings of different sources
/// at one time are compared with each other, and each has a row in the tables that all people share.
final class MemberSources {
    /// The maximum number of pairs of a source and a device for one type of readings of a person.
    static let maximum = 300
    static let reason = "the person has readings of too many sources and devices of this type (the limit is \(maximum))"

    private let store: SampleStore
    private var known: [SampleType: Set<[String]>] = [:]

    init(_ store: SampleStore) { self.store = store }

    /// Returns the samples without those of further sources, which are refused.
    func accepted(_ samples: [GatedSample], refusedBy ingest: Ingest) throws -> [GatedSample] {
        try samples.filter { gated in
            guard try isKnown(gated.sample.origin) else {
                ingest.refuse(Refusal(Self.reason, at: gated.place))
                return false
            }
            return true
        }
    }

    private func isKnown(_ origin: Origin) throws -> Bool {
        var pairs = try known[origin.type] ?? self.pairs(of: origin)
        let isKnown = pairs.count < Self.maximum || pairs.contains(Self.pair(origin.source.id, origin.device?.key))
        if isKnown { pairs.insert(Self.pair(origin.source.id, origin.device?.key)) }
        known[origin.type] = pairs
        return isKnown
    }

    private func pairs(of origin: Origin) throws -> Set<[String]> {
        let query = SampleQuery(types: [origin.type], person: origin.person)
        return Set(try store.samples.series(matching: query).map { Self.pair($0.source, $0.device) })
    }

    private static func pair(_ source: String, _ device: String?) -> [String] { [source, device ?? ""] }
}

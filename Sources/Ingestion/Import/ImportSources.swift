import HealthModel
import Pipeline
import SampleStore

/// The sources and devices of an import's readings. A person has at most a number of them for each type, because readings of different
/// sources at one time are compared with each other, and each source has a row in the tables that all people share.
final class ImportSources {
    /// The maximum number of pairs of a source and a device for one type of readings of a person.
    static let maximum = 1000
    /// The same for a file of a member of the household, and for posts of phones.
    static let maximumOfMember = 300

    private struct Key: Hashable {
        var person: String
        var type: SampleType
    }

    private let store: SampleStore
    private let maximum: Int
    private var known: [Key: Set<[String]>] = [:]
    /// The origins that were accepted, by their identifiers. They stay alive, so that no other object gets the identifier.
    private var accepted: [ObjectIdentifier: Origin] = [:]
    private static let maximumAccepted = 10_000

    init(_ store: SampleStore, isOfMember: Bool) {
        self.store = store
        maximum = isOfMember ? Self.maximumOfMember : Self.maximum
    }

    /// The reason why a reading of a further source is refused.
    var reason: String { "the person has readings of too many sources and devices of this type (the limit is \(maximum))" }

    /// Returns the samples without those of further sources, which are refused.
    func accepted(_ samples: [GatedSample], refusedBy ingest: Ingest) throws -> [GatedSample] {
        var refused: Set<Int> = []
        var last: Origin?
        // Most neighbors have the same origin.
        for index in samples.indices where samples[index].sample.origin !== last {
            let origin = samples[index].sample.origin
            if try isKnown(origin) {
                last = origin
            } else {
                refused.insert(index)
                ingest.refuse(Refusal(reason, at: samples[index].place))
            }
        }
        return refused.isEmpty ? samples : samples.indices.filter { !refused.contains($0) }.map { samples[$0] }
    }

    private func isKnown(_ origin: Origin) throws -> Bool {
        let identifier = ObjectIdentifier(origin)
        if accepted[identifier] != nil { return true }
        let key = Key(person: origin.person, type: origin.type)
        let pair = Self.pair(origin.source.id, origin.device?.key)
        if known[key] == nil { known[key] = try pairs(of: origin) }
        guard known[key]?.count ?? 0 < maximum || known[key]?.contains(pair) ?? false else { return false }
        known[key]?.insert(pair)
        if accepted.count >= Self.maximumAccepted { accepted.removeAll() }
        accepted[identifier] = origin
        return true
    }

    private func pairs(of origin: Origin) throws -> Set<[String]> {
        let query = SampleQuery(types: [origin.type], person: origin.person)
        return Set(try store.samples.series(matching: query).map { Self.pair($0.source, $0.device) })
    }

    private static func pair(_ source: String, _ device: String?) -> [String] { [source, device ?? ""] }
}

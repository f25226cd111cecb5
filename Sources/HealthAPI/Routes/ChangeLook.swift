import Formats
import HealthModel
import SampleStore

/// One look at the changes behind an anchor: so many, and so many octets, at most.
final class ChangeLook {
    struct Change {
        /// `added`, `deleted`, `pruned`.
        let kind: String
        /// JSON, without an end of line.
        let object: [UInt8]
        let anchor: Anchor
    }

    private let line: SampleLine
    private let most: Int
    private let mostOctets: Int
    private(set) var changes: [Change] = []
    private var octets = 0
    /// Whether there is more.
    private(set) var isCut = false

    var last: Anchor? { changes.last?.anchor }

    init(me: String, most: Int, octets: Int = 1 << 20) {
        line = SampleLine(me: me)
        (self.most, mostOctets) = (most, octets)
    }

    private struct Enough: Error {}

    func read(_ reader: Reader, after anchor: Anchor, _ types: Set<SampleType>?) throws {
        do {
            try reader.store.changes(
                after: anchor, types: types,
                pruned: { pruning, behind in
                    var object = JSONObject()
                    object.set("pruned", pruning.type.id)
                    object.set("before", pruning.before.description)
                    try self.add("pruned", object.closed, behind)
                },
                { change, behind in
                    switch change {
                    case .added(let stored):
                        var bytes: [UInt8] = []
                        self.line.append(stored.sample, ingest: nil, seq: nil, to: &bytes)
                        try self.add("added", bytes.dropLast(), behind)
                        reader.tells(stored.sample)
                    case .deleted(let deletion):
                        var object = JSONObject()
                        object.set("deleted", deletion.uuid.description)
                        object.set("type", deletion.type.id)
                        object.set("replacedBy", deletion.replacedBy)
                        try self.add("deleted", object.closed, behind)
                    }
                })
        } catch is Enough {
            isCut = true
        }
    }

    private func add(_ kind: String, _ object: some Collection<UInt8>, _ anchor: Anchor) throws {
        guard changes.count < most, octets < mostOctets else { throw Enough() }
        octets += object.count
        changes.append(Change(kind: kind, object: Array(object), anchor: anchor))
    }
}

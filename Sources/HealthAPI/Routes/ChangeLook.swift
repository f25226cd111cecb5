import Formats
import HealthModel
import HealthServing
import SampleStore

/// One read of the changes after an anchor, with limits on their number and total size.
final class ChangeLook {
    struct Change {
        /// The kind: `added`, `deleted` or `pruned`.
        let kind: String
        /// The JSON text, without a line ending.
        let object: [UInt8]
        let anchor: ClientAnchor
    }

    private let line: SampleLine
    private let me: String
    private let maximum: Int
    private let maximumBytes: Int
    private(set) var changes: [Change] = []
    private var bytes = 0
    /// Whether there are more changes.
    private(set) var isCut = false

    /// The anchor at the end. Unless `isCut` is set, it covers all changes that existed at the start of the read.
    private(set) var end: ClientAnchor?

    init(me: String, maximum: Int, bytes: Int = 1 << 20) {
        (line, self.me) = (SampleLine(me: me), me)
        (self.maximum, maximumBytes) = (maximum, bytes)
    }

    private struct Enough: Error {}

    /// Reads the changes after an anchor: first the samples that became readable because grants were widened, and then additions
    /// and deletions.
    func read(_ reader: Reader, of client: Client, after anchor: ClientAnchor, _ types: Set<SampleType>?) throws {
        // The anchor is taken before the read. Later commits are either read or come after the anchor.
        let latest = try reader.store.changes.latestAnchor()
        let widening: Int64
        do {
            widening = try readWidened(reader, of: client, after: anchor, types)
            try readOn(reader, after: anchor.change, widening, types)
        } catch is Enough {
            isCut = true
            end = changes.last?.anchor ?? anchor
            return
        }
        end = ClientAnchor(changes.last.flatMap { $0.anchor.place == nil ? $0.anchor.change : nil } ?? latest, widening: widening)
    }

    /// Reads the samples before an anchor that became readable.
    ///
    /// - Returns: The number of the last widening.
    private func readWidened(
        _ reader: Reader, of client: Client, after anchor: ClientAnchor, _ types: Set<SampleType>?
    ) throws -> Int64 {
        let widenings = try reader.store.clients.widenings(of: client, after: anchor.widening)
        guard !widenings.isEmpty, anchor.change != .beginning else { return widenings.last }
        struct IsReached: Error {}
        // Samples pruned after that place are not missed because they were reported before or were never readable.
        let start = try anchor.place.flatMap { try reader.store.changes.anchor(at: $0) } ?? .beginning
        do {
            try reader.store.changes.read(
                after: start, types: types.map(widenings.types.intersection) ?? widenings.types,
                { change, after in
                    guard after.number <= anchor.change.number else { throw IsReached() }
                    guard after.number > anchor.place ?? 0, case .added(let stored) = change,
                        widenings.include(stored.sample, source: client.source)
                    else { return }
                    try self.add(stored, ClientAnchor(anchor.change, widening: anchor.widening, place: after.number), reader)
                })
        } catch is IsReached {}
        return widenings.last
    }

    private func readOn(_ reader: Reader, after anchor: Anchor, _ widening: Int64, _ types: Set<SampleType>?) throws {
        func clientAnchor(_ change: Anchor) -> ClientAnchor { ClientAnchor(change, widening: widening) }
        try reader.store.changes.read(
            after: anchor, types: types,
            pruned: { pruning, after in
                try self.add("pruned", ChangeLine.fields(of: pruning, me: self.me).closed, clientAnchor(after))
            },
            { change, after in
                switch change {
                case .added(let stored):
                    try self.add(stored, clientAnchor(after), reader)
                case .deleted(let deletion):
                    let object = JSONObject([
                        "deleted": deletion.uuid.description, "type": deletion.type.id, "replacedBy": deletion.replacedBy,
                    ])
                    try self.add("deleted", object.closed, clientAnchor(after))
                }
            })
    }

    private func add(_ stored: StoredSample, _ anchor: ClientAnchor, _ reader: Reader) throws {
        var bytes: [UInt8] = []
        line.append(stored.sample, ingest: nil, seq: nil, to: &bytes)
        try add("added", bytes.dropLast(), anchor)
        reader.countRead(stored.sample)
    }

    private func add(_ kind: String, _ object: some Collection<UInt8>, _ anchor: ClientAnchor) throws {
        guard changes.count < maximum, bytes < maximumBytes else { throw Enough() }
        bytes += object.count
        changes.append(Change(kind: kind, object: Array(object), anchor: anchor))
    }
}

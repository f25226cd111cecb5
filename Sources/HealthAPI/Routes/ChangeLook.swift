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
    private(set) var isCut = false

    /// The anchor at the end. Unless `isCut` is set, it covers all changes that existed at the start of the read.
    private(set) var end: ClientAnchor?

    init(me: String, maximum: Int, bytes: Int = 1 << 20) {
        (line, self.me) = (SampleLine(me: me), me)
        (self.maximum, maximumBytes) = (maximum, bytes)
    }

    private struct Enough: Error {}

    /// Reads the changes after an anchor (``ReadableChanges``).
    func read(_ reader: Reader, of client: Client, after anchor: ClientAnchor, _ types: Set<SampleType>?) throws {
        do {
            end = try ReadableChanges(reader: reader, client: client, types: types).read(after: anchor) { event, after in
                switch event {
                case .pruned(let pruning): try add("pruned", ChangeLine.fields(of: pruning, me: me).closed, after)
                case .change(.added(let stored)): try add(stored, after, reader)
                case .change(.deleted(let deletion)):
                    let object = JSONObject([
                        "deleted": deletion.uuid.description, "type": deletion.type.id, "replacedBy": deletion.replacedBy,
                    ])
                    try add("deleted", object.closed, after)
                }
            }
        } catch is Enough {
            isCut = true
            end = changes.last?.anchor ?? anchor
        }
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

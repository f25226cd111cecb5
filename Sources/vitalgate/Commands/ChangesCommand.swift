import CommandLineKit
import HealthModel
import SampleStore

/// `changes`: additions and deletions in the order in which they happened.
enum ChangesCommand: Command {
    static let specification = CommandSpecification(
        name: "changes", summary: "Print what was added and deleted since an anchor.",
        discussion: """
            One line of NDJSON for each change: an added sample as 'query' prints it, or {"deleted":"UUID",…}. The number "seq" of the last \
            line is the anchor for the next call; a reader that keeps it sees every change exactly once.
            """,
        options: [
            Option(names: ["--after"], value: "ANCHOR", help: "The number of the last change seen; 0, the default, gives all."),
            Option(names: ["--types"], value: "TYPES", help: "Only these types, joined by commas."),
            Option(names: ["--follow"], help: "Wait for further changes until stopped."),
        ],
        examples: [Example("vitalgate changes --after 90231 --types heartRate", "What came behind change 90231.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        var anchor = Int64(try invocation.integer("--after", in: 0...Int.max) ?? 0)
        let types = try invocation.string("--types").map { names in
            Set(try names.split(separator: ",").map { try context.type(String($0)) })
        }
        let store = try context.openForReading()
        let writer = ChangeWriter(me: store.subject)
        let follow = invocation.flag("--follow")
        // Before the first look, so that no commit falls between the two.
        let bell = follow ? try StoreBell(store: store.path) : nil
        while true {
            try store.changes(after: anchor, types: types) { change in
                anchor = change.seq
                try context.streams.output.write(writer.line(change))
            }
            try context.streams.output.flush()
            guard let bell else { return .success }
            try bell.wait()
        }
    }
}

/// Writes changes as NDJSON.
private final class ChangeWriter {
    private let line: SampleLine

    init(me: String) { line = SampleLine(me: me) }

    func line(_ change: StoreChange) -> [UInt8] {
        switch change {
        case .added(let stored):
            var bytes: [UInt8] = []
            line.append(stored.sample, ingest: stored.ingest, seq: stored.seq, to: &bytes)
            return bytes
        case .deleted(let deletion):
            var object = JSONObject()
            object.set("deleted", deletion.uuid.description)
            object.set("type", deletion.type.id)
            object.set("replacedBy", deletion.replacedBy)
            object.set("ingest", Int(deletion.ingest))
            object.set("seq", Int(deletion.seq))
            return object.line
        }
    }
}

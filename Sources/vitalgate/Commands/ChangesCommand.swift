import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `changes`: additions and deletions in the order of the commits.
enum ChangesCommand: Command {
    static let specification = CommandSpecification(
        name: "changes", summary: "Print samples added or deleted since your last call.",
        discussion: """
            Prints one line of NDJSON for each change. A line is an added sample as 'query' prints it, {"deleted":"UUID",…} for \
            a deleted sample, or {"pruned":"TYPE","before":"TIME",…} after 'vitalgate store prune' removed old samples: remove the \
            samples of this type, "subject", "source" and "device" that started at or after "from" and ended before "before", \
            except those with a UUID in "kept".

            Each line has an "anchor", which is the position of the change. Pass the anchor of the last line to --after in the \
            next call, and you see every change exactly once.

            The exit status is 65 if you have to start again: the anchor belongs to another store, the store was restored from a \
            backup, or samples that you have not seen were pruned. The message explains how.

            By default the hub writes live readings to the store every 30 seconds ('hub.commitEvery' in the configuration). \
            While you use --follow, it writes them every second. Use --no-hurry to prevent this and reduce the wear of the SD \
            card.
            """,
        options: [
            Option(
                names: ["--after"], value: "ANCHOR",
                help: "Anchor of the last line that you have read (default: 0, for all changes)."),
            SharedOptions.types,
            Option(names: ["--follow"], help: "Keep running and print further changes."),
            Option(
                names: ["--no-hurry"],
                help: "With --follow: do not make the hub write more often."),
        ],
        examples: [
            Example(
                "vitalgate changes --after 5ba07cd5c1be4f10-90231 --types heartRate",
                "Heart rates added or deleted after this anchor.")
        ]
    )

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let after = invocation.string("--after") ?? "0"
        guard var anchor = Anchor(after) else {
            throw invocation.invalid(
                "--after", value: after,
                expected: "0 or the \"anchor\" of the last line seen (not its \"seq\")")
        }
        // The store is opened first because it may have types that this version does not know.
        let store = try context.openForReading()
        let types = try invocation.string("--types").map { Set(try context.types($0)) }
        let line = ChangeLine(me: store.owner)
        let follow = invocation.flag("--follow")
        // This precedes the first read, so that a commit in between is not missed.
        let bell = follow ? try StoreBell(store: store.path) : nil
        let commits =
            follow && !invocation.flag("--no-hurry") ? PromptCommits(store: store.path, machine: context.machine) : nil
        while true {
            func write(_ position: Anchor, _ append: (inout [UInt8]) -> Void) throws {
                anchor = position
                var bytes: [UInt8] = []
                append(&bytes)
                try context.streams.output.write(bytes)
            }
            try store.changes.read(
                after: anchor, types: types,
                pruned: { pruning, position in
                    try write(position) { line.append(pruning, anchor: position.description, to: &$0) }
                },
                { change, position in
                    try write(position) { line.append(change, anchor: position.description, to: &$0) }
                })
            try context.streams.output.flush()
            guard let bell else { return .success }
            commits?.reconnectIfNeeded()
            try bell.wait()
            // Throws if the file was replaced, since nothing is written to the old one any more.
            try store.checkPlace()
        }
    }
}

import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `changes`: additions and deletions in the order of the commits.
enum ChangesCommand: Command {
    static let specification = CommandSpecification(
        name: "changes", summary: "Print samples that were added or deleted since your last call.",
        discussion: """
            Prints one line of NDJSON for each change: an added sample as in 'query', {"deleted":"UUID",…}, or \
            {"pruned":"TYPE","before":"TIME",…} after 'store prune'. Pass the "anchor" of the last line to --after in the next \
            call to see every change exactly once. If the anchor belongs to another store or to a restored backup, or if \
            samples that you have not seen were pruned, the exit status is 65 and the message explains how to start again.

            With --follow, the hub commits live readings every second instead of every 30 seconds ('hub.commitEvery' in the \
            configuration). Use --no-hurry to reduce wear of the SD card.
            """,
        options: [
            Option(names: ["--after"], value: "ANCHOR", help: "Anchor of the last line seen (default: 0, all changes)."),
            Option(names: ["--types"], value: "TYPES", help: "Only these types, separated by commas."),
            Option(names: ["--follow"], help: "Wait for further changes until stopped."),
            Option(
                names: ["--no-hurry"],
                help: "With --follow: wait for the hub's regular commits."),
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
        let line = ChangeLine(me: store.subject)
        let follow = invocation.flag("--follow")
        // This precedes the first read, so that a commit in between is not missed.
        let bell = follow ? try StoreBell(store: store.path) : nil
        let commits =
            follow && !invocation.flag("--no-hurry") ? PromptCommits(store: store.path, machine: context.machine) : nil
        while true {
            func write(_ behind: Anchor, _ append: (inout [UInt8]) -> Void) throws {
                anchor = behind
                var bytes: [UInt8] = []
                append(&bytes)
                try context.streams.output.write(bytes)
            }
            try store.changes(
                after: anchor, types: types,
                pruned: { pruning, behind in
                    try write(behind) { line.append(pruning, anchor: behind.description, to: &$0) }
                },
                { change, behind in
                    try write(behind) { line.append(change, anchor: behind.description, to: &$0) }
                })
            try context.streams.output.flush()
            guard let bell else { return .success }
            commits?.keepUp()
            try bell.wait()
            // Throws if the file was replaced, since nothing is written to the old one any more.
            try store.checkPlace()
        }
    }
}

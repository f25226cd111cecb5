import CommandLineKit
import Formats
import Gateway
import HealthModel
import SampleStore

/// `changes`: additions and deletions in the order of the commits.
enum ChangesCommand: Command {
    static let specification = CommandSpecification(
        name: "changes", summary: "Print what was added and deleted since an anchor.",
        discussion: """
            One line of NDJSON for each change: an added sample as 'query' prints it, {"deleted":"UUID",…}, or {"pruned":"TYPE","before":"TIME",…} \
            for what 'store prune' removed for good. The text "anchor" of the last \
            line is the anchor for the next call; a reader that keeps it sees every change exactly once. An anchor is of one store: where \
            that was put back from a backup, or is another, the command ends with status 65 and says how to begin again; so it does where samples were pruned that the reader has not seen. As long as \
            somebody follows, the hub commits each second what devices send; with --no-hurry streams come together, every 30 seconds or \
            what 'hub.commitEvery' of the configuration says, and a card lasts.
            """,
        options: [
            Option(names: ["--after"], value: "ANCHOR", help: "The anchor of the last line seen; 0, the default, gives all."),
            Option(names: ["--types"], value: "TYPES", help: "Only these types, joined by commas."),
            Option(names: ["--follow"], help: "Wait for further changes until stopped."),
            Option(
                names: ["--no-hurry"],
                help: "With --follow: take what devices send when the hub writes it by itself, which spares the card."),
        ],
        examples: [Example("vitalgate changes --after 5ba07cd5c1be4f10-90231 --types heartRate", "What came behind this anchor.")]
    )

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let after = invocation.string("--after") ?? "0"
        guard var anchor = Anchor(after) else {
            throw invocation.invalid(
                "--after", value: after,
                expected: "0 or an anchor: the text \"anchor\" of the last line seen, not its \"seq\"")
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

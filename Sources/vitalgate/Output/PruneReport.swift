import CommandLineKit
import HealthModel
import Hub
import SampleStore

/// `store prune`: removes samples older than their retention period, or reports their number.
struct PruneReport {
    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    func run() throws -> ExitCode {
        let access = try context.access()
        // Without --yes, the command only counts.
        guard context.invocation.flag("--yes") else { return try run(try access.openForWriting(creating: false)) }
        return try access.removing(run)
    }

    private func run(_ store: SampleStore) throws -> ExitCode {
        let dates = try dates(store)
        guard !dates.isEmpty else {
            context.note("no retention period is set: add 'retention' to the configuration, or use --type with --before")
            return .success
        }
        let isDone = context.invocation.flag("--yes")
        if context.invocation.flag("--set-back") { return try setBack(dates, in: store, isDone) }
        let description = IngestDescription(kind: .prune, received: context.machine.now().microseconds)
        let targets = Set(try context.configuration().targets.map(\.name))
        let byAge = context.invocation.string("--before") == nil
        let isConfirmed = context.invocation.flag("--confirm")
        let result =
            try isDone
            ? store.prune(
                dates, byAge: byAge, isConfirmed: isConfirmed, waitingFor: targets, description: description)
            : store.prunable(dates, waitingFor: targets)
        if !isDone, byAge {
            let doubt = try store.pruningDoubt(
                dates, at: context.machine.now(), isConfirmed: isConfirmed, waitingFor: targets)
            if let doubt { context.warn(doubt) }
        }
        let found = Readable.count(result.samples, "sample") + " and " + Readable.count(result.tombstones, "tombstone")
        if result.samples + result.tombstones == 0 {
            context.note("nothing to remove: no sample is older than its retention period")
        } else if isDone {
            context.note("\(found) permanently removed (ledger entry \(result.ingest))")
        } else {
            context.note("\(found) would be permanently removed (confirm with --yes)")
        }
        if result.waiting > 0 {
            context.note("\(Readable.count(result.waiting)) more are kept until every target has received them")
        }
        if result.repaired > 0 {
            context.note("\(Readable.count(result.repaired)) more are kept because their repair can be undone")
        }
        return .success
    }

    /// Sets the earliest dates of the types back, and removes nothing.
    private func setBack(_ dates: [SampleType: Instant], in store: SampleStore, _ isDone: Bool) throws -> ExitCode {
        let times = try context.times()
        let later =
            isDone
            ? try store.setEarliestBack(dates)
            : try store.earliestPermittedDates().filter { type, set in dates[type].map { $0 < set } ?? false }
        for (type, set) in later.sorted(by: { $0.key.id < $1.key.id }) {
            guard let date = dates[type] else { continue }
            let change = "from \(times.local(set)) to \(times.local(date))"
            context.note(
                isDone
                    ? "the earliest date of '\(type.id)' was set back \(change)"
                    : "the earliest date of '\(type.id)' would be set back \(change) (confirm with --yes)")
        }
        if later.isEmpty { context.note("nothing to set back: no earliest date is later than its retention period requires") }
        return .success
    }

    private func dates(_ store: SampleStore) throws -> [SampleType: Instant] {
        let invocation = context.invocation
        let before = try context.instant(option: "--before", zone: try context.zone())
        let type = try invocation.string("--type").map { try context.type($0) }
        if let before {
            guard let type else {
                throw invocation.invalid(
                    "--before", value: invocation.string("--before") ?? "", expected: "--type as well")
            }
            guard before <= context.machine.now() else {
                throw invocation.invalid(
                    "--before", value: invocation.string("--before") ?? "", expected: "a time in the past")
            }
            return [type: before]
        }
        let retention = try context.configuration().retention
        return try type.map { retention.dates(of: [$0], now: context.machine.now()) }
            ?? retention.dates(in: store, now: context.machine.now())
    }
}

import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `today`: shows the day's rings and its new samples.
enum TodayCommand: Command {
    static let specification = CommandSpecification(
        name: "today", summary: "Show today's rings and new samples.",
        discussion: """
            Shows the rings of the day, and the latest sample of each type that arrived since midnight. CSV output contains \
            only the samples.
            """,
        options: [SharedOptions.subject, SharedOptions.timeZone, Format.option, Format.safe],
        examples: [Example("vitalgate today", "Today's rings and new samples.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        let today = RingsCommand.today(context, zone)
        let subject = try context.invocation.string("--person").map { try StoreAccess.subject($0, in: store) }
        let days = context.format == .csv ? 0 : try RingsCommand.write(store, zone, today, subject, context)
        let midnight = today.from ?? Instant(microseconds: .max)
        let came = try store.latestSamples { $0.received >= midnight && (subject == nil || $0.origin.subject == subject) }
        var latest: [Key: StoredSample] = [:]
        for stored in came where stored.sample.origin.kind != .activitySummary {
            let key = Key(subject: stored.sample.origin.subject, type: stored.sample.origin.type)
            if let other = latest[key], (other.sample.start, other.seq) >= (stored.sample.start, stored.seq) { continue }
            latest[key] = stored
        }
        let sorted = latest.values.sorted {
            ($0.sample.origin.type.id, $0.sample.origin.subject) < ($1.sample.origin.type.id, $1.sample.origin.subject)
        }
        if sorted.isEmpty, context.format == .table {
            if days == 0 { context.note("no samples arrived today") }
            return .success
        }
        if days > 0, context.format == .table { try context.streams.output.write("\n") }
        var writer = SampleWriter(context: context, unit: nil, times: try context.times(), store: store)
        if Set(sorted.map(\.sample.origin.subject)).count > 1 { writer.persons = try store.personNames() }
        for stored in sorted { try writer.write(stored) }
        try writer.finish()
        return .success
    }

    private struct Key: Hashable {
        var subject: String
        var type: SampleType
    }
}

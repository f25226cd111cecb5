import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// `today`: shows the day's rings and its new samples.
enum TodayCommand: Command {
    static let specification = CommandSpecification(
        name: "today", summary: "Show today's rings and new samples.",
        discussion: """
            Shows the activity rings of the day (see 'vitalgate rings') and, for each type, the latest sample that arrived since \
            midnight. With --format csv, only the samples are printed.
            """,
        options: [SharedOptions.person, SharedOptions.timeZone, Format.option, Format.safe],
        examples: [Example("vitalgate today", "Today's rings and new samples.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        let person = try context.person(in: store)
        let now = context.machine.now()
        let query = ActivityQuery.today(now, zone: zone, person: person, priority: try context.configuration().priority)
        let days = context.format == .csv ? 0 : try RingsCommand.write(store, query, context)
        let midnight = query.from ?? now
        let sorted = try LatestSamples.all(in: store, person: person, at: now) {
            $0.received >= midnight && $0.origin.kind != .activitySummary
        }
        if sorted.isEmpty, context.format == .table {
            if days == 0 { context.note("no samples arrived today") }
            return .success
        }
        if days > 0, context.format == .table { try context.streams.output.write("\n") }
        var writer = SampleWriter(context: context, unit: nil, times: try context.times(), store: store)
        if Set(sorted.map(\.sample.origin.person)).count > 1 { writer.persons = try store.people.names() }
        for stored in sorted { try writer.write(stored) }
        try writer.finish()
        return .success
    }
}

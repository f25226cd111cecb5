import CommandLineKit
import Formats
import Gateway
import HealthModel
import SampleStore

/// `rings`: shows daily activity rings.
enum RingsCommand: Command {
    static let specification = CommandSpecification(
        name: "rings", summary: "Show a day's rings: move, exercise, stand.",
        discussion: """
            A day whose summary an export told is shown as it was told. Of any other day the rings come from samples: active energy (or move minutes, \
            where the characteristic activityMoveMode says so), exercise minutes, and the hours in which the person stood. Where several sources tell \
            of the same time, one counts, as in 'stats'. No goal is guessed. On days on which the person uses a wheelchair (see 'characteristics') \
            pushes count where steps count for others, and roll hours where stand hours do. Days go from midnight to midnight in the time zone. \
            Without --from and --to it is today.
            """,
        options: [
            Option(names: ["--from"], value: "T", help: "The first day: a date, today, yesterday, monday or -7d."),
            Option(names: ["--to"], value: "T", help: "The first time whose day no longer counts."),
            SharedOptions.subject, SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate rings", "How far is today?"),
            Example("vitalgate rings --from -7d", "The last week, a row a day."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        var range = try context.range(zone: zone)
        let isToday = range.from == nil && range.to == nil
        if isToday { range = today(context, zone) }
        let subject = try context.invocation.string("--person").map { try StoreAccess.subject($0, in: store) }
        let count = try write(store, zone, range, subject, context)
        if count == 0, context.format == .table { context.note(isToday ? "nothing of today" : "nothing of these days") }
        return .success
    }

    /// The current day, from midnight to midnight.
    static func today(_ context: CommandContext, _ zone: TimeZoneRules) -> (from: Instant?, to: Instant?) {
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: context.machine.now())
        return (days.start(of: today), days.start(of: today + 1))
    }

    /// Writes the rings of days and returns their number.
    static func write(
        _ store: SampleStore, _ zone: TimeZoneRules, _ range: (from: Instant?, to: Instant?), _ subject: String?,
        _ context: CommandContext
    ) throws -> Int {
        let query = ActivityQuery(
            zone: zone, from: range.from, to: range.to, subject: subject, priority: try context.configuration().priority)
        var report = RingsReport(
            context: context, zone: zone, me: store.subject,
            persons: try store.activityPersons(query))
        try store.activityDays(query) { days in
            try report.write(days)
            return true
        }
        try report.finish()
        return report.count
    }
}

extension SampleStore {
    /// Names by person, for people with rings. Empty if there is only one person.
    fileprivate func activityPersons(_ query: ActivityQuery) throws -> [String: String] {
        let subjects = try activitySubjects(query)
        guard subjects.count > 1 else { return [:] }
        let names = try personNames()
        return Dictionary(subjects.map { ($0, names[$0] ?? $0) }, uniquingKeysWith: { first, _ in first })
    }
}

import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// `rings`: shows daily activity rings.
enum RingsCommand: Command {
    static let specification = CommandSpecification(
        name: "rings", summary: "Show daily activity rings (move, exercise, stand).",
        discussion: """
            Shows today's rings unless you use --from or --to. If an imported file contains Apple's summary of a day, that \
            summary is shown unchanged. Otherwise the rings are computed from samples. The rings are active energy (or move \
            minutes), exercise minutes, and the hours in which the person stood up. If several sources cover the same time, only \
            the preferred one counts, as in 'vitalgate stats'. A computed ring has the goal of the last summary in the 31 \
            days before, if there is one.

            For a person who uses a wheelchair (see 'vitalgate characteristics'), wheelchair pushes replace steps, and hours of \
            moving about in the wheelchair (roll hours) replace stand hours.
            """,
        options: [
            Option(names: ["--from"], value: "T", help: "First day: a date, today, yesterday, monday or -7d."),
            Option(names: ["--to"], value: "T", help: "Day after the last day (written as for --from)."),
            SharedOptions.person, SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate rings", "Today's rings."),
            Example("vitalgate rings --from -7d", "One row for each day of the last week."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        let range = try context.range(zone: zone)
        let isToday = range.from == nil && range.to == nil
        let person = try context.person(in: store)
        let priority = try context.configuration().priority
        let query =
            isToday
            ? ActivityQuery.today(context.machine.now(), zone: zone, person: person, priority: priority)
            : ActivityQuery(zone: zone, from: range.from, to: range.to, person: person, priority: priority)
        let count = try write(store, query, context)
        if count == 0, context.format == .table { context.note(isToday ? "no rings for today" : "no rings for these days") }
        return .success
    }

    /// Writes the rings of days and returns their number.
    static func write(_ store: SampleStore, _ query: ActivityQuery, _ context: CommandContext) throws -> Int {
        var report = RingsReport(
            context: context, zone: query.zone, me: store.owner,
            persons: try store.activityPersons(query))
        try store.activity.days(query) { days in
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
        let personIDs = try activity.people(query)
        guard personIDs.count > 1 else { return [:] }
        let names = try people.names()
        return Dictionary(personIDs.map { ($0, names[$0] ?? $0) }, uniquingKeysWith: { first, _ in first })
    }
}

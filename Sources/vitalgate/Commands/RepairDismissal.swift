import CommandLineKit
import HealthModel
import SampleStore

/// `repair dismiss`: declares suspicious samples right.
enum RepairDismissal {
    private static let undo = Option(names: ["--undo"], help: "Suggest dismissed samples again.")

    static let specification = CommandSpecification(
        name: "dismiss", summary: "Declare suspicious samples right, so that they are no longer suggested.",
        discussion: """
            Select suggestions of 'vitalgate repair suggest' with --type and other conditions. A suggestion is selected if all \
            of its samples match. No sample is changed. If later samples continue the row, they are suggested again. \
            'vitalgate repair suggest --dismissed' lists what you dismissed.
            """,
        options: [
            Option(
                names: ["--type"], value: "TYPE", help: "Quantity type, or several separated by commas (required).",
                completion: .types),
            SharedOptions.source, SharedOptions.device, SharedOptions.person,
        ] + SharedOptions.range + [undo, SharedOptions.timeZone],
        examples: [
            Example("vitalgate repair dismiss --type bodyMass --device S-17", "The suggested weights of a scale are right.")
        ])

    static func run(_ context: CommandContext) throws {
        let invocation = context.invocation
        guard let types = invocation.string("--type") else {
            throw UsageError(.missingArgument("--type"), command: "vitalgate " + invocation.path.joined(separator: " "))
        }
        let store = try context.access().openForWriting(creating: false)
        let known = Dictionary(uniqueKeysWithValues: try store.samples.series(matching: SampleQuery()).map { ($0.id, $0) })
        var conditions = SampleConditions(types: Set(try context.types(types)))
        conditions.person = try context.person(in: store)
        (conditions.source, conditions.device) = (invocation.string("--source"), invocation.string("--device"))
        let (from, to) = try context.range(zone: try context.zone())
        func isSelected(_ number: Int64, _ first: Instant, _ last: Instant) throws -> Bool {
            guard let series = known[number], first >= from ?? first, to.map({ last < $0 }) ?? true else { return false }
            // One of its samples shows whether the source and the device are meant.
            var one = SampleConditions(types: [series.type])
            (one.from, one.to) = (first, Instant(microseconds: last.microseconds + 1))
            (one.person, one.source) = (series.person, series.source)
            if !series.device.isEmpty { one.device = series.device }
            let query = SampleQuery(.and([conditions.predicate, one.predicate]), limit: 1)
            return try store.samples.cursor(matching: query).next() != nil
        }
        guard !invocation.flag("--undo") else {
            let found = try store.repairs.dismissals().filter { try isSelected($0.series, $0.from, $0.to) }
            for dismissal in found { try store.repairs.remove(dismissal) }
            return context.note(
                found.isEmpty
                    ? "no dismissed suggestion matches" : "\(Readable.count(found.count, "suggestion")) no longer dismissed")
        }
        let found = try store.repairs.suspicions().filter { try isSelected($0.series.id, $0.range.from, $0.range.to) }
        for suspicion in found { try store.repairs.dismiss(suspicion) }
        context.note(found.isEmpty ? "no suggestion matches" : "\(Readable.count(found.count, "suggestion")) dismissed")
    }
}

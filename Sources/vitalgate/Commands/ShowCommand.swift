import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `show`: prints one object completely.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", summary: "Show one sample whole, or what it carries.",
        discussion: """
            For a person it is a page: a workout with its laps, a health record with its codes, an ECG with its trace. With --format ndjson it is the \
            sample's line with all that it carries: points, a resource, a document. --raw gives the resource (FHIR JSON) or the document (CDA XML) \
            itself, octet for octet as it came, and nothing else. --points gives the locations of a route, the beats of a heartbeat series or the \
            voltages of an ECG, one a line.
            """,
        arguments: [Argument(name: "UUID", help: "The sample's UUID, as 'query --format ndjson' prints it.")],
        options: [
            Option(names: ["--raw"], help: "Only the octets of a clinical record or document, as they came."),
            Option(names: ["--points"], help: "Only the points of a series: lines of NDJSON, or with --format csv a table."),
            SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate show 0199f2c4-8600-8000-8000-0123456789ab", "Everything about one sample."),
            Example(
                "vitalgate show 0199f2c4-8600-8000-8000-0123456789ab --raw > record.json", "A health record's FHIR resource."),
            Example("vitalgate show 0199f2c4-8600-8000-8000-0123456789ab --points --format csv", "A route for a spreadsheet."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let uuid = try DeleteCommand.uuid(invocation.argument("UUID") ?? "", invocation)
        let (raw, points) = (invocation.flag("--raw"), invocation.flag("--points"))
        if raw, points { throw invocation.invalid("--points", value: "--raw", expected: "one of them") }
        if raw, let format = invocation.string("--format") {
            throw invocation.invalid(
                "--format", value: format, expected: "no format with --raw, which gives the octets as they came")
        }
        let store = try context.openForReading()
        guard let stored = try store.shown(uuid) else {
            return try AbsenceNote(context: context, store: store).tell(of: uuid)
        }
        if raw { return try writeRaw(stored.sample, context) }
        if points { return try PointsWriterOutput(context: context).write(stored.sample) }
        if context.format == .table {
            var page = try ObjectPage(context, store)
            try context.streams.output.write(try page.text(of: stored))
            return .success
        }
        var writer = SampleWriter(
            context: context, unit: nil, times: try context.times(), me: store.subject, withContent: true)
        try writer.write(stored)
        try writer.finish()
        return .success
    }

    /// Writes the original bytes of a resource or document, or nothing if it is damaged.
    private static func writeRaw(_ sample: Sample, _ context: CommandContext) throws -> ExitCode {
        let kind = sample.origin.kind
        guard kind == .clinicalRecord || kind == .document else {
            context.note("vitalgate: --raw is for clinical records and documents; \(sample.identity) is of the kind \(kind.name)")
            return .dataError
        }
        guard let content = sample.body?.content else {
            context.note("vitalgate: \(sample.identity) has no octets of its own: what it was read from did not bring them")
            return .dataError
        }
        guard try isWhole(content, sample, context) else { return .dataError }
        var reader = try ContentReader(content)
        while let stretch = try reader.next() { try context.streams.output.write(stretch) }
        return .success
    }

    /// Whether the content can be read. It is read once before anything is written, so that partial output cannot be mistaken for
    /// the whole.
    static func isWhole(_ content: PackedContent, _ sample: Sample, _ context: CommandContext) throws -> Bool {
        do throws(ContentError) {
            var reader = try ContentReader(content)
            while try reader.next() != nil {}
            return true
        } catch {
            guard error == .damaged else { throw error }
            context.note("vitalgate: \(sample.identity): \(error); 'vitalgate store check --deep' tells more")
            return false
        }
    }
}

import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `show`: prints one object completely.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", summary: "Show all details of one sample, or its raw content.",
        discussion: """
            By default the output is a readable page, for example a workout with its laps, a health record with its codes, or an \
            ECG with its trace. --format ndjson prints the sample and all its content on one line. --raw prints the original \
            bytes of a clinical record (FHIR JSON) or document (CDA XML). --points prints the locations of a route, the beats of \
            a heartbeat series or the voltages of an ECG, one per line.
            """,
        arguments: [
            Argument(name: "UUID", help: "UUID of the sample, as printed by 'query --format ndjson', or its first digits.")
        ],
        options: [
            Option(names: ["--raw"], help: "Print only the original bytes of a clinical record or document."),
            Option(names: ["--points"], help: "Print only the points of a series, as NDJSON or with --format csv."),
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
        let name = invocation.argument("UUID") ?? ""
        try context.checkUUID(name)
        let (raw, points) = (invocation.flag("--raw"), invocation.flag("--points"))
        if raw, points { throw invocation.invalid("--points", value: "--raw", expected: "either --raw or --points, not both") }
        if raw, let format = invocation.string("--format") {
            throw invocation.invalid(
                "--format", value: format, expected: "no --format with --raw, which prints the original bytes")
        }
        let store = try context.openForReading()
        let uuid = try context.uuid(name, among: .all, in: store)
        guard let stored = try store.shown(uuid) else {
            return try AbsenceNote(context: context, store: store).printReason(of: uuid)
        }
        if raw { return try writeRaw(stored.sample, context) }
        if points { return try PointsWriterOutput(context: context).write(stored.sample) }
        if context.format == .table {
            var page = try ObjectPage(context, store)
            try context.streams.output.write(try page.text(of: stored))
            return .success
        }
        var writer = SampleWriter(
            context: context, unit: nil, times: try context.times(), store: store, withContent: true)
        try writer.write(stored)
        try writer.finish()
        return .success
    }

    /// Writes the original bytes of a resource or document, or nothing if it is damaged.
    private static func writeRaw(_ sample: Sample, _ context: CommandContext) throws -> ExitCode {
        let kind = sample.origin.kind
        guard kind == .clinicalRecord || kind == .document else {
            context.note(
                "vitalgate: --raw requires a clinical record or document, but \(sample.identity) has the kind \(kind.name)")
            return .dataError
        }
        guard let content = sample.body?.content else {
            context.note("vitalgate: \(sample.identity) has no original bytes, because its source did not contain them")
            return .dataError
        }
        guard try isWhole(content, sample, context) else { return .dataError }
        var reader = try ContentReader(content)
        while let chunk = try reader.next() { try context.streams.output.write(chunk) }
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
            context.note("vitalgate: \(sample.identity): \(error). Run 'vitalgate store check --deep' for details")
            return false
        }
    }
}

import CommandLineKit
import FileExport
import Gateway
import Glibc
import HealthModel
import Pipeline
import SampleStore

/// `export`: exports to a target, or once to a file.
enum ExportCommand: Command {
    static let specification = CommandSpecification(
        name: "export", summary: "Keep another store up to date, or write a file once.",
        discussion: """
            TARGET is one of the configuration's 'targets' (see 'vitalgate targets'). The hub does this by itself for all of them, each in a process of its own; \
            without a hub this command does it for one, until it is stopped. Additions, deletions and repairs all go over, in order; a target that does not \
            answer is asked again, less and less often, and gets all that it missed. With --once it ends when the target has everything: status 75 where the \
            target does not answer, 69 where a person has to act, 65 where it did not take some of it.

            --to writes the samples that are there now into a new file, in the order of their start: ndjson as 'query' prints it, with the points and documents that it leaves out, which 'import' reads back; csv; wide, a table with a row for \
            each moment and a column for each type; or apple-health, the export.xml of Apple's Health app, of one person. A name that ends in .zst is packed, one \
            that ends in .zip is a ZIP as the Health app makes it, with routes, electrocardiograms and clinical records as files of their own. What a form has \
            no place for is left out, and said.
            """,
        arguments: [
            Argument(
                name: "TARGET", help: "A target of the configuration; none with --to.", arity: .optional,
                completion: .command("vitalgate targets list --names"))
        ],
        options: [
            Option(names: ["--once"], help: "End when the target has everything."),
            SharedOptions.untilEOF,
            Option(names: ["--to"], value: "FILE", help: "Write a file instead; it must not exist yet.", completion: .file),
            Option(
                names: ["--format"], value: "FORMAT",
                help:
                    "With --to: \(SampleFileWriter.Form.allCases.map(\.rawValue).joined(separator: ", ")); else what the file's name says.",
                completion: .values(SampleFileWriter.Form.allCases.map(\.rawValue))),
            Option(names: ["--types"], value: "TYPES", help: "With --to: only these types, joined by commas."),
            Option(names: ["--from"], value: "T", help: "With --to: the first start that counts, as 'query --from' takes it."),
            SharedOptions.subject, SharedOptions.condition, SharedOptions.timeZone,
        ],
        examples: [
            Example("vitalgate export archive --once", "Bring the target 'archive' up to date."),
            Example("vitalgate export --to me.csv.zst", "Everything as CSV, packed."),
            Example("vitalgate export --to me.zip --person me", "What the Health app's export would be."),
        ])

    /// The options that apply to files only.
    private static let ofFiles = ["--format", "--types", "--from", "--person", "--where", "--time-zone"]

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let name = invocation.argument("TARGET")
        if let path = invocation.string("--to") {
            if let name { throw invocation.invalid("TARGET", value: name, expected: "no target together with --to") }
            return try write(path, context)
        }
        guard let name else { throw UsageError(.missingArgument("TARGET"), command: "vitalgate export") }
        for option in ofFiles {
            guard let value = invocation.string(option) else { continue }
            throw invocation.invalid(
                option, value: value, expected: "--to FILE beside it; what goes to a target stands in the configuration")
        }
        let target = try context.target(name)
        let store = try context.access().openForWriting(creating: false)
        let process = try ExportProcess(context, target, store)
        return try withExtendedLifetime(process) { try invocation.flag("--once") ? process.runOnce() : process.run() }
    }

    // MARK: Into a file

    private static func write(_ path: String, _ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let form = try form(of: path, invocation)
        let store = try context.openForReading()
        let zone = try context.zone()
        let types = try invocation.string("--types").map { Set(try context.types($0)) }
        var subject = try invocation.string("--person").map { try StoreAccess.subject($0, in: store) }
        // An export in the Health app's format contains one person.
        if form == .appleHealth, subject == nil { subject = store.subject }
        let query = SampleQuery(
            types: types, from: try context.instant(option: "--from", zone: zone), subject: subject,
            where: try context.condition(for: types, zone: zone, in: store))
        let writer = try SampleFileWriter(
            path: path, form: form,
            context: try ExportContext(name: "", me: store.subject, zone: zone, now: context.machine.now),
            types: try store.series(matching: query).map(\.type),
            characteristics: form == .appleHealth ? try characteristics(of: subject ?? store.subject, zone, store, context) : [],
            member: { try store.sample($0) })
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let cursor = try store.samples(matching: query)
        defer { cursor.close() }
        var count = 0
        while var stored = try cursor.next() {
            // The source's record identifier is kept.
            if form != .csv, form != .wide { stored.sample.record = try store.record(of: stored.sample) }
            try writer.append(stored)
            count += 1
            if count % 1000 == 0 { progress.update("\(Readable.count(count, "sample")) written") }
        }
        let counts = try writer.finish()
        progress.finish()
        context.note("\(path): \(Readable.count(counts.written, "sample"))")
        for (reason, number) in counts.reasons.sorted(by: { $0.key < $1.key }) {
            context.note("left out: \(Readable.count(number, "sample")): \(reason)")
        }
        return .success
    }

    /// A person's current characteristics.
    private static func characteristics(
        of subject: String, _ zone: TimeZoneRules, _ store: SampleStore, _ context: CommandContext
    ) throws -> [Characteristic] {
        let today = zone.date(of: context.machine.now())
        let history = try store.characteristics(of: subject)
        return CharacteristicType.allCases.compactMap { history.value(of: $0, on: today) }
    }

    private static func form(of path: String, _ invocation: Invocation) throws -> SampleFileWriter.Form {
        let known = SampleFileWriter.Form.allCases.map(\.rawValue).joined(separator: ", ")
        if let name = invocation.string("--format") {
            guard let form = SampleFileWriter.Form(rawValue: name) else {
                throw invocation.invalid("--format", value: name, expected: "one of \(known)")
            }
            return form
        }
        guard let form = SampleFileWriter.form(of: path) else {
            throw invocation.invalid(
                "--to", value: path, expected: "a name that ends in .ndjson, .csv, .xml or .zip, or --format beside it")
        }
        return form
    }
}

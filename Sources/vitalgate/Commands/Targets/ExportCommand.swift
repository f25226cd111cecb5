import CommandLineKit
import FileExport
import Glibc
import HealthAnswers
import HealthModel
import Pipeline
import SampleStore

/// `export`: exports to a target, or once to a file.
enum ExportCommand: Command {
    static let specification = CommandSpecification(
        name: "export", summary: "Export samples to a target or to a file.",
        discussion: """
            TARGET is the name of a target in the configuration (see 'vitalgate targets'). A running hub keeps all targets up to \
            date, so you need this command only without a hub. It sends all changes (additions, deletions and repairs) to one \
            target, in order, until you stop it. If the target does not answer, the command tries again later, and nothing is \
            lost. With --once, the exit status is 75 if the target does not answer, 69 if the delivery stopped and needs your \
            attention, and 65 if the target rejected some changes.

            --to writes the current samples to a new file instead, in order of their start. The formats are ndjson (complete, \
            'vitalgate import' reads it), csv, wide (a table with a row for each time and a column for each type), \
            report (a table in local time for a doctor, which 'vitalgate import' also reads) and apple-health (export.xml of \
            Apple's Health app, for one person).

            If the file name ends in .zst, the file is compressed. If it ends in .zip, the file is an archive like that of the \
            Health app, with routes, electrocardiograms and clinical records as separate files. Samples that the format cannot \
            represent are left out, and their number is printed.
            """,
        arguments: [
            Argument(name: "TARGET", help: "Name of a target (not with --to).", arity: .optional, completion: .targets)
        ],
        options: [
            Option(names: ["--once"], help: "Stop when the target is up to date."),
            SharedOptions.untilEOF,
            Option(
                names: ["--to"], value: "FILE", help: "Path of a new file to write instead of sending to a target.",
                completion: .file),
            Option(
                names: ["--format"], value: "FORMAT",
                help: "Format of the file (default: chosen by the file name).",
                completion: .values(SampleFileWriter.Form.allCases.map(\.rawValue))),
            Option(names: ["--types", "--type"], value: "TYPES", help: "Types to write to the file, separated by commas."),
            Option(names: ["--from"], value: "T", help: "Earliest start of the samples to write to the file."),
            Option(names: ["--until"], value: "T", help: "Write only samples that start before this time to the file."),
            SharedOptions.person, SharedOptions.condition, SharedOptions.timeZone,
        ],
        examples: [
            Example("vitalgate export archive --once", "Bring the target 'archive' up to date."),
            Example("vitalgate export --to me.csv.zst", "Write everything as compressed CSV."),
            Example(
                "vitalgate export --to pressure.csv --type 'blood pressure' --from 2026-11-01 --until 2026-12-01",
                "One month of one type."),
            Example(
                "vitalgate export --to doctor.csv --format report --types 'blood pressure',weight --from -90d",
                "A table for a doctor, in local time."),
            Example("vitalgate export --to me.zip --person me", "Write your own data as the Health app does."),
        ])

    /// The options that apply to files only.
    private static let ofFiles = ["--format", "--types", "--from", "--until", "--person", "--where", "--time-zone"]

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
                option, value: value, expected: "--to FILE as well (the configuration selects the samples for a target)")
        }
        let target = try context.target(name)
        try context.becomeStoreOwner()
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
        var types = try invocation.string("--types").map { Set(try context.types($0)) }
        if form == .wide || form == .report { types = try quantities(types, invocation) }
        var person = try context.person(in: store)
        // These formats contain one person.
        if form == .appleHealth || form == .report, person == nil { person = store.owner }
        let range = (
            from: try context.instant(option: "--from", zone: zone), until: try context.instant(option: "--until", zone: zone)
        )
        if let from = range.from, let until = range.until, until < from {
            throw invocation.invalid(
                "--from", value: invocation.string("--from") ?? "",
                expected: "a time no later than --until ('\(invocation.string("--until") ?? "")')")
        }
        let query = SampleQuery(
            types: types, from: range.from, to: range.until, person: person,
            where: try context.condition(for: types, zone: zone, in: store))
        let writer = try SampleFileWriter(
            path: path, form: form,
            context: try ExportContext(name: "", me: store.owner, zone: zone, now: context.machine.now),
            types: try store.samples.series(matching: query).map(\.type),
            characteristics: form == .appleHealth ? try characteristics(of: person ?? store.owner, zone, store, context) : [],
            value: {
                try BloodPressure($0, in: store).map { (text: $0.text(), unit: SampleType.bloodPressureSystolic.canonicalUnit) }
            },
            member: { try store.samples.sample($0) })
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var count = 0
        while var stored = try cursor.next() {
            // The source's record identifier is kept.
            if form == .ndjson || form == .appleHealth { stored.sample.record = try store.samples.record(of: stored.sample) }
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

    /// The types of a table: quantities, and for a blood pressure its two pressures.
    ///
    /// - Throws: ``UsageError`` if there would be none.
    private static func quantities(_ types: Set<SampleType>?, _ invocation: Invocation) throws -> Set<SampleType>? {
        guard var types else { return nil }
        if types.contains(where: { $0.id == BloodPressure.type }) {
            types.formUnion([.bloodPressureSystolic, .bloodPressureDiastolic])
        }
        guard types.contains(where: { $0.kind == .quantity }) else {
            throw invocation.invalid(
                "--types", value: invocation.string("--types") ?? "",
                expected: "quantities, since the table has only those")
        }
        return types.filter { $0.id != BloodPressure.type }
    }

    /// A person's current characteristics.
    private static func characteristics(
        of person: String, _ zone: TimeZoneRules, _ store: SampleStore, _ context: CommandContext
    ) throws -> [Characteristic] {
        let today = zone.date(of: context.machine.now())
        let history = try store.people.characteristics(of: person)
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
                "--to", value: path, expected: "a name that ends in .ndjson, .csv, .xml or .zip, or --format as well")
        }
        return form
    }
}

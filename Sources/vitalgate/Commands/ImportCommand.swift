import CommandLineKit
import FileSource
import Glibc
import HealthModel
import Hub
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// `import`: imports files into the store.
enum ImportCommand: Command {
    static let specification = CommandSpecification(
        name: "import", summary: "Import files from health devices and apps.",
        discussion: """
            Reads CSV, JSON, FHIR, CDA, FIT, TCX and GPX files, SQLite databases, and Apple Health's export.xml or the ZIP file \
            that contains it. The format is detected from the content. If you import a file twice, its readings are still stored \
            only once. Rows with an ambiguous date, time or unit are refused, and the message names the option that resolves the \
            ambiguity.

            The command prints how many readings were stored, already stored (duplicate), set aside as implausible (quarantined, \
            see 'vitalgate quarantine') or refused. The ledger keeps these numbers (see 'vitalgate ledger').

            If a file is truncated, its complete readings are imported and the missing part is reported. A truncated FIT or TCX \
            file, or an archive with a wrong checksum, is refused as a whole.
            """,
        arguments: [
            Argument(
                name: "FILE", help: "Files to import, - for standard input (omit with --from).", arity: .any, completion: .file)
        ],
        options: [
            Option(
                names: ["--from"], value: "TARGET",
                help:
                    """
                    Fetch the samples of this store back from a target in the configuration, for example after you restore an \
                    old backup.
                    """,
                completion: .targets),
            Option(
                names: ["--files-from"], value: "LIST",
                help: """
                    Import the files that this file lists, each name followed by a NUL byte (- for standard input). The list of \
                    processes then does not show the names.
                    """,
                completion: .file),
            SharedOptions.profile,
            Option(
                names: ["--person"], formerNames: ["--subject"], value: "ID",
                help: """
                    Person whose readings the files contain: me (the store's owner, default), a name, a UUID, unassigned \
                    (readings without a person), or - for the first entry of --files-from.
                    """),
            Option(names: ["--only-person"], help: "Refuse readings for which the file names another person."),
            SharedOptions.timeZone,
            Option(
                names: ["--date-order"], value: "ORDER",
                help: "Order of ambiguous dates such as 03-04-2026.",
                completion: .values(DateOrder.allCases.map(\.rawValue))),
            Option(
                names: ["--unit"], value: "COLUMN=CODE", help: "Unit of a column, if the file does not contain it.",
                repeating: true),
            Option(
                names: ["--decimal"], value: "SIGN", help: "Decimal separator, if the file is ambiguous.",
                completion: .values(["point", "comma"])),
            Option(
                names: ["--grouping"], value: "PERIOD",
                help: """
                    Length of the periods in a file of Health Auto Export (none: single samples), if the file does not contain \
                    the app's headers.
                    """,
                completion: .values(PeriodGrouping.allCases.map(\.rawValue))),
            Option(
                names: ["--exact"],
                help: """
                    Store a measurement even if another source, or another unit, has already reported it (default: only as a \
                    duplicate). Identical readings are still stored once.
                    """
            ),
            Option(
                names: ["--keep-invalid-documents"],
                help: """
                    Store CDA documents that violate the schema of HL7 (the standard's publisher), marked as invalid (default: \
                    refuse them).
                    """),
            Option(
                names: ["--whole"],
                help: """
                    Store the last row of a table even if its line break is missing (default: quarantine the row, because it may \
                    be truncated).
                    """),
            Option(
                names: ["--no-links"],
                help: "Refuse symbolic links and everything else that is not a regular file (the hub uses this for its inbox)."),
            Option(
                names: ["--leave-room"],
                help: """
                    Stop when the import has used half of the disk's free space, or when the disk is nearly full, so that readings \
                    of devices can still be stored (the hub uses this for uploads and its inbox).
                    """),
            Option(names: ["--dry-run"], help: "Show what would be imported without storing anything."),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate import ~/Downloads/export.zip", "Import an export of the Health app."),
            Example("vitalgate import weight.csv --time-zone Europe/Berlin", "Import a file with local times."),
            Example("unxz < week.csv.xz | vitalgate import -", "Import the output of another program."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode { try run(context, isRecovery: false) }

    /// - Parameter isRecovery: Whether the files have readings of this store, which return with those of its clients.
    static func run(_ context: CommandContext, isRecovery: Bool) throws -> ExitCode {
        let access = try context.access()
        let zone = try context.zone()
        if let name = context.invocation.string("--from") {
            if let file = context.invocation.arguments("FILE").first {
                throw context.invocation.invalid("FILE", value: file, expected: "no file with --from")
            }
            let lines = try TargetLines(context, target: name)
            defer { lines.remove() }
            try delete(lines.deleted, name, access, context)
            return try read([lines.file], of: context.invocation.string("--person"), access, zone, context, isRecovery: true)
        }
        let given = FileArgument.all(context.invocation.arguments("FILE"))
        var listed = try context.invocation.string("--files-from").map { try FileArgument.all(listedIn: $0) } ?? []
        var person = context.invocation.string("--person")
        if person == "-" {
            guard !listed.isEmpty else {
                throw context.invocation.invalid(
                    "--person", value: "-", expected: "--files-from with a list that begins with the person")
            }
            person = listed.removeFirst().name
        }
        guard !given.isEmpty || !listed.isEmpty else {
            throw UsageError(.missingArgument("FILE"), command: "vitalgate import")
        }
        // A missing file does not stop the import of the others.
        var files: [FileArgument] = []
        var code = ExitCode.success
        for file in given + listed {
            if let rejectionReason = file.rejectionReason {
                context.note("vitalgate: \(file.name.isEmpty ? "import" : file.name): \(rejectionReason)")
                code = .noInput
            } else {
                files.append(file)
            }
        }
        // If there is nothing to read, no store is created.
        guard !files.isEmpty else { return code }
        return graver(code, try read(files, of: person, access, zone, context, isRecovery: isRecovery))
    }

    /// Deletes the samples that the target has as deleted, before the samples that replaced them are compared with them.
    private static func delete(
        _ uuids: Set<SampleIdentity>, _ target: String, _ access: StoreAccess, _ context: CommandContext
    ) throws {
        let store = try access.openForWriting(creating: true)
        let found = try uuids.filter { try store.samples.sample($0) != nil }.sorted { $0.description < $1.description }
        guard !found.isEmpty else { return }
        let words = "\(Readable.count(found.count, "sample")) that \(target) has as deleted"
        guard !context.invocation.flag("--dry-run") else { return context.note("would delete \(words)") }
        let description = IngestDescription(
            kind: .delete, name: "import --from \(target)", received: context.machine.now().microseconds)
        let ingest = try store.samples.delete(found, description: description).ingest
        context.note("deleted \(words) (ledger entry \(ingest))")
    }

    private static func read(
        _ files: [FileArgument], of person: String?, _ access: StoreAccess, _ zone: TimeZoneRules, _ context: CommandContext,
        isRecovery: Bool
    ) throws -> ExitCode {
        Interruption.watch()
        // The import runs at lower priority than queries and live input.
        _ = nice(5)
        let run = ImportRun(
            context: context, person: person, zone: zone, options: try options(context, zone),
            library: try ProfileCommand.library(context), isRecovery: isRecovery)
        if context.invocation.flag("--dry-run") { return try rehearse(run, files, access) }
        let store = try access.openForWriting(creating: true)
        try store.ledger.closeAbandoned()
        let known = try store.quarantine.releaseKnown(received: context.machine.now().microseconds)
        if known > 0 {
            context.note(
                "\(Readable.count(known, "quarantined reading")) stored, because this version of Vitalgate knows their types or values"
            )
        }
        let code = try run.importAll(files, into: store)
        try store.checkpoint()
        return code
    }

    /// The exit code that matters more to a script.
    fileprivate static func graver(_ one: ExitCode, _ other: ExitCode) -> ExitCode {
        let order: [ExitCode] = [.success, .dataError, .noInput, .ioError, .tryAgain]
        let ranks = [one, other].map { order.firstIndex(of: $0) ?? order.count }
        return ranks[0] >= ranks[1] ? one : other
    }

    /// Shows the result of an import into the existing store, or into a temporary one.
    private static func rehearse(_ run: ImportRun, _ files: [FileArgument], _ access: StoreAccess) throws -> ExitCode {
        var access = access
        let temporary = Glibc.access(access.configuration.store, F_OK) != 0 ? try TemporaryStore() : nil
        defer { temporary?.remove() }
        if let temporary { access.configuration.store = temporary.path }
        let store = try access.openForWriting(creating: temporary != nil)
        defer { run.context.note("dry run: nothing was stored") }
        return try store.rehearse { try run.importAll(files, into: store) }
    }

    private static func options(_ context: CommandContext, _ zone: TimeZoneRules) throws -> ReadingOptions {
        let invocation = context.invocation
        var interpreter = InterpreterOptions(
            dateOrder: invocation.string("--date-order").flatMap(DateOrder.init),
            decimal: invocation.string("--decimal").map { $0 == "comma" ? .comma : .point })
        for text in invocation.strings("--unit") {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw invocation.invalid("--unit", value: text, expected: "COLUMN=CODE, such as WEIGHT=[lb_av]")
            }
            interpreter.units[String(text[..<equals])] = try HealthModel.Unit(written: text[text.index(after: equals)...])
        }
        return ReadingOptions(
            profile: invocation.string("--profile"), interpreter: interpreter,
            keepsInvalidDocuments: invocation.flag("--keep-invalid-documents"),
            grouping: invocation.string("--grouping").flatMap(PeriodGrouping.init(rawValue:)), zone: zone)
    }
}

/// One run over several files.
private struct ImportRun {
    let context: CommandContext
    let person: String?
    let zone: TimeZoneRules
    let options: ReadingOptions
    let library: ProfileLibrary
    let isRecovery: Bool

    func importAll(_ files: [FileArgument], into store: SampleStore) throws -> ExitCode {
        let person = try person.map { try StoreAccess.person($0, in: store) } ?? store.owner
        let report = AccountReport(context: context, zone: zone)
        var accounts: [IngestAccount] = []
        var code = ExitCode.success
        for file in files {
            do {
                let registry = OriginRegistry(person: person, aliases: try store.devices.aliases())
                let account = try importOne(file, store, registry, &code)
                accounts.append(account)
                // Programs get each report when its file is done.
                if context.format == .ndjson { try report.write([account]) }
            } catch let error where !(error is StoreError) && !(error is OutputError) {
                let (message, failure) = Program.explain(error)
                context.note("vitalgate: \(file.name): \(message ?? "")")
                code = ImportCommand.graver(code, failure)
            }
            if Interruption.isAsked { break }
        }
        if context.format != .ndjson, !accounts.isEmpty { try report.write(accounts) }
        return Interruption.isAsked ? .tryAgain : code
    }

    private func importOne(
        _ file: FileArgument, _ store: SampleStore, _ registry: OriginRegistry, _ code: inout ExitCode
    ) throws -> IngestAccount {
        let input = try file.open(onlyFile: context.invocation.flag("--no-links"))
        let received = context.machine.now()
        let path = file.name
        let reading = try FileReading(
            path: path, file: input, options: options, library: library, registry: registry, received: received)
        let share = context.invocation.flag("--leave-room") ? ImportShare(ofStore: store.path) : nil
        let service = ImportService(
            store: store, now: context.machine.now, zone: zone, isCancelled: { Interruption.isAsked },
            isDiskUsedUp: { share?.isUsedUp ?? false },
            comparesPaths: !context.invocation.flag("--exact"),
            trustsOpenEnds: context.invocation.flag("--whole") || file.isStandardInput,
            onlyPerson: context.invocation.flag("--only-person"), isRecovery: isRecovery)
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let began = Monotonic.nanoseconds()
        let outcome = try service.run(reading, received: received) { state in
            progress.update(
                "\(path): \(Readable.bytes(Int(reading.meter.bytes))) of \(Readable.bytes(Int(reading.size))), "
                    + "\(Readable.count(state.readings, "reading")), "
                    + Readable.rate(state.readings, inNanoseconds: Monotonic.nanoseconds() - began))
        }
        progress.finish()
        let account = outcome.account
        for note in account.notes { context.note("\(path): \(note)") }
        if let zone = account.zone { context.note("\(path): local times are read in \(zone)") }
        let unread = reading.unread.counts
        if !unread.isEmpty { context.note("\(path): not read: \(Self.list(unread))") }
        if account.read == 0, reading.isOfDatabase, !unread.isEmpty, outcome.failure == nil, !outcome.isInterrupted {
            context.note("\(path): the database has rows, but no profile reads them")
            code = ImportCommand.graver(code, .dataError)
        }
        if account.read == 0, account.skipped.isEmpty, outcome.failure == nil, !outcome.isInterrupted {
            context.note("\(path): no readings found")
        }
        if account.refused > 0 { try explainRefusals(path, account, store) }
        if reading.isOfProfile, account.refused == account.read, !(try isAllTooOld(account, store)), account.read > 0,
            outcome.failure == nil
        {
            context.note(
                "\(path): profile \(reading.profile) found no readings. Choose another with --profile, or draft one with "
                    + "'vitalgate profile suggest FILE'"
            )
        }
        if account.quarantined > 0 {
            let unknown = account.isCut ? 0 : try store.quarantine.unknownCount(of: account.id)
            let others = account.quarantined - unknown
            for case (let count, let reason) in [(others, account.isCut ? "" : " as implausible"), (unknown, " as unknown")]
            where count > 0 {
                context.note(
                    "\(path): \(Readable.count(count, "reading")) quarantined\(reason): see 'vitalgate quarantine list'")
            }
        }
        for suspicion in outcome.suspicions.prefix(5) { context.note("\(path): warning: \(SuspicionReport.sentence(suspicion))") }
        if account.isStoppedByDisk {
            code = ImportCommand.graver(code, .tryAgain)
        } else if outcome.isInterrupted {
            context.note("\(path): interrupted. Run the import again to continue")
        }
        if account.refused > 0 || account.quarantined > 0 { code = ImportCommand.graver(code, .dataError) }
        if let failure = outcome.failure, failure.kind == .inputOutput { code = ImportCommand.graver(code, .ioError) }
        return account
    }

    /// The skipped kinds, the most frequent first. The ledger has all of them.
    private static func list(_ unread: [SkipKind: Int]) -> String {
        let sorted = unread.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        let shown = sorted.prefix(8).map { "\($0.key.name) (\(Readable.count($0.value)))" }.joined(separator: ", ")
        return sorted.count > 8 ? shown + ", and \(sorted.count - 8) more" : shown
    }

    /// Whether the first refused readings were valid but older than the retention period.
    private func isAllTooOld(_ account: IngestAccount, _ store: SampleStore) throws -> Bool {
        try store.ledger.refusals(of: account.id).prefix(5).allSatisfy { $0.reason == IngestAccount.tooOld }
    }

    /// Prints the first few refusals with their places. The ledger has all of them.
    private func explainRefusals(_ path: String, _ account: IngestAccount, _ store: SampleStore) throws {
        let refusals = try store.ledger.refusals(of: account.id)
        for refusal in refusals.prefix(5) where refusal.placeKind != "more" {
            context.note("\(path): \(refusal.placeKind) \(refusal.place): \(refusal.reason)")
        }
        if account.refused > 5 {
            context.note(
                "\(path): \(Readable.count(account.refused)) refused in total. 'vitalgate ledger show \(account.id)' lists them"
            )
        }
    }
}

/// Detects a request to stop.
enum Interruption {
    // A signal handler writes this with a plain store, the only kind allowed there. The only thread reads it.
    private nonisolated(unsafe) static var asked: sig_atomic_t = 0

    static var isAsked: Bool { asked != 0 }

    /// Installs the handlers. The first signal requests a stop, and the second one kills.
    static func watch() {
        var end = sigaction()
        end.__sigaction_handler.sa_handler = { _ in Interruption.end() }
        sigaction(SIGALRM, &end, nil)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                Interruption.asked = 1
                // A process that has not stopped after three seconds ends at once, as in a power cut.
                _ = alarm(3)
            }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }

    /// Runs in a signal handler, so it only makes system calls. Stored readings stay, and the next command closes the ledger entry.
    private static func end() {
        let words: StaticString = "vitalgate: interrupted. Run the import again to continue\n"
        _ = write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
        _exit(ExitCode.tryAgain.rawValue)
    }
}

import CommandLineKit
import Formats
import HealthModel
import HealthPage
import Hub
import Ingestion
import Pipeline
import SampleStore

/// `people erase`: permanently removes everything about a person, or lists it.
struct ErasureReport {
    static let specification = CommandSpecification(
        name: "erase", summary: "Permanently erase all data of a person.",
        discussion: """
            Erases everything that the store has about the person: samples, records of deleted samples, quarantined readings, \
            duplicates, repairs, characteristics, medications, devices, grants of access, sessions of the web page, and the \
            name. The store's file is rewritten, so that no bytes remain in it. You cannot undo this. If you import the same \
            file again later, its readings are stored again. The command only prints the numbers unless you use --yes.

            Stop the hub before you run this command. The command first makes each target delete its copy. If a target does not \
            answer, nothing is erased yet, and the exit status is 75. Run the command again to continue. Clients that could read \
            the person's data and follow the changes of the store must read everything again. The \
            next backup of 'vitalgate backup' removes all older ones at its location. Copies of 'vitalgate store backup', captures \
            and imported files are not changed. The command lists those that are beside the store.
            """,
        arguments: [Argument(name: "NAME", help: "Person: a name, me or a UUID.")],
        options: [
            Option(names: ["--yes"], help: "Erase the data (default: only show how much there is)."),
            Option(
                names: ["--without"], value: "TARGET", help: "Do not make this target delete its copy.", repeating: true,
                completion: .targets),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate people erase Anna", "Show the data that would be erased."),
            Example("vitalgate people erase Anna --yes", "Erase the data."),
        ])

    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    func run() throws -> ExitCode {
        let configuration = try context.configuration()
        let without = Set(context.invocation.strings("--without"))
        for name in without where !configuration.targets.contains(where: { $0.name == name }) { _ = try context.target(name) }
        guard context.invocation.flag("--yes") else { return try show(configuration, without) }
        let access = try context.access()
        return try access.removing { store in
            // A running hub holds readings that are not in the store yet, so its lock is required.
            let lock = try access.lock(store)
            return try withExtendedLifetime(lock) { try erase(from: store, configuration, without) }
        }
    }

    // MARK: Shown

    private func show(_ configuration: Configuration, _ without: Set<String>) throws -> ExitCode {
        let store = try context.openForReading()
        let person = try person(in: store)
        let counts = try store.erasure.counts(of: person)
        guard try !isUnknown(person, counts, store) else { return .success }
        let rows: [(String, Int)] = [
            ("samples", counts.samples), ("tombstones", counts.tombstones), ("in quarantine", counts.quarantined),
            ("duplicates", counts.duplicates), ("characteristics", counts.characteristics),
            ("medications", counts.medications), ("devices", counts.devices), ("grants of clients", counts.grants),
            ("sessions of the page", counts.sessions), ("notes on days", counts.annotations), ("goals", counts.goals),
            ("alerts", counts.alerts),
        ]
        let shown = rows.filter { $0.1 > 0 }
        if context.format == .ndjson {
            var object = JSONObject()
            for (description, count) in shown { object.set(description, count) }
            try context.streams.output.write(object.line)
        } else {
            try TableOutput(context: context).write(
                header: ["what", "count"], rows: shown.map { [$0.0, context.format == .csv ? "\($0.1)" : Readable.count($0.1)] })
        }
        for target in try targetsToNotify(configuration, without, store) {
            context.note("the target \(target.name) would delete its copy first")
        }
        nameCopies(of: store, person, configuration, isEstimated: isEstimated(person, configuration, store))
        context.note("all of it would be permanently erased (confirm with --yes)")
        return .success
    }

    private func person(in store: SampleStore) throws -> String {
        let person = try StoreAccess.person(context.invocation.argument("NAME") ?? "", in: store)
        guard person != Origin.unassigned else {
            throw context.invocation.invalid(
                "NAME", value: Origin.unassigned, expected: "a person (use 'vitalgate delete' for unassigned samples)")
        }
        return person
    }

    private func isUnknown(_ person: String, _ counts: ErasureCounts, _ store: SampleStore) throws -> Bool {
        guard counts.isEmpty, try !store.people.all().contains(where: { $0.id == person }) else { return false }
        context.note("the store has no data of this person")
        return true
    }

    /// The targets that have the person's data and have to be notified.
    private func targetsToNotify(
        _ configuration: Configuration, _ without: Set<String>, _ store: SampleStore
    ) throws -> [TargetConfiguration] {
        let known = Set(try store.targets.all().map(\.name))
        return configuration.targets.filter { known.contains($0.name) && !without.contains($0.name) }
    }

    private func isEstimated(_ person: String, _ configuration: Configuration, _ store: SampleStore) -> Bool {
        (try? configuration.estimates(in: store))?[person] != nil
    }

    private func nameCopies(of store: SampleStore, _ person: String, _ configuration: Configuration, isEstimated: Bool) {
        for location in configuration.backup.locations {
            context.note(
                "the backups at \(location.name) still have its data: the hub makes a new backup and removes all older ones when it runs "
                    + "and the location is there ('vitalgate backup run \(location.name)' does it now)")
        }
        for path in StoreCopies.companions(store.path) { context.note("a copy of the store still has its data: \(path)") }
        if let inbox = configuration.hub.inbox { context.note("imported files are still in the inbox: \(inbox)") }
        if configuration.person == person { context.note("the configuration file still has this person's UUID as 'subject'") }
        if isEstimated {
            context.note("the configuration file names this person in 'bodyComposition': remove it, or the hub will not start")
        }
    }

    // MARK: Done

    private func erase(
        from store: SampleStore, _ configuration: Configuration, _ without: Set<String>
    ) throws -> ExitCode {
        let hasFinished = try store.erasure.isUnfinished
        if hasFinished {
            try store.erasure.finish()
            context.note("an interrupted erasure is now complete")
        }
        let person: String
        do {
            person = try self.person(in: store)
        } catch let error as ConfigurationError {
            // The name was erased with everything else.
            guard hasFinished else { throw error }
            return .success
        }
        if let inbox = configuration.hub.inbox {
            try FolderOwner.acting(asOwnerOf: inbox) { WaitingUpload.removeAll(of: person, in: inbox) }
        }
        try FolderOwner.acting(asOwnerOf: configuration.store) {
            try CarriedLines.removeAll(of: person, isOwner: person == store.owner, besides: configuration.store)
        }
        let targets = try targetsToNotify(configuration, without, store)
        if try isUnknown(person, store.erasure.counts(of: person), store) {
            // The store may have been restored from a backup that is older than the readings.
            for target in targets where try !erases(target, person, store) {
                context.note("\(target.name) has not confirmed: run this again when it answers, or with --without \(target.name)")
                return .tryAgain
            }
            return .success
        }
        if !targets.isEmpty {
            var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
            try store.erasure.deleteAll(of: person, at: context.machine.now()) {
                progress.update("\(Readable.count($0, "sample")) deleted")
            }
            progress.finish()
            for target in targets where try !deliverErasure(target, of: person, store) {
                context.note(
                    "\(target.name) has not confirmed, so the samples are deleted but not erased yet: "
                        + "run this again when it answers, or with --without \(target.name)")
                return .tryAgain
            }
        }
        let isOwn = person == store.owner
        // The name is known until the erasure.
        let isEstimated = isEstimated(person, configuration, store)
        let (ingest, count) = try store.erasure.erase(person, notified: Set(targets.map(\.name)), at: context.machine.now())
        context.note(
            "all data of this person is erased (samples and tombstones: \(Readable.count(count)), ledger entry \(ingest))"
        )
        if isOwn {
            context.note("'me' is a new, unknown person now: restart programs that have the store open")
        }
        let isUnresolved = (try? configuration.estimates(in: store)) == nil
        nameCopies(of: store, person, configuration, isEstimated: isEstimated && isUnresolved)
        return .success
    }

    /// Brings a target up to date. Returns `false` if it does not accept the changes.
    private func deliverErasure(_ target: TargetConfiguration, of person: String, _ store: SampleStore) throws -> Bool {
        let process = try ExportProcess(context, target, store)
        let code = try withExtendedLifetime(process) { try process.runOnce() }
        guard code == .success || code == .dataError else { return false }
        guard
            try !store.targets.setAside(by: target.name).contains(where: { each in
                try store.changes.change(of: each.uuid)?.sample.origin.person == person
            })
        else { return false }
        return try erases(target, person, store)
    }

    /// Has a target withdraw readings of the person that this store does not know any more, if it can. Returns `false` if it does not answer.
    private func erases(_ target: TargetConfiguration, _ person: String, _ store: SampleStore) throws -> Bool {
        guard let exporter = try context.assemble(target, store).exporter as? any ErasingExporter else { return true }
        do throws(DeliveryError) {
            try exporter.erase(person: person)
            return true
        } catch {
            context.note("\(target.name): \(TerminalText.sanitized(error.reason))")
            return false
        }
    }
}

import CommandLineKit
import Formats
import Gateway
import HealthModel
import SampleStore

/// `people erase`: permanently removes everything about a person, or lists it.
struct ErasureReport {
    static let specification = CommandSpecification(
        name: "erase", summary: "Remove everything about a person for good.",
        discussion: """
            Samples and objects of every kind, tombstones, what is held in quarantine, what other paths told, repairs, characteristics, medications, devices, \
            grants, sessions and the name: no row is left, and the file is written anew, so that its octets are gone, too. No 'undo' brings it back; the same \
            file imported again does. Without --yes it only says what would go.

            Targets are told first: their copies are deleted as by 'vitalgate delete'. Where one does not answer, nothing is erased yet; the status is 75, and the same \
            command goes on. --without leaves a target what it has. Programs that follow changes, and could read something of it, are told to begin again. \
            The hub has to be stopped. Backups, captures and files that were imported are files of yours; those beside the store are named.
            """,
        arguments: [Argument(name: "NAME", help: "A name, me or a UUID.")],
        options: [
            Option(names: ["--yes"], help: "Do it without showing first."),
            Option(
                names: ["--without"], value: "TARGET", help: "Do not tell this target; may be given again.", repeating: true,
                completion: .command("vitalgate targets list --names")),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate people erase Anna", "What there is of her."),
            Example("vitalgate people erase Anna --yes", "Nothing is left of it."),
        ])

    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    func run() throws -> ExitCode {
        let configuration = try context.configuration()
        let without = Set(context.invocation.strings("--without"))
        for name in without where !configuration.targets.contains(where: { $0.name == name }) { _ = try context.target(name) }
        guard context.invocation.flag("--yes") else { return try show(configuration, without) }
        let store = try context.access().openForWriting(creating: false)
        // A running hub holds readings that are not in the store yet, so its lock is required.
        let lock = try HubLock(store: store.path)
        return try withExtendedLifetime(lock) { try erase(from: store, configuration, without) }
    }

    // MARK: Shown

    private func show(_ configuration: Configuration, _ without: Set<String>) throws -> ExitCode {
        let store = try context.openForReading()
        let subject = try subject(in: store)
        let counts = try store.erasable(of: subject)
        guard try !isUnknown(subject, counts, store) else { return .success }
        let rows: [(String, Int)] = [
            ("samples", counts.samples), ("tombstones", counts.tombstones), ("in quarantine", counts.held),
            ("told by other paths as well", counts.witnesses), ("characteristics", counts.characteristics),
            ("medications", counts.medications), ("devices", counts.devices), ("grants of clients", counts.grants),
            ("sessions of the page", counts.sessions),
        ]
        let shown = rows.filter { $0.1 > 0 }
        if context.format == .ndjson {
            var object = JSONObject()
            for (what, count) in shown { object.set(what, count) }
            try context.streams.output.write(object.line)
        } else {
            try TableOutput(context: context).write(
                header: ["what", "count"], rows: shown.map { [$0.0, context.format == .csv ? "\($0.1)" : Readable.count($0.1)] })
        }
        for target in try told(configuration, without, store) {
            context.note("the target \(target.name) would be told first")
        }
        nameCopies(of: store, subject, configuration, isEstimated: isEstimated(subject, configuration, store))
        context.note("all of it would be erased for good; --yes does it")
        return .success
    }

    private func subject(in store: SampleStore) throws -> String {
        let subject = try StoreAccess.subject(context.invocation.argument("NAME") ?? "", in: store)
        guard subject != Origin.unassigned else {
            throw context.invocation.invalid(
                "NAME", value: Origin.unassigned, expected: "a person: 'vitalgate delete' deletes what is nobody's")
        }
        return subject
    }

    private func isUnknown(_ subject: String, _ counts: ErasureCounts, _ store: SampleStore) throws -> Bool {
        guard counts.isEmpty, try !store.persons().contains(where: { $0.subject == subject }) else { return false }
        context.note("nothing is known of this person")
        return true
    }

    /// The targets that have the person's data and have to be notified.
    private func told(
        _ configuration: Configuration, _ without: Set<String>, _ store: SampleStore
    ) throws -> [TargetConfiguration] {
        let known = Set(try store.targets().map(\.name))
        return configuration.targets.filter { known.contains($0.name) && !without.contains($0.name) }
    }

    private func isEstimated(_ subject: String, _ configuration: Configuration, _ store: SampleStore) -> Bool {
        (try? configuration.estimates(in: store))?[subject] != nil
    }

    private func nameCopies(of store: SampleStore, _ subject: String, _ configuration: Configuration, isEstimated: Bool) {
        for path in StoreCopies.beside(store.path) { context.note("a copy of a store has what it had: \(path)") }
        if let inbox = configuration.hub.inbox { context.note("files that were imported are in the inbox: \(inbox)") }
        if configuration.subject == subject { context.note("the configuration file names this person's UUID, as subject") }
        if isEstimated {
            context.note("the configuration file names this person in bodyComposition: take that out, or the hub does not start")
        }
    }

    // MARK: Done

    private func erase(
        from store: SampleStore, _ configuration: Configuration, _ without: Set<String>
    ) throws -> ExitCode {
        let hasFinished = try store.isErasureUnfinished
        if hasFinished {
            try store.finishErasure()
            context.note("an erasure that was interrupted is finished")
        }
        let subject: String
        do {
            subject = try self.subject(in: store)
        } catch let error as ConfigurationError {
            // The name was erased with everything else.
            guard hasFinished else { throw error }
            return .success
        }
        guard try !isUnknown(subject, store.erasable(of: subject), store) else { return .success }
        let targets = try told(configuration, without, store)
        if !targets.isEmpty {
            var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
            try store.deleteAll(of: subject, at: context.machine.now()) {
                progress.update("\(Readable.count($0, "sample")) deleted")
            }
            progress.finish()
            for target in targets where try !hears(target, of: subject, store) {
                context.note(
                    "\(target.name) does not know of it yet, so all that is done is that the samples are deleted: do this again once it answers, or with --without \(target.name)"
                )
                return .tryAgain
            }
        }
        let isOwn = subject == store.subject
        // The name is known until the erasure.
        let isEstimated = isEstimated(subject, configuration, store)
        let (ingest, count) = try store.erase(subject, told: Set(targets.map(\.name)), at: context.machine.now())
        context.note(
            "everything about this person is erased; samples and tombstones among it: \(Readable.count(count)) (this is ledger entry \(ingest))"
        )
        if isOwn {
            context.note("me is somebody new now; programs that have the store open have to be started again")
        }
        let isUnresolved = (try? configuration.estimates(in: store)) == nil
        nameCopies(of: store, subject, configuration, isEstimated: isEstimated && isUnresolved)
        return .success
    }

    /// Brings a target up to date. Returns `false` if it does not accept the changes.
    private func hears(_ target: TargetConfiguration, of subject: String, _ store: SampleStore) throws -> Bool {
        let process = try ExportProcess(context, target, store)
        let code = try withExtendedLifetime(process) { try process.runOnce() }
        guard code == .success || code == .dataError else { return false }
        return try !store.setAside(by: target.name).contains { each in
            try store.change(of: each.uuid)?.sample.origin.subject == subject
        }
    }
}

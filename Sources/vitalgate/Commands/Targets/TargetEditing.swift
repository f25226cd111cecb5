import CommandLineKit
import ExportEngine
import Glibc
import Hub
import Ingestion
import Pipeline
import SampleStore

/// `targets add` and `targets remove`: change the configuration's targets without an editor.
struct TargetEditing {
    static let addition = CommandSpecification(
        name: "add", summary: "Add a target to the configuration.",
        discussion: """
            Checks the target and adds it to the configuration file. The rest of the file does not change, including comments. If the \
            settings are wrong or the check fails, nothing changes.

            SETTING is KEY=VALUE, or KEY.NAME=VALUE for a part of an object, such as units.bodyMass=lb or staleAfter.heartRate=300. A list \
            is separated by commas. Repeat command= for each argument of a program. A password or token is not part of a command line: \
            password.file=/PATH and password.environment=NAME name its place. password=- asks for it and stores it in a new file beside the \
            configuration.

            Keys of all targets: \(keys(TargetConfiguration.settings.dropFirst())).

            \(ExporterKind.allCases.map { "Keys of \($0.rawValue): \(keys($0.settings))." }.joined(separator: "\n\n"))

            docs/reference/configuration.md explains each key.
            """,
        arguments: [
            Argument(name: "KIND", help: "Kind of the target.", completion: .values(ExporterKind.allCases.map(\.rawValue))),
            Argument(name: "NAME", help: "New name: a to z, 0 to 9 and -."),
            Argument(name: "SETTING", help: "KEY=VALUE of this kind.", arity: .any),
        ],
        options: [
            Option(names: ["--no-check"], help: "Add it even if it does not accept data."),
            Option(names: ["--create"], help: "Create missing parts, such as a database's tables."), Format.option, Format.safe,
        ],
        examples: [
            Example(
                "vitalgate targets add mqtt home url=mqtt://localhost user=vitalgate password=-",
                "Send to Home Assistant's broker. It asks for the password."),
            Example(
                "vitalgate targets add postgresql db database=health user=me types=weight,'Blood Pressure' --create",
                "Fill a database with two types."),
            Example(
                "vitalgate targets add homeassistant home url=https://ha.example.org token=-",
                "Keep the statistics in Home Assistant equal to yours. It asks for the token and tests it."),
            Example("vitalgate targets add files archive folder=/srv/vitalgate/archive", "Write files of lines."),
        ])

    static let removal = CommandSpecification(
        name: "remove", summary: "Remove a target from the configuration.",
        discussion: """
            What was sent stays at the target, unless you use --delete, which the kind homeassistant can. The rest of the file does not \
            change, including comments.
            """,
        arguments: [
            Argument(name: "TARGET", help: "Name of a target.", completion: .targets)
        ], options: [Option(names: ["--delete"], help: "Also remove everything that was sent (kind homeassistant).")])

    private static func keys(_ settings: some Sequence<ExporterSetting>) -> String {
        settings.map(\.key).joined(separator: ", ")
    }

    private let context: CommandContext
    private let file: ConfigurationFile
    /// The configuration before the change.
    private let before: Configuration

    init(_ context: CommandContext) throws {
        self.context = context
        before = try context.configuration()
        file = try ConfigurationFile(context)
    }

    // MARK: Adding

    func add() throws -> ExitCode {
        let invocation = context.invocation
        let name = invocation.argument("NAME") ?? ""
        guard let kind = invocation.argument("KIND").flatMap({ ExporterKind(rawValue: $0) }) else { return .usage }
        if invocation.flag("--no-check"), invocation.flag("--create") {
            throw invocation.invalid("--create", value: "--no-check", expected: "only one of the two")
        }
        try before.checkIsFree(target: name, in: file)
        var draft: TargetDraft
        do throws(SettingsFault) {
            draft = try TargetDraft(kind: kind, settings: invocation.arguments("SETTING"))
        } catch {
            throw ConfigurationError("'\(error.key)': \(error.words)", isOfOption: true)
        }
        for key in draft.askedSecrets { draft.set(key, secretIn: file.secretPath(name, key)) }
        let text = try TargetText.adding(name, draft.object, to: file.bytes)
        let keys = Self.keys(TargetDraft.settings(of: kind))
        let target = try file.adding(text, "target", hint: "; give a key of \(kind.rawValue) as KEY=VALUE: \(keys)", context) {
            before.target(name, addedBy: $0)
        }

        var secrets: [String] = []
        do {
            for key in draft.askedSecrets { secrets.append(try file.storeSecret(name, key, option: "\(key).file=", context)) }
            guard try isAccepted(target) else {
                for path in secrets { unlink(path) }
                context.note(
                    "vitalgate: \(file.path) was not changed: fix the problem and run the command again, or add the target anyway with "
                        + "--no-check")
                return .unavailable
            }
            try file.replace(with: text)
        } catch {
            for path in secrets { unlink(path) }
            throw error
        }
        for path in secrets { context.note("vitalgate: stored the secret in \(path)") }
        context.note("vitalgate: added the target '\(name)' to \(file.path)")
        file.noteNext(
            before, context,
            otherwise: "the hub sends to it after you start it with 'vitalgate run'; 'vitalgate export \(name) --once' sends now")
        if file.isOfService, kind != .command {
            context.note(
                "vitalgate: the service cannot use the network or folders outside /var/lib/vitalgate before you allow it "
                    + "(see 'Network and folder access' in docs/how-to/export.md)")
        }
        return .success
    }

    private func isAccepted(_ target: TargetConfiguration) throws -> Bool {
        if context.invocation.flag("--no-check") { return true }
        do {
            return try context.check(target, try context.openForReading())
        } catch let error as StoreError where error.kind == .missing {
            context.note(
                "vitalgate: not checked, since there is no store yet: run 'vitalgate targets check \(target.name)' later")
            return true
        }
    }

    // MARK: Removing

    func remove() throws {
        let name = context.invocation.argument("TARGET") ?? ""
        let target = try context.target(name)
        let (text, _) = try file.removing(name, under: [TargetConfiguration.key], "target", context) { $0.targets.map(\.name) }
        // If it fails, the target stays in the file, so that the command can be repeated.
        let removed = try context.invocation.flag("--delete") ? clear(target) : nil
        try file.replace(with: text)
        let outcome = removed.map { "\(Readable.count($0, "statistic")) removed there" } ?? "what was sent stays there"
        context.note("vitalgate: removed the target '\(name)' from \(file.path); \(outcome)")
        file.noteNext(before, context, otherwise: nil)
        for setting in target.kind.settings where setting.form == .secret { file.noteSecret(name, setting.key, context) }
    }

    /// Removes everything that was sent, as the owner of the store. Returns the number of removed objects.
    private func clear(_ target: TargetConfiguration) throws -> Int {
        try FolderOwner.acting(asOwnerOf: context.configuration().store) {
            let store = try context.access().openForWriting(creating: false)
            guard let exporter = try context.assemble(target, store).exporter as? any ClearableExporter else {
                throw context.invocation.invalid(
                    "--delete", value: target.name,
                    expected: "a target of the kind homeassistant (remove the data there yourself)")
            }
            defer { try? exporter.finish() }
            _ = try exporter.check()
            return try HourComparison.clear(target.name, exporter, store, now: context.machine.now())
        }
    }
}

extension Configuration {
    /// - Throws: ``ConfigurationError`` if there is a target of this name.
    func checkIsFree(target name: String, in file: ConfigurationFile) throws {
        guard targets.contains(where: { $0.name == name }) else { return }
        throw ConfigurationError(
            "\(file.path) already has a target '\(name)': choose another name, change it there, or remove it with "
                + "'vitalgate targets remove \(name)'", isOfOption: true)
    }

    /// The only target that a new configuration has in addition to this one, or `nil` if it differs in other targets, too.
    func target(_ name: String, addedBy changed: Configuration) -> TargetConfiguration? {
        guard changed.targets.map(\.name) == (targets.map(\.name) + [name]).sorted() else { return nil }
        return changed.targets.first { $0.name == name }
    }
}

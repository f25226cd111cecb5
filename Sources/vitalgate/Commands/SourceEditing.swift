import CommandLineKit
import Glibc
import HomeAssistantKit
import HomeAssistantSource
import Hub
import Ingestion
import Pipeline

/// `sources add` and `sources remove`: change the configuration's other receivers without an editor.
struct SourceEditing {
    static let addition = CommandSpecification(
        name: "add", summary: "Add the Bluetooth radios of Home Assistant.",
        discussion: """
            The hub then also reads your adopted devices through the Bluetooth adapters and proxies of a Home Assistant. It needs \
            nothing installed there. An advertisement that several radios hear is stored once.

            The command asks for a long-lived access token of an administrator, tests it, and stores it in a new file beside the \
            configuration. If the test fails, nothing changes.
            """,
        arguments: [
            Argument(
                name: "KIND", help: "Kind of the source.",
                completion: .values(SourceConfiguration.Kind.allCases.map(\.rawValue))),
            Argument(name: "URL", help: "Address of Home Assistant, as in a browser."),
        ],
        options: [
            Option(names: ["--name"], value: "NAME", help: "Name of the source: a to z, 0 to 9 and - (default: the kind)."),
            Option(
                names: ["--token-file"], value: "FILE", help: "Use the token in this file instead of asking for one.",
                completion: .file),
            Option(
                names: ["--certificate-authority"], value: "FILE", help: "Trust the certificates in this file.", completion: .file
            ),
            Option(
                names: ["--allow-unencrypted"], help: "Allow http:// to another machine, where others may read the token."),
            Option(names: ["--no-check"], help: "Add it without a test."),
        ],
        examples: [
            Example(
                "vitalgate sources add homeassistant https://ha.example.org --name house",
                "Listen to every radio of the house. It asks for the token and tests it.")
        ])

    static let removal = CommandSpecification(
        name: "remove", summary: "Remove the Bluetooth radios of Home Assistant.",
        discussion: "Readings that were stored stay. The rest of the file does not change, including comments.",
        arguments: [Argument(name: "NAME", help: "Name of a source that you added with 'sources add'.")])

    private let context: CommandContext
    private let file: ConfigurationFile
    /// The configuration before the change.
    private let before: Configuration

    init(_ context: CommandContext) throws {
        self.context = context
        before = try context.configuration()
        file = try ConfigurationFile(context)
    }

    func add() throws -> ExitCode {
        let invocation = context.invocation
        let kind = invocation.argument("KIND") ?? ""
        let name = invocation.string("--name") ?? kind
        guard !before.sources.contains(where: { $0.name == name }) else {
            throw ConfigurationError(
                "\(file.path) already has a source '\(name)': choose another name with --name, or remove it with "
                    + "'vitalgate sources remove \(name)'", isOfOption: true)
        }
        let given = invocation.string("--token-file").map(SmallFile.absolute)
        var object =
            "{ kind: \(JSON5Text.quoted(kind)), url: \(JSON5Text.quoted(invocation.argument("URL") ?? "")), "
            + "token: { file: \(JSON5Text.quoted(given ?? file.secretPath(name, "token"))) }"
        if let path = invocation.string("--certificate-authority") {
            object += ", certificateAuthority: \(JSON5Text.quoted(SmallFile.absolute(path)))"
        }
        if invocation.flag("--allow-unencrypted") { object += ", allowUnencrypted: true" }
        let text = try TargetText.adding(name, object + " }", to: file.bytes, under: [SourceConfiguration.key])
        let source = try file.adding(text, "source", context) { changed in
            changed.sources.count == before.sources.count + 1 ? changed.sources.first { $0.name == name } : nil
        }

        let stored = given == nil ? try file.storeSecret(name, "token", option: "--token-file ", context) : nil
        do {
            guard invocation.flag("--no-check") || hasAdverts(source) else {
                if let stored { unlink(stored) }
                context.note("vitalgate: \(file.path) was not changed: fix the problem and run the command again")
                return .unavailable
            }
            try file.replace(with: text)
        } catch {
            if let stored { unlink(stored) }
            throw error
        }
        if let stored { context.note("vitalgate: stored the secret in \(stored)") }
        context.note("vitalgate: added the source '\(name)' to \(file.path)")
        file.noteNext(before, context, otherwise: "the hub listens after you start it with 'vitalgate run'")
        if file.isOfService {
            context.note(
                "vitalgate: the service cannot use the network before you allow it (see 'Network and folder access' in "
                    + "docs/how-to/export.md)")
        }
        return .success
    }

    private func hasAdverts(_ source: SourceConfiguration) -> Bool {
        do throws(HomeAssistantError) {
            let (version, radios) = try AdvertListener.check(source.settings)
            let names = radios.isEmpty ? "" : ": " + radios.map { TerminalText.sanitized($0) }.joined(separator: ", ")
            context.note(
                "Home Assistant \(TerminalText.sanitized(version)), the token is an administrator's, "
                    + "\(Readable.count(radios.count, "radio"))\(names)")
            if radios.isEmpty {
                context.warn("it has no Bluetooth adapter or proxy that works, so nothing is heard")
            }
            return true
        } catch {
            context.note("vitalgate: \(source.settings.address.text): \(error)")
            return false
        }
    }

    func remove() throws -> ExitCode {
        let name = context.invocation.argument("NAME") ?? ""
        guard before.sources.contains(where: { $0.name == name }) else {
            let known = before.sources.map(\.name).joined(separator: ", ")
            throw ConfigurationError(
                "there is no source '\(name)' in the configuration" + (known.isEmpty ? "" : ", but \(known)"), isOfOption: true)
        }
        let (text, _) = try file.removing(name, under: [SourceConfiguration.key], "source", context) { $0.sources.map(\.name) }
        try file.replace(with: text)
        context.note("vitalgate: removed the source '\(name)' from \(file.path)")
        file.noteNext(before, context, otherwise: nil)
        file.noteSecret(name, "token", context)
        return .success
    }
}

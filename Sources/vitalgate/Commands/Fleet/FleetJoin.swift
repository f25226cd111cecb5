import CommandLineKit
import EventLoopKit
import FleetProtocol
import Glibc
import Hub
import Ingestion
import NATSKit
import Pipeline

/// `fleet join`: adds a hub to a fleet.
struct FleetJoin {
    static let specification = CommandSpecification(
        name: "join", summary: "Let this hub join a fleet.",
        discussion: """
            Creates a key for this hub, sends its public part to the center, and adds a target of the kind 'fleet' to the \
            configuration. The secret part stays in a file beside the configuration, which only the hub can read. If the command \
            fails, repeat it with the same code.

            From then on, the hub sends its readings to the center, and runs the commands that 'vitalgate fleet command' gives it. To \
            refuse commands, remove the key 'commandKey' from the target. If the code ends with -S, the hub seals everything that it \
            sends, and the broker cannot read it (key 'sealingKey').
            """,
        arguments: [
            Argument(name: "URL", help: "Address of the broker and the name of the fleet."),
            Argument(name: "CODE", help: "Code from 'vitalgate fleet enroll'."),
        ],
        options: [
            Option(names: ["--target"], value: "NAME", help: "Name of the new target (default: center)."),
            Option(
                names: ["--certificate-authority"], value: "FILE",
                help: "Trusted certificates of the broker (default: the system's).", completion: .file),
        ],
        examples: [
            Example("vitalgate fleet join tls://broker.example.org:4222/study KQ3ZD-7MFPA-XEW2B-CRN5T", "Join the fleet 'study'.")
        ])

    private let context: CommandContext
    private let file: ConfigurationFile
    private let before: Configuration

    /// The wait for the center in milliseconds.
    private static let timeout = 20_000

    init(_ context: CommandContext) throws {
        self.context = context
        before = try context.configuration()
        file = try ConfigurationFile(context)
    }

    func run() throws -> ExitCode {
        let invocation = context.invocation
        let (server, subject) = try address()
        guard let code = invocation.argument("CODE").flatMap({ EnrollmentCode($0) }) else {
            // A mistyped code must not end up in a log.
            throw invocation.invalid("CODE", value: "…", expected: "a code of 20 or 21 characters from 'vitalgate fleet enroll'")
        }
        let target = invocation.string("--target") ?? "center"
        try before.checkIsFree(target: target, in: file)
        let store = try context.access().openForWriting(creating: true, takesStreams: true)
        let path = "\(SmallFile.folder(of: file.path))/\(target).seed"
        let text = try configuration(target, server, subject, path)
        let key = try KeyFile.key(at: path, ofStore: before.store)
        let reply = try join(server, subject, code, JoinRequest(store: store.identifier, key: key.publicText))
        try awaitBroker(server, subject, key)
        try file.replace(with: text(key.publicText, reply))
        context.note("vitalgate: this hub belongs to the fleet '\(subject.fleet)' as '\(TerminalText.sanitized(reply.name))'")
        if reply.sealingKey != nil { context.note("vitalgate: it seals everything that it sends, and the broker cannot read it") }
        if reply.commandKey == nil { context.note("vitalgate: it runs no commands, because the center has no key to sign them") }
        context.note("vitalgate: added the target '\(target)' to \(file.path)")
        if file.isOfService {
            context.note(
                "vitalgate: allow the service to use the network (see docs/how-to/export.md), and run 'sudo systemctl reload vitalgate'"
            )
        }
        return .success
    }

    /// The broker and the fleet of an address such as `tls://broker.example.org:4222/study`.
    private func address() throws -> (server: String, subject: FleetSubject) {
        let url = context.invocation.argument("URL") ?? ""
        if let slash = url.lastIndex(of: "/"), let subject = FleetSubject(fleet: String(url[url.index(after: slash)...])),
            NATSSettings.isValid(server: String(url[..<slash])), url[..<slash].filter({ $0 == "/" }).count == 2
        {
            return (String(url[..<slash]), subject)
        }
        throw context.invocation.invalid("URL", value: url, expected: "an address such as tls://broker.example.org:4222/FLEET")
    }

    /// Returns a function that makes the configuration's new text, after a check with an example of a key.
    private func configuration(
        _ target: String, _ server: String, _ subject: FleetSubject, _ path: String
    ) throws -> (_ key: String, _ reply: JoinReply?) throws -> [UInt8] {
        let absolute = SmallFile.absolute(path)
        let authority = context.invocation.string("--certificate-authority").map(SmallFile.absolute)
        let (file, machine) = (file, context.machine)
        func text(_ key: String, _ reply: JoinReply?) throws -> [UInt8] {
            var settings = ["servers=\(server)", "fleet=\(subject.fleet)", "nkey=\(key)", "seedFile=\(absolute)"]
            if let commandKey = reply?.commandKey { settings.append("commandKey=\(commandKey)") }
            if let sealingKey = reply?.sealingKey { settings.append("sealingKey=\(sealingKey)") }
            if let authority { settings.append("certificateAuthority=\(authority)") }
            let draft: TargetDraft
            do throws(SettingsFault) {
                draft = try TargetDraft(kind: .fleet, settings: settings)
            } catch {
                throw ConfigurationError("'\(error.key)': \(error.words)", isOfOption: true)
            }
            return try TargetText.adding(target, draft.object, to: file.bytes)
        }
        let changed = try Configuration(text: text("U", nil), of: file.path, machine: machine)
        guard before.target(target, addedBy: changed) != nil else { throw file.unusual("add the target") }
        return text
    }

    private func settings(
        _ server: String, _ subject: FleetSubject, _ key: NKey, for client: String
    ) -> NATSSettings {
        var settings = NATSSettings(
            servers: [server], credentials: .seed(public: key.publicText, seed: key.seedText),
            certificateAuthority: context.invocation.string("--certificate-authority"), name: "vitalgate join")
        settings.replies = subject.replies(to: client)
        return settings
    }

    /// Sends the request and returns the center's reply.
    ///
    /// - Throws: ``DeliveryError`` also if the reply has a key that does not come from the person who made the code.
    private func join(
        _ server: String, _ subject: FleetSubject, _ code: EnrollmentCode, _ request: JoinRequest
    ) throws -> JoinReply {
        let key = code.key.publicText
        let bytes = request.bytes(signedWith: code)
        let answer = try retrying { () throws(NATSError) in
            let connection = try NATSConnection(settings(server, subject, code.key, for: key), .once)
            return try connection.request(subject.joining(with: key), bytes, milliseconds: Self.timeout)
        }
        switch FleetReply(bytes: answer, forCode: code, subject) {
        case .joined(let reply):
            guard reply.isGenuine(code, subject, hubKey: request.key) else {
                throw DeliveryError(.unfit, "the reply has a key that does not belong to the code, or lacks one")
            }
            return reply
        case .failure(let error): throw error
        default: throw DeliveryError(.unreachable, "the collector's reply is not one to this request: update both")
        }
    }

    /// Waits until the broker knows the hub's key.
    private func awaitBroker(_ server: String, _ subject: FleetSubject, _ key: NKey) throws(DeliveryError) {
        do throws(DeliveryError) {
            _ = try retrying { () throws(NATSError) in try NATSConnection(settings(server, subject, key, for: "join"), .once) }
        } catch {
            guard error.isAboutAccess else { throw error }
            context.note(
                "vitalgate: the broker does not know this hub's key yet: it has to use the list of 'vitalgate fleet broker-config'"
            )
        }
    }

    /// Repeats a step for some seconds while the broker refuses the key, because it reads new keys only after a moment.
    private func retrying<Result>(_ body: () throws(NATSError) -> Result) throws(DeliveryError) -> Result {
        let end = ContinuousClock.now + .milliseconds(Self.timeout)
        while true {
            do throws(NATSError) {
                return try body()
            } catch {
                guard error.kind == .unauthorised, ContinuousClock.now < end else { throw DeliveryError(error) }
                usleep(250_000)
            }
        }
    }
}

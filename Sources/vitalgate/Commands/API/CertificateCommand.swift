import CommandLineKit
import CryptographyKit
import EventLoopKit
import Glibc
import HTTPServerKit
import HealthModel
import HealthPage
import Hub
import Ingestion
import Pipeline

/// `api certificate`: the hub's own certificate authority and server certificate. Phones accept the certificate after they trust
/// the authority.
struct CertificateCommand {
    static let specification = CommandSpecification(
        name: "certificate", summary: "Create or renew the TLS certificate of the hub.",
        discussion: """
            The first run creates a certificate authority (authority.pem), and a key and a certificate for the hub (hub-key.pem, \
            hub.pem). The authority signs the certificate, which is valid for 397 days. Install authority.pem once on each \
            phone, so that the phone accepts the hub. It does not change when the certificate is renewed. The authority can sign \
            only certificates for private network addresses and for the names that you give in the first run.

            If you give no NAME, the first certificate contains the names in 'api.hosts' and the address in 'api.listen' of the \
            configuration, and this machine's name and addresses. A later certificate keeps the names of the one before. You can \
            run the command every day. It creates a new certificate only if the old one expires within 60 days or if the names \
            have changed, and a running hub then uses the new one.
            """,
        arguments: [Argument(name: "NAME", help: "Name or address of the hub.", arity: .any)],
        options: [
            Option(
                names: ["--folder"], value: "FOLDER",
                help: "Folder for the files (default: tls in the folder of the configuration file)."),
            Option(
                names: ["--renew"], help: "Create a new certificate even if the old one is still valid for more than 60 days."),
            Option(names: ["--new-authority"], help: "Create a new authority, which you must then install on each phone again."),
        ],
        examples: [
            Example("vitalgate api certificate hub.home 192.168.1.20", "Create a certificate for a name and an address."),
            Example("vitalgate api certificate", "Renew the certificate if it is due."),
        ])

    /// A certificate is renewed if it has less time left than this, in seconds.
    private static let due: Int64 = 60 * 86_400

    private let context: CommandContext
    private let folder: String
    private let now: Int64

    init(_ context: CommandContext) throws {
        self.context = context
        let configuration = try context.configuration()
        guard let folder = context.invocation.string("--folder") ?? configuration.file.map({ SmallFile.folder(of: $0) + "/tls" })
        else {
            throw UsageError(.missingOption("--folder"), command: "vitalgate api certificate")
        }
        // The service reads the key and renews the certificate, so the files belong to its user.
        try FolderOwner.become(ownerOf: folder)
        mkdir(folder, 0o700)
        self.folder = Folder.resolved(folder) ?? folder
        now = context.machine.now().microseconds / 1_000_000
    }

    func run() throws -> ExitCode {
        let known = text("hub-key.pem").flatMap { _ in text("hub.pem").flatMap { try? Certificate(pem: $0) } }
        let names = try names(of: known)
        let renews = context.invocation.flag("--renew") || context.invocation.flag("--new-authority")
        let authority = try authority(for: names)
        if !renews, let known, known.expires - now > Self.due, known.names == names {
            context.note("vitalgate: \(folder)/hub.pem is valid until \(Self.date(known.expires))")
            return .success
        }
        let made = try authority.certify(names, at: now)
        // The key is written first. A process that reads in between finds a mismatched pair and reads again.
        try write(made.key, to: "hub-key.pem", mode: 0o600)
        try write(made.certificate, to: "hub.pem", mode: 0o644)
        try context.streams.output.write(
            """
            \(folder)/hub.pem is for \(names.map(\.description).sorted().joined(separator: ", "))
            It is valid until \(Self.date(now + CertificateAuthority.days * 86_400)).
            Add to the configuration: api: { certificate: "\(folder)/hub.pem", key: "\(folder)/hub-key.pem" }
            Install once on each phone: \(folder)/authority.pem

            """)
        HubDoor.reload(store: try context.configuration().store, machine: context.machine)
        return .success
    }

    /// The names and addresses of the hub.
    private func names(of known: Certificate?) throws -> Set<HostName> {
        let given = context.invocation.arguments("NAME")
        if given.isEmpty, let known { return known.names }
        var names = Set(["localhost", "127.0.0.1", "::1"].compactMap { HostName($0) })
        for text in given {
            guard let name = HostName(text) else {
                throw UsageError(
                    .invalidValue(name: "NAME", value: text, expected: "a name such as hub.home, or an address"),
                    command: "vitalgate api certificate")
            }
            names.insert(name)
        }
        return given.isEmpty ? names.union(try ownNames().compactMap { HostName($0) }) : names
    }

    private func ownNames() throws -> [String] {
        let (api, name) = (try context.configuration().api, context.machine.hostName)
        var names = (api?.hosts ?? []) + (name.contains(".") ? [name] : [name, name + ".local"])
        if case .tcp(let host, _)? = api?.listen, host != "0.0.0.0", host != "::" {
            names.append(host)
        } else {
            names += Machine.addresses()
        }
        return names
    }

    private func authority(for names: Set<HostName>) throws -> CertificateAuthority {
        if !context.invocation.flag("--new-authority"), let certificate = text("authority.pem"),
            let key = text("authority-key.pem")
        {
            return try CertificateAuthority(CertificateAuthority.Identity(certificate: certificate, key: key))
        }
        guard context.invocation.flag("--new-authority") || text("authority.pem") == nil else {
            throw ConfigurationError(
                "\(folder)/authority-key.pem cannot be read (--new-authority creates a new authority, which each phone must install)"
            )
        }
        let authority = try CertificateAuthority(named: "Vitalgate on \(context.machine.hostName)", for: names, at: now)
        let identity = try authority.identity()
        try write(identity.key, to: "authority-key.pem", mode: 0o600)
        try write(identity.certificate, to: "authority.pem", mode: 0o644)
        return authority
    }

    // MARK: Files

    private func text(_ name: String) -> String? {
        SmallFile.read("\(folder)/\(name)", limit: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }

    private func write(_ text: String, to name: String, mode: mode_t) throws {
        do throws(SystemFailure) {
            try SmallFile.replace("\(folder)/\(name)", with: text, mode: mode)
        } catch {
            throw ConfigurationError("the file cannot be written: \(error)")
        }
    }

    private static func date(_ seconds: Int64) -> String { String(Instant(seconds: seconds).description.prefix(10)) }
}

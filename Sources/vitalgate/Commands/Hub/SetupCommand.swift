import CommandLineKit
import EventLoopKit
import Glibc
import HTTPServerKit
import Hub
import Ingestion

/// `setup`: opens the web page to the home network.
struct SetupCommand: Command {
    static let specification = CommandSpecification(
        name: "setup", summary: "Open the web page to your home network.",
        discussion: """
            Run this command as root if you use the service of the Debian package. It asks you before it changes anything. It \
            then creates a certificate for this machine's name and addresses, adds an 'api' section to the configuration, and \
            gives the systemd service access to private networks. If Avahi is installed, it announces the page, so that apps find it. At the end, it restarts the service and prints a link for the \
            first browser, also as a QR code.

            --undo removes the section and the access to networks again. The certificate is kept, so that you do not have to \
            install a new one on the phones later.
            """,
        arguments: [
            Argument(name: "NAME", help: "Name or address of the hub (default: this machine's).", arity: .any)
        ],
        options: [
            Option(names: ["--port"], value: "N", help: "Port of the page (default: 8642)."),
            Option(names: ["--yes"], help: "Do not ask for confirmation."),
            Option(names: ["--undo"], help: "Close the page to the network again."),
        ],
        examples: [
            Example("sudo vitalgate setup", "Open the page of the Debian package's hub to your home network."),
            Example("sudo vitalgate setup --undo", "Close it again."),
        ])

    private static let unit = "vitalgate.service"
    private static let dropIn = "/etc/systemd/system/vitalgate.service.d/setup.conf"
    /// The service file of Avahi, which announces the page to the network (avahi.service(5)).
    private static let announcement = "/etc/avahi/services/vitalgate.service"

    private let context: CommandContext
    private let path: String
    /// The folder of the certificate: beside the store, where the service may write.
    private let folder: String
    /// Whether systemd runs the hub of this configuration.
    private let isService: Bool

    static func run(_ context: CommandContext) throws -> ExitCode {
        let setup = try SetupCommand(context)
        return try context.invocation.flag("--undo") ? setup.undo() : setup.open()
    }

    private init(_ context: CommandContext) throws {
        self.context = context
        let named = context.invocation.string("--config")
        if let named, access(named, F_OK) != 0 {
            (path, folder, isService) = (named, SmallFile.absolute(SmallFile.folder(of: named)) + "/tls", false)
            return
        }
        let configuration = try context.configuration()
        guard let path = named ?? configuration.file ?? Configuration.userPath(context.machine) else {
            throw ConfigurationError("there is no home folder: name the configuration with --config")
        }
        self.path = path
        let isSystem = path == Configuration.systemPath
        isService = isSystem && access("/run/systemd/system", F_OK) == 0
        folder = SmallFile.absolute(SmallFile.folder(of: isSystem ? configuration.store : path)) + "/tls"
    }

    // MARK: Opening

    private func open() throws -> ExitCode {
        let text = try ConfigurationFile.text(of: path)
        if ConfigurationBlock.isPresent(in: text) {
            context.note("vitalgate: \(path) is set up already ('vitalgate page open' prints a link, --undo closes the page)")
            return .success
        }
        if access(path, F_OK) == 0, let api = try context.configuration().api {
            context.note(
                "vitalgate: 'api' in \(path) already serves the page at \(api.listen): change its keys there "
                    + "(see docs/reference/configuration.md)")
            return .configuration
        }
        let port = try port()
        let names = context.invocation.arguments("NAME")
        let hosts = names.isEmpty ? Self.ownNames(context.machine) : names
        guard let first = hosts.first else {
            throw UsageError(.missingArgument("NAME"), command: "vitalgate setup")
        }
        context.note(
            """
            vitalgate: this opens the page to everyone in your home network, at https://\(first):\(port)/page/
              certificate   \(folder)
              configuration \(path)\(isService ? "\n  service       \(Self.dropIn)" : "")
            Only browsers with a code from 'vitalgate page open' can log in.
            """)
        guard try context.isConfirmed() else { return .success }
        try ConfigurationFile.createFolder(SmallFile.folder(of: path))
        try certify(hosts)
        guard let changed = ConfigurationBlock.adding(members(hosts: hosts, port: port), to: text) else {
            throw ConfigurationError("\(path): expected an object")
        }
        try ConfigurationFile.replace(path, with: changed)
        try openService()
        try announce(port: port)
        return try printLink()
    }

    private func port() throws -> UInt16 {
        guard let text = context.invocation.string("--port") else { return 8642 }
        guard let port = UInt16(text), port > 0 else {
            throw context.invocation.invalid("--port", value: text, expected: "a number from 1 to 65535")
        }
        return port
    }

    /// The name under which the network finds this machine with Avahi, its own name, and its addresses.
    private static func ownNames(_ machine: Machine) -> [String] {
        let name = machine.hostName
        return (name.contains(".") ? [name] : [name + ".local", name]) + Machine.addresses()
    }

    private func members(hosts: [String], port: UInt16) -> [String] {
        func quoted(_ text: String) -> String { "\"\(text)\"" }
        return [
            "api: {",
            "    listen: \(quoted("0.0.0.0:\(port)")),",
            "    hosts: [\(hosts.map(quoted).joined(separator: ", "))],",
            "    certificate: \(quoted("\(folder)/hub.pem")),",
            "    key: \(quoted("\(folder)/hub-key.pem")),",
            "},",
        ]
    }

    private func certify(_ hosts: [String]) throws {
        let config = access(path, F_OK) == 0 ? ["--config", path] : []
        let run = ProgramRun.run(
            [ProfileFolders.executable()] + config + ["api", "certificate", "--folder", folder] + hosts, seconds: 60)
        guard run.code == 0 else { throw ConfigurationError("the certificate could not be created: \(run.words)") }
    }

    private func openService() throws {
        guard isService else {
            context.note("vitalgate: (re)start the hub with 'vitalgate run' to serve the page")
            return
        }
        try ConfigurationFile.createFolder(SmallFile.folder(of: Self.dropIn))
        try ConfigurationFile.replace(
            Self.dropIn,
            with: """
                # Written by 'vitalgate setup', removed by 'vitalgate setup --undo'.
                [Service]
                IPAddressAllow=localhost 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 fe80::/10 fc00::/7
                RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET AF_INET6
                # Renews the certificate in its last 60 days.
                ExecStartPre=-/usr/bin/vitalgate api certificate --folder \(folder)

                """)
        try restartService()
    }

    /// Announces the page by multicast DNS if Avahi is installed, so that apps find it.
    private func announce(port: UInt16) throws {
        guard isService, access(SmallFile.folder(of: Self.announcement), F_OK) == 0 else { return }
        let services = ["_https._tcp", "_vitalgate._tcp"].map { type in
            """
              <service>
                <type>\(type)</type>
                <port>\(port)</port>
                <txt-record>path=/page/</txt-record>
              </service>

            """
        }
        try ConfigurationFile.replace(
            Self.announcement,
            with: """
                <?xml version="1.0" standalone="no"?>
                <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
                <!-- Written by 'vitalgate setup', removed by 'vitalgate setup --undo'. -->
                <service-group>
                  <name replace-wildcards="yes">Vitalgate on %h</name>
                \(services.joined())</service-group>

                """)
    }

    private func restartService() throws {
        for words in [["daemon-reload"], ["restart", Self.unit]] {
            let run = ProgramRun.run(["/usr/bin/systemctl"] + words, seconds: 120)
            guard run.code == 0 else {
                throw ConfigurationError("'systemctl \(words.joined(separator: " "))' failed: \(run.words)")
            }
        }
    }

    private func printLink() throws -> ExitCode {
        let command = [ProfileFolders.executable(), "--config", path, "page", "open"]
        var run = ProgramRun.run(command, seconds: 60)
        // The service creates a new store when it starts.
        for _ in 0..<20 where run.code != 0 && isService {
            usleep(500_000)
            run = ProgramRun.run(command, seconds: 60)
        }
        try context.streams.output.write(
            """
            Trust the hub on each phone once: install \(folder)/authority.pem (see docs/how-to/page.md).
            \(run.code == 0 ? "Open within ten minutes, once: \(run.output)" : "Print a link with 'vitalgate page open'.\n")
            """)
        if run.code == 0 { try context.writeQRCode(of: String(run.output.prefix { !$0.isWhitespace })) }
        return .success
    }

    // MARK: Closing

    private func undo() throws -> ExitCode {
        let text = try ConfigurationFile.text(of: path)
        let isOpen = access(Self.dropIn, F_OK) == 0 && isService
        guard let changed = ConfigurationBlock.removed(from: text) else {
            guard isOpen else {
                context.note("vitalgate: 'vitalgate setup' has not changed \(path)")
                return .success
            }
            try closeService()
            return .success
        }
        try ConfigurationFile.replace(path, with: changed)
        if isOpen { try closeService() }
        context.note(
            "vitalgate: the page is closed to the network; the certificate stays in \(folder)"
                + (isService ? "" : " (restart the hub)"))
        return .success
    }

    private func closeService() throws {
        unlink(Self.announcement)
        unlink(Self.dropIn)
        rmdir(SmallFile.folder(of: Self.dropIn))
        try restartService()
    }
}

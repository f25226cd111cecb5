import CommandLineKit
import Formats
import HTTPServerKit
import HealthModel
import QRCodeKit
import SampleStore

/// `page`: links and sessions for the web page.
enum PageCommand: Command {
    private static let end = Option(
        names: ["--end"], value: "N", help: "End the session with this number, which logs the browser out.")
    private static let endAll = Option(names: ["--end-all"], help: "End all sessions.")

    static let specification = CommandSpecification(
        name: "page", summary: "Create links to the web page and manage its sessions.",
        subcommands: [
            CommandSpecification(
                name: "open", summary: "Print a one-time link to the web page.",
                discussion: """
                    The link works once, within ten minutes. The browser that opens it stays logged in for 30 days. If the page \
                    is open to the home network, a terminal also shows the link as a QR code, for the camera of a phone. The page \
                    shows the data of one person. The owner of the store (me) can also manage the hub on the page. The page is \
                    served at the address that 'api.listen' in the configuration sets (see docs/how-to/page.md).
                    """,
                options: [SharedOptions.person],
                examples: [Example("vitalgate page open", "Print a link to your own page.")]),
            CommandSpecification(
                name: "sessions", summary: "List the browsers that are logged in, or log them out.",
                options: [end, endAll, SharedOptions.timeZone, Format.option, Format.safe],
                examples: [Example("vitalgate page sessions --end 3", "Log out the browser of session 3.")]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        context.invocation.path.last == "open" ? try open(context) : try sessions(context)
    }

    private static func open(_ context: CommandContext) throws -> ExitCode {
        guard let api = try context.configuration().api else {
            context.note("vitalgate: the page is not served: 'api.listen' is not configured (see docs/how-to/page.md)")
            return .configuration
        }
        let store = try context.access().openForWriting(creating: false)
        let person = try context.person(in: store)
        let code = try store.pageSessions.makeCode(for: person ?? store.owner, at: context.machine.now())
        if let address = api.pageAddress {
            let link = "\(address)login#code=\(code)"
            try context.streams.output.write("\(link)\n")
            if !api.listen.isLoopback { try context.writeQRCode(of: link) }
        } else {
            context.note("browsers cannot open the page's socket: append 'login#code=' and this code to your proxy's address")
            try context.streams.output.write("\(code)\n")
        }
        return .success
    }

    private static func sessions(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        if invocation.flag("--end-all") || invocation.string("--end") != nil {
            var number: Int64?
            if let text = invocation.string("--end") {
                guard let id = Int64(text) else {
                    throw invocation.invalid("--end", value: text, expected: "a session number from 'vitalgate page sessions'")
                }
                number = invocation.flag("--end-all") ? nil : id
            }
            let count = try context.access().openForWriting(creating: false).pageSessions.end(number)
            context.note("\(count) \(count == 1 ? "session" : "sessions") ended")
            return .success
        }
        let store = try context.openForReading()
        let names = try store.people.names()
        try context.write(
            try store.pageSessions.all(at: context.machine.now()),
            [
                Field("session") { $0.id },
                .person(names, store) { $0.person },
                Field("opened") { $0.made }, Field("expires") { $0.expires },
            ])
        return .success
    }
}

extension CommandContext {
    /// Writes a link as a QR code, if the output is a terminal that can show it.
    func writeQRCode(of link: String) throws {
        let terminal = streams.outputTerminal
        guard terminal.showsColours, terminal.isUnicode, let code = QRCode(link), code.terminalWidth <= terminal.width ?? 0 else {
            return
        }
        try streams.output.write("\n\(code.terminalText)")
    }
}

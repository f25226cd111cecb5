import CommandLineKit
import Dispatch
import Glibc
import HealthModel
import SampleStore
import VitalStore

/// `observe`: notifies a program of changes.
enum ObserveCommand: Command {
    static let specification = CommandSpecification(
        name: "observe", summary: "Tell a command or a socket when something came or went.",
        discussion: """
            HealthKit wakes an app when there is something new for it; this does so for a command, which is started each time, or for a program that listens at a Unix socket. Either gets one line of \
            JSON, the command on its standard input:

              {"after":"5ba07cd5c1be4f10-90231","anchor":"5ba07cd5c1be4f10-90240","observer":"scale","resynchronise":false,"types":["bodyMass"]}

            'vitalgate changes --after' with its "after" tells what it was. A command acknowledges by ending with status 0, a socket's program by the line ok, within a minute. What is not acknowledged \
            comes again, after a second, two, four, and so on up to an hour, and never stops coming. How far the receiver has come is kept beside the store under NAME: stopped and started \
            again, it goes on from there; begun for the first time, it tells of what is committed from then on. "resynchronise" is true where the store was put back from a backup: then the receiver reads \
            everything again. It runs until it is stopped; one process at a time for each NAME. The hub runs those that the \
            configuration has under 'observers'. What devices stream is told when the hub writes it by itself, every 30 seconds or what \
            'hub.commitEvery' of the configuration says.
            """,
        arguments: [
            Argument(name: "NAME", help: "Under which its progress is kept: letters, digits, '-', '_' and '.'."),
            Argument(name: "COMMAND", help: "A program and its arguments, behind --; none with --socket.", arity: .any),
        ],
        options: [
            Option(names: ["--types"], value: "TYPES", help: "Only these types, joined by commas."),
            Option(
                names: ["--frequency"], value: "HOW",
                help: "At most how often: immediate (the default), hourly or daily. What comes meanwhile is told with it.",
                completion: .values(BackgroundDelivery.Frequency.allCases.map(\.rawValue))),
            Option(names: ["--socket"], value: "PATH", help: "Tell the program that listens here.", completion: .file),
            SharedOptions.untilEOF,
        ],
        examples: [
            Example(
                "vitalgate observe scale --types bodyMass -- /usr/local/bin/weighed",
                "Run a program whenever somebody was weighed."),
            Example("vitalgate observe panel --frequency hourly --socket /run/panel.sock", "Wake a program once an hour."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let (name, words) = (invocation.argument("NAME") ?? "", invocation.arguments("COMMAND"))
        let receiver: BackgroundDelivery.Receiver
        if let path = invocation.string("--socket") {
            if let first = words.first { throw invocation.invalid("COMMAND", value: first, expected: "no command with --socket") }
            receiver = .socket(path: path)
        } else {
            guard words.first?.isEmpty == false else {
                throw UsageError(.missingArgument("COMMAND"), command: "vitalgate observe")
            }
            receiver = .command(words)
        }
        // The store is opened first because it may have types that this version does not know.
        let path = try context.openForReading().path
        let types = try invocation.string("--types").map { Set(try context.types($0)) }
        let frequency = invocation.string("--frequency").flatMap { BackgroundDelivery.Frequency(rawValue: $0) }
        guard BackgroundDelivery.isName(name) else {
            throw invocation.invalid("NAME", value: name, expected: "letters, digits, '-', '_' and '.', 64 at most")
        }
        let delivery = try BackgroundDelivery(name: name, types: types, frequency: frequency ?? .immediate, receiver: receiver)
        return try follow(delivery, of: try HealthStore(path: path), context)
    }

    private enum News {
        case event(BackgroundDelivery.Event)
        case ended((any Error)?)
    }

    private static func follow(
        _ delivery: BackgroundDelivery, of store: HealthStore, _ context: CommandContext
    ) throws -> ExitCode {
        let news = Mailbox<News>()
        let task = Task {
            do {
                try await delivery.run(for: store) { news.put(.event($0)) }
                news.put(.ended(nil))
            } catch {
                news.put(.ended(error))
            }
        }
        if context.invocation.flag("--until-eof") { whenInputEnds { task.cancel() } }
        while true {
            switch news.next() {
            case .event(.delivered(let message)):
                context.inform("observer \(delivery.name): \(message.types.joined(separator: ", "))")
            case .event(.failed(let reason, let again)):
                context.warn(
                    "observer \(delivery.name): \(reason); it is told again in \(again.components.seconds) s, and misses nothing")
            case .ended(let error?): throw error
            case .ended(nil): return .success
            }
        }
    }
}

/// Waits for the end of standard input on a separate thread.
private func whenInputEnds(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "vitalgate.input").async {
        var octets = [UInt8](repeating: 0, count: 64)
        var count = 0
        repeat { count = read(STDIN_FILENO, &octets, octets.count) } while count > 0 || (count < 0 && errno == EINTR)
        body()
    }
}

/// A queue from tasks to one waiting thread.
private final class Mailbox<Element: Sendable>: @unchecked Sendable {
    private let queue = DispatchQueue(label: "vitalgate.mailbox")
    private let count = DispatchSemaphore(value: 0)
    // Used on the queue only.
    private var elements: [Element] = []

    func put(_ element: Element) {
        queue.sync { elements.append(element) }
        count.signal()
    }

    /// Waits for the next element.
    func next() -> Element {
        count.wait()
        return queue.sync { elements.removeFirst() }
    }
}

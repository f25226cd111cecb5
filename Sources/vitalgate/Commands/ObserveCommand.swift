import CommandLineKit
import Dispatch
import Glibc
import HealthModel
import HealthStore
import SampleStore

/// `observe`: notifies a program of changes.
enum ObserveCommand: Command {
    static let specification = CommandSpecification(
        name: "observe", summary: "Run a command or notify a socket when samples change.",
        discussion: """
            When samples change, the observer runs a COMMAND, or notifies a program that listens on a Unix socket. Both receive \
            one line of JSON. The COMMAND receives it on standard input:

              {"after":"5ba07cd5c1be4f10-90231","anchor":"5ba07cd5c1be4f10-90240","observer":"scale","resynchronise":false,"types":["bodyMass"]}

            To read the changes, pass the value of "after" to 'vitalgate changes --after'. Acknowledge the line within a minute: \
            a COMMAND exits with status 0, and a program at the socket answers with the line ok. Otherwise the same line is sent \
            again, after growing delays of up to an hour.

            The last acknowledged change is stored under NAME. If you restart the observer, it continues after this change. If \
            "resynchronise" is true, the store was restored from a backup, and you must read everything again.

            Only one process at a time can use a NAME. Live readings are reported when the hub writes them to the store, by \
            default every 30 seconds ('hub.commitEvery' in the configuration). If you want the hub itself to run a command on \
            changes, configure a target of the kind 'command' instead.
            """,
        arguments: [
            Argument(name: "NAME", help: "Name of this observer (letters, digits, '-', '_' and '.')."),
            Argument(name: "COMMAND", help: "Program and its arguments, after -- (omit with --socket).", arity: .any),
        ],
        options: [
            SharedOptions.types,
            Option(
                names: ["--frequency"], value: "HOW",
                help: "Maximum frequency of notifications (default: immediate).",
                completion: .values(BackgroundDelivery.Frequency.allCases.map(\.rawValue))),
            Option(names: ["--socket"], value: "PATH", help: "Unix socket of the program to notify.", completion: .file),
            SharedOptions.untilEOF,
        ],
        examples: [
            Example(
                "vitalgate observe scale --types bodyMass -- /usr/local/bin/weighed",
                "Run a program after each weighing."),
            Example(
                "vitalgate observe panel --frequency hourly --socket /run/panel.sock", "Notify a program at most once an hour."),
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
        try context.becomeStoreOwner()
        // The store is opened first because it may have types that this version does not know.
        let path = try context.openForReading().path
        let types = try invocation.string("--types").map { Set(try context.types($0)) }
        let frequency = invocation.string("--frequency").flatMap { BackgroundDelivery.Frequency(rawValue: $0) }
        guard BackgroundDelivery.isName(name) else {
            throw invocation.invalid("NAME", value: name, expected: "at most 64 letters, digits, '-', '_' and '.'")
        }
        let delivery = try BackgroundDelivery(name: name, types: types, frequency: frequency ?? .immediate, receiver: receiver)
        return try follow(delivery, of: try HealthStore(path: path), context)
    }

    private enum DeliveryUpdate {
        case event(BackgroundDelivery.Event)
        case ended((any Error)?)
    }

    private static func follow(
        _ delivery: BackgroundDelivery, of store: HealthStore, _ context: CommandContext
    ) throws -> ExitCode {
        let updates = Mailbox<DeliveryUpdate>()
        let task = Task {
            do {
                try await delivery.run(for: store) { updates.put(.event($0)) }
                updates.put(.ended(nil))
            } catch {
                updates.put(.ended(error))
            }
        }
        if context.invocation.flag("--until-eof") { whenInputEnds { task.cancel() } }
        while true {
            switch updates.next() {
            case .event(.delivered(let message)):
                context.inform("observer \(delivery.name): \(message.types.joined(separator: ", "))")
            case .event(.failed(let reason, let again)):
                context.warn(
                    "observer \(delivery.name): \(reason), retrying in \(again.components.seconds) s without losing changes")
            case .ended(let error?): throw error
            case .ended(nil): return .success
            }
        }
    }
}

/// Waits for the end of standard input on a separate thread.
private func whenInputEnds(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "vitalgate.input").async {
        var bytes = [UInt8](repeating: 0, count: 64)
        var count = 0
        repeat { count = read(STDIN_FILENO, &bytes, bytes.count) } while count > 0 || (count < 0 && errno == EINTR)
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

    func next() -> Element {
        count.wait()
        return queue.sync { elements.removeFirst() }
    }
}

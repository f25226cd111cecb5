import CommandLineKit
import ExportEngine
import Formats
import HealthModel
import Hub
import Pipeline
import SampleStore

struct AlertReceiverReport {
    let context: CommandContext

    func write() throws {
        let (store, configured) = (try context.openForReading(), try context.configuration().alerts)
        let known = try store.alerts.receivers()
        let entries = try configured.map { receiver in
            let state = known.first { $0.name == receiver.name }
            return (receiver, state, try state.map(store.alerts.eventsWaiting) ?? 0)
        }
        try context.write(
            entries,
            [
                Field("name") { $0.0.name }, Field("kind") { $0.0.kind.rawValue }, Field("state") { Self.word($0.1) },
                Field("waiting") { $0.2 }, Field("failing", "failing since") { $0.1?.failing },
                Field("said", cell: { TerminalText.sanitized($0.1?.words ?? "") }) { $0.1?.words },
            ])
        if context.format == .ndjson { return }
        if configured.isEmpty { context.note("the configuration defines no receivers of alerts (see 'vitalgate alerts --help')") }
    }

    /// The state: `new` before the hub has used the receiver, else `delivering` or `waiting` as of a target.
    private static func word(_ receiver: AlertReceiver?) -> String {
        guard let receiver else { return "new" }
        return (receiver.failing == nil ? Target.State.delivering : .waiting).rawValue
    }

    /// Writes a note for each receiver whose deliveries fail.
    func noteFailing() {
        guard let configured = try? context.configuration().alerts, !configured.isEmpty,
            let receivers = try? context.openForReading().alerts.receivers()
        else { return }
        for receiver in receivers where receiver.failing != nil && configured.contains(where: { $0.name == receiver.name }) {
            context.note(
                "alerts \(receiver.name): cannot be delivered: \(TerminalText.sanitized(receiver.words ?? ""))")
        }
    }

    /// Sends a test message to a receiver.
    ///
    /// - Returns: 69 if it was not acknowledged.
    func test(_ name: String) throws -> ExitCode {
        let configured = try context.configuration().alerts
        guard let receiver = configured.first(where: { $0.name == name }) else {
            throw context.invocation.invalid(
                "NAME", value: name,
                expected: configured.isEmpty
                    ? "a receiver, but the configuration defines none (key 'alerts')"
                    : "one of \(configured.map(\.name).joined(separator: ", "))")
        }
        let store = try context.openForReading()
        let machine = context.machine
        let sender = receiver.sender(store: store.identifier, now: { machine.now() })
        defer { sender.finish() }
        let message = AlertText(store, words: try .configured(context)).test(at: machine.now())
        do throws(DeliveryError) {
            try sender.send(message)
        } catch {
            context.note("\(name): the test was not delivered: \(TerminalText.sanitized(error.reason))")
            return .unavailable
        }
        context.note("\(name): the test was delivered")
        return .success
    }
}

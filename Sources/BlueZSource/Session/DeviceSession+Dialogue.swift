import EventLoopKit
import HealthModel
import SystemdKit

/// Carries out the decisions of a ``DeviceDialogue``: one write or read at a time, and commits.
extension DeviceSession {
    /// The dialogue of a link, with its pending commands.
    final class Conversation {
        var dialogue: any DeviceDialogue
        /// The commands that are not carried out yet.
        var commands: [DialogueCommand] = []
        var isCarryingOut = false
        /// Writes, reads and pauses that wait for the previous one.
        var requests: [DialogueCommand] = []
        var isAsking = false
        var awaitsCommit = false
        /// The cursor for the next commit.
        var cursor: RecordCursor?
        var timer: EventLoop.Timer?
        var pause: EventLoop.Timer?

        init(_ dialogue: any DeviceDialogue) { self.dialogue = dialogue }
    }

    /// More than any dialogue requests at once. A device that triggers endless requests gets no more answers.
    private static let maximumRequests = 256

    /// Begins the dialogue for a new table of services. It receives all events from here on.
    func beginConversation() {
        endConversation()
        conversation = description.dialogue?.begin(Set(table.characteristics.keys), from: memory.records).map { Conversation($0) }
    }

    func endConversation() {
        conversation?.timer?.cancel()
        conversation?.pause?.cancel()
        conversation = nil
    }

    /// Runs the dialogue's step of the connection. The dialogue then continues as long as the link lives.
    func converse() {
        guard conversation != nil else { return handle(.finished(.converse, .done)) }
        dialogueEvent(.start)
    }

    func dialogueEvent(_ event: DialogueEvent) {
        let time = DialogueTime(
            uptime: loop.clock.uptime, now: loop.clock.now, wall: host.configuration.wallTime(loop.clock.now))
        guard let commands = conversation?.dialogue.handle(event, at: time) else { return }
        conversation?.timer?.cancel()
        conversation?.timer = conversation?.dialogue.deadline.map { deadline in
            loop.after(max(.zero, deadline - loop.clock.uptime)) { [weak self] in self?.dialogueEvent(.tick) }
        }
        conversation?.commands += commands
        // The results of a command, such as an immediate confirmation of a commit, come after the commands before it.
        guard conversation?.isCarryingOut == false else { return }
        conversation?.isCarryingOut = true
        while let command = conversation?.commands.first {
            conversation?.commands.removeFirst()
            carryOut(command)
        }
        conversation?.isCarryingOut = false
        askNext()
    }

    private func carryOut(_ command: DialogueCommand) {
        switch command {
        case .write, .read, .pause:
            guard let waiting = conversation?.requests.count, waiting < Self.maximumRequests else { return }
            conversation?.requests.append(command)
        case .deliver(let name, let bytes): deliver("gatt:\(name.characteristic)", bytes)
        case .commit:
            conversation?.awaitsCommit = true
            pendingCursor = conversation?.cursor ?? memory.records
            host.commit(self)
        case .remember(let cursor): conversation?.cursor = cursor
        case .clock(let shown):
            let now = loop.clock.now
            host.delegate?.learned(
                ClockEvidence(shown: shown, received: now, expected: host.configuration.wallTime(now)), for: address)
        case .notify(let notice):
            host.delegate?.didReceive(SourceNotice(.action, address.description, notice.text(for: address)))
        case .ready: handle(.finished(.converse, .done))
        case .fail(let failure): handle(.finished(.converse, .failed(failure)))
        }
    }

    /// Makes the next request when the previous one is answered.
    private func askNext() {
        guard conversation?.isAsking == false, let request = conversation?.requests.first else { return }
        conversation?.requests.removeFirst()
        conversation?.isAsking = true
        let generation = generation
        switch request {
        case .pause(let time):
            conversation?.pause = loop.after(time) { [weak self] in
                guard let self, generation == self.generation else { return }
                conversation?.isAsking = false
                askNext()
            }
        case .write(let name, let bytes):
            ask(name, "WriteValue", [.bytes(bytes), .options([:])]) { .written($0) }
        case .read(let name):
            ask(name, "ReadValue", [.options([:])]) { name, values in .read(name, values.first?.bytes ?? []) }
        case .deliver, .commit, .remember, .clock, .notify, .ready, .fail: conversation?.isAsking = false
        }
    }

    private func ask(
        _ name: CharacteristicName, _ method: String, _ arguments: [BusValue],
        then event: @escaping (CharacteristicName) -> DialogueEvent
    ) {
        ask(name, method, arguments) { name, _ in event(name) }
    }

    private func ask(
        _ name: CharacteristicName, _ method: String, _ arguments: [BusValue],
        then event: @escaping (CharacteristicName, [BusValue]) -> DialogueEvent
    ) {
        guard let characteristic = table.characteristics[name] else {
            conversation?.isAsking = false
            return dialogueEvent(.refused(name, .stale))
        }
        let generation = generation
        host.bus.call(.characteristic(characteristic.path, method), arguments, timeout: host.configuration.limits.step) {
            [weak self] answer in
            guard let self, generation == self.generation else { return }
            conversation?.isAsking = false
            switch answer {
            case .success(let values): dialogueEvent(event(name, values))
            case .failure(let error):
                host.delegate?.didReceive(SourceNotice(.detail, address.description, "writing \(name) failed: \(error.name)"))
                dialogueEvent(.refused(name, LinkFailure(error)))
            }
        }
    }

    /// Confirms the commit that the dialogue waits for. Returns whether there was one.
    func committedConversation() -> Bool {
        guard conversation?.awaitsCommit == true else { return false }
        conversation?.awaitsCommit = false
        memory.records = pendingCursor
        dialogueEvent(.committed)
        return true
    }
}

import HealthModel

@testable import BlueZSource

/// A conversation with a Bluetooth device that sends anything: bytes, late, repeated or missing answers, and silence.
///
/// The first byte selects the conversation. Each further byte selects the next event by its lower three bits, and for bytes from the device
/// the characteristic by the next three. The number of bytes and the bytes themselves follow.
enum DialogueTargets {
    private static let names: [CharacteristicName] =
        [
            UserDataDialogue.controlPoint, UserDataDialogue.increment, O2RingDialogue.answers, O2RingDialogue.requests,
        ]
        + [OmronCuffDialogue.unlock, OmronCuffDialogue.requests] + OmronCuffDialogue.answers
        + [
            CharacteristicName(0x181D, 0x2A9D), CharacteristicName(0x181B, 0x2A9C), CharacteristicName(0xFFE0, 0xFFE1),
            CharacteristicName(0xFFE0, 0xFFE3), CharacteristicName(0xFFE0, 0xFFE4), CharacteristicName(0xFFF0, 0xFFF1),
            CharacteristicName(0xFFF0, 0xFFF2),
        ]

    private static let cuff = CuffMemory(
        mark: [0x73, 0x22], form: .big, users: [0x02AC, 0x0824], records: 100, block: 0x38, index: 0x0260, clock: 0x0276)

    private static func description(_ number: UInt8) -> DialogueDescription {
        switch number % 6 {
        case 0: .userData([ConsentingUser(number: 1, code: 1), ConsentingUser(number: 2, code: 9999)])
        case 1: .qnScale
        case 2: .omronCuff(cuff, key: DialogueDescription.defaultKey)
        case 3: .o2Ring
        case 4: .beurerSanitas(high: 0xE0)
        default: .beurerSanitas(high: 0xF0)
        }
    }

    static func dialogues(_ input: [UInt8]) {
        guard let kind = input.first, var dialogue = description(kind).begin(Set(names)) else { return }
        var asked: [(name: CharacteristicName, isWrite: Bool)] = []
        var (isCommitting, isOver, readies, seconds) = (false, false, 0, 0)
        func handle(_ event: DialogueEvent) {
            guard !isOver else { return }
            let commands = dialogue.handle(event, at: time(seconds))
            precondition(commands.count < 4096, "one event makes \(commands.count) commands")
            for command in commands {
                precondition(!isOver, "it goes on behind its end")
                switch command {
                case .write(let name, let bytes):
                    precondition(bytes.count <= 512, "more than a characteristic takes")
                    asked.append((name, true))
                case .read(let name): asked.append((name, false))
                case .deliver(_, let bytes): precondition(bytes.count <= 4096, "a frame that no device sends")
                case .commit:
                    precondition(!isCommitting, "a second commit before the first is durable")
                    isCommitting = true
                case .ready:
                    readies += 1
                    precondition(readies == 1, "it says twice that it is ready")
                case .fail: isOver = true
                case .pause, .remember, .clock, .handle: break
                }
            }
            precondition(asked.count < 65_536, "it asks more and more of a device that does not answer")
        }
        handle(.start)
        var rest = input.dropFirst()
        while let event = rest.popFirst() {
            let count = event & 7 < 4 ? Int(rest.popFirst() ?? 0) : 0
            let bytes = Array(rest.prefix(count))
            rest = rest.dropFirst(bytes.count)
            let name = names[Int(event >> 3) % names.count]
            switch event & 7 {
            case 0, 1: handle(.received(name, bytes))
            case 2:
                guard !asked.isEmpty else { continue }
                let first = asked.removeFirst()
                handle(first.isWrite ? .written(first.name) : .read(first.name, bytes))
            case 3: handle(.read(name, bytes))
            case 4:
                guard !asked.isEmpty else { continue }
                handle(.refused(asked.removeFirst().name, .other))
            case 5:
                guard isCommitting else { continue }
                isCommitting = false
                handle(.committed)
            default: wait()
            }
        }
        // The hub waits for a silent device as long as necessary, and not endlessly without a pause.
        for _ in 0..<64 where !isOver { wait() }

        func wait() {
            guard let deadline = dialogue.deadline else { return }
            seconds = max(seconds, Int(deadline.components.seconds) - 1000 + 1)
            handle(.tick)
            if let next = dialogue.deadline, !isOver {
                precondition(next > time(seconds).uptime - .seconds(1), "it wants to be woken in the past, again and again")
            }
        }
    }

    private static func time(_ seconds: Int) -> DialogueTime {
        let now = Instant(seconds: 1_764_000_000 + Int64(seconds))
        return DialogueTime(uptime: .seconds(1000 + seconds), now: now, wall: now.wallTime(at: ZoneOffset(seconds: 3600)))
    }
}

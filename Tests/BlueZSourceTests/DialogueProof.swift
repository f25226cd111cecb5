import HealthModel
import PipelineTesting
import Testing

@testable import BlueZSource

/// Rules that every dialogue must follow, whatever the device sends.
enum DialogueProof {
    static func time(_ seconds: Int) -> DialogueTime {
        let now = Instant(seconds: 1_764_000_000 + Int64(seconds))
        return DialogueTime(uptime: .seconds(1000 + seconds), now: now, wall: now.wallTime(at: ZoneOffset(seconds: 3600)))
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.filter { $0 != " " }.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    /// `2A9F<0201D809` for a write, `?` for a read, `!` for a record that is handed on.
    static func text(_ command: DialogueCommand) -> String {
        switch command {
        case .write(let name, let bytes): "\(name.characteristic)<\(hex(bytes))"
        case .read(let name): "\(name.characteristic)?"
        case .pause: "pause"
        case .deliver(let name, let bytes): "\(name.characteristic)!\(hex(bytes))"
        case .commit: "commit"
        case .remember(let cursor): "remember \(cursor.fingerprint)"
        case .clock(let time): "clock \(time)"
        case .notify(let notice): "\(notice)"
        case .ready: "ready"
        case .fail(let failure): "fail \(failure)"
        }
    }

    /// Sends ten thousand random frames during a conversation, together with every prefix of some valid ones, and answers that arrive late,
    /// twice, or not at all. The dialogue must not trap, must ask for one commit at a time, must report once that it is ready, and must not
    /// send more requests than it receives frames.
    static func survives(
        _ begin: () -> any DeviceDialogue, names: [CharacteristicName], intended: [[UInt8]],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for seed in 0..<10 {
            var random = SeededGenerator(seed: UInt64(seed))
            var dialogue = begin()
            var (now, committing, ready, asked) = (0, false, 0, 0)
            func check(_ commands: [DialogueCommand]) {
                for command in commands {
                    switch command {
                    case .commit:
                        #expect(!committing, "a second commit, seed \(seed)", sourceLocation: sourceLocation)
                        committing = true
                    case .ready: ready += 1
                    case .write, .read: asked += 1
                    default: break
                    }
                }
                #expect(commands.count <= 16, sourceLocation: sourceLocation)
            }
            if seed.isMultiple(of: 2) { check(dialogue.handle(.start, at: time(0))) }
            for _ in 0..<1000 {
                let name = names.randomElement(using: &random) ?? names[0]
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    committing = false
                    check(dialogue.handle(.committed, at: time(now)))
                case 1: check(dialogue.handle(.written(name), at: time(now)))
                case 2: check(dialogue.handle(.refused(name, .other), at: time(now)))
                case 3: check(dialogue.handle(.start, at: time(now)))
                case 4:
                    now += Int.random(in: 0...20, using: &random)
                    check(dialogue.handle(.tick, at: time(now)))
                case 5, 6:
                    let frame = intended.randomElement(using: &random) ?? []
                    check(
                        dialogue.handle(
                            .received(name, Array(frame.prefix(Int.random(in: 0...frame.count, using: &random)))), at: time(now)))
                case 7: check(dialogue.handle(.read(name, intended.randomElement(using: &random) ?? []), at: time(now)))
                default:
                    let count = Int.random(in: 0...24, using: &random)
                    // Coarse values, so that they come near valid frames.
                    let bytes = (0..<count).map { _ in
                        [0x10, 0x12, 0x20, 0x02, 0x01, 0x0F, 0xFF, 0x00].randomElement(using: &random) ?? 0
                    }
                    check(dialogue.handle(.received(name, bytes.map { UInt8($0) }), at: time(now)))
                }
            }
            #expect(ready <= 1, "ready \(ready) times, seed \(seed)", sourceLocation: sourceLocation)
            #expect(asked <= 2000, sourceLocation: sourceLocation)
        }
    }
}

import PipelineTesting
import Testing

@testable import BlueZSource

/// Early scales by Beurer and Sanitas. The second and third part of the weighing come from a test of ble-scale-sync. The first follows
/// openScale's decodeUserId.
@Suite struct BeurerSanitasDialogueTests {
    private static let name = BeurerSanitasDialogue.name
    private static let parts = [
        "E7590301000000000000000065", "E75903026A21F4C6068701B500DF02", "E759030309018D00E907170AA20108",
    ]
    /// 2026-06-04T21:57:26Z, the time of the weighing, in seconds after the time of ``DialogueProof``.
    private static let weighed = 0x6A21_F4C6 - 1_764_000_000
    private static let reported = "FFE1!65068701B500DF0209018D00E9"

    private static func receive(_ dialogue: inout BeurerSanitasDialogue, _ hex: String, _ seconds: Int) -> [String] {
        dialogue.handle(.received(name, DialogueProof.bytes(hex)), at: DialogueProof.time(seconds)).map(DialogueProof.text)
    }

    private func begun(_ seconds: Int, high: UInt8 = 0xE0) -> BeurerSanitasDialogue {
        var dialogue = BeurerSanitasDialogue(high: high)
        let digit = high == 0xE0 ? "E" : "F"
        #expect(dialogue.handle(.start, at: DialogueProof.time(seconds)).map(DialogueProof.text) == ["FFE1<\(digit)601"])
        let seconds32 = UInt32(1_764_000_000 + seconds)
        let time = DialogueProof.hex((0..<4).map { UInt8(truncatingIfNeeded: seconds32 >> (24 - 8 * UInt32($0))) })
        #expect(Self.receive(&dialogue, "\(digit)600", seconds) == ["ready", "FFE1<\(digit)9" + time])
        return dialogue
    }

    @Test func aWeighing() {
        let now = Self.weighed
        var dialogue = begun(now - 20)
        #expect(Self.receive(&dialogue, "E75801085E", now) == [], "what moves is not taken")
        #expect(Self.receive(&dialogue, Self.parts[0], now) == ["FFE1<E7F1590301"])
        #expect(Self.receive(&dialogue, Self.parts[1], now) == ["FFE1<E7F1590302"])
        // It did not hear that.
        #expect(Self.receive(&dialogue, Self.parts[1], now) == ["FFE1<E7F1590302"])
        #expect(Self.receive(&dialogue, Self.parts[2], now) == ["FFE1<E7F1590303", Self.reported])
        // This part is not handed on either: the weighing was handed on once.
        #expect(Self.receive(&dialogue, Self.parts[2], now) == ["FFE1<E7F1590303"])
        for part in Self.parts { #expect(Self.receive(&dialogue, part, now).count == 1) }
        // Users and stored weighings are received and left on the scale.
        #expect(Self.receive(&dialogue, "E7340101000000000000006541424355", now) == ["FFE1<E7F1340101"])
        #expect(Self.receive(&dialogue, "E74202016A21F4C6068701B500DF02", now) == ["FFE1<E7F1420201"])
        #expect(Self.receive(&dialogue, "E6", now) == [])
    }

    @Test func theOtherKindHasF() {
        var dialogue = begun(Self.weighed - 20, high: 0xF0)
        let reported = Self.parts.flatMap { Self.receive(&dialogue, "F7" + $0.dropFirst(2), Self.weighed) }
        #expect(reported == ["FFE1<F7F1590301", "FFE1<F7F1590302", "FFE1<F7F1590303", Self.reported])
        for part in Self.parts { #expect(Self.receive(&dialogue, part, Self.weighed) == []) }
    }

    /// A weighing that arrives before the hub has set the clock belongs to another hub or another day.
    @Test func ignoresOldWeighings() {
        var dialogue = begun(Self.weighed + 301)
        let reported = Self.parts.flatMap { Self.receive(&dialogue, $0, Self.weighed + 301) }
        #expect(reported == ["FFE1<E7F1590301", "FFE1<E7F1590302", "FFE1<E7F1590303"])
    }

    /// Parts in any order and number: nothing is handed on but a weighing that is whole.
    @Test func partsThatAreMissing() {
        for missing in 0..<3 {
            var dialogue = begun(Self.weighed - 20)
            var received: [String] = []
            for (place, part) in Self.parts.enumerated() where place != missing {
                received += Self.receive(&dialogue, part, Self.weighed)
            }
            #expect(!received.contains(Self.reported))
            // With the last part the weighing is over, and a person hears what became of it.
            #expect(received.contains("weighingIncomplete") == (missing < 2))
        }
        for part in Self.parts {
            for cut in 1..<part.utf8.count / 2 {
                var dialogue = begun(Self.weighed - 20)
                let received = Self.parts.flatMap {
                    Self.receive(&dialogue, $0 == part ? String($0.prefix(2 * cut)) : $0, Self.weighed)
                }
                // The bytes after the bone mass are not read.
                let isTail = part == Self.parts[2] && cut >= 9
                #expect(received.contains(Self.reported) == isTail, "\(part) cut to \(cut)")
            }
        }
    }

    @Test func failsWithoutResponse() {
        var dialogue = BeurerSanitasDialogue(high: 0xE0)
        _ = dialogue.handle(.start, at: DialogueProof.time(0))
        #expect(dialogue.handle(.tick, at: DialogueProof.time(4)) == [])
        #expect(dialogue.handle(.tick, at: DialogueProof.time(5)).map(DialogueProof.text) == ["FFE1<E601"])
        #expect(dialogue.handle(.tick, at: DialogueProof.time(10)).map(DialogueProof.text) == ["FFE1<E601"])
        #expect(dialogue.handle(.tick, at: DialogueProof.time(15)).first == .ready)
        #expect(dialogue.deadline == nil)
        var refused = BeurerSanitasDialogue(high: 0xE0)
        _ = refused.handle(.start, at: DialogueProof.time(0))
        #expect(refused.handle(.refused(Self.name, .other), at: DialogueProof.time(1)) == [.fail(.other)])
    }

    @Test func survivesRandomBytes() {
        for high: UInt8 in [0xE0, 0xF0] {
            DialogueProof.survives(
                { BeurerSanitasDialogue(high: high) }, names: [Self.name],
                intended: (Self.parts + ["E600", "F600", "E75801085E", "E7340101000000000000006541424355"]).map(
                    DialogueProof.bytes)
            )
        }
    }
}

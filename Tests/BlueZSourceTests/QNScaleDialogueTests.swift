import PipelineTesting
import Testing

@testable import BlueZSource

/// Scales by QN. The frames of the scale are from a GE CS 10 G (a capture in openScale's QNHandlerProtocolTest, with the address removed).
/// The answers are those that the tests of openScale and ble-scale-sync expect.
@Suite struct QNScaleDialogueTests {
    private static let notify = CharacteristicName(0xFFF0, 0xFFF1)
    private static let available: Set<CharacteristicName> = [notify, CharacteristicName(0xFFF0, 0xFFF2)]
    private static let information = DialogueProof.bytes("12 12 FF 11 22 33 44 55 66 13 07 10 00 01 05 9F 32 89")
    private static let moving = DialogueProof.bytes("10 0F FF FE 01 21 57 00 00 00 00 00 00 00 95")
    private static let final = DialogueProof.bytes("10 0F FF FE 02 21 57 10 FE 10 FC 00 AC 00 5C")
    /// From ble-scale-sync's tests: frames of another GE CS 10 G and of an ES-26M.
    private static let ready = DialogueProof.bytes("14 0B FF 00 00 01 00 00 00 00 1F")
    private static let request = DialogueProof.bytes("21 07 FF 01 61 2C B5")
    private static let acknowledgement = "FFF2<1F05FF1033"

    private func dialogue() throws -> QNScaleDialogue { try #require(QNScaleDialogue(Self.available)) }

    private func receive(_ dialogue: inout QNScaleDialogue, _ bytes: [UInt8], _ seconds: Int = 1) -> [String] {
        dialogue.handle(.received(Self.notify, bytes), at: DialogueProof.time(seconds)).map(DialogueProof.text)
    }

    @Test func aWeighing() throws {
        var dialogue = try dialogue()
        let time = DialogueProof.time
        #expect(dialogue.handle(.start, at: time(0)).isEmpty)
        // Nothing is read before the scale has identified itself.
        #expect(receive(&dialogue, Self.final) == [])
        #expect(receive(&dialogue, Self.information) == ["ready", "FFF2<1309FF01100000002C"])
        // 2025-11-24T16:00:01Z is 817315201 seconds into 2000.
        #expect(receive(&dialogue, Self.ready) == ["FFF2<2008FF813DB730CC"])
        #expect(
            receive(&dialogue, Self.request) == [
                "FFF2<A00D04FE0000000000000000AF", "pause", "FFF2<A00D02010008002106B804029D", "pause", "FFF2<2206FF00032A",
            ])
        #expect(receive(&dialogue, Self.moving) == ["FFF1!01" + DialogueProof.hex(Self.moving)])
        #expect(receive(&dialogue, Self.final) == ["FFF1!01" + DialogueProof.hex(Self.final), "commit"])
        // Said again while it is on its way to the store: nothing is acknowledged yet.
        #expect(receive(&dialogue, Self.final) == ["FFF1!01" + DialogueProof.hex(Self.final)])
        #expect(dialogue.handle(.committed, at: time(2)).map(DialogueProof.text) == [Self.acknowledgement])
        // It did not hear that.
        #expect(receive(&dialogue, Self.final) == ["FFF1!01" + DialogueProof.hex(Self.final), Self.acknowledgement])
        // Answers are given once.
        for frame in [Self.information, Self.ready, Self.request] { #expect(receive(&dialogue, frame) == []) }
    }

    /// The older form, in tenths or hundredths as the scale reports. FFE0 has a separate characteristic for the time.
    @Test(arguments: [(UInt8(1), "01"), (0, "00")]) func theOlderForm(flag: UInt8, mark: String) throws {
        let notify = CharacteristicName(0xFFE0, 0xFFE1)
        let names: Set<CharacteristicName> = [notify, CharacteristicName(0xFFE0, 0xFFE3), CharacteristicName(0xFFE0, 0xFFE4)]
        var dialogue = try #require(QNScaleDialogue(names))
        func summed(_ bytes: [UInt8]) -> [UInt8] { bytes + [bytes.reduce(0, &+)] }
        func receive(_ bytes: [UInt8]) -> [String] {
            dialogue.handle(.received(notify, bytes), at: DialogueProof.time(1)).map(DialogueProof.text)
        }
        // It may speak before all is enabled.
        #expect(receive(summed([0x12, 0x0F, 0x07, 0, 0, 0, 0, 0, 0, 0, flag, 0, 0, 0])) == ["FFE3<130907011000000034"])
        #expect(dialogue.handle(.start, at: DialogueProof.time(1)) == [.ready])
        #expect(receive(Self.ready).first?.hasPrefix("FFE4<200807") == true)
        let weight = summed([0x10, 0x0B, 0x07, 0x1B, 0x58, 0x01, 0x01, 0xF4, 0x01, 0xF4])
        #expect(receive(weight) == ["FFE1!\(mark)" + DialogueProof.hex(weight), "commit"])
    }

    /// Of ble-scale-sync's tests of an ES-26M, with its sum put right: 97.9 kg, first without the resistances, and not 979 kg.
    @Test func fourteenBytes() throws {
        var dialogue = try dialogue()
        _ = dialogue.handle(.start, at: DialogueProof.time(0))
        _ = receive(&dialogue, Self.information)
        #expect(receive(&dialogue, DialogueProof.bytes("10 0E FF 01 01 26 3E 00 00 00 00 00 00 83")) == [])
        let bare = DialogueProof.bytes("10 0E FF 01 02 26 3E 00 00 00 00 00 00 84")
        #expect(receive(&dialogue, bare) == ["FFF1!01" + DialogueProof.hex(bare), "commit"])
        #expect(dialogue.handle(.committed, at: DialogueProof.time(2)).map(DialogueProof.text) == [Self.acknowledgement])
        let whole = DialogueProof.bytes("10 0E FF 01 02 26 3E 01 F5 01 F3 00 00 6E")
        #expect(receive(&dialogue, whole) == ["FFF1!01" + DialogueProof.hex(whole), "commit"])
    }

    @Test func ignoresUnknownMessages() throws {
        var dialogue = try dialogue()
        _ = dialogue.handle(.start, at: DialogueProof.time(0))
        #expect(dialogue.handle(.tick, at: DialogueProof.time(10)) == [.ready])
        _ = receive(&dialogue, Self.information)
        // From ble-scale-sync's tests: 6.00 kg or 60.0 kg, and nothing shows which.
        let doubtful = DialogueProof.bytes("10 0E FF 01 02 02 58 01 FD 01 FB 00 33 A7")
        #expect(receive(&dialogue, doubtful) == ["unknownForm"])
        #expect(receive(&dialogue, doubtful) == [])
        for cut in 0..<Self.final.count { #expect(receive(&dialogue, Array(Self.final.prefix(cut))) == []) }
        var damaged = Self.final
        damaged[6] ^= 1
        #expect(receive(&dialogue, damaged) == [])
        #expect(QNScaleDialogue([Self.notify]) == nil)
    }

    /// The scale repeats each final weight until it is acknowledged, over a link that loses and repeats frames. Each weight is handed on,
    /// and none is acknowledged before a commit that contains it.
    @Test(arguments: 0..<50) func overABadLink(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var dialogue = try dialogue()
        var (delivered, durable) = (Set<[UInt8]>(), Set<[UInt8]>())
        var waiting: Set<[UInt8]>?
        var (queue, now) = ([UInt8(1), 2, 3], 0)
        func final(_ weight: UInt8) -> [UInt8] {
            var bytes: [UInt8] = [0x10, 0x0F, 0xFF, 0xFE, 0x02, 0x21, weight, 0, 0, 0, 0, 0, 0, 0]
            bytes.append(bytes.reduce(0, &+))
            return bytes
        }
        func carryOut(_ commands: [DialogueCommand]) {
            for command in commands {
                switch command {
                case .deliver(_, let bytes): delivered.insert(Array(bytes.dropFirst()))
                case .commit:
                    #expect(waiting == nil)
                    waiting = delivered
                case .write(_, let bytes) where bytes[0] == 0x1F:
                    guard let first = queue.first else { continue }
                    #expect(durable.contains(final(first)), "acknowledged before it is durable, seed \(seed)")
                    // The scale receives the answer or loses it, and forgets its last weight.
                    if Bool.random(using: &random) { queue.removeFirst() }
                default: break
                }
            }
        }
        carryOut(dialogue.handle(.start, at: DialogueProof.time(0)))
        carryOut(dialogue.handle(.received(Self.notify, Self.information), at: DialogueProof.time(0)))
        for _ in 0..<2000 where !queue.isEmpty {
            now += 1
            if let weight = queue.first, Int.random(in: 0..<3, using: &random) > 0 {
                carryOut(dialogue.handle(.received(Self.notify, final(weight)), at: DialogueProof.time(now)))
            }
            if let done = waiting, Bool.random(using: &random) {
                waiting = nil
                durable.formUnion(done)
                carryOut(dialogue.handle(.committed, at: DialogueProof.time(now)))
            }
        }
        #expect(queue.isEmpty, "it was never told, seed \(seed)")
        #expect(durable == Set([final(1), final(2), final(3)]))
    }

    @Test func survivesRandomBytes() throws {
        let first = try dialogue()
        DialogueProof.survives(
            { first }, names: [Self.notify, CharacteristicName(0xFFF0, 0xFFF2)],
            intended: [Self.information, Self.ready, Self.request, Self.moving, Self.final])
    }
}

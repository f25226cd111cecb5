import HealthModel
import PipelineTesting
import Testing

@testable import BlueZSource

/// Omron's cuffs: a memory that is read through four narrow channels.
@Suite struct OmronCuffDialogueTests {
    private static let key = DialogueDescription.defaultKey
    /// As omblepy has it for the HEM-7322T.
    private static let memory = CuffMemory(
        mark: [0x73, 0x22], form: .big, users: [0x02AC, 0x0824], records: 100, block: 0x38, index: 0x0260, clock: 0x0276)

    /// A cuff that answers as omblepy expects it to.
    private struct Cuff {
        var bytes = [UInt8](repeating: 0xFF, count: 0x0E00)
        var key: [UInt8]?
        var isPairing = false
        var asked: [String] = []
        /// Whether a piece of an answer comes, and how often.
        var times: () -> Int = { 1 }

        mutating func put(_ record: String, _ user: Int, _ slot: Int) {
            let start = Int(OmronCuffDialogueTests.memory.users[user]) + slot * 14
            bytes.replaceSubrange(start..<start + 14, with: DialogueProof.bytes(record))
        }

        mutating func answer(_ name: CharacteristicName, _ request: [UInt8]) -> [(CharacteristicName, [UInt8])] {
            asked.append(DialogueProof.hex(request))
            if name == OmronCuffDialogue.unlock {
                switch request[0] {
                case 0x01: return [(name, [0x81, Array(request.dropFirst()) == key ? 0x00 : 0x0F])]
                case 0x02: return [(name, [0x82, isPairing ? 0x00 : 0x0F])]
                default:
                    key = Array(request.dropFirst())
                    return [(name, [0x80, 0x00])]
                }
            }
            guard request.reduce(0, ^) == 0 else { return [] }
            var answer: [UInt8]
            switch request[1] {
            case 0x00: answer = [0, 0x80, 0x00, 0, 0, 0x10] + [UInt8](repeating: 7, count: 16)
            case 0x0F: answer = [0, 0x8F, 0x00, 0, 0, 0]
            default:
                let (start, count) = (Int(request[3]) << 8 | Int(request[4]), Int(request[5]))
                answer = [0, 0x81, 0x00, request[3], request[4], request[5]] + bytes[start..<start + count]
            }
            answer[0] = UInt8(answer.count + 2)
            answer += [0x00, answer.reduce(0, ^)]
            return stride(from: 0, to: answer.count, by: 16).flatMap { start in
                let piece = (OmronCuffDialogue.answers[start / 16], Array(answer[start..<min(start + 16, answer.count)]))
                return [(CharacteristicName, [UInt8])](repeating: piece, count: times())
            }
        }
    }

    private func talk(to cuff: inout Cuff, from cursor: RecordCursor? = nil, memory: CuffMemory = memory) -> DialogueTalk {
        DialogueTalk(OmronCuffDialogue(memory, key: Self.key, from: cursor), from: cursor) { cuff.answer($0, $1) }
    }

    private func cuff() -> Cuff {
        var cuff = Cuff(key: Self.key)
        // 2025-03-09T07:05:41 121/79, pulse 66, and 2026-06-14T23:45:02 145/91, pulse 72 (vectors of omblepy and hass-omron).
        cuff.put("4F6019420D270169000000000000", 0, 0)
        cuff.put("5B781A4819D70B42000014006996", 0, 7)
        cuff.put("4F6019420D270169000000000000", 1, 99)
        cuff.bytes.replaceSubrange(0x0260..<0x0268, with: [0x80, 8, 0x80, 100, 0x80, 2, 0x80, 1])
        // 2026-11-20, 08:31:15.
        cuff.bytes.replaceSubrange(0x0276..<0x027C, with: [11, 26, 8, 20, 15, 31])
        return cuff
    }

    private static let records = [
        "73220179004F00420000E90703090705" + "29", "73220191005B00480000EA07060E172D" + "02",
        "73220279004F00420000E90703090705" + "29",
    ]

    @Test func eachRecordOnce() {
        var cuff = cuff()
        let first = talk(to: &cuff)
        #expect(first.records == Self.records)
        #expect(first.sent == ["ready"] && first.commits == 1 && first.atCommit == 3)
        #expect(first.clocks.map(\.description) == ["2026-11-20T08:31:15.000000"])
        // Key, start, index, clock, 25 blocks of 56 bytes for each user, end. Nothing is ever written to the memory.
        #expect(cuff.asked.count == 4 + 50 + 1)
        #expect(cuff.asked[1] == "0800000000100018" && cuff.asked.last == "080F000000000007")
        #expect(cuff.asked[2] == "08010002600800" + "63" && cuff.asked[4] == "0801000" + "2AC3800" + "9F")
        // Nothing new: not one record is read.
        cuff.asked = []
        let second = talk(to: &cuff, from: first.cursor)
        #expect(second.records.isEmpty && second.sent == ["ready"] && cuff.asked.count == 4)
        // One more.
        cuff.bytes[0x0261] = 9
        #expect(talk(to: &cuff, from: first.cursor).records == Self.records)
    }

    /// Pieces are lost, arrive twice, or both. An unanswered request is repeated, and each record is handed on once.
    @Test(arguments: 0..<30) func overABadLink(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var cuff = cuff()
        cuff.times = { [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2].randomElement(using: &random) ?? 1 }
        let session = talk(to: &cuff)
        if session.sent == ["ready"] {
            #expect(session.records == Self.records, "seed \(seed)")
            #expect(session.commits == 1 && session.atCommit == 3)
        } else {
            // It gave up: nothing is remembered, so that all comes the next time.
            #expect(session.sent == ["memoryUnread", "ready"] && session.cursor == nil && session.commits == 0, "seed \(seed)")
        }
    }

    @Test func unlocksWithStoredKey() {
        var other = cuff()
        other.key = nil
        let refused = talk(to: &other)
        #expect(refused.sent == ["needsPairingMode", "ready"] && refused.records.isEmpty)
        // In pairing mode the cuff accepts our key, and sends its memory the next time.
        other.isPairing = true
        other.asked = []
        let paired = talk(to: &other)
        #expect(paired.sent == ["ready"] && paired.records.isEmpty && other.key == Self.key)
        #expect(other.asked.last == "080F000000000007" && other.asked.count == 5)
        other.isPairing = false
        #expect(talk(to: &other).records == Self.records)
        // One that falls silent.
        var silent = cuff()
        silent.times = { 0 }
        #expect(talk(to: &silent).sent == ["memoryUnread", "ready"])
        var dialogue = OmronCuffDialogue(Self.memory, key: Self.key, from: nil)
        _ = dialogue.handle(.start, at: DialogueProof.time(0))
        #expect(
            dialogue.handle(.refused(OmronCuffDialogue.unlock, .authentication), at: DialogueProof.time(0)) == [
                .fail(.authentication)
            ])
    }

    /// The records of omblepy's and hass-omron's models.
    @Test(arguments: [
        (CuffMemory.Form.big, "4F6019420D270169000000000000", "79004F00420000E907030907" + "0529"),
        (.little, "5C463D1A958B3A010000000000000000", "750046003D0001EA07021C15" + "043A"),
        (.big, "5B781A4819D71B42000014006996", "91005B00480000EA07060E17" + "2D02"),
    ]) func records(form: CuffMemory.Form, record: String, decodedRecord: String) {
        #expect(DialogueProof.hex(form.decodedRecord(DialogueProof.bytes(record))) == decodedRecord)
    }

    @Test func decodesAnyRecord() {
        var random = SeededGenerator(seed: 7)
        for form in CuffMemory.Form.allCases {
            for _ in 0..<10_000 {
                let record = (0..<form.size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                #expect(form.decodedRecord(record).count == 14)
            }
        }
    }

    @Test func survivesRandomBytes() {
        DialogueProof.survives(
            { OmronCuffDialogue(Self.memory, key: Self.key, from: nil) },
            names: [OmronCuffDialogue.unlock, OmronCuffDialogue.requests] + OmronCuffDialogue.answers,
            intended: [
                [0x81, 0x00], [0x81, 0x0F], [0x82, 0x00], [0x80, 0x00],
                DialogueProof.bytes("0880000000000088"), DialogueProof.bytes("1081000260080102030405060708" + "0000"),
            ])
    }
}

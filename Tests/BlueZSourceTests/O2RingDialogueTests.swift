import HealthModel
import PipelineTesting
import Testing

@testable import BlueZSource

/// Rings that store nights.
@Suite struct O2RingDialogueTests {
    /// A ring with the answers of viatom-o2ring-ble's tests, in pieces of 20 bytes.
    private struct Ring {
        var files: [(name: String, bytes: [UInt8])] = []
        var open: [UInt8]?
        var time = "2026-11-20,08:31:15"
        var received: [UInt8] = []
        var asked: [UInt8] = []
        /// Whether a piece of an answer comes, and how often.
        var times: () -> Int = { 1 }
        /// Whether it is silent while this file is open.
        var isMute: (String) -> Bool = { _ in false }
        var name = ""

        mutating func answer(_ piece: [UInt8]) -> [[UInt8]] {
            received = piece.first == 0xAA ? piece : received + piece
            guard received.count >= 8, received.count == 8 + (Int(received[5]) | Int(received[6]) << 8) else { return [] }
            let request = received
            received = []
            guard request[1] == request[2] ^ 0xFF, request.last == O2RingDialogue.check(request.dropLast()) else { return [] }
            asked.append(request[1])
            let block = Int(request[3]) | Int(request[4]) << 8
            var (status, data) = (UInt8(0), [UInt8]())
            switch request[1] {
            case 0x14:
                let list = files.map(\.name).joined(separator: ",")
                data =
                    Array(#"{"Region":"CE","Model":"1652","CurTIME":"\#(time)","FileList":"\#(list)","CurBAT":"80%"}"#.utf8) + [
                        0, 0,
                    ]
            case 0x03:
                name = String(decoding: request[7..<request.count - 2], as: UTF8.self)
                open = files.first { $0.name == name }?.bytes
                let size = open?.count ?? 0
                data = [UInt8(size & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size >> 16), 0]
                if open == nil { status = 9 }
            case 0x04: data = Array((open ?? []).dropFirst(block * 200).prefix(200))
            default: open = nil
            }
            if request[1] != 0x14, isMute(name) { return [] }
            var answer: [UInt8] =
                [0x55, status, status ^ 0xFF, request[3], request[4], UInt8(data.count & 0xFF), UInt8(data.count >> 8)] + data
            answer.append(O2RingDialogue.check(answer[...]))
            return stride(from: 0, to: answer.count, by: 20).flatMap { start in
                [[UInt8]](repeating: Array(answer[start..<min(start + 20, answer.count)]), count: times())
            }
        }
    }

    /// A file as viatom-o2ring-ble's tests build it: version 3, from 22:33:40, 4 seconds for each record, some without a finger.
    private static func file(_ records: Int, day: UInt8 = 31, version: UInt8 = 3, step: Int = 4) -> [UInt8] {
        let size = 40 + records * 5
        let seconds = records * step
        var bytes: [UInt8] = [version, 0, 0xEA, 0x07, 1, day, 22, 33, 40]
        bytes += [UInt8(size & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size >> 16), 0]
        bytes += [UInt8(seconds & 0xFF), UInt8(seconds >> 8)]
        bytes += [UInt8](repeating: 0, count: 40 - bytes.count)
        for index in 0..<records {
            let finger: [UInt8] = [UInt8(90 + index % 10), UInt8(60 + index % 40), 0, 3, 0]
            bytes += index % 7 == 6 ? [0xFF, 0xFF, 0xFF, 0, 0] : finger
        }
        return bytes
    }

    private func talk(to ring: inout Ring, from cursor: RecordCursor? = nil) -> DialogueTalk {
        DialogueTalk(O2RingDialogue(from: cursor), from: cursor) { name, bytes in
            #expect(name == O2RingDialogue.requests && bytes.count <= 20)
            return ring.answer(bytes).map { (O2RingDialogue.answers, $0) }
        }
    }

    @Test func eachNightOnce() {
        var ring = Ring(files: [("20260131223340", Self.file(500)), ("20260130223340", Self.file(3, day: 30))])
        let first = talk(to: &ring)
        #expect(first.records.count == 3 + 500 - 500 / 7)
        // The older night first.
        #expect(first.records[0] == "5A3C0003EA07011E162128" && first.records[1] == "5B3D0003EA07011E16212C")
        #expect(first.records[3] == "5A3C0003EA07011F162128")
        #expect(
            first.clocks.map(\.description) == ["2026-11-20T08:31:15.000000"] && first.sent == ["ready"] && first.commits == 2)
        #expect(Set(first.records).count == first.records.count)
        // Nothing new: only the list is read.
        ring.asked = []
        let second = talk(to: &ring, from: first.cursor)
        #expect(second.records.isEmpty && second.sent == ["ready"] && ring.asked == [0x14])
        ring.files.append(("20260201223340", Self.file(2, day: 1)))
        ring.files.remove(at: 1)
        let third = talk(to: &ring, from: first.cursor)
        #expect(third.records.count == 2 && third.commits == 1)
        // A clock that was set back: its newest night sorts before all others, and all is read rather than none.
        ring.files.append(("20250101000000", Self.file(1)))
        ring.files.append(("20250102000000", Self.file(1)))
        let fourth = talk(to: &ring, from: third.cursor)
        #expect(fourth.records.count == third.records.count + 500 - 500 / 7 + 2)
        #expect(talk(to: &ring, from: fourth.cursor).records.isEmpty)
    }

    @Test func skipsInvalidFiles() {
        for bytes in [Self.file(10, version: 2), Self.file(10, step: 3), [3, 0], []] {
            var ring = Ring(files: [("20260131223340", bytes), ("20260201223340", Self.file(2, day: 1))])
            let session = talk(to: &ring)
            #expect(session.records.count == 2 && session.sent == ["nightsUnread(1)", "ready"], "\(session.sent)")
        }
        var silent = Ring(files: [("20260131223340", Self.file(2))])
        silent.times = { 0 }
        #expect(talk(to: &silent).sent == ["memoryUnread", "ready"])
        var empty = Ring()
        #expect(talk(to: &empty).sent == ["ready"])
        #expect(DialogueDescription.o2Ring.begin([O2RingDialogue.answers]) == nil)
    }

    /// Forms that OSCAR's viatom_loader.cpp reads, or SomnoTrace found on rings (pull request 162).
    @Test func nightsOfOtherForms() {
        func read(_ name: String, _ bytes: [UInt8]) -> DialogueTalk {
            var ring = Ring(files: [(name, bytes)])
            return talk(to: &ring)
        }
        let typical = read("20260131223340", Self.file(10))
        #expect(read("20260131223340", Self.file(10, version: 5)).records == typical.records)
        #expect(read("20260131223340.vld", Self.file(10)).records == typical.records)
        // Bytes after the last complete record.
        #expect(read("20260131223340", Array(Self.file(10).dropLast(2))).records == typical.records.dropLast())
        // 25,194 seconds with 6,299 records, of 4 s each.
        var long = Self.file(6299)
        (long[13], long[14]) = (0x6A, 0x62)
        let odd = read("20260131223340", long)
        #expect(odd.records == read("20260131223340", Self.file(6299)).records && odd.sent == ["ready"])
        // The clock was never set, and the head has no date, or not its own.
        for (year, month, day) in [(2000, 0, 0), (2000, 1, 1), (2026, 13, 31), (2031, 1, 31), (2026, 1, 28)] {
            var head = Self.file(10)
            (head[2], head[3], head[4], head[5]) = (UInt8(year & 0xFF), UInt8(year >> 8), UInt8(month), UInt8(day))
            #expect(read("20260131223340", head).records == typical.records, "\(year)-\(month)-\(day)")
        }
        // A record that the ring marks as not measured, whatever its SpO2.
        var unmeasured = Self.file(10)
        unmeasured[42] = 0xFF
        #expect(read("20260131223340", unmeasured).records == Array(typical.records.dropFirst()))
        // Neither the header nor the name has a date, so the night has no time.
        var none = Self.file(10)
        (none[2], none[3], none[4], none[5]) = (0xD0, 0x07, 0, 0)
        #expect(read("20000000000000", none).sent == ["nightsUnread(1)", "ready"])
    }

    /// OSCAR: files of 2 s have each record twice, and a head whose size counts it once.
    @Test func recordsThatAreThereTwice() {
        let single = Self.file(10)
        var twice = Array(single.prefix(40))
        for start in stride(from: 40, to: single.count, by: 5) { twice += single[start..<start + 5] + single[start..<start + 5] }
        var (rings, other) = (Ring(files: [("20260131223340", twice)]), Ring(files: [("20260131223340", single)]))
        #expect(talk(to: &rings).records == talk(to: &other).records)
        // Two that differ are two.
        twice[46] = 99
        rings = Ring(files: [("20260131223340", twice)])
        #expect(talk(to: &rings).records.count == talk(to: &other).records.count + 1)
    }

    @Test func requestsUnreadNightAgain() {
        let bad = Self.file(10, version: 2)
        var ring = Ring(files: [
            ("20260128223340", Self.file(3, day: 28)), ("20260129223340", bad), ("20260130223340", Self.file(4, day: 30)),
        ])
        let first = talk(to: &ring)
        #expect(first.records.count == 7 && first.sent == ["nightsUnread(1)", "ready"] && first.commits == 2)
        // Its neighbors are not read again, and it is requested once in each conversation.
        ring.asked = []
        let second = talk(to: &ring, from: first.cursor)
        #expect(second.records.isEmpty && second.sent == ["nightsUnread(1)", "ready"])
        #expect(ring.asked == [0x14, 0x03, 0x04, 0x05] && second.cursor == first.cursor)
        // A new night advances the cursor.
        ring.files.append(("20260131223340", Self.file(5)))
        let third = talk(to: &ring, from: second.cursor)
        #expect(third.records.count == 5 && third.sent == ["nightsUnread(1)", "ready"])
        ring.files[1].bytes = Self.file(10, day: 29)
        let fourth = talk(to: &ring, from: third.cursor)
        #expect(fourth.records.count == 9 && fourth.sent == ["ready"])
        #expect(talk(to: &ring, from: fourth.cursor).records.isEmpty)
        // If nights were deleted, no bit shows which ones are meant.
        ring.files.remove(at: 0)
        let fifth = talk(to: &ring, from: third.cursor)
        #expect(fifth.records.count == 9 + 4 + 5 && fifth.sent == ["ready"])
    }

    /// Far more nights than the mark has bits for.
    @Test func nightsThatWereNotReadLongAgo() {
        var ring = Ring()
        for day in 1...28 {
            let bytes = Self.file(day.isMultiple(of: 9) ? 10 : 1, day: UInt8(day), version: day.isMultiple(of: 9) ? 2 : 3)
            ring.files.append(("202601\(day < 10 ? "0" : "")\(day)223340", bytes))
        }
        let first = talk(to: &ring)
        #expect(first.records.count == 25 && first.sent == ["nightsUnread(3)", "ready"])
        for index in [8, 17, 26] { ring.files[index].bytes = Self.file(10, day: UInt8(index + 1)) }
        let second = talk(to: &ring, from: first.cursor)
        for index in [8, 17, 26] {
            let day = DialogueProof.hex([UInt8(index + 1)])
            #expect(second.records.count { $0.hasSuffix("EA0701\(day)162128") } == 1, "\(index)")
        }
        #expect(second.sent == ["ready"] && talk(to: &ring, from: second.cursor).records.isEmpty)
    }

    /// A file that the ring never gives out does not keep those after it.
    @Test func aFileWithoutAnAnswer() {
        var ring = Ring(files: [("20260130223340", Self.file(3, day: 30)), ("20260131223340", Self.file(5))])
        ring.isMute = { $0 == "20260130223340" }
        let first = talk(to: &ring)
        #expect(first.records.count == 5 && first.sent == ["nightsUnread(1)", "ready"])
        ring.isMute = { _ in false }
        let second = talk(to: &ring, from: first.cursor)
        #expect(second.records.count == 3 && second.sent == ["ready"])
        ring.isMute = { _ in true }
        #expect(talk(to: &ring).sent == ["memoryUnread", "nightsUnread(1)", "ready"])
    }

    /// Pieces are lost or arrive twice. A block is requested again, and each record is handed on once.
    @Test(arguments: 0..<30) func overABadLink(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var ring = Ring(files: [("20260131223340", Self.file(300))])
        ring.times = {
            [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2].randomElement(
                using: &random) ?? 1
        }
        let session = talk(to: &ring)
        #expect(Set(session.records).count == session.records.count, "twice, seed \(seed)")
        if session.sent == ["ready"] {
            #expect(session.records.count == 300 - 300 / 7 && session.commits == 1, "seed \(seed)")
        } else {
            #expect(session.sent == ["memoryUnread", "ready"] && session.cursor == nil, "seed \(seed)")
        }
    }

    /// The answers in viatom-o2ring-ble's tests have this check byte.
    @Test func checkByte() {
        let answer = DialogueProof.bytes("5500FF00000F006148005501060100000003000A141EBA")
        #expect(O2RingDialogue.check(answer.dropLast()) == 0xBA)
    }

    @Test func survivesRandomBytes() {
        DialogueProof.survives(
            { O2RingDialogue(from: nil) }, names: [O2RingDialogue.answers, O2RingDialogue.requests],
            intended: [
                DialogueProof.bytes("5500FF00000F006148005501060100000003000A141EBA"), DialogueProof.bytes("5500FF000000004B"),
            ])
    }
}

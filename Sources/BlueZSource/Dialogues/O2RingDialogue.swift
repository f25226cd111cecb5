import HealthModel

/// Viatom's and Wellue's rings (O2Ring, CheckO2, SleepO2 and others of that protocol): the nights that they stored, each read once and left there.
///
///     request                                                             answer
///     AA <cmd> <cmd^FF> <block u16> <length u16> <data> <crc8>            55 <status> <status^FF> <block u16> <length u16> <data> <crc8>
///
///     14 information           JSON: "CurTIME", "FileList": names of 14 digits, the date and time of each
///     03 open, <name> 00       size u32
///     04 read, block           octets; the answer repeats the block's number
///     05 close
///
///     file   0 version 3 · 1 mode · 2 date and time 7 · 9 size u32 · 13 seconds u16 · … · 40 records: SpO2 u8, pulse u16, motion u8, ?
///
/// Answers come in as many notifications as they need; requests are written in pieces of 20 octets. A record is of 2 or 4 seconds: the file's seconds
/// by its records. What is handed on of one is SpO2 u8, pulse u16, motion u8, date and time 7; one without a finger (FF) is none. A file is remembered
/// by its name once it is durable, and not read again.
///
/// Source: viatom-o2ring-ble (protocol.py, client.py, file.py, const.py), which follows the maker's own LepuBle, o2r and wellue-o2ring-protocol.
struct O2RingDialogue: DeviceDialogue {
    static let service = BluetoothUUID("14839AC4-7D7E-415C-9A42-167340CF2339") ?? BluetoothUUID(0)
    static let answers = CharacteristicName(
        service, BluetoothUUID("0734594A-A8E7-4B1A-A6B1-CD5243059A57") ?? BluetoothUUID(0))
    static let requests = CharacteristicName(
        service, BluetoothUUID("8B00ACE7-EB0B-49B0-BBE9-9AEE0A26E1A3") ?? BluetoothUUID(0))
    static let patience: Duration = .seconds(5)
    private static let tries = 5
    /// A night of twelve hours is a fifth of this.
    private static let longest = 512 * 1024
    private static let longestAnswer = 8192
    private static let headSize = 40
    private static let recordSize = 5

    private(set) var deadline: Duration?
    private let cursor: RecordCursor?
    private var state = State.idle
    private var request: [UInt8] = []
    private var attempts = 0
    private var buffer: [UInt8] = []
    /// No answer says which question it answers: the one that was taken last, heard again, is none.
    private var last: [UInt8] = []
    /// Names that are on the ring, and those that are still to be read, both by time.
    private var names: [UInt64] = []
    private var waiting: [UInt64] = []
    private var file = File()

    private enum State: Equatable {
        case idle, asking, opening, reading, closing, committing, ended
    }

    /// The file that is being read.
    private struct File {
        var name: UInt64 = 0
        var size = 0
        var got = 0
        var block: UInt16 = 0
        /// Octets that are no whole head or record yet.
        var rest: [UInt8] = []
        var start: WallTime?
        /// Seconds of a record.
        var step: Int64 = 0
        var records = 0
    }

    init(from cursor: RecordCursor?) { self.cursor = cursor }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start: return state == .idle ? ask(0x14, .asking, now) : []
        case .received(Self.answers, let octets): return received(octets, now)
        case .committed:
            guard state == .committing else { return [] }
            return openNext(now)
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            guard attempts < Self.tries else { return finish(.memoryUnread) }
            attempts += 1
            return askAgain(now)
        case .received, .read, .written, .refused: return []
        }
    }

    // MARK: Requests

    private mutating func ask(
        _ command: UInt8, _ next: State, _ now: DialogueTime, block: UInt16 = 0, data: [UInt8] = []
    ) -> [DialogueCommand] {
        let lengths = [UInt8(block & 0xFF), UInt8(block >> 8), UInt8(data.count & 0xFF), UInt8(data.count >> 8)]
        let octets: [UInt8] = [0xAA, command, command ^ 0xFF] + lengths + data
        (state, request, attempts) = (next, octets + [Self.check(octets[...])], 1)
        return askAgain(now)
    }

    private mutating func askAgain(_ now: DialogueTime) -> [DialogueCommand] {
        deadline = now.uptime + Self.patience
        buffer = []
        return stride(from: 0, to: request.count, by: 20).map { start in
            .write(Self.requests, Array(request[start..<min(start + 20, request.count)]))
        }
    }

    private mutating func finish(_ notice: DialogueNotice? = nil) -> [DialogueCommand] {
        state = .ended
        deadline = nil
        return (notice.map { [.tell($0)] } ?? []) + [.ready]
    }

    private mutating func openNext(_ now: DialogueTime) -> [DialogueCommand] {
        guard !waiting.isEmpty else { return finish() }
        file = File(name: waiting.removeFirst())
        let digits = String(file.name)
        let name = String(repeating: "0", count: 14 - digits.count) + digits
        return ask(0x03, .opening, now, data: Array(name.utf8) + [0])
    }

    // MARK: Answers

    private mutating func received(_ octets: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard [State.asking, .opening, .reading, .closing].contains(state) else { return [] }
        buffer += octets
        guard buffer.count >= 8 else { return [] }
        let size = 7 + (Int(buffer[5]) | Int(buffer[6]) << 8) + 1
        guard buffer[0] == 0x55, buffer[1] == buffer[2] ^ 0xFF, size <= Self.longestAnswer else {
            // It is asked again when its time is over.
            buffer = []
            return []
        }
        guard buffer.count >= size else { return [] }
        let answer = Array(buffer.prefix(size))
        buffer = []
        guard answer[size - 1] == Self.check(answer.dropLast()), answer != last else { return [] }
        last = answer
        let block = UInt16(answer[3]) | UInt16(answer[4]) << 8
        return answered(answer[1], block, Array(answer[7..<size - 1]), now)
    }

    private mutating func answered(
        _ status: UInt8, _ block: UInt16, _ data: [UInt8], _ now: DialogueTime
    ) -> [DialogueCommand] {
        switch state {
        case .asking where status == 0: return informed(data, now)
        case .opening:
            guard status == 0, data.count >= 4 else { return openNext(now) }
            file.size = Int(data[0]) | Int(data[1]) << 8 | Int(data[2]) << 16 | Int(data[3]) << 24
            let records = file.size - Self.headSize
            guard records >= 0, records.isMultiple(of: Self.recordSize), file.size <= Self.longest else {
                return [.tell(.unknownForm)] + ask(0x05, .closing, now)
            }
            return ask(0x04, .reading, now)
        case .reading where status == 0 && block == file.block && !data.isEmpty: return took(data, now)
        case .closing: return closed(now)
        default: return []
        }
    }

    private mutating func informed(_ data: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        let text = String(decoding: data, as: UTF8.self)
        let list = Self.value("FileList", in: text) ?? ""
        let isName: (Substring) -> Bool = { $0.utf8.count == 14 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        names = list.split(separator: ",").filter(isName).compactMap { UInt64($0) }.sorted()
        waiting = names
        if let cursor {
            let older = names.count { $0 <= cursor.fingerprint }
            // More than there were then: its clock was set back, and all is read again.
            if older <= cursor.count ?? 0 { waiting = names.filter { $0 > cursor.fingerprint } }
        }
        let shown = Self.value("CurTIME", in: text).flatMap(Self.time).map { [DialogueCommand.clock($0)] } ?? []
        return shown + openNext(now)
    }

    private mutating func took(_ data: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        // The last block may be longer than the file.
        let octets = data.prefix(file.size - file.got)
        file.got += octets.count
        file.block &+= 1
        file.rest += octets
        if file.start == nil, file.rest.count >= Self.headSize {
            guard readHead() else { return [.tell(.unknownForm)] + ask(0x05, .closing, now) }
        }
        var commands: [DialogueCommand] = []
        if let start = file.start {
            var place = 0
            while file.rest.count - place >= Self.recordSize {
                let record = file.rest[place..<place + Self.recordSize]
                place += Self.recordSize
                let time = WallTime(microseconds: start.microseconds + Int64(file.records) * file.step * 1_000_000)
                file.records += 1
                guard record.first != 0xFF else { continue }
                commands.append(.deliver(Self.answers, Array(record.prefix(4)) + DeviceTime.octets(time, layout: .dateTime)))
            }
            file.rest.removeFirst(place)
        }
        if file.got < file.size { return commands + ask(0x04, .reading, now, block: file.block) }
        return commands + ask(0x05, .closing, now)
    }

    private mutating func readHead() -> Bool {
        let head = file.rest.prefix(Self.headSize)
        let seconds = Int64(head[13]) | Int64(head[14]) << 8
        let count = Int64((file.size - Self.headSize) / Self.recordSize)
        guard head[0] == 3, let start = DeviceTime.read(Array(head[2..<9]), layout: .dateTime) else { return false }
        guard count == 0 || seconds == 2 * count || seconds == 4 * count else { return false }
        (file.start, file.step) = (start, count == 0 ? 4 : seconds / count)
        file.rest.removeFirst(Self.headSize)
        return true
    }

    private mutating func closed(_ now: DialogueTime) -> [DialogueCommand] {
        guard file.size > 0, file.got == file.size, file.start != nil else { return openNext(now) }
        state = .committing
        deadline = nil
        let count = names.count { $0 <= file.name }
        // After a clock that was set back the newest name stays the newest.
        let newest = max(file.name, waiting.isEmpty ? cursor?.fingerprint ?? 0 : 0)
        let kept = newest == file.name ? count : names.count { $0 <= newest }
        return [.remember(RecordCursor(number: 0, fingerprint: newest, count: kept)), .commit]
    }

    // MARK: Words

    /// `"KEY": "…"`; all values are texts.
    private static func value(_ key: String, in text: String) -> String? {
        guard let found = text.firstRange(of: "\"\(key)\"") else { return nil }
        let rest = text[found.upperBound...].drop { $0 == " " || $0 == ":" }
        guard rest.first == "\"" else { return nil }
        return String(rest.dropFirst().prefix { $0 != "\"" })
    }

    /// `2026-11-20,08:31:15`
    private static func time(_ text: String) -> WallTime? {
        let parts = text.split { "-,: ".contains($0) }.compactMap { Int($0) }
        guard parts.count == 6, (2000...2100).contains(parts[0]), parts.dropFirst().allSatisfy({ (0...99).contains($0) }) else {
            return nil
        }
        let octets = [parts[0] & 0xFF, parts[0] >> 8] + parts.dropFirst()
        return DeviceTime.read(octets.map { UInt8($0) }, layout: .dateTime)
    }

    /// CRC-8 with the polynomial 07.
    static func check(_ octets: ArraySlice<UInt8>) -> UInt8 {
        var check: UInt8 = 0
        for octet in octets {
            check ^= octet
            for _ in 0..<8 { check = check & 0x80 == 0 ? check << 1 : (check << 1) ^ 0x07 }
        }
        return check
    }
}

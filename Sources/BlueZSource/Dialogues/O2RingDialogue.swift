import HealthModel

/// Viatom's and Wellue's rings (O2Ring, CheckO2, SleepO2 and others with this protocol). Each stored night is read once and stays on the
/// ring.
///
///     request                                                             answer
///     AA <cmd> <cmd^FF> <block u16> <length u16> <data> <crc8>            55 <status> <status^FF> <block u16> <length u16> <data> <crc8>
///
///     14 information           JSON: "CurTIME", "FileList": names of 14 digits, the date and time of each, some followed by ".vld"
///     03 open, <name> 00       size u32
///     04 read, block           bytes, the answer repeats the block's number
///     05 close
///
///     file   0 version 3 or 5 · 1 mode · 2 date and time 7 · 9 size u32 · 13 seconds u16 · … · 40 records: SpO2 u8, pulse u16, motion u8, ?
///
/// Answers come in as many notifications as they need. Requests are written in pieces of 20 bytes. A record covers 2 or 4 seconds: the
/// file's seconds divided by its records, which is not always exact. Bytes after the last whole record are ignored. A ring whose clock was
/// never set writes a header without a date, but the file's name contains it. Some files contain each record twice, and their header has
/// the size without the duplicates. The frame for a record is SpO2 u8, pulse u16, motion u8, date and time 7. A record without a finger
/// (FF) is skipped.
///
/// A file's name is remembered when the file is durable, and the file is not read again. A file that could not be read is requested once
/// more in each conversation. The cursor contains the newest name that was read and the number of names up to it. ``RecordCursor/number``
/// has a bit for each of these that was not read, the newest first.
///
/// Sources: viatom-o2ring-ble (protocol.py, client.py, file.py, const.py), which follows the maker's own LepuBle, o2r and
/// wellue-o2ring-protocol. OSCAR's viatom_loader.cpp (version 5, odd sizes and durations, duplicate records). SomnoTrace's pull request 162
/// (the header without a date).
struct O2RingDialogue: DeviceDialogue {
    static let service = BluetoothUUID("14839AC4-7D7E-415C-9A42-167340CF2339") ?? BluetoothUUID(0)
    static let answers = CharacteristicName(
        service, BluetoothUUID("0734594A-A8E7-4B1A-A6B1-CD5243059A57") ?? BluetoothUUID(0))
    static let requests = CharacteristicName(
        service, BluetoothUUID("8B00ACE7-EB0B-49B0-BBE9-9AEE0A26E1A3") ?? BluetoothUUID(0))
    static let timeout: Duration = .seconds(5)
    private static let tries = 5
    /// A night of twelve hours has a fifth of this size.
    private static let maximumLength = 512 * 1024
    private static let maximumAnswerLength = 8192
    private static let headSize = 40
    private static let recordSize = 5

    private(set) var deadline: Duration?
    private let cursor: RecordCursor?
    private var state = State.idle
    private var request: [UInt8] = []
    private var attempts = 0
    private var buffer: [UInt8] = []
    /// The last answer. Answers do not identify their request, so a repetition of it is ignored.
    private var last: [UInt8] = []
    /// The names on the ring, and those still to be read, both sorted by time.
    private var names: [UInt64] = []
    private var waiting: [UInt64] = []
    /// Names that end in ".vld".
    private var suffixed: Set<UInt64> = []
    /// All names up to this one were requested before.
    private var floor: UInt64 = 0
    private var unread: Set<UInt64> = []
    /// Whether the link was silent during the previous file.
    private var wasSilent = false
    private var file = File()

    private enum State: Equatable {
        case idle, asking, opening, reading, closing, committing, ended
    }

    private struct File {
        var name: UInt64 = 0
        var size = 0
        var got = 0
        var block: UInt16 = 0
        /// Bytes that are not a complete header or record yet.
        var rest: [UInt8] = []
        var start: WallTime?
        /// The seconds in a record.
        var step: Int64 = 0
        var records = 0
        /// Whether each record may be duplicated, and the first record of a pair.
        var isTwice = false
        var first: [UInt8] = []
        var isUnknown = false
    }

    init(from cursor: RecordCursor?) { self.cursor = cursor }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start: return state == .idle ? ask(0x14, .asking, now) : []
        case .received(Self.answers, let bytes): return received(bytes, now)
        case .committed:
            guard state == .committing else { return [] }
            return openNext(now)
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            guard attempts < Self.tries else { return gaveUp(now) }
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
        let bytes: [UInt8] = [0xAA, command, command ^ 0xFF] + lengths + data
        (state, request, attempts) = (next, bytes + [Self.check(bytes[...])], 1)
        return askAgain(now)
    }

    private mutating func askAgain(_ now: DialogueTime) -> [DialogueCommand] {
        deadline = now.uptime + Self.timeout
        buffer = []
        return stride(from: 0, to: request.count, by: 20).map { start in
            .write(Self.requests, Array(request[start..<min(start + 20, request.count)]))
        }
    }

    private mutating func finish(_ notice: DialogueNotice? = nil) -> [DialogueCommand] {
        state = .ended
        deadline = nil
        let nights: DialogueNotice? = unread.isEmpty ? nil : .nightsUnread(unread.count)
        return [notice, nights].compactMap { $0.map { .notify($0) } } + [.ready]
    }

    /// The ring does not answer. A file that it does not return must not block the files after it.
    private mutating func gaveUp(_ now: DialogueTime) -> [DialogueCommand] {
        guard state != .asking, !wasSilent, !waiting.isEmpty else { return finish(.memoryUnread) }
        wasSilent = true
        return leave(now)
    }

    /// Continues without the file, which is requested again the next time.
    private mutating func leave(_ now: DialogueTime) -> [DialogueCommand] {
        unread.insert(file.name)
        return openNext(now)
    }

    private mutating func openNext(_ now: DialogueTime) -> [DialogueCommand] {
        guard !waiting.isEmpty else { return finish() }
        file = File(name: waiting.removeFirst())
        let digits = String(file.name)
        let name = String(repeating: "0", count: 14 - digits.count) + digits + (suffixed.contains(file.name) ? ".vld" : "")
        return ask(0x03, .opening, now, data: Array(name.utf8) + [0])
    }

    // MARK: Answers

    private mutating func received(_ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard [State.asking, .opening, .reading, .closing].contains(state) else { return [] }
        buffer += bytes
        guard buffer.count >= 8 else { return [] }
        let size = 7 + (Int(buffer[5]) | Int(buffer[6]) << 8) + 1
        guard buffer[0] == 0x55, buffer[1] == buffer[2] ^ 0xFF, size <= Self.maximumAnswerLength else {
            // The request is repeated after its timeout.
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
            wasSilent = false
            guard status == 0, data.count >= 4 else { return leave(now) }
            file.size = Int(data[0]) | Int(data[1]) << 8 | Int(data[2]) << 16 | Int(data[3]) << 24
            guard file.size >= Self.headSize, file.size <= Self.maximumLength else { return notKnown(now) }
            return ask(0x04, .reading, now)
        case .reading where status != 0 && block == file.block: return notKnown(now)
        case .reading where status == 0 && block == file.block && !data.isEmpty: return took(data, now)
        case .closing: return closed(now)
        default: return []
        }
    }

    private mutating func informed(_ data: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        let text = String(decoding: data, as: UTF8.self)
        let list = Self.value("FileList", in: text) ?? ""
        for entry in list.split(separator: ",") {
            let digits = entry.hasSuffix(".vld") ? entry.dropLast(4) : entry
            guard digits.utf8.count == 14, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let name = UInt64(digits),
                !names.contains(name)
            else { continue }
            names.append(name)
            if digits.endIndex != entry.endIndex { suffixed.insert(name) }
        }
        names.sort()
        waiting = names
        if let cursor {
            let older = Array(names.prefix { $0 <= cursor.fingerprint })
            // If there are more names than before, the clock was set back, and everything is read again.
            if older.count <= cursor.count ?? 0 {
                floor = cursor.fingerprint
                // If some files were deleted, the bits do not identify the unread ones any more.
                let again = cursor.number != 0 && older.count < cursor.count ?? 0 ? older : Self.unread(cursor.number, of: older)
                waiting = again + names.dropFirst(older.count)
            }
        }
        let shown = Self.value("CurTIME", in: text).flatMap(Self.time).map { [DialogueCommand.clock($0)] } ?? []
        return shown + openNext(now)
    }

    private mutating func took(_ data: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        // The last block may be longer than the file.
        let bytes = data.prefix(file.size - file.got)
        file.got += bytes.count
        file.block &+= 1
        file.rest += bytes
        if file.start == nil, file.rest.count >= Self.headSize {
            guard readHead() else { return notKnown(now) }
        }
        var commands: [DialogueCommand] = []
        if let start = file.start {
            var place = 0
            while file.rest.count - place >= Self.recordSize {
                let record = file.rest[place..<place + Self.recordSize]
                place += Self.recordSize
                let time = WallTime(microseconds: start.microseconds + Int64(file.records) * file.step * 1_000_000)
                file.records += 1
                if file.isTwice {
                    let isSecond = file.records.isMultiple(of: 2) && Array(record) == file.first
                    file.first = Array(record)
                    if isSecond { continue }
                }
                // OSCAR: the third byte is FF if the ring measured nothing. No pulse has that value.
                guard record.first != 0xFF, record.dropFirst(2).first != 0xFF else { continue }
                commands.append(.deliver(Self.answers, Array(record.prefix(4)) + DeviceTime.bytes(time, layout: .dateTime)))
            }
            file.rest.removeFirst(place)
        }
        if file.got < file.size { return commands + ask(0x04, .reading, now, block: file.block) }
        return commands + ask(0x05, .closing, now)
    }

    private mutating func readHead() -> Bool {
        let head = Array(file.rest.prefix(Self.headSize))
        guard Self.versions.contains(head[0]), let start = Self.start(head, name: file.name) else { return false }
        let count = (file.size - Self.headSize) / Self.recordSize
        guard let step = Self.step(seconds: Int(head[13]) | Int(head[14]) << 8, records: count) else { return false }
        let declaredLength = Int(head[9]) | Int(head[10]) << 8 | Int(head[11]) << 16 | Int(head[12]) << 24
        file.isTwice = step == 2 && declaredLength == Self.headSize + count / 2 * Self.recordSize
        (file.start, file.step) = (start, Int64(step))
        file.rest.removeFirst(Self.headSize)
        return true
    }

    private mutating func notKnown(_ now: DialogueTime) -> [DialogueCommand] {
        file.isUnknown = true
        return ask(0x05, .closing, now)
    }

    private mutating func closed(_ now: DialogueTime) -> [DialogueCommand] {
        guard !file.isUnknown, file.got == file.size, file.start != nil else { return leave(now) }
        state = .committing
        deadline = nil
        // If the clock was set back, the newest name stays the newest.
        let newest = max(file.name, floor, waiting.isEmpty ? cursor?.fingerprint ?? 0 : 0)
        let older = names.prefix { $0 <= newest }
        // Waiting files up to the newest name were not read either.
        let missing = unread.union(waiting)
        return [
            .remember(RecordCursor(number: Self.bits(of: missing, in: older), fingerprint: newest, count: older.count)), .commit,
        ]
    }

    // MARK: Nights that were not read

    /// Returns a bit for each missing name, the newest name first. The last bit covers all older names.
    private static func bits(of missing: Set<UInt64>, in names: ArraySlice<UInt64>) -> UInt16 {
        names.reversed().enumerated().reduce(0) { bits, name in
            missing.contains(name.element) ? bits | 1 << UInt16(min(name.offset, UInt16.bitWidth - 1)) : bits
        }
    }

    private static func unread(_ bits: UInt16, of names: [UInt64]) -> [UInt64] {
        names.reversed().enumerated().filter { bits >> UInt16(min($0.offset, UInt16.bitWidth - 1)) & 1 == 1 }.map(\.element)
            .reversed()
    }

    // MARK: Heads

    private static let versions: Set<UInt8> = [3, 5]
    /// OSCAR accepts no other years, and no ring is older.
    private static let years = 2015...2059
    /// A header and its name contain the same time. If they differ by more than this, one of them is garbage.
    private static let day: Int64 = 86_400_000_000

    /// Returns the start. If the header has no date, or one that differs from the name, the name is correct (SomnoTrace's pull request
    /// 162).
    private static func start(_ head: [UInt8], name: UInt64) -> WallTime? {
        func time(_ bytes: [UInt8]) -> WallTime? {
            years.contains(Int(bytes[0]) | Int(bytes[1]) << 8) ? DeviceTime.read(bytes, layout: .dateTime) : nil
        }
        let parts = [100_000_000, 1_000_000, 10_000, 100, 1].map { UInt8(name / $0 % 100) }
        let year = Int(name / 10_000_000_000)
        let named = time([UInt8(year & 0xFF), UInt8(year >> 8)] + parts)
        guard let startTime = time(Array(head[2..<9])) else { return named }
        guard let named else { return startTime }
        return abs(startTime.microseconds - named.microseconds) <= day ? startTime : named
    }

    /// Returns the seconds in a record, 2 or 4, whichever is closer. A night may differ by at most two records.
    private static func step(seconds: Int, records: Int) -> Int? {
        guard records > 0 else { return 4 }
        let near = [4, 2].filter { abs(seconds - $0 * records) <= 2 * $0 }
        return near.min { abs(seconds - $0 * records) < abs(seconds - $1 * records) }
    }

    // MARK: Words

    /// Returns a value in `"KEY": "…"`. All values are texts.
    private static func value(_ key: String, in text: String) -> String? {
        guard let found = text.firstRange(of: "\"\(key)\"") else { return nil }
        let rest = text[found.upperBound...].drop { $0 == " " || $0 == ":" }
        guard rest.first == "\"" else { return nil }
        return String(rest.dropFirst().prefix { $0 != "\"" })
    }

    /// Parses `2026-11-20,08:31:15`.
    private static func time(_ text: String) -> WallTime? {
        let parts = text.split { "-,: ".contains($0) }.compactMap { Int($0) }
        guard parts.count == 6, (2000...2100).contains(parts[0]), parts.dropFirst().allSatisfy({ (0...99).contains($0) }) else {
            return nil
        }
        let bytes = [parts[0] & 0xFF, parts[0] >> 8] + parts.dropFirst()
        return DeviceTime.read(bytes.map { UInt8($0) }, layout: .dateTime)
    }

    /// Returns the CRC-8 with the polynomial 07.
    static func check(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        var check: UInt8 = 0
        for byte in bytes {
            check ^= byte
            for _ in 0..<8 { check = check & 0x80 == 0 ? check << 1 : (check << 1) ^ 0x07 }
        }
        return check
    }
}

import HealthModel

/// Omron's cuffs with an EEPROM and a proprietary protocol. Their memory is read and never written.
///
///     unlock (B305B680-…)        01 <key 16>                        81 00 the key is right
///     in pairing mode            02 <16 zeros>, then 00 <key 16>    82 00, then 80 00: the cuff uses this key from now on
///
///     request                                                      answer
///     08 00 00 0000 10 00 18                begin                   … 80 00 …
///     08 01 00 <address u16> <count> 00 <x> read                    <size> 81 00 <address u16> <count> <octets> 00 <x>
///     08 0F 00 0000 00 00 07                end                     … 8F 00 …
///
/// Requests go to the first of four characteristics. An answer of up to 64 bytes comes in pieces of 16 over four other characteristics. The
/// first piece begins with the size. <x> makes the exclusive or of all bytes 0. A request without an answer is repeated.
///
/// The frame for a record is the same for all models: the model's mark, user u8, systolic u16, diastolic u16, pulse u16, state u8 (b0
/// moved, b1 irregular), and date and time in the SIG's 7 bytes. An empty slot is all FF. If the memory's index has not changed since the
/// last commit, nothing is read.
///
/// Source: omblepy (omblepy.py, sharedDriver.py, deviceSpecific/hem-7322t.py, hem-7361t.py, hem-7600t.py), which was developed with such
/// cuffs.
struct OmronCuffDialogue: DeviceDialogue {
    static let service = BluetoothUUID("ECBE3980-C9A2-11E1-B1BD-0002A5D5C51B") ?? BluetoothUUID(0)
    static let unlock = name("B305B680-AEE7-11E1-A730-0002A5D5C51B")
    static let requests = name("DB5B55E0-AEE7-11E1-965E-0002A5D5C51B")
    static let answers = [
        name("49123040-AEE8-11E1-A74D-0002A5D5C51B"), name("4D0BF320-AEE8-11E1-A0D9-0002A5D5C51B"),
        name("5128CE60-AEE8-11E1-B84B-0002A5D5C51B"), name("560F1420-AEE8-11E1-8184-0002A5D5C51B"),
    ]
    /// An answer takes a tenth of a second.
    static let timeout: Duration = .seconds(2)
    private static let tries = 5

    private(set) var deadline: Duration?
    private let memory: CuffMemory
    private let key: [UInt8]
    private let cursor: RecordCursor?
    private var state = State.idle
    private var request: [UInt8] = []
    private var attempts = 0
    private var pieces: [[UInt8]?] = [nil, nil, nil, nil]
    /// Bytes of the current user's records that are not a complete record yet.
    private var rest: [UInt8] = []
    private var index: UInt64?

    private enum State: Equatable {
        case idle, unlocking, entering, programming
        case beginning(isNew: Bool)
        case readingIndex, readingClock
        /// The index of the user, and the number of bytes already read.
        case reading(Int, Int)
        case committing
        case ending, ended
    }

    init(_ memory: CuffMemory, key: [UInt8], from cursor: RecordCursor?) {
        self.memory = memory
        self.key = key
        self.cursor = cursor
    }

    private static func name(_ text: String) -> CharacteristicName {
        CharacteristicName(service, BluetoothUUID(text) ?? BluetoothUUID(0))
    }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start: return state == .idle ? ask([0x01] + key, .unlocking, now) : []
        case .received(Self.unlock, let bytes): return unlocked(bytes, now)
        case .received(let name, let bytes):
            guard let place = Self.answers.firstIndex(of: name) else { return [] }
            return received(bytes, place, now)
        case .refused(let name, let failure):
            guard name == Self.unlock, failure == .authentication, state == .unlocking else { return [] }
            state = .ended
            deadline = nil
            return [.fail(failure)]
        case .committed: return state == .committing ? end(now) : []
        case .tick: return tick(now)
        case .read, .written: return []
        }
    }

    // MARK: Requests

    private mutating func ask(_ bytes: [UInt8], _ next: State, _ now: DialogueTime) -> [DialogueCommand] {
        (state, request, attempts) = (next, bytes, 1)
        return askAgain(now)
    }

    private mutating func askAgain(_ now: DialogueTime) -> [DialogueCommand] {
        deadline = now.uptime + Self.timeout
        pieces = [nil, nil, nil, nil]
        let isKey = [State.unlocking, .entering, .programming].contains(state)
        return [.write(isKey ? Self.unlock : Self.requests, request)]
    }

    private mutating func read(_ address: UInt16, _ count: Int, _ next: State, _ now: DialogueTime) -> [DialogueCommand] {
        let head: [UInt8] = [0x08, 0x01, 0x00, UInt8(address >> 8), UInt8(address & 0xFF), UInt8(count)]
        return ask(head + [0x00, head.reduce(0, ^)], next, now)
    }

    private mutating func end(_ now: DialogueTime) -> [DialogueCommand] {
        ask([0x08, 0x0F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07], .ending, now)
    }

    private mutating func finish(_ notice: DialogueNotice? = nil) -> [DialogueCommand] {
        state = .ended
        deadline = nil
        return (notice.map { [.notify($0)] } ?? []) + [.ready]
    }

    private mutating func tick(_ now: DialogueTime) -> [DialogueCommand] {
        guard let due = deadline, now.uptime >= due else { return [] }
        deadline = nil
        switch state {
        case .idle, .committing, .ended: return []
        case .ending: return finish()
        case .unlocking, .entering, .programming, .beginning, .readingIndex, .readingClock, .reading:
            guard attempts < Self.tries else { return finish(.memoryUnread) }
            attempts += 1
            return askAgain(now)
        }
    }

    // MARK: Answers

    private mutating func unlocked(_ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard bytes.count >= 2 else { return [] }
        switch (state, bytes[0], bytes[1]) {
        case (.unlocking, 0x81, 0x00): return begin(isNew: false, now)
        // The cuff has another key, or none. In pairing mode it accepts ours.
        case (.unlocking, 0x81, _): return ask([0x02] + [UInt8](repeating: 0, count: 16), .entering, now)
        case (.entering, 0x82, 0x00): return ask([0x00] + key, .programming, now)
        case (.entering, 0x82, _): return finish(.needsPairingMode)
        // A newly paired cuff needs one begin and end before it returns its memory the next time.
        case (.programming, 0x80, 0x00): return begin(isNew: true, now)
        case (.programming, 0x80, _): return finish(.needsPairingMode)
        default: return []
        }
    }

    private mutating func begin(isNew: Bool, _ now: DialogueTime) -> [DialogueCommand] {
        ask([0x08, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x18], .beginning(isNew: isNew), now)
    }

    /// Assembles the pieces of an answer.
    private mutating func received(_ bytes: [UInt8], _ place: Int, _ now: DialogueTime) -> [DialogueCommand] {
        guard bytes.count <= 64 else { return [] }
        pieces[place] = bytes
        guard let first = pieces[0], let size = first.first.map(Int.init), (8...64).contains(size) else { return [] }
        let needed = pieces.prefix((size + 15) / 16)
        guard !needed.contains(nil) else { return [] }
        let all = needed.flatMap { $0 ?? [] }
        pieces = [nil, nil, nil, nil]
        guard all.count >= size, all.prefix(size).reduce(0, ^) == 0 else { return [] }
        return answered(Array(all.prefix(size)), now)
    }

    private mutating func answered(_ answer: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        let kind = UInt16(answer[1]) << 8 | UInt16(answer[2])
        switch state {
        case .beginning(let isNew) where kind == 0x8000:
            if isNew { return end(now) }
            return memory.index.map { read($0, Self.indexSize, .readingIndex, now) } ?? clock(now)
        case .ending where kind == 0x8F00: return finish()
        case .readingIndex, .readingClock, .reading:
            // Accept only the answer to the current request, not to the previous one.
            guard kind == 0x8100, answer[3...4] == request[3...4], answer[5] == request[5], answer.count >= Int(answer[5]) + 8
            else {
                return []
            }
            return took(Array(answer[6..<6 + Int(answer[5])]), now)
        default: return []
        }
    }

    private static let indexSize = 8

    private mutating func took(_ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        switch state {
        case .readingIndex:
            let found = RecordNumber.hash(bytes[...])
            if let cursor, cursor.fingerprint == found { return end(now) }
            index = found
            return clock(now)
        case .readingClock:
            let shown = CuffMemory.clock(bytes).map { [DialogueCommand.clock($0)] } ?? []
            return shown + records(of: 0, from: 0, now)
        case .reading(let user, let offset):
            rest += bytes
            var commands: [DialogueCommand] = []
            while rest.count >= memory.form.size {
                let record = Array(rest.prefix(memory.form.size))
                rest.removeFirst(memory.form.size)
                guard record.contains(where: { $0 != 0xFF }) else { continue }
                commands.append(.deliver(Self.answers[0], memory.mark + [UInt8(user + 1)] + memory.form.decodedRecord(record)))
            }
            return commands + records(of: user, from: offset + bytes.count, now)
        default: return []
        }
    }

    private mutating func clock(_ now: DialogueTime) -> [DialogueCommand] {
        memory.clock.map { read($0, CuffMemory.clockSize, .readingClock, now) } ?? records(of: 0, from: 0, now)
    }

    /// Requests the next bytes of a user's records, or the next user's. Everything is made durable before the conversation ends.
    private mutating func records(of user: Int, from offset: Int, _ now: DialogueTime) -> [DialogueCommand] {
        let size = memory.records * memory.form.size
        guard user < memory.users.count else {
            state = .committing
            deadline = nil
            let remembered = index.map { [DialogueCommand.remember(RecordCursor(number: 0, fingerprint: $0, count: nil))] } ?? []
            return remembered + [.commit]
        }
        guard offset < size else {
            rest = []
            return records(of: user + 1, from: 0, now)
        }
        let address = memory.users[user] &+ UInt16(truncatingIfNeeded: offset)
        return read(address, min(memory.block, size - offset), .reading(user, offset), now)
    }
}

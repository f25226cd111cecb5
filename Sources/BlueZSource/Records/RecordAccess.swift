/// A dialogue with the Record Access Control Point, as decisions only: bytes in, bytes out, no I/O and no clock.
///
/// The device is asked how many records it has, then for the last one, then for all from the last collected one on, that one included:
/// its fingerprint shows whether the device is still counting as it did. Where it is not (sequence numbers that wrapped, run
/// backwards or began anew, stories 24, 25), all records are asked for; what is stored already is found to be a duplicate. Nothing is
/// ever deleted on the device, and the cursor moves only after the caller has committed.
///
///     request               answer
///     04 01                 05 00 <count>              number of stored records
///     01 06                 record, 06 00 01 01        report the last one
///     01 03 01 <number>     records, 06 00 01 01       report from this number on
///     01 01                 records, 06 00 01 01       report all
///     03 00                 06 00 03 01                abort
///
/// Source: Bluetooth GATT Specification Supplement, Record Access Control Point; operators and response codes in the same table.
struct RecordAccess {
    var state: State = .idle
    /// When `tick` is wanted.
    private(set) var deadline: Duration?

    let description: RecordAccessDescription
    private let cursor: RecordCursor?
    private var count: Int?
    var last: RecordNumber?
    var firstReported: RecordNumber?
    var lastReported: RecordNumber?
    var delivered = 0
    var reported = 0
    var pending: (bytes: [UInt8], number: UInt16?)?
    private var restarted = false
    /// The request that was made last, and how often it was put off.
    private var lastRequest: [UInt8] = []
    private var delays = 0
    private var isPutOff = false

    /// Without traffic for this long the procedure is given up.
    static let patience: Duration = .seconds(30)

    init(_ description: RecordAccessDescription, from cursor: RecordCursor?) {
        self.description = description
        self.cursor = cursor
    }

    mutating func handle(_ event: Event, at now: Duration) -> [Command] {
        switch event {
        case .start: return state == .idle ? count(now) : []
        case .written:
            extend(now)
            return []
        case .writeFailed(let failure): return writeFailed(failure, now)
        case .indicated(let bytes):
            extend(now)
            return indicated(bytes, now)
        case .measured(let bytes):
            extend(now)
            return measured(bytes)
        case .context(let bytes):
            extend(now)
            return context(bytes)
        case .committed:
            guard case .committing = state else { return [] }
            return end(.complete(records: delivered))
        case .abort: return isRunning ? abort(again: false, now) : []
        case .linkLost:
            // Half a record is not handed on; the cursor stays, so that it comes again whole (story 9).
            pending = nil
            return isRunning || isAborting ? end(.incomplete("the link was lost")) : []
        case .tick: return tick(now)
        }
    }

    private var isRunning: Bool {
        switch state {
        case .counting, .lookingAtLast, .reporting: true
        case .idle, .aborting, .committing, .ended: false
        }
    }

    private var isAborting: Bool { if case .aborting = state { true } else { false } }

    private mutating func extend(_ now: Duration) {
        if isRunning || isAborting, !isPutOff { deadline = now + Self.patience }
    }

    // MARK: Requests

    private mutating func request(_ bytes: [UInt8], _ next: State, _ now: Duration) -> [Command] {
        state = next
        deadline = now + Self.patience
        lastRequest = bytes
        isPutOff = false
        return [.write(bytes)]
    }

    private mutating func count(_ now: Duration) -> [Command] { request([0x04, 0x01], .counting, now) }

    private mutating func reportAll(_ now: Duration) -> [Command] {
        pending = nil
        (firstReported, lastReported) = (nil, nil)
        reported = 0
        return request([0x01, 0x01], .reporting(all: true), now)
    }

    private mutating func reportFrom(_ number: UInt16, _ now: Duration) -> [Command] {
        request([0x01, 0x03, 0x01, UInt8(number & 0xFF), UInt8(number >> 8)], .reporting(all: false), now)
    }

    private mutating func abort(again: Bool, _ now: Duration) -> [Command] {
        request([0x03, 0x00], .aborting(again: again), now)
    }

    private mutating func tick(_ now: Duration) -> [Command] {
        guard let due = deadline, now >= due else { return [] }
        if isPutOff { return request(lastRequest, state, now) }
        if isRunning {
            pending = nil
            return abort(again: false, now)
        }
        return isAborting ? end(.incomplete("the device stopped answering")) : []
    }

    private mutating func writeFailed(_ failure: LinkFailure, _ now: Duration) -> [Command] {
        switch failure {
        case .procedureRunning where isRunning: startAnew(now)
        case .procedureRunning where isAborting, .inProgress where isRunning || isAborting: putOff(now)
        default: end(.incomplete("the request was not taken"))
        }
    }

    /// Another procedure is running, as after a hub that died in the middle of one: it is aborted, and ours begins again, once. After that
    /// it can only be one that the device has answered and not quite ended.
    private mutating func startAnew(_ now: Duration) -> [Command] {
        if restarted { return putOff(now) }
        restarted = true
        return abort(again: true, now)
    }

    /// The same request is made a little later.
    private mutating func putOff(_ now: Duration) -> [Command] {
        guard delays < Self.maximumDelays else { return end(.incomplete("the device is busy")) }
        delays += 1
        isPutOff = true
        deadline = now + .milliseconds(250 << delays)
        return []
    }

    private static let maximumDelays = 4

    // MARK: Answers

    private mutating func indicated(_ bytes: [UInt8], _ now: Duration) -> [Command] {
        guard bytes.count >= 4 else { return [] }
        switch bytes[0] {
        case 0x05 where state == .counting:
            count = Int(bytes[2]) | Int(bytes[3]) << 8
            return counted(now)
        case 0x06:
            return responded(to: bytes[2], with: bytes[3], now)
        default: return []
        }
    }

    private mutating func counted(_ now: Duration) -> [Command] {
        if count == 0 { return commit(cursor) }
        guard cursor != nil, description.filter != .none else { return reportAll(now) }
        return request([0x01, 0x06], .lookingAtLast, now)
    }

    private mutating func responded(to request: UInt8, with code: UInt8, _ now: Duration) -> [Command] {
        switch (state, request) {
        case (.aborting(let again), 0x03):
            return again ? count(now) : end(.incomplete("given up after \(delivered) records"))
        case (.counting, 0x04), (.lookingAtLast, 0x01), (.reporting, 0x01): break
        default: return []
        }
        switch RecordResponse(code) {
        case .busy: return startAnew(now)
        case .noRecords: return noRecords(now)
        case .success: return succeeded(now)
        case .notSupported: return notSupported(now)
        case .failed: return end(.incomplete("the device answers with code \(code)"))
        }
    }

    private mutating func noRecords(_ now: Duration) -> [Command] {
        // From the last known number on there is nothing, though there are records: the device counts anew.
        if case .reporting(all: false) = state { return reportAll(now) }
        return commit(cursor)
    }

    private mutating func notSupported(_ now: Duration) -> [Command] {
        switch state {
        case .counting: return counted(now)
        case .lookingAtLast: return decide(now)
        case .reporting(all: false): return reportAll(now)
        default: return end(.incomplete("the device does not report its records"))
        }
    }

    private mutating func succeeded(_ now: Duration) -> [Command] {
        switch state {
        case .lookingAtLast: return decide(now)
        case .reporting(let all):
            let flushed = flush()
            if !all, !agrees { return flushed + reportAll(now) }
            return flushed + commit(newCursor)
        default: return []
        }
    }

    /// The last record of the device is known, or the device does not tell it.
    private mutating func decide(_ now: Duration) -> [Command] {
        guard let cursor else { return reportAll(now) }
        guard let last else { return reportFrom(cursor.number, now) }
        if last.matches(cursor), count == cursor.count { return commit(cursor) }
        return last.number >= cursor.number ? reportFrom(cursor.number, now) : reportAll(now)
    }

    /// Whether what was reported from the cursor on continues what was collected before.
    private var agrees: Bool {
        guard let cursor, let first = firstReported, first.matches(cursor) else { return false }
        if let last, lastReported != last { return false }
        guard let count, let before = cursor.count else { return true }
        return count <= before + reported - 1
    }

    private var newCursor: RecordCursor? {
        guard let newest = last ?? lastReported else { return cursor }
        return RecordCursor(number: newest.number, fingerprint: newest.fingerprint, count: count)
    }

    private mutating func commit(_ cursor: RecordCursor?) -> [Command] {
        state = .committing(cursor)
        deadline = nil
        return [.commit(cursor)]
    }

    private mutating func end(_ ending: Ending) -> [Command] {
        state = .ended(ending)
        deadline = nil
        return [.end(ending)]
    }
}

/// A dialogue with the Record Access Control Point, as decisions only: bytes in, bytes out, without I/O or a clock.
///
/// The device is asked for the number of its records, then for the last one, then for all from the last collected one on. The fingerprint
/// of the last collected record shows whether the device's numbers continue. If they do not (sequence numbers that wrapped, ran backwards
/// or restarted, stories 24, 25), all records are requested, and the store recognizes duplicates. Nothing is ever deleted on the device,
/// and the cursor moves only after the caller has committed.
///
///     request               answer
///     04 01                 05 00 <count>              number of stored records
///     01 06                 record, 06 00 01 01        report the last one
///     01 03 01 <number>     records, 06 00 01 01       report from this number on
///     01 01                 records, 06 00 01 01       report all
///     03 00                 06 00 03 01                abort
///
/// Source: Bluetooth GATT Specification Supplement, Record Access Control Point. Operators and response codes are in the same table.
struct RecordAccess {
    var state: State = .idle
    /// The time of the next `tick`.
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
    /// The last request, and the number of times it was delayed.
    private var lastRequest: [UInt8] = []
    private var delays = 0
    private var isPutOff = false

    /// The procedure is abandoned after this time without traffic.
    static let timeout: Duration = .seconds(30)

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
            // An incomplete record is dropped. The cursor stays, so that the whole record is sent again (story 9).
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
        if isRunning || isAborting, !isPutOff { deadline = now + Self.timeout }
    }

    // MARK: Requests

    private mutating func request(_ bytes: [UInt8], _ next: State, _ now: Duration) -> [Command] {
        state = next
        deadline = now + Self.timeout
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
        return isAborting ? end(.incomplete("the device stopped responding")) : []
    }

    private mutating func writeFailed(_ failure: LinkFailure, _ now: Duration) -> [Command] {
        switch failure {
        case .procedureRunning where isRunning: restart(now)
        case .procedureRunning where isAborting, .inProgress where isRunning || isAborting: putOff(now)
        default: end(.incomplete("the request was rejected"))
        }
    }

    /// Handles another running procedure, for example after a hub crashed in the middle of one. It is aborted and this one restarts, but
    /// only once. After that, the device has answered the procedure and only has to finish it.
    private mutating func restart(_ now: Duration) -> [Command] {
        if restarted { return putOff(now) }
        restarted = true
        return abort(again: true, now)
    }

    /// Delays the same request.
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
        case .busy: return restart(now)
        case .noRecords: return noRecords(now)
        case .success: return succeeded(now)
        case .notSupported: return notSupported(now)
        case .failed: return end(.incomplete("the device answers with code \(code)"))
        }
    }

    private mutating func noRecords(_ now: Duration) -> [Command] {
        // No records from the last known number on, although there are records, mean that the device's numbers restarted.
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

    /// Decides on the next request when the last record is known or the device does not report it.
    private mutating func decide(_ now: Duration) -> [Command] {
        guard let cursor else { return reportAll(now) }
        guard let last else { return reportFrom(cursor.number, now) }
        if last.matches(cursor), count == cursor.count { return commit(cursor) }
        return last.number >= cursor.number ? reportFrom(cursor.number, now) : reportAll(now)
    }

    /// Whether the reported records continue the ones collected before.
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

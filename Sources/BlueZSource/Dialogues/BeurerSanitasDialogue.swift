/// Beurer's and Sanitas' scales of the first kind (BF700, BF710, BF800, SBF70, SBF75, Runtastic Libra). They send a weighing in parts, each
/// of which must be acknowledged.
///
///     hub                              scale
///     n6 01                            n6 …                                         ready, n is E or F, depending on the model
///     n9 <seconds since 1970, u32>                                                  its clock, which counts in UTC
///                                      n7 58 <flag> <weight u16>                    moving or stable, the sources disagree on the flag
///                                      n7 59 <parts> <part 1> ? <user 8>            the start of a weighing, with its user
///     n7 F1 59 <parts> <part>          n7 59 <parts> <part> …                       the other parts in order, as below
///     n7 F1 <34, 42> <parts> <part>    n7 34 …, n7 42 …                             its users and stored weighings, not deleted
///
///     time u32 · weight u16, 0.05 kg · impedance u16, Ω · fat, water, muscle u16, 0.1 % · bone u16, 0.05 kg · 3 of u16 that are not read
///
/// All numbers are big-endian. The frame for a weighing consists of the last byte of the user's number and the 12 bytes from the weight on.
/// The user number of an unknown user is all zeros. A weighing older than the conversation is skipped, because it was sent before or has
/// the time of a clock that was not set yet. The hub sets the clock first.
///
/// Sources: openScale's BeurerSanitasHandler.kt, and ble-scale-sync's beurer-sanitas.ts and its tests, which contain the parts of a
/// weighing.
struct BeurerSanitasDialogue: DeviceDialogue {
    static let name = CharacteristicName(0xFFE0, 0xFFE1)
    /// The scale in ble-scale-sync's issue needed a greeting every five seconds.
    static let timeout: Duration = .seconds(5)
    private static let greetings = 3
    /// In seconds. A person steps on the scale before the hub receives it.
    private static let early: Int64 = 300
    private static let maximumParts = 8
    private static let size = 16

    private(set) var deadline: Duration?
    private let high: UInt8
    private var greeted = 0
    private var isReady = false
    /// Seconds since 1970 at which the clock was set.
    private var since: Int64?
    /// The user and the received parts of the current weighing.
    private var user: UInt8?
    private var parts: [UInt8: [UInt8]] = [:]
    /// The delivered weighing. If the scale repeats a part, it did not receive the acknowledgement.
    private var delivered: [UInt8] = []
    private var didReportIncompleteWeighing = false

    /// - Parameter high: the upper half of all first bytes, `E0` (BF710, SBF70) or `F0` (BF700, BF800, Libra).
    init(high: UInt8) { self.high = high }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start: return greeted == 0 ? greet(now) : []
        case .received(Self.name, let bytes): return receive(bytes, now)
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            // The scale may have received it, as its later answers will show.
            return greeted < Self.greetings ? greet(now) : begin(now)
        case .refused(_, let failure):
            guard !isReady else { return [] }
            deadline = nil
            return [.fail(failure)]
        case .received, .committed, .written, .read: return []
        }
    }

    private mutating func greet(_ now: DialogueTime) -> [DialogueCommand] {
        greeted += 1
        deadline = now.uptime + Self.timeout
        return [.write(Self.name, [high | 6, 0x01])]
    }

    private mutating func begin(_ now: DialogueTime) -> [DialogueCommand] {
        guard !isReady else { return [] }
        isReady = true
        deadline = nil
        let seconds = max(0, now.now.microseconds / 1_000_000)
        since = seconds
        let time = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * Int64($0))) }
        return [.ready, .write(Self.name, [high | 9] + time)]
    }

    private mutating func receive(_ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard greeted > 0, let first = bytes.first else { return [] }
        if first == high | 6 { return begin(now) }
        guard first == high | 7, bytes.count >= 4, [0x34, 0x42, 0x59].contains(bytes[1]) else { return [] }
        let taken = DialogueCommand.write(Self.name, [high | 7, 0xF1] + bytes[1...3])
        return bytes[1] == 0x59 ? [taken] + weighed(bytes) : [taken]
    }

    private mutating func weighed(_ bytes: [UInt8]) -> [DialogueCommand] {
        let (count, part) = (bytes[2], bytes[3])
        guard (2...UInt8(Self.maximumParts)).contains(count), (1...count).contains(part) else { return [] }
        if part == 1 {
            (user, parts) = (bytes.count >= 13 ? bytes[12] : nil, [:])
            return []
        }
        parts[part] = Array(bytes[4...])
        guard part == count else { return [] }
        let all = (2...count).compactMap { parts[$0] }
        let whole = Array(all.joined())
        guard let user, all.count == Int(count) - 1, whole.count >= Self.size else {
            guard !didReportIncompleteWeighing else { return [] }
            didReportIncompleteWeighing = true
            return [.notify(.weighingIncomplete)]
        }
        guard whole != delivered else { return [] }
        delivered = whole
        let time = whole[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard let since, time >= since - Self.early else { return [] }
        return [.deliver(Self.name, [user] + whole[4..<Self.size])]
    }
}

/// Beurer's and Sanitas' scales of the first kind (BF700, BF710, BF800, SBF70, SBF75, Runtastic Libra), which tell a weighing piece by piece to who
/// takes each piece.
///
///     hub                              scale
///     n6 01                            n6 …                                         it is there; n is E or F, another with each kind
///     n9 <seconds since 1970, u32>                                                  its clock, which counts in UTC
///                                      n7 58 <flag> <weight u16>                    moving, or not: the sources do not agree on the flag
///                                      n7 59 <parts> <part 1> ? <user 8>            a weighing: whose
///     n7 F1 59 <parts> <part>          n7 59 <parts> <part> …                       the others in a row, as below
///     n7 F1 <34, 42> <parts> <part>    n7 34 …, n7 42 …                             its users, and what it stored; both stay there
///
///     time u32 · weight u16, 0.05 kg · impedance u16, Ω · fat, water, muscle u16, 0.1 % · bone u16, 0.05 kg · 3 of u16 that are not read
///
/// All numbers have the highest octet first. What is handed on of a weighing is the last octet of the user's number and the 12 octets from the weight
/// on. Of somebody whom the scale does not know it tells zeros. A weighing that is older than the conversation was told before, by whatever clock:
/// the hub sets the clock first.
///
/// Sources: openScale's BeurerSanitasHandler.kt; ble-scale-sync's beurer-sanitas.ts and its tests, of which the pieces of a weighing are.
struct BeurerSanitasDialogue: DeviceDialogue {
    static let name = CharacteristicName(0xFFE0, 0xFFE1)
    /// The scale of ble-scale-sync's issue wanted to be greeted every five seconds.
    static let patience: Duration = .seconds(5)
    private static let greetings = 3
    /// In seconds: somebody steps on the scale first, and it is heard then.
    private static let early: Int64 = 300
    private static let mostParts = 8
    private static let size = 16

    private(set) var deadline: Duration?
    private let high: UInt8
    private var greeted = 0
    private var isReady = false
    /// Seconds since 1970 at which the clock was set.
    private var since: Int64?
    /// Of the weighing that is being told, by part.
    private var user: UInt8?
    private var parts: [UInt8: [UInt8]] = [:]
    /// A part that comes again was not heard to be taken.
    private var delivered: [UInt8] = []
    private var hasToldOfParts = false

    /// - Parameter high: the upper half of all first octets, `E0` (BF710, SBF70) or `F0` (BF700, BF800, Libra).
    init(high: UInt8) { self.high = high }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start: return greeted == 0 ? greet(now) : []
        case .received(Self.name, let octets): return heard(octets, now)
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            // It may be heard all the same: its answers to what comes later say so.
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
        deadline = now.uptime + Self.patience
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

    private mutating func heard(_ octets: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard greeted > 0, let first = octets.first else { return [] }
        if first == high | 6 { return begin(now) }
        guard first == high | 7, octets.count >= 4, [0x34, 0x42, 0x59].contains(octets[1]) else { return [] }
        let taken = DialogueCommand.write(Self.name, [high | 7, 0xF1] + octets[1...3])
        return octets[1] == 0x59 ? [taken] + weighed(octets) : [taken]
    }

    private mutating func weighed(_ octets: [UInt8]) -> [DialogueCommand] {
        let (count, part) = (octets[2], octets[3])
        guard (2...UInt8(Self.mostParts)).contains(count), (1...count).contains(part) else { return [] }
        if part == 1 {
            (user, parts) = (octets.count >= 13 ? octets[12] : nil, [:])
            return []
        }
        parts[part] = Array(octets[4...])
        guard part == count else { return [] }
        let all = (2...count).compactMap { parts[$0] }
        let whole = Array(all.joined())
        guard let user, all.count == Int(count) - 1, whole.count >= Self.size else {
            guard !hasToldOfParts else { return [] }
            hasToldOfParts = true
            return [.tell(.weighingIncomplete)]
        }
        guard whole != delivered else { return [] }
        delivered = whole
        let time = whole[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard let since, time >= since - Self.early else { return [] }
        return [.deliver(Self.name, [user] + whole[4..<Self.size])]
    }
}

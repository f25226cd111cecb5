/// Scales of QN's make (Renpho, FITINDEX, Sencor, SEB, GE and others), which want to be answered before they weigh.
///
///     scale                                   answer
///     12 <length> <type> … <10: 1 hundredths> 13 09 <type> 01 10 00 00 00 <sum>          kilograms are shown
///     14 …                                    20 08 <type> <seconds since 2000, u32> <sum>
///     21 …                                    A0 0D 04 FE 00… <sum>, A0 0D 02 01 00 08 00 21 06 B8 04 02 <sum>, 22 06 <type> 00 03 <sum>
///     10 … a weight, final                    1F 05 <type> 10 <sum>                       behind the commit
///     23 … one that was stored                none; it stays in the scale
///
/// Whether a weight counts hundredths or tenths of a kilogram, the frame 12 alone tells. So what is handed on of a weight is one octet in front of
/// the scale's own: 1 for hundredths, 0 for tenths. Before a frame 12 no weight is taken. Two forms of a weight are known well enough: 11 octets
/// of any type but FF, and 15 of type FF, which count hundredths. Frames of 14 octets and type FF (ES-26M, ES-30M) were seen with both, and no octet tells
/// which: as openScale and ble-scale-sync do, one that would be more than any scale weighs in tenths counts hundredths, which is any weight
/// from 30 kg on. Below that it is not taken, and a person hears of it.
///
/// Each frame ends with the sum of all octets before it. Sources: openScale's QNHandler and its test with a capture of a GE CS 10 G;
/// ble-scale-sync's qn-scale. Where they differ: seconds are counted from 2000-01-01 in UTC here, which only the scale's own clock goes by.
struct QNScaleDialogue: DeviceDialogue {
    private(set) var deadline: Duration?
    private let notify: [CharacteristicName]
    private let writing: CharacteristicName
    /// Of FFE0 the time has a place of its own.
    private let writingTime: CharacteristicName
    /// What the scale calls its protocol; every answer repeats it.
    private var type: UInt8?
    private var hundredths = false
    /// Its frame 12 is one of the long ones.
    private var isLong = false
    private var hasStarted = false
    private var isReady = false
    private var hasToldOfForm = false
    private var hasConfigured = false
    private var hasToldTime = false
    private var hasBegun = false
    /// Final weights: what the scale was told that it may forget, what is on its way to the store, and what comes after that.
    private var durable: [UInt8]?
    private var committing: [UInt8]?
    private var following: [UInt8]?

    /// No scale takes longer to say what it is.
    static let patience: Duration = .seconds(10)
    /// Between answers in a row, as the makers' apps leave.
    static let gap: Duration = .milliseconds(200)
    /// Shorter ones tell in octet 10 how a weight counts.
    private static let longInformation = 18
    /// Of 14 octets, in hundredths of a kilogram: 300 kg, if it were tenths.
    private static let surelyHundredths = 3000
    /// 2000-01-01T00:00:00Z, in seconds.
    private static let epoch: Int64 = 946_684_800

    /// - Returns: nil where the device has neither of the two services.
    init?(_ available: Set<CharacteristicName>) {
        let (newer, older) = (CharacteristicName(0xFFF0, 0xFFF1), CharacteristicName(0xFFE0, 0xFFE1))
        if available.isSuperset(of: [newer, CharacteristicName(0xFFF0, 0xFFF2)]) {
            (notify, writing, writingTime) = ([newer], CharacteristicName(0xFFF0, 0xFFF2), CharacteristicName(0xFFF0, 0xFFF2))
        } else if available.isSuperset(of: [older, CharacteristicName(0xFFE0, 0xFFE3)]) {
            let (shared, time) = (CharacteristicName(0xFFE0, 0xFFE3), CharacteristicName(0xFFE0, 0xFFE4))
            (notify, writing, writingTime) = ([older], shared, available.contains(time) ? time : shared)
        } else {
            return nil
        }
    }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start:
            guard !hasStarted else { return [] }
            hasStarted = true
            guard type == nil else { return ready() }
            deadline = now.uptime + Self.patience
            return []
        case .received(let name, let octets):
            // A frame that was damaged or cut says nothing.
            guard notify.contains(name), octets.count >= 4, Self.isWhole(octets) else { return [] }
            return heard(name, octets, now)
        case .committed:
            guard let committing else { return [] }
            durable = committing
            self.committing = following
            following = nil
            return acknowledgement() + (self.committing == nil ? [] : [.commit])
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            // It may say what it is when somebody steps on it.
            return ready()
        case .refused(_, let failure): return isReady ? [] : [.fail(failure)]
        case .written, .read: return []
        }
    }

    private mutating func heard(_ name: CharacteristicName, _ octets: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        switch octets[0] {
        case 0x12: return informed(octets)
        case 0x14:
            guard let type, !hasToldTime else { return [] }
            hasToldTime = true
            let seconds = UInt32(truncatingIfNeeded: max(0, now.now.microseconds / 1_000_000 - Self.epoch))
            let time = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (8 * UInt32($0))) }
            return [.write(writingTime, Self.summed([0x20, 0x08, type] + time))]
        case 0x21:
            guard let type, !hasBegun else { return [] }
            hasBegun = true
            return [
                .write(writing, Self.summed([0xA0, 0x0D, 0x04, 0xFE, 0, 0, 0, 0, 0, 0, 0, 0])), .pause(Self.gap),
                .write(writing, Self.summed([0xA0, 0x0D, 0x02, 0x01, 0x00, 0x08, 0x00, 0x21, 0x06, 0xB8, 0x04, 0x02])),
                .pause(Self.gap), .write(writing, Self.summed([0x22, 0x06, type, 0x00, 0x03])),
            ]
        case 0x10: return weighed(name, octets)
        case 0x23:
            guard type != nil else { return [] }
            return octets.count == 19 ? [.deliver(name, [0] + octets)] : unknownForm()
        default: return []
        }
    }

    private mutating func weighed(_ name: CharacteristicName, _ octets: [UInt8]) -> [DialogueCommand] {
        guard type != nil else { return [] }
        let isNewForm = octets[2] == 0xFF
        let isShortForm = isNewForm && octets.count == 14
        // What moves is of no use to anybody.
        if isShortForm, octets[4] != 2 { return [] }
        let isKnown = isShortForm && Int(octets[5]) << 8 | Int(octets[6]) >= Self.surelyHundredths
        guard isKnown || (isNewForm ? octets.count == 15 && isLong : octets.count == 11) else {
            return unknownForm()
        }
        let delivery = DialogueCommand.deliver(name, [isNewForm || hundredths ? 1 : 0] + octets)
        // Octet 4 is the state, 2 at the end; of the older form octet 5 is 1.
        guard isNewForm ? octets[4] == 2 : octets[5] == 1 else { return [delivery] }
        // What the scale repeats it was not told of, or did not hear.
        if octets == durable, committing == nil { return [delivery] + acknowledgement() }
        guard let committing else {
            self.committing = octets
            return [delivery, .commit]
        }
        if octets != committing { following = octets }
        return [delivery]
    }

    private mutating func unknownForm() -> [DialogueCommand] {
        guard !hasToldOfForm else { return [] }
        hasToldOfForm = true
        return [.tell(.unknownForm)]
    }

    private func acknowledgement() -> [DialogueCommand] {
        type.map { [.write(writing, Self.summed([0x1F, 0x05, $0, 0x10]))] } ?? []
    }

    private mutating func informed(_ octets: [UInt8]) -> [DialogueCommand] {
        guard octets.count > 10 else { return [] }
        type = octets[2]
        isLong = octets.count >= Self.longInformation
        hundredths = octets[10] == 1
        deadline = nil
        guard !hasConfigured else { return ready() }
        hasConfigured = true
        return ready() + [.write(writing, Self.summed([0x13, 0x09, octets[2], 0x01, 0x10, 0x00, 0x00, 0x00]))]
    }

    private mutating func ready() -> [DialogueCommand] {
        guard hasStarted, !isReady else { return [] }
        isReady = true
        return [.ready]
    }

    private static func isWhole(_ octets: [UInt8]) -> Bool {
        Int(octets[1]) == octets.count && octets.dropLast().reduce(0, &+) == octets[octets.count - 1]
    }

    private static func summed(_ octets: [UInt8]) -> [UInt8] { octets + [octets.reduce(0, &+)] }
}

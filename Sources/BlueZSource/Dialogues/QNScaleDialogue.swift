/// Scales made by QN (Renpho, FITINDEX, Sencor, SEB, GE and others), which need answers before they weigh.
///
///     scale                                   answer
///     12 <length> <type> … <10: 1 hundredths> 13 09 <type> 01 10 00 00 00 <sum>          kilograms are shown
///     14 …                                    20 08 <type> <seconds since 2000, u32> <sum>
///     21 …                                    A0 0D 04 FE 00… <sum>, A0 0D 02 01 00 08 00 21 06 B8 04 02 <sum>, 22 06 <type> 00 03 <sum>
///     10 … a weight, final                    1F 05 <type> 10 <sum>                       after the commit
///     23 … a stored weight                    no answer, it stays in the scale
///
/// Only frame 12 contains whether a weight is in hundredths or tenths of a kilogram. So the frame for a weight is one byte (1 for
/// hundredths, 0 for tenths) and the scale's own frame. No weight is accepted before a frame 12. Two forms of a weight are known: 11 bytes
/// of any type but FF, and 15 bytes of type FF, which are in hundredths. Frames of 14 bytes and type FF (ES-26M, ES-30M) were seen with
/// both units, and no byte distinguishes them. As in openScale and ble-scale-sync, such a frame is in hundredths if tenths would exceed any
/// scale's capacity, which is true for all weights from 30 kg on. A lower weight is not accepted, and the user is notified.
///
/// Each frame ends with the sum of all bytes before it. Sources: openScale's QNHandler and its test with a capture of a GE CS 10 G, and
/// ble-scale-sync's qn-scale. The two differ on the time. This dialogue counts seconds since 2000-01-01 in UTC, which affects only the
/// scale's own clock.
struct QNScaleDialogue: DeviceDialogue {
    private(set) var deadline: Duration?
    private let notify: [CharacteristicName]
    private let writing: CharacteristicName
    /// The characteristic for the time, which is a separate one in service FFE0.
    private let writingTime: CharacteristicName
    /// The protocol type in the scale's frames, which every answer repeats.
    private var type: UInt8?
    private var hundredths = false
    /// Whether its frame 12 has the long form.
    private var isLong = false
    private var hasStarted = false
    private var isReady = false
    private var didReportUnknownForm = false
    private var hasConfigured = false
    private var didSendTime = false
    private var hasBegun = false
    /// Final weights: the one that the scale may forget, the one that is being committed, and the next one.
    private var durable: [UInt8]?
    private var committing: [UInt8]?
    private var following: [UInt8]?

    /// No scale takes longer to identify itself.
    static let timeout: Duration = .seconds(10)
    /// The pause between consecutive answers, as in the makers' apps.
    static let gap: Duration = .milliseconds(200)
    /// Shorter frames contain the unit of weights in byte 10.
    private static let longInformation = 18
    /// For 14-byte frames, in hundredths of a kilogram. As tenths it would be 300 kg.
    private static let surelyHundredths = 3000
    /// 2000-01-01T00:00:00Z, in seconds.
    private static let epoch: Int64 = 946_684_800

    /// - Returns: nil if the device has neither of the two services.
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
            deadline = now.uptime + Self.timeout
            return []
        case .received(let name, let bytes):
            // Ignore damaged or truncated frames.
            guard notify.contains(name), bytes.count >= 4, Self.isWhole(bytes) else { return [] }
            return receive(name, bytes, now)
        case .committed:
            guard let committing else { return [] }
            durable = committing
            self.committing = following
            following = nil
            return acknowledgement() + (self.committing == nil ? [] : [.commit])
        case .tick:
            guard let due = deadline, now.uptime >= due else { return [] }
            deadline = nil
            // The scale may identify itself when a person steps on it.
            return ready()
        case .refused(_, let failure): return isReady ? [] : [.fail(failure)]
        case .written, .read: return []
        }
    }

    private mutating func receive(_ name: CharacteristicName, _ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        switch bytes[0] {
        case 0x12: return informed(bytes)
        case 0x14:
            guard let type, !didSendTime else { return [] }
            didSendTime = true
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
        case 0x10: return weighed(name, bytes)
        case 0x23:
            guard type != nil else { return [] }
            return bytes.count == 19 ? [.deliver(name, [0] + bytes)] : unknownForm()
        default: return []
        }
    }

    private mutating func weighed(_ name: CharacteristicName, _ bytes: [UInt8]) -> [DialogueCommand] {
        guard type != nil else { return [] }
        let isNewForm = bytes[2] == 0xFF
        let isShortForm = isNewForm && bytes.count == 14
        // A moving weight is useless.
        if isShortForm, bytes[4] != 2 { return [] }
        let isKnown = isShortForm && Int(bytes[5]) << 8 | Int(bytes[6]) >= Self.surelyHundredths
        guard isKnown || (isNewForm ? bytes.count == 15 && isLong : bytes.count == 11) else {
            return unknownForm()
        }
        let delivery = DialogueCommand.deliver(name, [isNewForm || hundredths ? 1 : 0] + bytes)
        // Byte 4 is the state, 2 at the end. In the older form byte 5 is 1.
        guard isNewForm ? bytes[4] == 2 : bytes[5] == 1 else { return [delivery] }
        // If the scale repeats a weight, it did not receive the acknowledgement.
        if bytes == durable, committing == nil { return [delivery] + acknowledgement() }
        guard let committing else {
            self.committing = bytes
            return [delivery, .commit]
        }
        if bytes != committing { following = bytes }
        return [delivery]
    }

    private mutating func unknownForm() -> [DialogueCommand] {
        guard !didReportUnknownForm else { return [] }
        didReportUnknownForm = true
        return [.notify(.unknownForm)]
    }

    private func acknowledgement() -> [DialogueCommand] {
        type.map { [.write(writing, Self.summed([0x1F, 0x05, $0, 0x10]))] } ?? []
    }

    private mutating func informed(_ bytes: [UInt8]) -> [DialogueCommand] {
        guard bytes.count > 10 else { return [] }
        type = bytes[2]
        isLong = bytes.count >= Self.longInformation
        hundredths = bytes[10] == 1
        deadline = nil
        guard !hasConfigured else { return ready() }
        hasConfigured = true
        return ready() + [.write(writing, Self.summed([0x13, 0x09, bytes[2], 0x01, 0x10, 0x00, 0x00, 0x00]))]
    }

    private mutating func ready() -> [DialogueCommand] {
        guard hasStarted, !isReady else { return [] }
        isReady = true
        return [.ready]
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        Int(bytes[1]) == bytes.count && bytes.dropLast().reduce(0, &+) == bytes[bytes.count - 1]
    }

    private static func summed(_ bytes: [UInt8]) -> [UInt8] { bytes + [bytes.reduce(0, &+)] }
}

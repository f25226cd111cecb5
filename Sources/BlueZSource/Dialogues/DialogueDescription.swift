/// Which conversation a device wants, and what has to be known for it.
public enum DialogueDescription: Hashable, Sendable {
    /// The User Data service: the device tells measurements of those users who consent.
    case userData([ConsentingUser])
    /// Scales of QN's make, Renpho's and others.
    case qnScale
    /// Omron's cuffs: what they keep in their memory, and the key that they let us in with, 16 octets.
    case omronCuff(CuffMemory, key: [UInt8])
    /// Viatom's and Wellue's rings.
    case o2Ring
    /// Beurer's and Sanitas' scales of the first kind; the upper half of all first octets tells the two apart, `E0` or `F0`.
    case beurerSanitas(high: UInt8)

    /// The key that is used where a person has given none: omblepy's, so that a cuff that was read with it before is read at once.
    public static let usualKey: [UInt8] = [
        0xDE, 0xAD, 0xBE, 0xAF, 0x12, 0x34, 0x12, 0x34, 0xDE, 0xAD, 0xBE, 0xAF, 0x12, 0x34, 0x12, 0x34,
    ]

    /// Whether it tells what a device stored, and its clock with it: nothing of that is believed while nobody knows the clock.
    public var tellsRecords: Bool {
        switch self {
        case .omronCuff(let memory, _): memory.clock != nil
        case .o2Ring: true
        case .userData, .qnScale, .beurerSanitas: false
        }
    }

    /// The dialogue with a device that has these characteristics; nil where it cannot be led with it.
    ///
    /// - Parameter cursor: what was remembered at the last commit.
    func begin(_ available: Set<CharacteristicName>, from cursor: RecordCursor? = nil) -> (any DeviceDialogue)? {
        switch self {
        case .userData(let users):
            available.contains(UserDataDialogue.controlPoint) ? UserDataDialogue(users, available: available) : nil
        case .qnScale: QNScaleDialogue(available)
        case .beurerSanitas(let high): available.contains(BeurerSanitasDialogue.name) ? BeurerSanitasDialogue(high: high) : nil
        case .o2Ring:
            available.isSuperset(of: [O2RingDialogue.answers, O2RingDialogue.requests]) ? O2RingDialogue(from: cursor) : nil
        case .omronCuff(let memory, let key):
            available.isSuperset(of: [OmronCuffDialogue.unlock, OmronCuffDialogue.requests] + OmronCuffDialogue.answers)
                ? OmronCuffDialogue(memory, key: key, from: cursor) : nil
        }
    }
}

/// A user of a device that keeps its measurements for those who consent.
public struct ConsentingUser: Hashable, Sendable {
    /// The device's number of the user.
    public var number: UInt8
    /// What the user was registered with, 0 to 9999 on most devices.
    public var code: UInt16

    /// - Parameter number: as the device shows it, from 1 on.
    public init(number: UInt8, code: UInt16) {
        self.number = number
        self.code = code
    }
}

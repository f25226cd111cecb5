/// The dialogue that a device needs, and its parameters.
package enum DialogueDescription: Hashable, Sendable {
    /// The User Data service: the device sends measurements of users who consent.
    case userData([ConsentingUser])
    /// Scales made by QN, such as Renpho's.
    case qnScale
    /// Omron's cuffs: the layout of their memory, and the key of 16 bytes that unlocks it.
    case omronCuff(CuffMemory, key: [UInt8])
    /// Viatom's and Wellue's rings.
    case o2Ring
    /// Beurer's and Sanitas' scales of the first kind. The upper half of all first bytes distinguishes the two variants, `E0` and `F0`.
    case beurerSanitas(high: UInt8)

    /// The default key. It is omblepy's, so that a cuff that was already read with omblepy can be read at once.
    package static let defaultKey: [UInt8] = [
        0xDE, 0xAD, 0xBE, 0xAF, 0x12, 0x34, 0x12, 0x34, 0xDE, 0xAD, 0xBE, 0xAF, 0x12, 0x34, 0x12, 0x34,
    ]

    /// Whether the dialogue returns stored records together with the device's clock. Records are not accepted until the clock is known.
    package var reportsRecordsWithClock: Bool {
        switch self {
        case .omronCuff(let memory, _): memory.clock != nil
        case .o2Ring: true
        case .userData, .qnScale, .beurerSanitas: false
        }
    }

    /// Returns the dialogue with a device that has these characteristics, or nil if they are not sufficient.
    ///
    /// - Parameter cursor: the cursor of the last commit.
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

/// A user of a device that keeps its measurements for users who consent.
package struct ConsentingUser: Hashable, Sendable {
    package var number: UInt8
    /// The code with which the user was registered, 0 to 9999 on most devices.
    package var code: UInt16

    /// - Parameter number: the number on the device, from 1.
    package init(number: UInt8, code: UInt16) {
        self.number = number
        self.code = code
    }
}

/// Which conversation a device wants, and what has to be known for it.
public enum DialogueDescription: Hashable, Sendable {
    /// The User Data service: the device tells measurements of those users who consent.
    case userData([ConsentingUser])
    /// Scales of QN's make, Renpho's and others.
    case qnScale

    /// The dialogue with a device that has these characteristics; nil where it cannot be led with it.
    func begin(_ available: Set<CharacteristicName>) -> (any DeviceDialogue)? {
        switch self {
        case .userData(let users):
            available.contains(UserDataDialogue.controlPoint) ? UserDataDialogue(users, available: available) : nil
        case .qnScale: QNScaleDialogue(available)
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

import HealthModel

/// A proprietary protocol of a device, as decisions only: bytes in, bytes out, without I/O or a clock.
///
/// It lives as long as the link. It receives every notification and decides which ones are passed on, and in which form. If a device keeps
/// data until it is acknowledged, the acknowledgement is sent after ``DialogueEvent/committed``, never before.
protocol DeviceDialogue {
    /// The uptime of the next `tick`.
    var deadline: Duration? { get }
    /// - Parameter now: the time of the event.
    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand]
}

/// The time of an event, by all clocks that a device may need.
struct DialogueTime: Equatable {
    var uptime: Duration
    /// The hub's time.
    var now: Instant
    var wall: WallTime
}

enum DialogueEvent: Equatable {
    /// All required notifications are enabled.
    case start
    /// A notification or an indication arrived.
    case received(CharacteristicName, [UInt8])
    case read(CharacteristicName, [UInt8])
    /// The oldest pending write was accepted.
    case written(CharacteristicName)
    /// The oldest pending write or read was refused.
    case refused(CharacteristicName, LinkFailure)
    /// Everything passed on before ``DialogueCommand/commit`` is durable.
    case committed
    case tick
}

/// The commands of a dialogue. Writes and reads are made one at a time, in their order.
enum DialogueCommand: Equatable {
    case write(CharacteristicName, [UInt8])
    case read(CharacteristicName)
    /// Wait this long before the next write or read.
    case pause(Duration)
    /// Pass this on as a frame of the characteristic.
    case deliver(CharacteristicName, [UInt8])
    /// Make everything passed on durable, then send `committed`. Only one commit at a time.
    case commit
    /// Keep this with the next commit, and pass it to the next dialogue with the device.
    case remember(RecordCursor)
    case clock(WallTime)
    /// Notify the user. Never contains a value.
    case notify(DialogueNotice)
    /// The device is in use from now on. It counts as live and may be left when it is quiet.
    case ready
    /// The dialogue cannot continue for this reason.
    case fail(LinkFailure)
}

/// The problems in a dialogue that the user should know about.
enum DialogueNotice: Hashable {
    /// The device keeps its weighings for users who consent, and no users are configured.
    case needsUsers
    /// The device does not accept the code of this user.
    case consentRefused(user: UInt8)
    /// The device did not answer when this user consented.
    case consentUnanswered(user: UInt8)
    /// The device has another hub's key, or none.
    case needsPairingMode
    /// The memory was not read completely.
    case memoryUnread
    /// The device uses an undocumented form of the protocol.
    case unknownForm
    /// The number of nights that could not be read.
    case nightsUnread(Int)
    /// Some parts of a weighing did not arrive.
    case weighingIncomplete

    /// The text for users, with the remedy.
    func text(for address: BluetoothAddress) -> String {
        switch self {
        case .needsUsers:
            "the scale sends weighings only for users with a consent code: run `vitalgate devices assign \(address) --person me --user 1 "
                + "--consent CODE` with the user number and code from the scale's display or the manufacturer's app"
        case .consentRefused(let user):
            "the scale rejects the consent code of user \(user): the code is wrong, or the scale lost its users with a battery change. Set "
                + "another code with `vitalgate devices assign \(address) --person me --user \(user) --consent CODE`"
        case .consentUnanswered(let user):
            "the scale did not respond to the consent code of user \(user): "
                + "its weighings are read when it does"
        case .needsPairingMode:
            "the device has a different key: hold its Bluetooth button until P blinks to give it this hub's key, then pair it "
                + "with the manufacturer's app again"
        case .memoryUnread:
            "its memory was not read completely because the device stopped responding: all of it is read the next time"
        case .unknownForm:
            "the scale sends its weighings in an unknown format, and none are stored: record them with `vitalgate capture FILE`"
        case .nightsUnread(let count):
            "\(count) of its nights could not be read and \(count == 1 ? "is" : "are") not stored: they are requested again with the "
                + "next connection, and `vitalgate capture FILE` records what it sends"
        case .weighingIncomplete:
            "a weighing arrived incomplete and is not stored: weigh again, closer to this hub"
        }
    }
}

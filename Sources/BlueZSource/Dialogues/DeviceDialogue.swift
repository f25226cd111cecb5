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
    /// The monotonic time.
    var uptime: Duration
    /// The hub's time.
    var now: Instant
    /// The local time.
    var wall: WallTime
}

/// The events for a dialogue.
enum DialogueEvent: Equatable {
    /// All required notifications are enabled.
    case start
    /// A notification or an indication arrived.
    case received(CharacteristicName, [UInt8])
    /// A requested value was read.
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
    /// The time on the device's clock.
    case clock(WallTime)
    /// Notify the user. Never contains a value.
    case tell(DialogueNotice)
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
            "it keeps its weighings for users who consent: `vitalgate devices assign \(address) --person me --user 1 --consent CODE`, with the "
                + "number and the code that the scale shows or the maker's app was given"
        case .consentRefused(let user):
            "it does not take the consent of its user \(user): the code is another one, or its battery was changed and it knows no users any "
                + "more; `vitalgate devices assign \(address) --person me --user \(user) --consent CODE` gives another"
        case .consentUnanswered(let user): "it did not answer the consent of its user \(user); its weighings come when it does"
        case .needsPairingMode:
            "it has another key than this hub: hold its Bluetooth button until P blinks, and it is given ours; its maker's app has to be paired "
                + "anew after that"
        case .memoryUnread: "its memory was not read to its end: it stopped answering; all of it is read the next time"
        case .unknownForm:
            "it tells its weighings in a form that is not known, and none is taken; `vitalgate capture FILE` keeps what it says"
        case .nightsUnread(let count):
            "\(count) of its nights could not be read, and nothing of them is stored; each is asked for again in the next conversation; "
                + "`vitalgate capture FILE` records what it sends"
        case .weighingIncomplete:
            "a weighing came in parts, and not all of them arrived; nothing of it is stored: weigh once more, nearer to this hub"
        }
    }
}

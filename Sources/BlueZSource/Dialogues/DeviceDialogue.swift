import HealthModel

/// A maker's own conversation with a device, as decisions only: octets in, octets out, no I/O and no clock.
///
/// It lives as long as the link: it hears every notification from the first on, and decides which of them are handed on, and as what. What a
/// device keeps until it is told that it may forget is acknowledged behind ``DialogueEvent/committed``, and never before.
protocol DeviceDialogue {
    /// When `tick` is wanted, by the clock that nobody sets.
    var deadline: Duration? { get }
    /// - Parameter now: the time of the event.
    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand]
}

/// The time of an event, by all the clocks that a device may want to be told.
struct DialogueTime: Equatable {
    /// By the clock that nobody sets.
    var uptime: Duration
    /// By ours.
    var now: Instant
    /// What a clock on the wall shows.
    var wall: WallTime
}

/// What a dialogue hears.
enum DialogueEvent: Equatable {
    /// All that it listens to is enabled.
    case start
    /// A notification or an indication.
    case received(CharacteristicName, [UInt8])
    /// What was asked for was read.
    case read(CharacteristicName, [UInt8])
    /// The oldest write that had no answer was taken.
    case written(CharacteristicName)
    /// The oldest write or read that had no answer was not taken.
    case refused(CharacteristicName, LinkFailure)
    /// All that was handed on before ``DialogueCommand/commit`` is durable.
    case committed
    case tick
}

/// What a dialogue says. Writes and reads are made one after the other, in their order.
enum DialogueCommand: Equatable {
    case write(CharacteristicName, [UInt8])
    case read(CharacteristicName)
    /// Wait so long before the next write or read.
    case pause(Duration)
    /// Hand this on as a frame of the characteristic.
    case deliver(CharacteristicName, [UInt8])
    /// Make all that was handed on durable, then say `committed`. One at a time.
    case commit
    /// Keep this with the next commit, and give it to the next dialogue with the device.
    case remember(RecordCursor)
    /// This is what the device's clock shows.
    case clock(WallTime)
    /// For a person; never with a value.
    case tell(DialogueNotice)
    /// The device is in use from now on: it is found to be live, and may be left when it is quiet.
    case ready
    /// It cannot go on, for this reason.
    case fail(LinkFailure)
}

/// What a person has to know of a conversation.
enum DialogueNotice: Hashable {
    /// The device keeps its weighings for users who consent, and nobody has told who they are.
    case needsUsers
    /// It does not take the code of this user.
    case consentRefused(user: UInt8)
    /// It said nothing when this user consented.
    case consentUnanswered(user: UInt8)
    /// It has another hub's key, or none.
    case needsPairingMode
    /// Its memory was not read to its end.
    case memoryUnread
    /// It speaks the protocol in a form that nobody has described.
    case unknownForm
    /// So many of its nights could not be read.
    case nightsUnread(Int)
    /// Of a weighing that it sent in parts, not all came.
    case weighingIncomplete

    /// What it means and what mends it.
    func text(for address: BluetoothAddress) -> String {
        switch self {
        case .needsUsers:
            "it keeps its weighings for users who consent: `vitalgate devices assign \(address) --subject me --user 1 --consent CODE`, with the "
                + "number and the code that the scale shows or the maker's app was given"
        case .consentRefused(let user):
            "it does not take the consent of its user \(user): the code is another one, or its battery was changed and it knows no users any "
                + "more; `vitalgate devices assign \(address) --subject me --user \(user) --consent CODE` gives another"
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

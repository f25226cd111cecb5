import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// A part of the hub that brings readings: the radio, the serial ports, the inbox. One file implements it; ``Hub`` supervises it.
///
///     final class SerialService: HubSource {
///         let name = "serial"
///         weak var host: (any HubSourceHost)?
///         func apply(_ settings: HubSettings) { … }          // which devices, by which profiles
///         func start() throws(SourceError) { … }            // loop.watch(…) { live.receive(frame, of: device) }
///         func stop() { … }                                 // loop.unwatch(…), live.finishStream(of: device)
///     }
///
/// All calls come on the loop's thread, and none may block. What a source receives it hands to the ``LiveIngest`` it was made with, which
/// answers when it is durable.
public protocol HubSource: AnyObject {
    /// What people call it in the configuration, the log and the status: `radio`.
    var name: String { get }
    /// Who hears of it; set before the first call.
    var host: (any HubSourceHost)? { get set }
    /// What a person decided: before the first start, and again whenever that changes, running or not.
    func apply(_ settings: HubSettings)
    /// Begins to deliver. Where there is nothing to read from (no device is adopted), it waits for ``apply(_:)`` and that is no failure.
    /// - Throws: ``SourceError`` where it cannot work now; nothing is left open then. The hub tries again, or not, as configured.
    func start() throws(SourceError)
    /// Gives back descriptors and timers; everything received is handed on before it returns. Also called after a failure.
    func stop()
    /// For `run --once`: whether all that is expected of it has been delivered and is durable.
    var isDone: Bool { get }
    /// Its devices, as they are now.
    var devices: [HubDevice] { get }
    /// What it waits for before any of its devices can deliver, in words for a person; `nil` where it can work. It is running meanwhile: a
    /// device that is gone is no failure of its source.
    var waitsFor: String? { get }
    /// How often somebody asked it with a token that nobody has, since it was started; `nil` for one that takes no tokens.
    var wrongTokens: Int? { get }
}

extension HubSource {
    /// True: a source that says nothing else is not waited for.
    public var isDone: Bool { true }
    /// None: for a source that reads no devices.
    public var devices: [HubDevice] { [] }
    /// Nothing.
    public var waitsFor: String? { nil }
    /// None are taken.
    public var wrongTokens: Int? { nil }
}

/// What a source says to the hub.
public protocol HubSourceHost: AnyObject {
    /// For the log, and for a person. Never holds a value or a name.
    func told(_ notice: SourceNotice)
    /// It cannot go on: the hub stops it, and starts it again after a while. A device that is gone is no failure of its source.
    func failed(_ source: any HubSource, _ error: SourceError)
    /// What ``HubSource/devices`` or ``HubSource/isDone`` say has changed.
    func changed(_ source: any HubSource)
}

/// What a person decided, as the sources need it.
public struct HubSettings: Sendable {
    /// All profiles by which devices may be read.
    public var library: ProfileLibrary
    /// Of all sources; a source knows its own by the address.
    public var devices: [AdoptedDevice]
    /// Device keys and the keys they were merged into.
    public var aliases: [String: String]
    /// Of local times.
    public var zone: TimeZoneRules
    /// The folder whose files are imported, where there is one.
    public var inbox: InboxSettings?
    /// How many readings a second are taken of the advertisements of one device, averaged over a minute.
    public var readingsPerSecond = FloodCap.usual
    /// Seconds that the readings of streams wait for one another before they are written.
    public var commitEvery = LiveIngest.usualCommitSeconds

    /// Whether the intervals between heartbeats are kept as one series a minute, in place of a sample each.
    public var gathersHeartbeats = false
    /// By person: what is estimated of impedances; nothing where it is empty.
    public var estimates: [String: [ImpedanceFormula]] = [:]

    /// ``readingsPerSecond`` and ``commitEvery`` have their usual values until they are set. No `inbox`: no folder is watched.
    public init(
        library: ProfileLibrary, devices: [AdoptedDevice], aliases: [String: String], zone: TimeZoneRules,
        inbox: InboxSettings? = nil
    ) {
        self.inbox = inbox
        self.library = library
        self.devices = devices
        self.aliases = aliases
        self.zone = zone
    }
}

/// A device as its source sees it now.
public struct HubDevice {
    /// The device on its way from frames to samples, with its activity.
    public let device: LiveDevice
    /// `live`, or what it waits for, in a word or two.
    public let state: String
    /// Why it waits, in words for a person; nil where there is nothing to say.
    public let reason: String?

    /// - Parameters:
    ///   - state: `live`, or what the device waits for, in a word or two.
    ///   - reason: why it waits.
    public init(_ device: LiveDevice, state: String, reason: String? = nil) {
        self.device = device
        self.state = state
        self.reason = reason
    }
}

/// What becomes of the hub where a source cannot start.
public enum StartPolicy: String, CaseIterable, Sendable {
    /// The hub ends with the error.
    case error
    /// It is tried again, less and less often.
    case retry
    /// It is said once, and the hub runs without it.
    case ignore
}

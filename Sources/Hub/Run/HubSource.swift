import EventLoopKit
import HealthModel
import HomeAssistantSource
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// A part of the hub that delivers readings: the radio, the serial ports, the inbox. ``Hub`` supervises it.
///
///     final class SerialService: HubSource {
///         let name = "serial"
///         weak var host: (any HubSourceHost)?
///         func apply(_ settings: HubSettings) { … }          // which devices, by which profiles
///         func start() throws(SourceError) { … }            // loop.watch(…) { live.receive(frame, of: device) }
///         func stop() { … }                                 // loop.unwatch(…), live.finishStream(of: device)
///     }
///
/// All calls come on the loop's thread, and none may block. A source passes its data to the ``LiveIngest`` that it was created
/// with, which reports when the data is durable.
package protocol HubSource: AnyObject {
    /// The source's name in the configuration, the log and the status, such as `radio`.
    var name: String { get }
    /// The host of the source, set before the first call.
    var host: (any HubSourceHost)? { get set }
    /// Applies the user's settings. Called before the first start and after each change, even if the source does not run.
    func apply(_ settings: HubSettings)
    /// Starts to deliver. If there is nothing to read from (no device is adopted), it waits for ``apply(_:)``, which is not a
    /// failure.
    /// - Throws: ``SourceError`` if it cannot work now. Nothing is left open then. The policy determines whether the hub tries
    ///   again.
    func start() throws(SourceError)
    /// Releases descriptors and timers. All received data is passed on before it returns. Also called after a failure.
    func stop()
    /// Whether all expected readings have been delivered and are durable. Used by `run --once`.
    var isDone: Bool { get }
    var devices: [HubDevice] { get }
    /// A description for the user of the missing requirement before any device can deliver, or `nil`. The source keeps running
    /// because a missing device is not its failure.
    var waitsFor: String? { get }
    /// The number of requests with an invalid token since the start, or `nil` if the source uses no tokens.
    var wrongTokens: Int? { get }
    /// The number of requests that were refused for load since the start, or `nil` if the source has no requests.
    var refusedForLoad: Int? { get }
    /// These requests by bound.
    var refusals: [LoadRefusals] { get }
    /// The counts of other receivers, or `nil` if the source has none.
    var adverts: AdvertCounts? { get }
    /// The names of the radios of other receivers.
    var radios: [String] { get }
}

extension HubSource {
    /// True by default, so that the source is not waited for.
    package var isDone: Bool { true }
    /// Empty by default.
    package var devices: [HubDevice] { [] }
    /// `nil` by default.
    package var waitsFor: String? { nil }
    /// `nil` by default.
    package var wrongTokens: Int? { nil }
    /// `nil` by default.
    package var refusedForLoad: Int? { nil }
    /// Empty by default.
    package var refusals: [LoadRefusals] { [] }
    /// `nil` by default.
    package var adverts: AdvertCounts? { nil }
    /// Empty by default.
    package var radios: [String] { [] }
}

/// Requests that were refused because a share of a bound was used up.
package struct LoadRefusals: Codable, Hashable, Sendable {
    /// The name of the bound, such as `streams`.
    package var bound: String
    package var count: Int
    /// The time of the first one since the start of the process.
    package var since: Instant
}

/// The hub's interface for its sources.
package protocol HubSourceHost: AnyObject {
    /// Reports a notice for the log and the user. It must not contain a value or a name.
    func didReceive(_ notice: SourceNotice)
    /// Reports that a source cannot go on. The hub stops it and starts it again later. A missing device is not a failure of its
    /// source.
    func failed(_ source: any HubSource, _ error: SourceError)
    /// Reports a change of ``HubSource/devices`` or ``HubSource/isDone``.
    func changed(_ source: any HubSource)
}

/// The user's settings for the sources.
package struct HubSettings: Sendable {
    package var library: ProfileLibrary
    /// The adopted devices of all sources. A source recognises its own by the address.
    package var devices: [AdoptedDevice]
    /// Merged device keys and their replacements.
    package var aliases: [String: String]
    package var zone: TimeZoneRules
    /// The inbox settings, or `nil` for no inbox.
    package var inbox: InboxSettings?
    /// The maximum number of readings per second from one device's advertisements, averaged over a minute.
    package var readingsPerSecond = FloodCap.defaultLimit
    /// The seconds that readings of streams wait for a common commit.
    package var commitEvery = LiveIngest.defaultCommitSeconds

    /// Whether the intervals between heartbeats are stored as one series a minute instead of single samples.
    package var gathersHeartbeats = false
    /// The other receivers that the hub listens to.
    package var sources: [SourceConfiguration] = []
    /// The formulas for estimates from impedances, by person.
    package var estimates: [String: [ImpedanceFormula]] = [:]

    /// Creates settings with default values for ``readingsPerSecond`` and ``commitEvery``. Without `inbox`, no folder is watched.
    package init(
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

package struct HubDevice {
    package let device: LiveDevice
    /// The state in a word or two: `live`, or the event that it waits for.
    package let state: String
    /// The reason for waiting, for the user, or `nil`.
    package let reason: String?
    /// The receivers that hear it, the best first.
    package let receptions: [Reception]

    /// - Parameters: - state: `live`, or the event that the device waits for, in a word or two. - reason: the reason for waiting.
    package init(_ device: LiveDevice, state: String, reason: String? = nil, receptions: [Reception] = []) {
        self.device = device
        self.state = state
        self.reason = reason
        self.receptions = receptions
    }
}

/// The reaction of the hub to a source that cannot start.
package enum StartPolicy: String, CaseIterable, Sendable {
    case error
    /// The source is started again, at growing intervals.
    case retry
    /// The hub reports it once and runs without the source.
    case ignore
}

import FoundationEssentials
import Ingestion

/// The hub's settings: the key `hub` of the configuration.
package struct HubConfiguration: Decodable, Sendable {
    /// The folder whose files are imported, or `nil` for no inbox.
    package var inbox: String?
    /// The policies by source. The default is ``StartPolicy/retry``.
    package var policies: [String: StartPolicy] = [:]

    /// The maximum number of readings per second from one device's advertisements, averaged over a minute.
    package var readingsPerSecond = FloodCap.defaultLimit

    /// The seconds that readings of streams, such as a strap's, wait for a common commit. A power cut can lose that much. Smaller
    /// values wear out an SD card sooner.
    package var commitEvery = LiveIngest.defaultCommitSeconds

    /// The form in which intervals between heartbeats are stored.
    package enum Heartbeats: String, CaseIterable, Sendable {
        /// Each interval as a `heartbeatInterval` sample.
        case samples
        /// One `heartbeatSeries` for each minute.
        case series
    }

    /// The form of heartbeats. With series, a power cut can also lose the beats of a minute.
    package var heartbeats = Heartbeats.samples

    /// The keys of the object `hub`.
    static let knownKeys = ["inbox", "sources", "readingsPerSecond", "commitEvery", "heartbeats"]

    /// The sources that have a policy.
    static let sources = ["radio", "serial", "inbox"]

    /// The defaults: no inbox, ``StartPolicy/retry`` for all sources.
    package init() {}

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(hasOnly: Self.knownKeys)
        inbox = try members["inbox"]
        if let inbox, !inbox.hasPrefix("/"), !inbox.hasPrefix("~/") {
            throw members.fault("inbox", "the folder's path must begin with / or ~/")
        }
        readingsPerSecond = try members.number("readingsPerSecond", in: 1...1000) ?? readingsPerSecond
        commitEvery = try members.number("commitEvery", in: 1...60, "number of seconds") ?? commitEvery
        heartbeats = try members.word("heartbeats") ?? heartbeats
        guard let sources = try members.members("sources", hasOnly: Self.sources, "source") else { return }
        for key in sources.allKeys { policies[key.stringValue] = try sources.word(key.stringValue, "unknown policy, ") }
    }

    /// Returns the policy of a source such as `radio`. The default is ``StartPolicy/retry``.
    package func policy(of source: String) -> StartPolicy { policies[source] ?? .retry }
}

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
        let members = try decoder.container(keyedBy: SettingKey.self)
        for key in members.allKeys where !Self.knownKeys.contains(key.stringValue) {
            throw Self.fault(key, in: members, "unknown key, expected one of \(Self.knownKeys.joined(separator: ", "))")
        }
        inbox = try members.decodeIfPresent(String.self, forKey: SettingKey("inbox"))
        if let inbox, !inbox.hasPrefix("/"), !inbox.hasPrefix("~/") {
            throw Self.fault(SettingKey("inbox"), in: members, "the folder's path must begin with / or ~/")
        }
        readingsPerSecond = try Self.number("readingsPerSecond", in: members, 1...1000, "number") ?? readingsPerSecond
        commitEvery = try Self.number("commitEvery", in: members, 1...60, "number of seconds") ?? commitEvery
        if let word = try members.decodeIfPresent(String.self, forKey: SettingKey("heartbeats")) {
            guard let known = Heartbeats(rawValue: word) else {
                let words = Heartbeats.allCases.map(\.rawValue).joined(separator: ", ")
                throw Self.fault(SettingKey("heartbeats"), in: members, "expected one of \(words)")
            }
            heartbeats = known
        }
        guard members.contains(SettingKey("sources")) else { return }
        let sources = try members.nestedContainer(keyedBy: SettingKey.self, forKey: SettingKey("sources"))
        for key in sources.allKeys {
            guard Self.sources.contains(key.stringValue) else {
                throw Self.fault(key, in: sources, "unknown source, expected one of \(Self.sources.joined(separator: ", "))")
            }
            guard let policy = StartPolicy(rawValue: try sources.decode(String.self, forKey: key)) else {
                let known = StartPolicy.allCases.map(\.rawValue).joined(separator: ", ")
                throw Self.fault(key, in: sources, "unknown policy, expected one of \(known)")
            }
            policies[key.stringValue] = policy
        }
    }

    /// Returns the policy of a source such as `radio`. The default is ``StartPolicy/retry``.
    package func policy(of source: String) -> StartPolicy { policies[source] ?? .retry }

    private static func number(
        _ name: String, in members: KeyedDecodingContainer<SettingKey>, _ range: ClosedRange<Int>, _ description: String
    ) throws -> Int? {
        guard let number = try members.decodeIfPresent(Int.self, forKey: SettingKey(name)) else { return nil }
        guard range.contains(number) else {
            var fault = fault(
                SettingKey(name), in: members, "expected a whole \(description) from \(range.lowerBound) to \(range.upperBound)")
            fault.isOutOfRange = true
            throw fault
        }
        return number
    }

    private static func fault(_ key: SettingKey, in container: KeyedDecodingContainer<SettingKey>, _ text: String)
        -> ConfigurationError
    {
        let path = (container.codingPath + [key]).map(\.stringValue).joined(separator: ".")
        return ConfigurationError("'\(path)': \(text)")
    }
}

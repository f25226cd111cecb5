import HealthModel

/// How well a receiver hears a device.
package struct Reception: Codable, Hashable, Sendable {
    /// The receiver: `radio`, or the name of a source and its radio, such as `house: kitchen`.
    package var name: String
    /// The strength at which it was heard last in dBm, or `nil` if it is unknown.
    package var strength: Int?
    package var last: Instant
    /// The number of advertisements that the receiver passed on.
    package var count: Int

    /// The maximum number of receivers of one device in the status.
    package static let maximumShown = 8
}

/// The receivers that hear one device.
struct Receptions {
    /// The number of frames from other receivers.
    var frames = 0
    private var all: [String: Reception] = [:]

    /// More receivers than a house has.
    private static let maximum = 64
    /// After this many microseconds without an advertisement, a receiver does not hear the device any more.
    private static let silence: Int64 = 600_000_000
    private static let ownRadio = "radio"

    mutating func note(_ name: String, _ strength: Int?, at time: Instant) {
        if all[name] == nil, all.count >= Self.maximum { all.removeAll() }
        let old = all[name]
        all[name] = Reception(
            name: name, strength: strength ?? old?.strength, last: max(time, old?.last ?? time), count: (old?.count ?? 0) + 1)
    }

    /// Whether other receivers than the hub's own radio have heard it lately.
    func isReceivedByOthers(at now: Instant) -> Bool {
        all.values.contains { $0.name != Self.ownRadio && now.microseconds &- $0.last.microseconds < Self.silence }
    }

    /// The receivers, the strongest first.
    var best: [Reception] {
        Array(
            all.values.sorted { ($0.strength ?? .min, $1.name) > ($1.strength ?? .min, $0.name) }.prefix(Reception.maximumShown))
    }
}

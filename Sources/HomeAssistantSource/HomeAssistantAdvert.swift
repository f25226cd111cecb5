import BlueZSource
import Pipeline

/// An advertisement of an adopted device that a radio of Home Assistant heard.
package struct HomeAssistantAdvert: Sendable {
    package var address: BluetoothAddress
    /// Its name, if it sent one.
    package var name: String?
    package var radio: String
    /// The radio's name in Home Assistant, or its address.
    package var radioName: String
    /// The strength in dBm, or `nil` if it is unknown.
    package var strength: Int?
    package var services: [BluetoothUUID]
    package var parts: [AdvertisedData: [UInt8]]
    /// Our uptime when it arrived.
    package var arrived: Duration
    /// How long before that it was heard.
    package var age: Duration
    /// Whether it comes from Home Assistant's memory, as after each subscription.
    package var replay: Hearing.Replay?
}

/// Counts of what Home Assistant sent, which is not all that its radios heard.
package struct AdvertCounts: Codable, Hashable, Sendable {
    /// Advertisements of adopted devices.
    package var received = 0
    /// Those of them that came from its memory.
    package var replayed = 0
    /// Advertisements with missing bytes, which are not read.
    package var torn = 0
    /// Advertisements that were dropped because the hub was busy.
    package var dropped = 0
    /// Interrupted connections. What radios heard in between is lost.
    package var interruptions = 0

    /// Nothing yet.
    package init() {}

    package static func += (one: inout Self, other: Self) {
        one.received += other.received
        one.replayed += other.replayed
        one.torn += other.torn
        one.dropped += other.dropped
        one.interruptions += other.interruptions
    }
}

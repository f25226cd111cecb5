import BlueZSource
import Glibc
import HomeAssistantKit
import Pipeline

/// Reads the events of one subscription to the advertisements of all radios. It selects devices and cuts packets, and knows nothing of their
/// meaning.
struct AdvertReader {
    /// The addresses of the devices to read, or `nil` for all.
    var addresses: Set<String>?
    /// The names of the radios by address.
    private(set) var radios: [String: String] = [:]
    /// The counts since the subscription.
    private(set) var counts = AdvertCounts()
    private var clock: HearingClock
    /// The first message has all devices that Home Assistant knows.
    private var isFirst = true
    /// The last merged data by address, for adapters that do not report packets.
    private var fields: [BluetoothAddress: [AdvertisedData: [UInt8]]] = [:]

    private static let maximumRadios = 256
    private static let maximumFields = 4096
    private static let mark = Array(#""address":""#.utf8)
    private static let addressLength = 17

    /// - Parameters:
    ///   - uptime: our uptime, at the subscription.
    ///   - now: our time of day in seconds, at the subscription.
    init(addresses: Set<String>?, uptime: Double, now: Double) {
        self.addresses = addresses
        clock = HearingClock(assuming: uptime - now)
    }

    /// Reads an event of `bluetooth/subscribe_scanner_details`.
    mutating func readRadios(_ bytes: [UInt8]) {
        guard let change: SubscriptionEvent<RadioDetails>.Change = SubscriptionEvent.read(bytes) else { return }
        for each in change.remove ?? [] { radios[each.source] = nil }
        for each in change.add ?? [] where radios.count < Self.maximumRadios {
            radios[each.source] = Self.shortName(each)
        }
    }

    /// `kitchen` for `kitchen (AA:BB:CC:00:00:01)`.
    private static func shortName(_ radio: RadioDetails) -> String {
        let suffix = " (\(radio.source))"
        let name = radio.name.hasSuffix(suffix) ? String(radio.name.dropLast(suffix.count)) : radio.name
        return name.isEmpty ? radio.source : String(name.prefix(100))
    }

    /// Reads an event of `bluetooth/subscribe_advertisements`.
    ///
    /// - Parameters:
    ///   - uptime: our uptime when it arrived, in seconds.
    ///   - now: our time of day then, in seconds.
    mutating func read(_ bytes: [UInt8], uptime: Double, now: Double) -> [HomeAssistantAdvert] {
        let isReplay = isFirst
        guard isReplay || concernsUs(bytes) else { return [] }
        guard let change: SubscriptionEvent<Advertisement>.Change = SubscriptionEvent.read(bytes) else { return [] }
        isFirst = false
        return (change.add ?? []).compactMap { advert(of: $0, isReplay, uptime, now) }
    }

    /// Whether a message has an address that is read. Most are about the neighbors' devices, and decoding them is the most expensive part.
    private func concernsUs(_ bytes: [UInt8]) -> Bool {
        guard let addresses else { return true }
        return bytes.withUnsafeBytes { buffer in
            var rest = UnsafeRawBufferPointer(rebasing: buffer[...])
            var isMarked = false
            while let end = Self.endOfMark(in: rest) {
                isMarked = true
                rest = UnsafeRawBufferPointer(rebasing: rest[end...])
                if addresses.contains(String(decoding: rest.prefix(Self.addressLength), as: UTF8.self)) { return true }
            }
            // Another form, such as one with blanks.
            return !isMarked
        }
    }

    /// The position after the first mark. A text cannot contain it, because its quotes are escaped there.
    private static func endOfMark(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var position = 0
        while position + mark.count <= bytes.count,
            let found = memchr(base + position, Int32(mark[0]), bytes.count - mark.count - position + 1)
        {
            position = UnsafeRawPointer(found) - base
            if mark.withUnsafeBytes({ memcmp(found, $0.baseAddress ?? UnsafeRawPointer(found), mark.count) }) == 0 {
                return position + mark.count
            }
            position += 1
        }
        return nil
    }

    private mutating func advert(
        of item: Advertisement, _ isReplay: Bool, _ uptime: Double, _ now: Double
    ) -> HomeAssistantAdvert? {
        guard let address = item.address, addresses?.contains(address.description) ?? true else { return nil }
        counts.received += 1
        let known = fields.updateValue(item.fields, forKey: address)
        if fields.count > Self.maximumFields { fields = [address: item.fields] }
        let parts: [AdvertisedData: [UInt8]]
        if let raw = item.raw {
            guard let read = Advertisement.parts(of: raw) else {
                counts.torn += 1
                return nil
            }
            parts = read
        } else {
            // What did not change may be from any earlier packet.
            parts = item.fields.filter { known == nil || known?[$0.key] != $0.value }
        }
        var replay: Hearing.Replay?
        var age = 0.0
        if isReplay {
            counts.replayed += 1
            // After its restart, Home Assistant dates what its own adapters remember as now, and has no packets.
            let passed = item.time.map { now - $0 } ?? -1
            replay = item.raw != nil && passed >= 0 ? .timed : .untimed
            if replay == .timed { age = passed }
        } else if let time = item.time {
            age = clock.age(of: time, at: uptime)
        }
        return HomeAssistantAdvert(
            address: address, name: item.name, radio: item.radio, radioName: radios[item.radio] ?? item.radio,
            strength: item.strength, services: item.services, parts: parts, arrived: .seconds(uptime), age: .seconds(age),
            replay: replay)
    }
}

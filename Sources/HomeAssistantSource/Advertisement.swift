import BlueZSource
import FoundationEssentials
import Wire

/// An advertisement as Home Assistant sends it.
///
/// `manufacturer_data` and `service_data` are merged over time, so only `raw` shows the content of the last packet. It is `null` for adapters of
/// Home Assistant's own machine.
struct Advertisement {
    /// The address, or `nil` if it is not a Bluetooth address (macOS reports a UUID instead).
    let address: BluetoothAddress?
    /// The device's name, or `nil` if Home Assistant shows the address instead.
    let name: String?
    /// The strength in dBm, or `nil` if it is unknown.
    let strength: Int?
    /// The address of the radio that heard it.
    let radio: String
    /// When it was heard, in seconds of a clock that is not set while the subscription lasts.
    let time: Double?
    /// The packet, if it is known.
    let raw: [UInt8]?
    let fields: [AdvertisedData: [UInt8]]
    let services: [BluetoothUUID]

    /// More bytes than an advertisement and its response can have.
    private static let maximumLength = 2 * 1650
    private static let maximumNameLength = 248
    private static let unknownStrength = -127

    /// The data of the packet, or `nil` if it is torn.
    static func parts(of raw: [UInt8]) -> [AdvertisedData: [UInt8]]? {
        let structures = AdvertisingStructures(raw)
        guard !structures.isTorn else { return nil }
        var parts: [AdvertisedData: [UInt8]] = [:]
        for structure in structures.all {
            let data = structure.data
            switch structure.type {
            case 0x16: if data.count >= 2 { parts[.service(BluetoothUUID(short(data)))] = Array(data.dropFirst(2)) }
            case 0x20: if let uuid = uuid(data, 4) { parts[.service(uuid)] = Array(data.dropFirst(4)) }
            case 0x21: if let uuid = uuid(data, 16) { parts[.service(uuid)] = Array(data.dropFirst(16)) }
            case 0xFF: if data.count >= 2 { parts[.manufacturer(short(data))] = Array(data.dropFirst(2)) }
            default: break
            }
        }
        return parts
    }

    private static func short(_ data: [UInt8]) -> UInt16 { UInt16(data[0]) | UInt16(data[1]) << 8 }

    /// A UUID of 4 or 16 bytes, the least significant byte first.
    private static func uuid(_ data: [UInt8], _ count: Int) -> BluetoothUUID? {
        guard data.count >= count else { return nil }
        var digits = HexadecimalText.text(Array(data.prefix(count).reversed()))
        if count == 4 { return BluetoothUUID(digits) }
        for place in [20, 16, 12, 8] { digits.insert("-", at: digits.index(digits.startIndex, offsetBy: place)) }
        return BluetoothUUID(digits)
    }
}

extension Advertisement: Decodable {
    private enum Key: String, CodingKey {
        case address, name, rssi, source, time, raw
        case manufacturerData = "manufacturer_data"
        case serviceData = "service_data"
        case services = "service_uuids"
    }

    /// Reads all valid fields. A field of another form counts as missing, so that one advertisement does not cost the others.
    init(from decoder: any Decoder) throws {
        let values = try? decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ key: Key) -> Value? { values.flatMap { try? $0.decodeIfPresent(Value.self, forKey: key) } }
        let address: String = value(.address) ?? ""
        self.address = BluetoothAddress(address)
        let name: String? = value(.name)
        self.name = name == address ? nil : name.map { String($0.prefix(Self.maximumNameLength)) }
        let strength: Int? = value(.rssi)
        self.strength = strength.flatMap { Self.unknownStrength + 1...20 ~= $0 ? $0 : nil }
        radio = String((value(.source) as String? ?? "").prefix(Self.maximumNameLength))
        let time: Double? = value(.time)
        self.time = time.flatMap { 0...1e11 ~= $0 ? $0 : nil }
        let raw: String? = value(.raw)
        self.raw = raw.flatMap { $0.utf8.count <= 2 * Self.maximumLength ? HexadecimalText.bytes($0) : nil }
        var fields: [AdvertisedData: [UInt8]] = [:]
        for (company, data) in value(.manufacturerData) as [String: String]? ?? [:] {
            if let company = UInt16(company), let bytes = HexadecimalText.bytes(data) { fields[.manufacturer(company)] = bytes }
        }
        for (uuid, data) in value(.serviceData) as [String: String]? ?? [:] {
            if let uuid = BluetoothUUID(uuid), let bytes = HexadecimalText.bytes(data) { fields[.service(uuid)] = bytes }
        }
        self.fields = fields
        services = (value(.services) as [String]? ?? []).compactMap { BluetoothUUID($0) }
    }
}

struct RadioDetails: Decodable, Hashable {
    var source: String
    var name: String
}

/// An event of a subscription, with added and removed items.
struct SubscriptionEvent<Item: Decodable>: Decodable {
    struct Change: Decodable {
        var add: [Item]?
        var remove: [Item]?
    }
    var event: Change

    /// Reads a message, or returns `nil` if it has another form.
    static func read(_ bytes: [UInt8]) -> Change? { try? JSONDecoder().decode(Self.self, from: Data(bytes)).event }
}

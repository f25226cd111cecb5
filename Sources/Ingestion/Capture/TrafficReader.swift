import BlueZSource
import FileSource
import HealthModel
import Pipeline
import Profiles
import SampleStore
import Wire

/// A recording of a controller's traffic (btsnoop), read as the hub would have received it: only the frames of the chosen
/// devices.
///
/// It is read several times. The first pass finds the devices because a device reports its serial number late.
package final class TrafficReader: ReplayFeed {
    /// The facts about a device in the recording.
    struct Seen {
        var peer: BluetoothTraffic.Peer
        var name: String?
        var services: Set<BluetoothUUID> = []
        var data: [AdvertisedData: [UInt8]] = [:]
        var information = DeviceInformation()
        /// Handles that the recording does not explain, with the number of their values.
        var unknown: [UInt16: Int] = [:]
    }

    private struct Chosen {
        var number: Int
        var about: CapturedDevice
        var profiles: [Profile]
        var clock: DeviceClock?
        var records: RecordAccessDescription?
        /// A record whose context follows. The context has to be read first.
        var waiting: ReplayLine?
    }

    private(set) var head: CaptureHead
    private(set) var notes: [String] = []
    var cut: Place? { file.cut }
    private let file: BTSnoopFile
    private let zone: TimeZoneRules
    private var seen: [String: Seen] = [:]
    private var chosen: [String: Chosen] = [:]
    private var written: Set<String> = []
    private var began: Instant?
    private var flushed: Instant?
    private var waiting = 0

    /// The maximum number of devices that are distinguished. A whole street has fewer.
    private static let maximumSeen = 10_000
    private static let maximumData = 64
    /// The number of frames and the microseconds between two commits.
    private static let batch = (frames: 4096, time: Int64(60_000_000))

    /// Reads the recording once to find its devices.
    /// - Parameters: - subject: the UUID of the person who is measured. - zone: the zone of the devices' local times.
    package init(_ file: BTSnoopFile, person: String, zone: TimeZoneRules) throws {
        (self.file, self.zone) = (file, zone)
        head = CaptureHead(person: person, zone: zone)
        try survey()
    }

    // MARK: Who is in it

    private func survey() throws {
        var (shortened, unlinked) = (0, 0)
        try BluetoothTraffic(file).forEachEvent { event, _, _ in
            switch event {
            case .advert(let peer, let parts): note(peer) { Self.take(parts, into: &$0) }
            case .connected(let peer): note(peer) { _ in }
            case .disconnected: break
            case .service(let peer, let uuid): note(peer) { if let uuid = BluetoothUUID(uuid) { $0.services.insert(uuid) } }
            case .value(let peer, let uuid, let value, let way):
                guard way == .read, let uuid = BluetoothUUID(uuid) else { return }
                note(peer) {
                    if uuid == BluetoothUUID(0x2A00) { $0.name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self) }
                    if DeviceInformation.fields.contains(uuid) { $0.information.add(uuid, value) }
                }
            case .unknown(let peer, let handle): note(peer) { $0.unknown[handle, default: 0] += 1 }
            case .shortened: shortened += 1
            case .unlinked: unlinked += 1
            }
        }
        if shortened > 0 { notes.append("skipped incomplete packets: \(shortened)") }
        if unlinked > 0 {
            notes.append(
                "skipped packets of connections older than the recording: \(unlinked) (start recording before the device connects)"
            )
        }
    }

    private func note(_ peer: BluetoothTraffic.Peer, _ change: (inout Seen) -> Void) {
        var each = seen[peer.address] ?? Seen(peer: peer)
        guard seen[peer.address] != nil || seen.count < Self.maximumSeen else { return }
        change(&each)
        seen[peer.address] = each
    }

    private static func take(_ parts: [BluetoothTraffic.Advertised], into seen: inout Seen) {
        for part in parts {
            switch part {
            case .service(let uuid): if let uuid = BluetoothUUID(uuid) { seen.services.insert(uuid) }
            case .name(let name): if seen.name == nil { seen.name = name }
            case .serviceData(let uuid, let data): if let uuid = BluetoothUUID(uuid) { note(.service(uuid), data, &seen) }
            case .manufacturerData(let company, let data): note(.manufacturer(company), data, &seen)
            }
        }
    }

    /// Keeps the last data of each part. A device that sends readings instead of the company number has many parts.
    private static func note(_ part: AdvertisedData, _ data: [UInt8], _ seen: inout Seen) {
        if seen.data[part] != nil || seen.data.count < maximumData { seen.data[part] = data }
    }

    private func profiles(of seen: Seen, _ library: ProfileLibrary) -> [Profile] {
        guard let address = BluetoothAddress(seen.peer.address) else { return [] }
        var device = NearbyDevice(
            address: address, addressIsDurable: true, name: seen.name, strength: nil, services: seen.services.sorted(),
            adverts: Set(seen.data.keys), isBonded: false, isConnected: false, adapter: "")
        device.data = seen.data
        return DeviceAssembly(library: library).profiles(for: device)
    }

    // MARK: Who is read

    /// Chooses the adopted and named devices.
    /// - Throws: ``SourceError`` if none of them is in the recording or no profile reads one. The message lists the devices that
    ///   are in it.
    package func choose(_ adopted: [AdoptedDevice], _ named: [Named], _ library: ProfileLibrary) throws(SourceError) {
        chosen.removeAll()
        for device in adopted {
            if let address = device.bluetoothAddress, let seen = seen[address] { choose(device, seen, library) }
        }
        for each in named {
            guard let seen = seen[each.address] else {
                throw SourceError(.noInput, "\(file.path): \(each.address) is not in the recording: \(summary(library))")
            }
            for id in each.profiles where library[id] == nil { throw SourceError(.noInput, "there is no profile \(id)") }
            let profiles = each.profiles.isEmpty ? profiles(of: seen, library).map(\.id) : each.profiles
            guard !profiles.isEmpty else {
                throw SourceError(
                    .noInput, "\(each.address): no profile matches it: name one with --device \(each.address)=PROFILE")
            }
            let address = AdoptedDevice.bluetooth + each.address
            choose(
                AdoptedDevice(
                    address: address, key: address, profiles: profiles, name: seen.name ?? "", person: head.person, adopted: 0),
                seen, library)
        }
        guard !chosen.isEmpty else {
            throw SourceError(
                .noInput, "\(file.path): it has no adopted device: name one with --device ADDRESS (\(summary(library)))")
        }
    }

    private func choose(_ device: AdoptedDevice, _ seen: Seen, _ library: ProfileLibrary) {
        guard let description = DeviceAssembly(library: library).description(of: device) else { return }
        var device = device
        if device.device == nil {
            let isDurable = DeviceInformation.isDurable(
                description.address, type: seen.peer.isRandom ? "random" : "public", bonded: false)
            device.device = seen.information.device(
                name: seen.name, address: description.address, addressIsDurable: isDurable, profile: description.profile)
            device.key = device.device?.key ?? device.key
        }
        let profiles = DeviceAssembly(library: library).readers(of: device)
        // A counter from after the recording must not reject earlier frames.
        device.counter = nil
        let live = LiveDevice(device, profiles: profiles, aliases: [:], zone: zone)
        live.hasRecords = description.recordAccess != nil
        chosen[seen.peer.address] = Chosen(
            number: chosen[seen.peer.address]?.number ?? chosen.count + 1, about: CapturedDevice(live), profiles: profiles,
            clock: description.clock, records: description.recordAccess)
        guard !seen.unknown.isEmpty else { return }
        let handles = seen.unknown.keys.sorted().prefix(8).map { "0x" + String($0, radix: 16) }.joined(separator: ", ")
        notes.append(
            "\(seen.peer.address): the recording does not describe the handles \(handles). Skipped values: "
                + "\(seen.unknown.values.reduce(0, +)) (start recording before the device connects for the first time)")
    }

    /// Returns the addresses and the matching profiles. Devices without a matching profile are only counted.
    private func summary(_ library: ProfileLibrary) -> String {
        let readable = seen.values.map { ($0.peer.address, profiles(of: $0, library).map(\.id)) }.filter { !$0.1.isEmpty }
        guard !readable.isEmpty else { return "no profile matches any of its \(seen.count) devices" }
        let list = readable.sorted { $0.0 < $1.0 }.prefix(20).map { "\($0.0) (\($0.1.joined(separator: ", ")))" }
        return "it has " + list.joined(separator: "; ")
    }

    // MARK: Received data

    func forEachLine(_ body: (ReplayLine) throws -> Void) throws {
        (written, began, flushed, waiting) = ([], nil, nil, 0)
        var last: (time: Instant, place: Place)?
        try BluetoothTraffic(file).forEachEvent { event, time, place in
            if began == nil { began = time }
            last = (time, place)
            try take(event, time, place, body)
            waiting += 1
            guard waiting >= Self.batch.frames || time.microseconds - (flushed ?? time).microseconds >= Self.batch.time else {
                flushed = flushed ?? time
                return
            }
            (waiting, flushed) = (0, time)
            try body(ReplayLine(line: line(.flush, nil, time), place: place))
        }
        guard let last else { return }
        for address in chosen.keys.sorted() { try finishStream(address, last.time, last.place, body) }
    }

    private func take(
        _ event: BluetoothTraffic.Event, _ time: Instant, _ place: Place, _ body: (ReplayLine) throws -> Void
    ) throws {
        switch event {
        case .advert(let peer, let parts):
            for part in parts {
                switch part {
                case .serviceData(let uuid, let value):
                    guard let uuid = BluetoothUUID(uuid) else { continue }
                    try receive(AdvertisedData.service(uuid).channel, value, peer, time, place, body)
                case .manufacturerData(let company, let value):
                    try receive(AdvertisedData.manufacturer(company).channel, value, peer, time, place, body)
                    let whole = AdvertisedData.frame(company: company, value)
                    try receive(AdvertisedData.anyManufacturer.channel, whole, peer, time, place, body)
                case .service, .name: break
                }
            }
        case .value(let peer, let uuid, let value, let way):
            guard let uuid = BluetoothUUID(uuid), let device = chosen[peer.address] else { return }
            if let clock = device.clock, clock.name.characteristic == uuid, way != .notified {
                return try compare(value, clock, peer.address, time, place, body)
            }
            if way == .notified, device.records?.controlPoint.characteristic == uuid {
                return try finishStream(peer.address, time, place, body)
            }
            if way != .written { try receive("gatt:\(uuid)", value, peer, time, place, body) }
        case .unknown(let peer, _):
            guard chosen[peer.address] != nil else { return }
            var line = line(.skip, nil, time)
            (line.kind, line.count) = ("unknown-handle", 1)
            try body(ReplayLine(line: line, place: place))
        case .disconnected(let peer): try finishStream(peer.address, time, place, body)
        case .connected, .service, .shortened, .unlinked: break
        }
    }

    /// Passes on a frame if a profile of a chosen device reads its channel.
    private func receive(
        _ channel: String, _ bytes: [UInt8], _ peer: BluetoothTraffic.Peer, _ time: Instant, _ place: Place,
        _ body: (ReplayLine) throws -> Void
    ) throws {
        guard let device = chosen[peer.address] else { return }
        guard device.profiles.contains(where: { $0.match(channel: channel) != nil }) else { return }
        try describe(peer.address, time, place, body)
        var line = line(.frame, device.number, time)
        (line.channel, line.bytes) = (channel, HexadecimalText.text(bytes))
        (line.place, line.number) = (place.kind.rawValue, place.number)
        var frame = ReplayLine(line: line, bytes: bytes, place: place)
        let isContext = device.records?.context.map { channel == "gatt:\($0.characteristic)" } ?? false
        if isContext, let record = device.waiting {
            // As in the hub, the context comes before its record and has the record's place.
            frame.line.number = record.line.number
            try body(frame)
        }
        try release(peer.address, body)
        if isContext {
            if device.waiting == nil { try body(frame) }
        } else if Self.announcesContext(channel, bytes) {
            chosen[peer.address]?.waiting = frame
        } else {
            try body(frame)
        }
    }

    /// Whether the context follows: bit 4 of the flags of Glucose Measurement (GATT Specification Supplement, 3.102).
    private static func announcesContext(_ channel: String, _ bytes: [UInt8]) -> Bool {
        channel == "gatt:2A18" && bytes.first.map { $0 & 0x10 != 0 } == true
    }

    private func release(_ address: String, _ body: (ReplayLine) throws -> Void) throws {
        guard let record = chosen[address]?.waiting else { return }
        chosen[address]?.waiting = nil
        try body(record)
    }

    private func describe(
        _ address: String, _ time: Instant, _ place: Place, _ body: (ReplayLine) throws -> Void
    ) throws {
        guard let device = chosen[address], written.insert(address).inserted else { return }
        var line = line(.device, device.number, time)
        line.about = device.about
        try body(ReplayLine(line: line, place: place))
    }

    private func compare(
        _ value: [UInt8], _ clock: DeviceClock, _ address: String, _ time: Instant, _ place: Place,
        _ body: (ReplayLine) throws -> Void
    ) throws {
        guard let shown = DeviceTime.read(value, layout: clock.layout), let device = chosen[address] else { return }
        try describe(address, time, place, body)
        var line = line(.clock, device.number, time)
        line.ahead = shown.microseconds - time.wallTime(at: zone.offset(at: time)).microseconds
        line.ofUTC = shown.microseconds - time.microseconds
        try body(ReplayLine(line: line, place: place))
    }

    private func finishStream(_ address: String, _ time: Instant, _ place: Place, _ body: (ReplayLine) throws -> Void) throws {
        guard let device = chosen[address], written.contains(address) else { return }
        try release(address, body)
        try body(ReplayLine(line: line(.finish, device.number, time), place: place))
    }

    /// Returns a line whose uptime is derived from its time, the only clock in a recording.
    private func line(_ event: CaptureLine.Event, _ device: Int?, _ time: Instant) -> CaptureLine {
        let passed = max(0, time.microseconds - (began ?? time).microseconds)
        return CaptureLine(event, time: time.microseconds, uptime: min(passed, 1_000_000_000_000_000) * 1000, device: device)
    }
}

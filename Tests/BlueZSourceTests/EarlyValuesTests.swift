import HealthModel
import SystemdKit
import Testing

@testable import BlueZSource

/// What arrives before the hub knows the services, before the device is described, or without what belongs to it, is lost in no case.
@Suite(.serialized) struct EarlyValuesTests {
    static let thermometer = "C0:01:02:03:04:02"
    static let temperature = CharacteristicName(0x1809, 0x2A1C)
    static let value: [UInt8] = [0x00, 0x68, 0x01, 0x00, 0xFF]
    static let frame = "2A1C 00680100FF"

    private func thermometer(_ change: (inout DeviceDescription) -> Void = { _ in }) throws -> DeviceDescription {
        let address = try #require(BluetoothAddress(Self.thermometer))
        var device = DeviceDescription(address: address, profile: "sig-health-thermometer")
        device.services = [BluetoothUUID(0x1809)]
        device.subscriptions = [Self.temperature]
        change(&device)
        return device
    }

    private func liveBench() throws -> Bench {
        let bench = try Bench()
        bench.bluez.addDevice(Self.thermometer, ["Name": .string("Thermometer")])
        bench.bluez.addService(Self.thermometer, 0x1809, [(0x2A1C, [:])])
        bench.source.adopt(try thermometer(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive(Self.thermometer) }
        return bench
    }

    private var path: String { ScriptedBlueZ.path(Self.thermometer) }
    private var characteristic: String { path + "/service1809/char2a1c" }

    /// BlueZ enables the notification of a known device by itself, and passes on its values before it reports that the services are
    /// resolved.
    private func reconnect(_ bench: Bench, values: Int = 3) throws {
        bench.bluez.disconnect(Self.thermometer)
        try bench.until("gone") { !bench.isLive(Self.thermometer) }
        bench.bluez.change(path, BlueZ.device, ["Connected": .boolean(true)])
        for count in 0..<values {
            bench.bluez.change(characteristic, BlueZ.characteristic, ["Value": .bytes(Self.value.dropLast() + [UInt8(count)])])
        }
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
    }

    @Test func valuesWaitForTheTable() throws {
        let bench = try liveBench()
        try reconnect(bench)
        try bench.pass(.seconds(4))
        bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(true)])
        try bench.until("live") { bench.isLive(Self.thermometer) }
        #expect(bench.frames == (0..<3).map { "gatt:2A1C 006801000\($0)" })
        // Each at the time at which it came.
        #expect(bench.received.allSatisfy { bench.clock.now.microseconds - $0.microseconds == 4_000_000 })
    }

    /// The table has changed: the characteristic at that place now may not be the one that sent the value.
    @Test(arguments: [false, true]) func marksUnattributedValues(linkLost: Bool) throws {
        let bench = try liveBench()
        try reconnect(bench, values: 1)
        if linkLost {
            bench.bluez.change(path, BlueZ.device, ["Connected": .boolean(false)])
            try bench.pass(.seconds(31))
        } else {
            bench.bluez.remove(path + "/service1809")
            bench.bluez.addService(Self.thermometer, 0x1809, at: "0040", [(0x2A1C, [:])])
            bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(true)])
            try bench.until("live") { bench.isLive(Self.thermometer) }
        }
        #expect(bench.frames == ["gatt:2A1C? 0068010000"])
    }

    @Test func moreThanADeviceKeeps() throws {
        let bench = try liveBench()
        bench.bluez.disconnect(Self.thermometer)
        try bench.until("gone") { !bench.isLive(Self.thermometer) }
        bench.bluez.change(path, BlueZ.device, ["Connected": .boolean(true)])
        for count in 0..<1100 {
            bench.bluez.change(
                characteristic, BlueZ.characteristic, ["Value": .bytes([0, UInt8(count & 0xFF), UInt8(count >> 8), 0, 0xFF])])
            if count % 100 == 0 { try bench.waitUntilIdle() }
        }
        try bench.waitUntilIdle()
        bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(true)])
        try bench.until("live") { bench.isLive(Self.thermometer) }
        #expect(bench.frames.count == 1100 && Set(bench.frames.map { $0.suffix(10) }).count == 1100)
    }

    /// The meaning of a value depends on the clock, so it waits until the clock was read.
    @Test func valuesWaitForTheClock() throws {
        let bench = try Bench()
        bench.bluez.addDevice(Self.thermometer)
        bench.bluez.addService(Self.thermometer, 0x1809, [(0x2A1C, [:])])
        bench.bluez.addService(Self.thermometer, 0x1805, [(0x2A2B, ["Value": .bytes([0xEA, 7, 11, 20, 10, 0, 0, 5, 0, 0])])])
        bench.bluez.answers["ReadValue"] = { [unowned bluez = bench.bluez] in bluez.ignored.append($0) }
        bench.source.adopt(try thermometer { $0.clock = DeviceClock(isSet: false) }, memory: DeviceMemory())
        bench.bluez.change(path, BlueZ.device, ["Connected": .boolean(true)])
        bench.source.start()
        try bench.waitUntilIdle()
        bench.bluez.change(characteristic, BlueZ.characteristic, ["Value": .bytes(Self.value)])
        bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(true)])
        try bench.until("the clock is asked for") { !bench.bluez.ignored.isEmpty }
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty && bench.evidence.isEmpty)
        bench.bluez.defaultAnswer(bench.bluez.ignored.removeFirst())
        try bench.until("live") { bench.isLive(Self.thermometer) }
        #expect(bench.frames == ["gatt:\(Self.frame)"] && bench.evidence.count == 1)
    }

    /// The sensor's location is known before the first beat is reported, on each link, although beats arrive first.
    @Test func deliversSensorLocationBeforeBeats() throws {
        let strap = "C0:01:02:03:04:01"
        let location = CharacteristicName(0x180D, 0x2A38)
        let bench = try Bench()
        bench.addStrap()
        bench.bluez.add(
            ScriptedBlueZ.path(strap) + "/service180d/char2a38",
            [
                BlueZ.characteristic: [
                    "UUID": .string(BluetoothUUID(0x2A38).text), "Service": .path(ScriptedBlueZ.path(strap) + "/service180d"),
                    "Value": .bytes([1]),
                ]
            ])
        bench.bluez.answers["ReadValue"] = { [unowned bluez = bench.bluez] in bluez.ignored.append($0) }
        var description = try Bench.strap()
        description.reads = [location]
        description.descriptions = [location]
        bench.source.adopt(description, memory: DeviceMemory())
        bench.source.start()
        var beats: UInt8 = 0x40
        while !bench.isLive() {
            try bench.until("a read") { !bench.bluez.ignored.isEmpty || bench.isLive() }
            guard !bench.bluez.ignored.isEmpty else { break }
            bench.bluez.notify(bench.bluez.characteristic(strap, 0x180D, 0x2A37), [0x16, beats])
            beats += 1
            try bench.pass(.seconds(1))
            bench.bluez.defaultAnswer(bench.bluez.ignored.removeFirst())
            try bench.waitUntilIdle()
        }
        #expect(bench.frames == ["gatt:2A38 01"] + (0x40..<beats).map { "gatt:2A37 16" + String($0, radix: 16) })
        #expect(zip(bench.received, bench.received.dropFirst()).allSatisfy { $0 <= $1 })
    }

    /// A record that the meter sends by itself is handed on with the context that follows it.
    @Test func aRecordOutsideACollection() throws {
        let meter = "C0:01:02:03:04:04"
        let bench = try Bench()
        bench.bluez.addDevice(meter)
        bench.bluez.addService(meter, 0x1808, [(0x2A18, [:]), (0x2A34, [:]), (0x2A52, [:])])
        bench.bluez.answers["WriteValue"] = { [unowned bluez = bench.bluez] call in
            bluez.defaultAnswer(call)
            bluez.notify(bluez.characteristic(meter, 0x1808, 0x2A52), [0x05, 0, 0, 0])
        }
        var device = DeviceDescription(address: try #require(BluetoothAddress(meter)), profile: "sig-glucose")
        device.recordAccess = .glucose
        bench.source.adopt(device, memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive(meter) }
        func send(_ characteristic: UInt16, _ value: [UInt8]) throws {
            bench.bluez.notify(bench.bluez.characteristic(meter, 0x1808, characteristic), value)
            try bench.waitUntilIdle()
        }
        try send(0x2A18, [0x10, 7, 0, 1])
        #expect(bench.frames.isEmpty)
        try send(0x2A34, [0x02, 7, 0, 1])
        #expect(bench.frames == ["gatt:2A34 02070001", "gatt:2A18 10070001"])
        #expect(bench.places.first == bench.places.last)
        // A measurement that announces no context is reported at once. If its context does not arrive, or belongs to another record, it is
        // reported alone.
        try send(0x2A18, [0x00, 8, 0, 1])
        try send(0x2A18, [0x10, 9, 0, 1])
        try send(0x2A34, [0x02, 8, 0, 1])
        #expect(bench.frames.dropFirst(2) == ["gatt:2A18 00080001", "gatt:2A34 02080001"])
        try bench.pass(.seconds(6))
        #expect(bench.frames.last == "gatt:2A18 10090001")
        try send(0x2A18, [0x10, 10, 0, 1])
        bench.bluez.disconnect(meter)
        try bench.until("gone") { !bench.isLive(meter) }
        #expect(bench.frames.last == "gatt:2A18 100A0001")
    }

    /// A user can find out why a device does not deliver.
    @Test func whyItWaits() throws {
        let bench = try Bench(adapter: false)
        let address = try #require(BluetoothAddress(Self.thermometer))
        bench.source.adopt(try thermometer { $0.needsBond = true }, memory: DeviceMemory())
        bench.source.start()
        try bench.waitUntilIdle()
        #expect(bench.source.waitsFor(address) == "a Bluetooth adapter")
        bench.bluez.addAdapter()
        try bench.waitUntilIdle()
        #expect(bench.source.waitsFor(address)?.contains("BlueZ does not know the device") == true)
        bench.bluez.addDevice(Self.thermometer)
        bench.bluez.addService(Self.thermometer, 0x1809, [(0x2A1C, [:])])
        try bench.waitUntilIdle()
        #expect(bench.source.waitsFor(address)?.contains("vitalgate devices pair \(address)") == true)
        bench.bluez.answers["Connect"] = { $0.fail(BusError("org.bluez.Error.Failed", "le-connection-abort-by-local")) }
        bench.bluez.change(path, BlueZ.device, ["Paired": .boolean(true)])
        try bench.until("an attempt") { bench.bluez.count("Connect ") == 1 }
        try bench.waitUntilIdle()
        #expect(bench.source.waitsFor(address)?.contains("the device did not respond") == true)
        bench.bluez.answers["Connect"] = nil
        try bench.pass(.seconds(2))
        bench.bluez.change(path, BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("live") { bench.isLive(Self.thermometer) }
        #expect(bench.source.waitsFor(address) == nil)
    }
}

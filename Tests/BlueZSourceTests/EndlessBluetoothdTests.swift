import EventLoopKit
import Glibc
import HealthModel
import PipelineTesting
import SystemdKit
import Testing

@testable import BlueZSource

/// More devices than anyone has: memory stays bounded, and adopted devices are never left out.
@Suite(.serialized) struct EndlessBluetoothdTests {
    static let strap = "C0:01:02:03:04:01"

    static func address(_ number: Int) -> String {
        let digits = String(number + 0x4000_0000, radix: 16, uppercase: true)
        let pairs = stride(from: 0, to: 8, by: 2).map { digits.dropFirst($0).prefix(2) }
        return "4A:00:" + pairs.joined(separator: ":")
    }

    /// Devices of others fill the memory, next to the adopted ones.
    static let maximum = 20_000

    private func expectLive(_ bench: Bench) throws {
        try bench.until("live") { bench.isLive() }
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x50])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A37 1650"])
    }

    /// A hundred thousand objects at once. The position of the adopted one among them is random.
    @Test func aHundredThousandObjects() throws {
        let bench = try Bench()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        for number in 0..<100_000 {
            let address = Self.address(number)
            bench.bluez.objects[ScriptedBlueZ.path(address)] = [BlueZ.device: ["Address": .string(address)]]
        }
        bench.addStrap()
        bench.source.start()
        try expectLive(bench)
        #expect(bench.source.tree.objects.count <= Self.maximum)
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
        // A device that was left out is adopted, and is found anyway.
        let other = try #require(
            (0..<100_000).map(Self.address).first { bench.source.tree.objects[ScriptedBlueZ.path($0)] == nil })
        bench.bluez.addService(other, 0x180D, [(0x2A37, [:])])
        bench.bluez.objects[ScriptedBlueZ.path(other)]?[BlueZ.device] = [
            "Address": .string(other), "Adapter": .path(ScriptedBlueZ.adapterPath), "Connected": .boolean(false),
            "RSSI": .int16(-50), "AddressType": .string("random"),
        ]
        bench.source.adopt(try Bench.strap(other), memory: DeviceMemory())
        try bench.until("the other one is live") { bench.isLive(other) }
        #expect(bench.isLive(), "the first one has noticed nothing")
        #expect(bench.bluez.received.count { $0 == "Connect \(ScriptedBlueZ.path(Self.strap))" } == 1)
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
    }

    /// Endless objects, none of which is removed.
    @Test func aStormOfObjects() throws {
        let bench = try Bench()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.waitUntilIdle()
        for number in 0..<25_000 {
            let address = Self.address(number)
            let path = BusValue.path(ScriptedBlueZ.path(address))
            let properties = BusValue.options(["Address": .string(address), "RSSI": .int16(-70)])
            try bench.bluez.bus.emit(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
                [path, .dictionary(key: "s", value: "a{sv}", [.init(.string(BlueZ.device), properties)])])
            if number.isMultiple(of: 500) { try bench.waitUntilIdle() }
        }
        try bench.waitUntilIdle()
        #expect(bench.source.tree.objects.count <= Self.maximum)
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
        bench.addStrap()
        try expectLive(bench)
    }

    /// If a device was near before it was adopted, its services are kept, however many others appear in between.
    @Test func keepsServicesOfDeviceAdoptedEarlier() throws {
        let bench = try Bench()
        bench.source.start()
        bench.bluez.addDevice(Self.strap, ["Name": .string("Strap")])
        try bench.waitUntilIdle()
        bench.bluez.answers["Connect"] = { $0.reply() }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        try bench.waitUntilIdle()
        for number in 0..<5000 {
            let path = BusValue.path(ScriptedBlueZ.path(Self.address(number)))
            let properties = BusValue.options(["Address": .string(Self.address(number))])
            try bench.bluez.bus.emit(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
                [path, .dictionary(key: "s", value: "a{sv}", [.init(.string(BlueZ.device), properties)])])
            if number.isMultiple(of: 500) { try bench.waitUntilIdle() }
        }
        try bench.waitUntilIdle()
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
        bench.bluez.addService(Self.strap, 0x180D, [(0x2A37, [:])])
        bench.bluez.connect(Self.strap)
        try bench.waitUntilIdle()
        try #require(bench.isLive())
        try expectLive(bench)
    }

    /// The same object is added and removed again and again: no call, no timer and no reading remains.
    @Test func aStormOfTheSameObject() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.bluez.add(ScriptedBlueZ.path(Self.strap), [BlueZ.battery: ["Percentage": .byte(80)]])
        var strap = try Bench.strap()
        strap.subscriptions.append(CharacteristicName(0x180F, 0x2A19))
        bench.source.adopt(strap, memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A19 50"])
        let before = bench.source.bus.load
        let (path, interfaces) = (ScriptedBlueZ.path(Self.strap), bench.bluez.objects)
        for _ in 0..<300 {
            for (path, interfaces) in interfaces { bench.bluez.add(path, interfaces) }
            try bench.waitUntilIdle()
        }
        #expect(bench.isLive() && bench.frames == ["gatt:2A19 50"] && bench.bluez.count("Connect ") == 1)
        for _ in 0..<300 {
            bench.bluez.remove(path)
            for (path, interfaces) in interfaces where path != ScriptedBlueZ.adapterPath { bench.bluez.add(path, interfaces) }
            try bench.waitUntilIdle()
        }
        #expect(bench.source.bus.load == before)
        bench.bluez.change(path, BlueZ.device, ["Connected": .boolean(false), "RSSI": .int16(-51)])
        // Until it is notified, it assumes that the link is up.
        try bench.waitUntilIdle()
        for _ in 0..<12 where !bench.isLive() {
            try bench.pass(.seconds(30))
            bench.bluez.change(path, BlueZ.device, ["RSSI": .int16(-51)])
            try bench.waitUntilIdle()
        }
        bench.frames.removeAll { $0 == "gatt:2A19 50" }
        try expectLive(bench)
    }

    /// No real property is megabytes long. D-Bus itself would accept 64 MiB.
    @Test func hugeValues() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        let (path, heart) = (ScriptedBlueZ.path(Self.strap), bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37))
        let count = 16 << 20
        let huge: [BusValue] = [
            .bytes([UInt8](repeating: 0x16, count: count)), .string(String(repeating: "x", count: count)),
            .array(of: "s", [BusValue](repeating: .string(""), count: 300_000)),
            .array(of: "v", [BusValue](repeating: .variant(.byte(1)), count: 300_000)),
        ]
        for value in huge {
            bench.bluez.change(heart, BlueZ.characteristic, ["Value": value])
            bench.bluez.change(path, BlueZ.device, ["Name": value])
            bench.bluez.objects[heart]?[BlueZ.characteristic]?["Value"] = nil
            bench.bluez.objects[path]?[BlueZ.device]?["Name"] = nil
            bench.bluez.add(path + "/\(bench.bluez.objects.count)", [BlueZ.characteristic: ["Value": value]])
            try bench.waitUntilIdle()
        }
        #expect(bench.isLive() && bench.frames.isEmpty)
        let retained = bench.source.tree.objects.values.flatMap(\.values).flatMap(\.values)
        #expect(retained.allSatisfy { ($0.text?.utf8.count ?? $0.bytes?.count ?? $0.texts?.count ?? 0) <= 16_384 })
        #expect(retained.allSatisfy { if case .array(_, let values) = $0 { values.count <= 16_384 } else { true } })
        try expectLive(bench)
        // One of them must not prevent the list of the others from being read.
        bench.bluez.die()
        try bench.until("it is noticed") { !bench.isLive() }
        bench.bluez = ScriptedBlueZ(loop: bench.loop, address: bench.daemon.address)
        try bench.until("the name") { bench.bluez.isNamed }
        bench.frames.removeAll()
        bench.bluez.objects["/org/bluez/hci0/dev_0"] = [BlueZ.device: ["Name": huge[1]]]
        bench.bluez.addAdapter()
        bench.addStrap()
        try expectLive(bench)
    }

    /// A bus that never stops sending: the loop still serves its timers and other descriptors.
    @Test func messagesWithoutEnd() throws {
        let bench = try Bench()
        let raw = try RawBus(loop: bench.loop, folder: bench.daemon.folder)
        let bus = SystemBus(loop: bench.loop, address: .custom(raw.address))
        var received = 0
        var subscription: BusSubscription?
        bus.onConnected = { subscription = bus.subscribe("type='signal',interface='org.vitalgate.Test'") { _ in received += 1 } }
        bus.open()
        try bench.until("connected") { bus.isConnected && subscription != nil && bus.load.calls == 0 }
        for _ in 0..<10 { bench.loop.turn(maximumWait: .zero) }
        let signal = RawMessage(kind: .signal, serial: 5, path: "/", interface: "org.vitalgate.Test", member: "M", sender: ":1.9")
            .bytes
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        defer { for end in ends { close(end) } }
        var byte: UInt8 = 1
        write(ends[0], &byte, 1)
        var reported = 0
        bench.loop.watch(ends[1]) { _ in reported += 1 }
        defer { bench.loop.unwatch(ends[1]) }
        // All of it is there before the loop turns.
        var stock: [UInt8] = []
        for _ in 0..<1000 { stock += signal }
        raw.transmit(stock)
        var timers = 0
        var maximum = 0
        for turn in 1...6 {
            let before = received
            bench.loop.after(.zero) { timers += 1 }
            bench.loop.turn(maximumWait: .seconds(60))
            raw.push()
            maximum = max(maximum, received - before)
            #expect(timers == turn && reported == turn)
            #expect(received < 1000 ? bus.pollTimeout == 0 || received - before < 512 : true)
        }
        #expect(maximum > 100 && maximum <= 512)
        try bench.until("all of it") { raw.push() && received == 1000 }
        _ = subscription
        bus.close()
    }

    /// Answers without a request, duplicate answers, a message that ends early: the connection is renewed, at most once a second.
    @Test func reconnectsAfterInvalidMessages() throws {
        let bench = try Bench()
        let raw = try RawBus(loop: bench.loop, folder: bench.daemon.folder)
        let bus = SystemBus(loop: bench.loop, address: .custom(raw.address))
        var losses = 0
        bus.onLost = { _ in losses += 1 }
        bus.open()
        try bench.until("connected") { bus.isConnected }
        var answers = 0
        bus.call(BusMethod("org.x", "/", "org.x", "M")) { _ in answers += 1 }
        try bench.until("answered") { answers == 1 }
        var body = RawMessage.MessageReader()
        body.add("again")
        for serial in raw.calls + [77, 4711, .max] {
            raw.transmit(raw.answer(to: serial, body.bytes).bytes)
            raw.transmit(raw.answer(to: serial, [0xFF, 0xFF, 0xFF, 0xFF]).bytes)
        }
        var asked = 0
        bus.call(BusMethod("org.x", "/", "org.x", "M")) { _ in asked += 1 }
        try bench.until("answered") { asked == 1 }
        #expect(answers == 1 && losses == 0 && bus.load.calls == 0)
        // Cut in the midst of a message, then one that promises more than D-Bus allows, then no message at all.
        let half = Array(raw.answer(to: 3, body.bytes).bytes.prefix(21))
        let long: [UInt8] = [UInt8(ascii: "l"), 4, 1, 1, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0, 0, 0, 0, 0, 0, 0]
        let noise = [UInt8](repeating: 0xAA, count: 4096)
        for (round, bytes) in [half, long, noise].enumerated() {
            raw.transmit(bytes)
            if bytes == half { raw.hangUp() }
            try bench.until("it is given up") { losses == round + 1 }
            #expect(!bus.isConnected && bus.load.calls == 0)
            bench.clock.uptime += .seconds(64)
            try bench.until("connected again") { bus.isConnected }
        }
        #expect(raw.visits == 4)
        bus.close()
    }

    /// A descriptor that always has data blocks the loop no more than messages do.
    @Test func aSocketWithoutEnd() throws {
        let bench = try Bench()
        // A file is always readable, and this one has more values than any turn may take.
        let folder = try TemporaryFolder()
        try folder.write([UInt8](repeating: 1, count: 517 * 5000), to: "values")
        var values = 0
        let pipe = NotificationPipe(
            Descriptor(owning: open(folder.file("values"), O_RDONLY | O_CLOEXEC)), loop: bench.loop, maximum: 517
        ) { _ in values += 1 }
        var timers = 0
        bench.loop.after(.zero) { timers += 1 }
        bench.loop.turn(maximumWait: .zero)
        #expect(timers == 1 && values > 0 && values <= 1024)
        withExtendedLifetime(pipe) {}
    }
}

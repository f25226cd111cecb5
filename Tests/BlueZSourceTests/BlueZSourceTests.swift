import Glibc
import HealthModel
import SystemdKit
import Testing

@testable import BlueZSource

/// Against a scripted org.bluez on a private dbus-daemon.
@Suite(.serialized) struct BlueZSourceTests {
    static let strap = "C0:01:02:03:04:01"

    @Test(arguments: [false, true]) func notificationsOfAnAdoptedDevice(acquire: Bool) throws {
        let bench = try Bench()
        bench.addStrap(acquire: acquire)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        #expect(bench.bluez.count(acquire ? "AcquireNotify" : "StartNotify") == 1)
        bench.bluez.notify(path, [0x16, 0x48])
        bench.bluez.notify(path, [0x16, 0x49])
        try bench.until("frames") { bench.frames.count == 2 }
        #expect(bench.frames == ["gatt:2A37 1648", "gatt:2A37 1649"])
        #expect(bench.devices.first??.key == "Maker/H1/SN12")
        #expect(bench.devices.first??.name == "Strap")
        #expect(bench.memories.last?.hadGoodSession == true)
        // The same value twice is two frames: a heart may beat alike for two seconds.
        bench.bluez.notify(path, [0x16, 0x49])
        try bench.until("a further frame") { bench.frames.count == 3 }
    }

    /// A thermometer sends one value and disconnects. D-Bus reports the end of the link before the value is read from its socket.
    @Test func theLastValueBeforeTheEnd() throws {
        let bench = try Bench()
        bench.addStrap(acquire: true)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
        bench.bluez.disconnect(Self.strap)
        // Only D-Bus is listened to.
        while bench.isLive() {
            bench.bluez.bus.process()
            bench.source.bus.process()
        }
        #expect(bench.frames == ["gatt:2A37 1648"])
    }

    /// BlueZ may report twice on one link that the services are resolved. Values in transit still arrive.
    @Test func servicesResolvedTwice() throws {
        let bench = try Bench()
        bench.addStrap(acquire: true)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        bench.bluez.notify(path, [0x16, 0x48])
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["ServicesResolved": .boolean(true)])
        bench.bluez.notify(path, [0x16, 0x49])
        try bench.until("both frames") { bench.frames.count == 2 }
        try bench.waitUntilIdle()
        #expect(bench.isLive() && bench.bluez.count("AcquireNotify") == 1)
    }

    /// Promise 9: the neighbour's strap is not read, though it is near.
    @Test func othersAreNotRead() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.addStrap("C0:01:02:03:04:99")
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        #expect(bench.bluez.count("Connect") == 1)
        #expect(bench.bluez.received.allSatisfy { !$0.contains("04_99") })
    }

    /// Story 4: bluetoothd is restarted in the middle of it.
    @Test func daemonRestarted() throws {
        let bench = try Bench()
        bench.addStrap(acquire: true)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        bench.bluez.die()
        try bench.until("the loss is seen") { !bench.isLive() }
        #expect(bench.notices.contains { $0.component == "bluetoothd" })
        bench.bluez = ScriptedBlueZ(loop: bench.loop, address: bench.daemon.address)
        try bench.until("the name") { bench.bluez.isNamed }
        bench.bluez.addAdapter()
        bench.addStrap()
        try bench.until("live again") { bench.isLive() }
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x4A])
        try bench.until("frames") { bench.frames == ["gatt:2A37 164A"] }
        #expect(bench.bluez.count("StartDiscovery") >= 1)
    }

    @Test func adapterRemovedAndAdded() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        bench.bluez.remove(ScriptedBlueZ.adapterPath)
        try bench.until("the loss is seen") { !bench.isLive() }
        bench.bluez.addAdapter()
        bench.addStrap()
        try bench.until("live again") { bench.isLive() }
    }

    /// D-Bus itself stops and restarts.
    @Test func busRestarted() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        bench.daemon.kill()
        try bench.until("both see the loss") { !bench.isLive() && !bench.bluez.bus.isConnected }
        #expect(bench.notices.contains { $0.component == "D-Bus" })
        try bench.daemon.launch()
        bench.clock.uptime += .seconds(1)
        try bench.until("the name") { bench.bluez.isNamed && bench.bluez.bus.isConnected }
        // The source may have appeared on the bus before the name. It asks again.
        for _ in 0..<40 where !bench.isLive() { try bench.pass(.seconds(1)) }
        try bench.until("live again") { bench.isLive() }
    }

    /// Stories 5 and 6: the link stays up and nothing comes.
    @Test func silentLink() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.pass(.seconds(6))
        try bench.until("resubscribed") { bench.bluez.count("StartNotify") == 2 }
        #expect(bench.bluez.count("StopNotify") == 1)
        try bench.until("live") { bench.isLive() }
        try bench.pass(.seconds(6))
        try bench.until("disconnected") { bench.bluez.count("Disconnect") == 1 }
        try bench.pass(.seconds(2))
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("connected anew") { bench.bluez.count("Connect") == 2 && bench.isLive() }
        // Story 12: neither the discovery nor the adapter was changed.
        #expect(bench.bluez.count("Set ") == 0)
    }

    /// Story 3: stopping fails with InProgress. Devices that were found are reported anyway, and stopping is tried again.
    @Test func reportsDevicesIfStoppingScanFails() throws {
        let bench = try Bench()
        bench.bluez.answers["StopDiscovery"] = {
            $0.fail(BusError("org.bluez.Error.InProgress", "Operation already in progress"))
        }
        bench.source.start()
        try bench.waitUntilIdle()
        var found: [NearbyDevice]?
        bench.source.scan(.seconds(5)) { found = $0 }
        try bench.until("discovery") { bench.bluez.count("StartDiscovery") == 1 }
        bench.addStrap()
        bench.bluez.addDevice(
            "C0:01:02:03:04:02", ["RSSI": .int16(-40), "UUIDs": .array(of: "s", [.string(BluetoothUUID(0x1809).text)])])
        try bench.waitUntilIdle()
        try bench.pass(.seconds(5))
        try bench.until("the result") { found != nil }
        #expect(found?.map(\.address.description) == ["C0:01:02:03:04:02", "C0:01:02:03:04:01"])
        #expect(found?.first?.services == [BluetoothUUID(0x1809)])
        try bench.until("a stop") { bench.bluez.count("StopDiscovery") == 1 }
        bench.bluez.answers["StopDiscovery"] = nil
        try bench.pass(.seconds(2))
        try bench.until("another stop") { bench.bluez.count("StopDiscovery") == 2 }
        #expect(bench.bluez.count("Connect") == 0)
    }

    /// Story 2: starting returns "in progress" and stopping "not started" while the property is true. In the end, the adapter is switched
    /// off and on.
    @Test func lyingDiscovering() throws {
        let bench = try Bench()
        bench.bluez.answers["StartDiscovery"] = { $0.fail(BusError("org.bluez.Error.InProgress")) }
        bench.bluez.answers["StopDiscovery"] = { $0.fail(BusError("org.bluez.Error.Failed", "No discovery started")) }
        bench.bluez.change(ScriptedBlueZ.adapterPath, BlueZ.adapter, ["Discovering": .boolean(true)])
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        for tries in 1...3 {
            try bench.until("a try") { bench.bluez.count("StartDiscovery") == tries }
            try bench.pass(.seconds(2))
        }
        try bench.until("the first contradiction") { bench.notices.contains { $0.text.contains("restarting discovery") } }
        for _ in 0..<400 where bench.bluez.count("Set ") == 0 { try bench.pass(.seconds(2)) }
        try bench.until("off") { bench.bluez.count("Set ") == 1 }
        bench.bluez.answers.removeAll()
        try bench.pass(.seconds(3))
        try bench.until("on") { bench.bluez.count("Set ") == 2 }
        try bench.pass(.seconds(40))
        try bench.until("discovery") {
            bench.bluez.objects[ScriptedBlueZ.adapterPath]?[BlueZ.adapter]?["Discovering"]?.truth == true
        }
    }

    /// Story 10: the policy of D-Bus denies access.
    @Test func accessDenied() throws {
        let bench = try Bench(
            policy: #"<deny send_destination="org.bluez" send_interface="org.freedesktop.DBus.ObjectManager"/>"#)
        bench.source.start()
        try bench.until("the notice") {
            bench.notices.contains { $0.weight == .action && $0.text.contains("usermod -aG bluetooth") }
        }
    }

    /// Story 7: the characteristic is in the table and cannot be enabled.
    @Test func staleCache() throws {
        let bench = try Bench()
        bench.addStrap()
        // A bond is not dropped with the table: a person has to.
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["Paired": .boolean(true)])
        bench.bluez.answers["StartNotify"] = {
            $0.fail(BusError("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0a"))
        }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("a failure") { bench.bluez.count("Disconnect") == 1 }
        try bench.pass(.seconds(2))
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("the notice") { bench.notices.contains { $0.weight == .action && $0.text.contains("BlueZ's cache") } }
    }

    /// The user types a number. The answer is sent back, and the device is trusted from then on.
    @Test func pairingWithAPasskey() throws {
        final class Person: PairingDialogue {
            func enterPasskey(for address: String, _ answer: @escaping (UInt32?) -> Void) { answer(123_456) }
            func showPasskey(_ passkey: UInt32, for address: String) {}
            func confirmPasskey(_ passkey: UInt32, for address: String, _ answer: @escaping (Bool) -> Void) { answer(true) }
        }
        let bench = try Bench()
        bench.addStrap()
        let path = ScriptedBlueZ.path(Self.strap)
        var typed: Int64?
        bench.bluez.answers["Pair"] = { call in
            let agent = BusMethod(call.sender, "/org/vitalgate/agent", BlueZ.agent, "RequestPasskey")
            bench.bluez.bus.call(agent, [.path(path)]) { answer in
                typed = (try? answer.get())?.first?.integer
                bench.bluez.change(path, BlueZ.device, ["Paired": .boolean(true)])
                call.reply()
            }
        }
        let person = Person()
        bench.source.dialogue = person
        bench.source.start()
        try bench.until("the device") { bench.source.nearby.count == 1 }
        var done = false
        bench.source.pair(try #require(BluetoothAddress(Self.strap))) { result in
            if case .success = result { done = true }
        }
        try bench.until("paired") { done }
        #expect(typed == 123_456)
        try bench.until("trusted") { bench.bluez.objects[path]?[BlueZ.device]?["Trusted"]?.truth == true }
    }

    /// Story 13: data that BlueZ remembers is not an arrival. If an advertisement has several parts, only the changed one is.
    @Test func advertisements() throws {
        let bench = try Bench()
        let path = ScriptedBlueZ.path("A4:C1:38:00:00:01")
        let temperature: [UInt8] = [0x40, 0x02, 0x10, 0x27]
        func data(_ bytes: [UInt8]) -> BusValue { .options([BluetoothUUID(0xFCD2).text: .bytes(bytes)]) }
        bench.bluez.addDevice("A4:C1:38:00:00:01", ["AddressType": .string("public"), "ServiceData": data(temperature)])
        var thermometer = DeviceDescription(address: try #require(BluetoothAddress("A4:C1:38:00:00:01")), profile: "bthome")
        thermometer.presence = .adverts
        thermometer.adverts = [.service(BluetoothUUID(0xFCD2))]
        bench.source.adopt(thermometer, memory: DeviceMemory())
        bench.source.start()
        try bench.until("discovery") { bench.bluez.count("StartDiscovery") == 1 }
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        bench.bluez.change(path, BlueZ.device, ["ServiceData": data(temperature)])
        bench.bluez.change(path, BlueZ.device, ["ServiceData": data([0x40, 0x02, 0x11, 0x27])])
        try bench.until("frames") { bench.frames.count == 2 }
        #expect(bench.frames == ["advert:FCD2 40021027", "advert:FCD2 40021127"])
        bench.bluez.change(
            path, BlueZ.device,
            ["ManufacturerData": .dictionary(key: "q", value: "v", [.init(.uint16(0x0157), .variant(.bytes([1])))])])
        try bench.waitUntilIdle()
        #expect(bench.frames.count == 2)
        #expect(bench.devices.last??.key == "bluetooth:A4:C1:38:00:00:01")
        #expect(bench.bluez.count("Connect") == 0)
    }

    /// A device that sends readings instead of a company number: BlueZ keeps the old entries, and only new ones are arrivals.
    @Test func advertisementsUnderAnyCompany() throws {
        let bench = try Bench()
        let path = ScriptedBlueZ.path("A4:C1:38:00:00:01")
        func data(_ parts: [(UInt16, [UInt8])]) -> BusValue {
            .dictionary(key: "q", value: "v", parts.map { .init(.uint16($0.0), .variant(.bytes($0.1))) })
        }
        bench.bluez.addDevice("A4:C1:38:00:00:01", ["AddressType": .string("public"), "ManufacturerData": data([(0xD6C2, [0])])])
        var thermometer = DeviceDescription(address: try #require(BluetoothAddress("A4:C1:38:00:00:01")), profile: "thermopro")
        thermometer.presence = .adverts
        thermometer.adverts = [.anyManufacturer]
        bench.source.adopt(thermometer, memory: DeviceMemory())
        bench.source.start()
        try bench.until("discovery") { bench.bluez.count("StartDiscovery") == 1 }
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        // Nothing shows yet which of the two is new.
        bench.bluez.change(path, BlueZ.device, ["ManufacturerData": data([(0xD6C2, [0]), (0xD7C2, [0])])])
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        bench.bluez.change(path, BlueZ.device, ["ManufacturerData": data([(0xD6C2, [0]), (0xD7C2, [0]), (0xD8C2, [1])])])
        bench.bluez.change(path, BlueZ.device, ["ManufacturerData": data([(0xD6C2, [2]), (0xD7C2, [0]), (0xD8C2, [1])])])
        try bench.until("frames") { bench.frames.count == 2 }
        #expect(bench.frames == ["advert:manufacturer C2D801", "advert:manufacturer C2D602"])
    }

    /// Story 11: nothing grows, however often a device comes and goes.
    @Test func reconnectionsDoNotGrowMemory() throws {
        let bench = try Bench()
        bench.addStrap(acquire: true)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        func load() -> [Int] {
            let bus = bench.source.bus.load
            return [bus.messages, bus.slots, bus.calls, bench.loop.load.watches, bench.loop.load.timers]
        }
        var before: [Int] = []
        var descriptors = 0
        for cycle in 0..<1000 {
            bench.bluez.notify(path, [0x16, UInt8(cycle & 0xFF)])
            try bench.until("a frame") { bench.frames.count == cycle + 1 }
            bench.bluez.disconnect(Self.strap)
            try bench.until("gone") { !bench.isLive() }
            try bench.pass(.seconds(2))
            bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
            try bench.until("live") { bench.isLive() }
            if cycle == 9 {
                try bench.waitUntilIdle()
                before = load()
                descriptors = Self.descriptors()
            }
        }
        try bench.waitUntilIdle()
        #expect(load() == before)
        // Other tests of this process open files as well. A leak in each cycle would be a thousand.
        #expect(Self.descriptors() < descriptors + 500)
    }

    private static func descriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// Phones change their address all day: of those that have gone nothing is left, in a hub that never scans.
    @Test func forgetsAbsentDevices() throws {
        let bench = try Bench()
        bench.source.start()
        try bench.waitUntilIdle()
        let before = bench.source.tree.objects.count
        for number in 0..<3000 {
            let address = "4\(number % 10):00:00:\(number / 1000 + 10):\(number / 100 % 10)0:\(number % 100 / 10)0"
            bench.bluez.addDevice(address)
            bench.bluez.remove(ScriptedBlueZ.path(address))
            if number % 200 == 0 { try bench.waitUntilIdle() }
        }
        try bench.waitUntilIdle()
        #expect(bench.source.tree.objects.count == before)
        #expect(bench.source.scanned.isEmpty)
        bench.source.stop()
    }
}

import Testing

@testable import BlueZSource

/// A device's table of services changes while the link lives (Service Changed, 2A05), as after a firmware update.
@Suite(.serialized) struct MovedServicesTests {
    static let strap = "C0:01:02:03:04:01"

    private func liveBench(acquire: Bool = false) throws -> Bench {
        let bench = try Bench()
        bench.addStrap(acquire: acquire)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        return bench
    }

    /// BlueZ removes the old objects and adds the new ones. It may not report ServicesResolved again.
    @Test(arguments: [false, true], ["0040", "180d"]) func movedOnALivingLink(isReported: Bool, handle: String) throws {
        let bench = try liveBench()
        let path = ScriptedBlueZ.path(Self.strap)
        let before = bench.bluez.count("StartNotify")
        if isReported { bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(false)]) }
        bench.bluez.remove(path + "/service180d")
        try bench.waitUntilIdle()
        bench.bluez.addService(Self.strap, 0x180D, at: handle, [(0x2A37, [:])])
        if isReported { bench.bluez.change(path, BlueZ.device, ["ServicesResolved": .boolean(true)]) }
        try bench.pass(.seconds(1))
        #expect(bench.bluez.count("StartNotify") == before + 1)
        bench.bluez.notify(path + "/service\(handle)/char2a37", [0x16, 0x4A])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A37 164A"])
        #expect(bench.isLive())
        #expect(bench.bluez.count("Connect ") == 1 && bench.bluez.count("Disconnect") == 0)
        #expect(!bench.notices.contains { $0.weight == .action })
    }

    /// Values in the socket of the old place are still read, and the new place has its own socket.
    @Test func theSocketOfTheOldPlace() throws {
        let bench = try liveBench(acquire: true)
        let path = ScriptedBlueZ.path(Self.strap)
        bench.bluez.notify(path + "/service180d/char2a37", [0x16, 0x48])
        bench.bluez.remove(path + "/service180d")
        bench.bluez.addService(Self.strap, 0x180D, at: "0040", [(0x2A37, ["NotifyAcquired": .boolean(false)])])
        try bench.pass(.seconds(1))
        bench.bluez.notify(path + "/service0040/char2a37", [0x16, 0x49])
        try bench.until("both frames") { bench.frames.count == 2 }
        #expect(bench.frames == ["gatt:2A37 1648", "gatt:2A37 1649"])
        #expect(bench.bluez.count("AcquireNotify") == 2 && bench.bluez.count("Disconnect") == 0)
        #expect(Set(bench.devices.map { $0?.key }) == ["Maker/H1/SN12"])
    }

    /// Reading a service over the air takes seconds. Neither the missing service nor the silence ends the link.
    @Test func waitsForSlowService() throws {
        let bench = try liveBench()
        let path = ScriptedBlueZ.path(Self.strap)
        bench.bluez.remove(path + "/service180d")
        bench.bluez.addService(Self.strap, 0x1809, [(0x2A1C, [:])])
        for _ in 0..<4 { try bench.pass(.seconds(5)) }
        #expect(bench.bluez.count("Disconnect") == 0)
        bench.bluez.addService(Self.strap, 0x180D, at: "0040", [(0x2A37, [:])])
        try bench.pass(.seconds(1))
        bench.bluez.notify(path + "/service0040/char2a37", [0x16, 0x4A])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A37 164A"])
        #expect(bench.isLive() && bench.bluez.count("Connect ") == 1 && bench.bluez.count("Disconnect") == 0)
    }

    /// A service does not return. BlueZ must forget the device over the same link, because disconnecting first and connecting with the kept
    /// table would make that table permanent.
    @Test(arguments: [false, true]) func removesDeviceIfServiceDoesNotReturn(bonded: Bool) throws {
        let bench = try liveBench()
        let path = ScriptedBlueZ.path(Self.strap)
        bench.bluez.change(path, BlueZ.device, ["Paired": .boolean(bonded)])
        bench.bluez.answers["RemoveDevice"] = { [unowned bench] call in
            call.reply()
            bench.bluez.remove(path)
            bench.addStrap()
        }
        bench.bluez.remove(path + "/service180d")
        // A strap that is silent during this time is not disconnected.
        for _ in 0..<8 where bench.bluez.count("RemoveDevice") == 0 { try bench.pass(.seconds(5)) }
        if bonded {
            // A bond is a person's deed (Decisions/0016): nothing is removed, and the link on which that helps stays.
            #expect(bench.bluez.count("RemoveDevice") == 0 && bench.bluez.count("Disconnect") == 0)
            #expect(bench.notices.count { $0.weight == .action && $0.text.contains("devices forget --bond") } == 1)
            let address = try #require(BluetoothAddress(Self.strap))
            #expect(bench.source.waitsFor(address)?.contains("180D/2A37") == true)
            // It shows the service after all.
            bench.bluez.addService(Self.strap, 0x180D, at: "0050", [(0x2A37, [:])])
            try bench.until("live") { bench.isLive() }
        } else {
            let counts = (bench.bluez.count("RemoveDevice"), bench.bluez.count("Disconnect"))
            #expect(counts == (1, 0))
            bench.bluez.change(path, BlueZ.device, ["RSSI": .int16(-51)])
            try bench.until("live") { bench.isLive() }
            #expect(bench.bluez.count("Connect ") == 2)
        }
    }

    /// The link over which the services moved is lost: it is called again, as nothing better is left.
    @Test func reconnectsBondedDeviceAfterLostLink() throws {
        let bench = try liveBench()
        let path = ScriptedBlueZ.path(Self.strap)
        bench.bluez.change(path, BlueZ.device, ["Paired": .boolean(true)])
        bench.bluez.remove(path + "/service180d")
        for _ in 0..<8 { try bench.pass(.seconds(5)) }
        bench.bluez.disconnect(Self.strap)
        bench.bluez.addService(Self.strap, 0x180D, [(0x2A37, [:])])
        try bench.pass(.seconds(2))
        bench.bluez.change(path, BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("live") { bench.isLive() }
    }

    /// Unmoved characteristics keep their subscription. BlueZ would refuse a second one.
    @Test func keepsSubscriptionsOfUnmovedServices() throws {
        let bench = try liveBench(acquire: true)
        bench.bluez.addService(Self.strap, 0x180F, [(0x2A19, [:])])
        bench.bluez.remove(ScriptedBlueZ.path(Self.strap) + "/service180a")
        try bench.pass(.seconds(1))
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x4B])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A37 164B"])
        #expect(bench.bluez.count("AcquireNotify") == 1 && bench.bluez.count("Disconnect") == 0)
    }

    /// BlueZ has kept a table without the service: the last step is that it forgets the device, which nothing is lost by without a bond.
    @Test(arguments: [false, true]) func removesDeviceWithStaleTable(bonded: Bool) throws {
        let bench = try Bench()
        bench.bluez.addDevice(Self.strap, ["Name": .string("Strap"), "Paired": .boolean(bonded)])
        bench.bluez.addService(Self.strap, 0x180F, [(0x2A19, [:])])
        bench.bluez.answers["RemoveDevice"] = { [unowned bench] call in
            call.reply()
            bench.bluez.remove(ScriptedBlueZ.path(Self.strap))
            bench.addStrap()
        }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.waitUntilIdle()
        for _ in 0..<8 where !bench.isLive() {
            try bench.pass(.seconds(5))
            bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
            try bench.waitUntilIdle()
        }
        #expect(bench.bluez.count("RemoveDevice") == (bonded ? 0 : 1))
        #expect(bench.isLive() == !bonded)
        #expect(bench.notices.contains { $0.weight == .action && $0.text.contains("180D/2A37") } == bonded)
    }
}

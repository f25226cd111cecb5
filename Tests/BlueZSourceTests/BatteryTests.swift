import HealthModel
import SystemdKit
import Testing

@testable import BlueZSource

/// One battery level arrives in several ways, and is reported once each time the device sends it.
@Suite(.serialized) struct BatteryTests {
    static let strap = "C0:01:02:03:04:01"
    static let level = CharacteristicName(0x180F, 0x2A19)

    /// A strap with a battery, whose read BlueZ signals as a change of the value as well.
    /// - Parameter echo: whether the signal comes before the answer, after it, or not at all.
    private func bench(
        acquire: Bool = false, echo: Echo = .before, asProfile: Bool = false, service: Bool = true
    ) throws -> Bench {
        let bench = try Bench()
        bench.addStrap()
        if service {
            bench.bluez.addService(
                Self.strap, 0x180F,
                [
                    (
                        0x2A19,
                        acquire
                            ? ["Value": .bytes([0x57]), "NotifyAcquired": .boolean(false)] : ["Value": .bytes([0x57])]
                    )
                ])
        }
        bench.bluez.answers["ReadValue"] = { [unowned bluez = bench.bluez] call in
            let isBattery = call.path.hasSuffix("char2a19")
            let signal = {
                let value = bluez.objects[call.path]?[BlueZ.characteristic]?["Value"] ?? .bytes([])
                bluez.change(call.path, BlueZ.characteristic, ["Value": value])
            }
            if isBattery, echo == .before { signal() }
            bluez.defaultAnswer(call)
            if isBattery, echo == .after { signal() }
        }
        var strap = try Bench.strap()
        if asProfile {
            strap.reads.append(Self.level)
            strap.subscriptions.append(Self.level)
        } else {
            strap.accompaniments.append(Self.level)
        }
        bench.source.adopt(strap, memory: DeviceMemory())
        bench.source.start()
        return bench
    }

    enum Echo: CaseIterable { case before, after, none }

    /// The answer to the read, the value's change because of it, and the property of BlueZ's own reader.
    @Test(arguments: Echo.allCases, [false, true]) func deliversBatteryLevelOnce(echo: Echo, asProfile: Bool) throws {
        let bench = try bench(echo: echo, asProfile: asProfile)
        bench.bluez.add(ScriptedBlueZ.path(Self.strap), [BlueZ.battery: ["Percentage": .byte(0x57)]])
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.battery, ["Percentage": .byte(0x57)])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A19 57"])
        // Once for each link.
        for count in 2...4 {
            bench.bluez.disconnect(Self.strap)
            try bench.until("gone") { !bench.isLive() }
            try bench.pass(.seconds(2))
            bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
            try bench.until("live") { bench.isLive() }
            try bench.waitUntilIdle()
            #expect(bench.frames == [String](repeating: "gatt:2A19 57", count: count))
        }
    }

    /// A value that the device sends by itself counts each time. The property that follows it does not.
    @Test(arguments: [false, true]) func notifications(acquire: Bool) throws {
        let bench = try bench(acquire: acquire)
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        let path = bench.bluez.characteristic(Self.strap, 0x180F, 0x2A19)
        for level: UInt8 in [0x56, 0x56, 0x55] {
            try bench.pass(.seconds(2))
            bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
            bench.bluez.notify(path, [level])
            try bench.waitUntilIdle()
            // Once more at once, in whatever way.
            bench.bluez.notify(path, [level])
            try bench.waitUntilIdle()
            bench.bluez.add(ScriptedBlueZ.path(Self.strap), [BlueZ.battery: ["Percentage": .byte(level)]])
            try bench.waitUntilIdle()
        }
        let levels = bench.frames.filter { $0.hasPrefix("gatt:2A19") }
        #expect(levels == ["gatt:2A19 57", "gatt:2A19 56", "gatt:2A19 56", "gatt:2A19 55"])
        // A battery level does not show whether the strap measures.
        for _ in 0..<4 {
            bench.bluez.notify(path, [0x54])
            try bench.pass(.seconds(5))
        }
        #expect(bench.bluez.count("StartNotify") + bench.bluez.count("AcquireNotify") > 2, "the heart rate is enabled again")
    }

    /// BlueZ keeps the service for itself, as with its own battery reader in some versions.
    @Test func thePropertyAlone() throws {
        let bench = try bench(service: false)
        bench.bluez.add(ScriptedBlueZ.path(Self.strap), [BlueZ.battery: ["Percentage": .byte(80)]])
        try bench.until("live") { bench.isLive() }
        for level: UInt8 in [80, 79, 79, 78] {
            bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.battery, ["Percentage": .byte(level)])
            try bench.waitUntilIdle()
        }
        #expect(bench.frames == ["gatt:2A19 50", "gatt:2A19 4F", "gatt:2A19 4E"])
    }

    /// A battery that requires a bond or cannot be read does not stop the strap.
    @Test(arguments: ["org.bluez.Error.NotPermitted", "org.bluez.Error.NotSupported", "org.bluez.Error.NotAuthorized"])
    func unreadableBatteryDoesNotStopStrap(error: String) throws {
        let bench = try bench()
        for member in ["ReadValue", "StartNotify"] {
            bench.bluez.answers[member] = { [unowned bluez = bench.bluez] call in
                guard call.path.hasSuffix("char2a19") else { return bluez.defaultAnswer(call) }
                call.fail(BusError(error, "Not paired"))
            }
        }
        try bench.until("live") { bench.isLive() }
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
        try bench.until("a frame") { bench.frames == ["gatt:2A37 1648"] }
        #expect(!bench.notices.contains { $0.weight == .action })
    }

    /// With its battery alone a strap is not read: the heart rate is missed all the same.
    @Test func batteryAloneIsMissingHeartRate() throws {
        let bench = try Bench()
        bench.bluez.addDevice(Self.strap, ["Name": .string("Strap")])
        bench.bluez.addService(Self.strap, 0x180F, [(0x2A19, [:])])
        var strap = try Bench.strap()
        strap.accompaniments.append(Self.level)
        bench.source.adopt(strap, memory: DeviceMemory())
        bench.source.start()
        try bench.until("BlueZ is to forget it") { bench.bluez.count("RemoveDevice") == 1 }
        #expect(!bench.isLive())
    }
}

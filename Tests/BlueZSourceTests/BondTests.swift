import SystemdKit
import Testing

@testable import BlueZSource

/// Anyone can send under a device's address. If its profile requires a bond, only a bond that a user has made identifies the device.
@Suite(.serialized) struct BondTests {
    static let cuff = "C0:01:02:03:04:01"
    static let path = ScriptedBlueZ.path(cuff)

    private func bench(bonded: Bool) throws -> Bench {
        let bench = try Bench()
        bench.addStrap()
        bench.bluez.objects[Self.path]?[BlueZ.device]?["Paired"] = .boolean(bonded)
        bench.bluez.objects[Self.path]?[BlueZ.device]?["Bonded"] = .boolean(bonded)
        var cuff = try Bench.strap(Self.cuff)
        cuff.needsBond = true
        bench.source.adopt(cuff, memory: DeviceMemory())
        return bench
    }

    private var rate: (ScriptedBlueZ) -> String { { $0.characteristic(Self.cuff, 0x180D, 0x2A37) } }

    private func bond(_ bench: Bench, _ bonded: Bool) {
        bench.bluez.change(Self.path, BlueZ.device, ["Paired": .boolean(bonded), "Bonded": .boolean(bonded)])
    }

    /// The device is not connected or read, and the user is notified once of what to do.
    @Test func withoutABondNothingIsAskedOrTaken() throws {
        let bench = try bench(bonded: false)
        bench.source.start()
        try bench.until("the notice") { bench.notices.contains { $0.weight == .action } }
        try bench.waitUntilIdle()
        #expect(
            bench.notices.filter { $0.weight == .action }.map(\.text.description).allSatisfy {
                $0.contains("devices pair \(Self.cuff)")
            })
        // Another device uses its address, over a link that another program opened.
        bench.bluez.connect(Self.cuff)
        bench.bluez.change(rate(bench.bluez), BlueZ.characteristic, ["Value": .bytes([0x16, 0x48])])
        try bench.pass(.seconds(60))
        #expect(bench.frames.isEmpty)
        for member in ["Connect ", "ReadValue", "StartNotify", "AcquireNotify", "WriteValue"] {
            #expect(bench.bluez.count(member) == 0)
        }
        // That link may be the one over which a person is pairing.
        #expect(bench.bluez.count("Disconnect") == 0)
        #expect(bench.notices.count { $0.weight == .action } == 1)
    }

    /// A user pairs the device with another program. The link that was used for this is used at once.
    @Test(arguments: [false, true]) func usesBondMadeByAnotherProgram(connected: Bool) throws {
        let bench = try bench(bonded: false)
        bench.source.start()
        try bench.until("the notice") { bench.notices.contains { $0.weight == .action } }
        if connected { bench.bluez.connect(Self.cuff) }
        bond(bench, true)
        try bench.until("live") { bench.isLive() }
        bench.bluez.notify(rate(bench.bluez), [0x16, 0x49])
        try bench.until("a frame") { !bench.frames.isEmpty }
        #expect(bench.frames == ["gatt:2A37 1649"])
        #expect(bench.bluez.count("StartNotify") == 1 && bench.bluez.count("Disconnect") == 0)
    }

    /// Paired for one link only: nothing would identify the device the next time.
    @Test func pairedIsNotBonded() throws {
        let bench = try bench(bonded: false)
        bench.source.start()
        bench.bluez.change(Self.path, BlueZ.device, ["Paired": .boolean(true)])
        try bench.pass(.seconds(60))
        #expect(bench.bluez.count("Connect ") == 0)
    }

    @Test func bondRemovedWhileConnected() throws {
        let bench = try bench(bonded: true)
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        bench.bluez.notify(rate(bench.bluez), [0x16, 0x4A])
        try bench.until("a frame") { bench.frames.count == 1 }
        bond(bench, false)
        bench.bluez.notify(rate(bench.bluez), [0x16, 0x4B])
        try bench.pass(.seconds(60))
        #expect(bench.frames == ["gatt:2A37 164A"])
        #expect(!bench.isLive() && bench.bluez.count("Disconnect") == 1)
        #expect(bench.notices.contains { $0.weight == .action && $0.text.contains("requires pairing") })
        bond(bench, true)
        bench.bluez.change(Self.path, BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("live again") { bench.isLive() }
    }

    /// If BlueZ keeps no bonds (Pairable), a pairing ends with its link. This is not a success, although BlueZ reports one.
    @Test(arguments: [false, true]) func pairingMakesLastingBond(isRetained: Bool) throws {
        let bench = try bench(bonded: false)
        bench.bluez.answers["Pair"] = { [unowned bench] call in
            bench.bluez.change(Self.path, BlueZ.device, ["Paired": .boolean(true), "Bonded": .boolean(isRetained)])
            call.reply()
        }
        bench.source.start()
        try bench.until("the agent") { bench.bluez.count("RegisterAgent") == 1 }
        try bench.waitUntilIdle()
        var result: Result<Void, BusError>?
        bench.source.pair(try #require(BluetoothAddress(Self.cuff))) { result = $0 }
        try bench.until("an answer") { result != nil }
        #expect(((try? result?.get()) != nil) == isRetained)
        let received = bench.bluez.received.filter { $0.hasPrefix("Set ") || $0.hasPrefix("Pair ") }
        #expect(
            received.first == "Set \(ScriptedBlueZ.adapterPath)"
                && bench.bluez.objects[ScriptedBlueZ.adapterPath]?[BlueZ.adapter]?["Pairable"]?.truth == true)
        // Where the last agent goes BlueZ switches bonding off, and does so a moment later.
        #expect(bench.bluez.count("UnregisterAgent") == 0 && bench.bluez.count("RegisterAgent") == 1)
    }

    // MARK: The agent

    private func ask(_ bench: Bench, by bus: SystemBus? = nil, _ device: String = cuff) throws -> BusError? {
        var answer: Result<[BusValue], BusError>?
        let agent = BusMethod(bench.source.bus.uniqueName ?? "", "/org/vitalgate/agent", BlueZ.agent, "RequestAuthorization")
        (bus ?? bench.bluez.bus).call(agent, [.path(ScriptedBlueZ.path(device))]) { answer = $0 }
        try bench.until("an answer") { answer != nil }
        return answer?.failure
    }

    /// "Just works" asks nothing, so it is accepted only while the user pairs, and only for that device.
    @Test func theAgentAgreesOnlyWhileAPersonPairs() throws {
        let bench = try bench(bonded: false)
        bench.addStrap("C0:01:02:03:04:99")
        bench.source.start()
        try bench.until("the agent") { bench.bluez.count("RegisterAgent") == 1 }
        try bench.waitUntilIdle()
        #expect(try ask(bench)?.name == "org.bluez.Error.Rejected")
        // If it handled all bonds of the machine, it would refuse those that other programs make.
        #expect(bench.bluez.count("RequestDefaultAgent") == 0)
        bench.bluez.answers["Pair"] = { bench.bluez.ignored.append($0) }
        var paired = false
        bench.source.pair(try #require(BluetoothAddress(Self.cuff))) { _ in paired = true }
        try bench.until("Pair") { bench.bluez.count("Pair ") == 1 }
        #expect(try ask(bench) == nil)
        #expect(try ask(bench, "C0:01:02:03:04:99")?.name == "org.bluez.Error.Rejected")
        bench.bluez.ignored.removeFirst().reply()
        try bench.until("paired") { paired }
        try bench.waitUntilIdle()
        #expect(try ask(bench)?.name == "org.bluez.Error.Rejected")
    }

    /// Another process that calls the agent on the bus is not BlueZ.
    @Test func onlyBlueZAsksTheAgent() throws {
        let bench = try bench(bonded: false)
        let other = SystemBus(loop: bench.loop, address: .custom(bench.daemon.address))
        var isThere = false
        other.onConnected = { isThere = true }
        other.open()
        bench.source.start()
        try bench.until("both") { isThere && bench.bluez.count("RegisterAgent") == 1 }
        bench.bluez.answers["Pair"] = { bench.bluez.ignored.append($0) }
        bench.source.pair(try #require(BluetoothAddress(Self.cuff))) { _ in }
        try bench.until("Pair") { bench.bluez.count("Pair ") == 1 }
        #expect(try ask(bench, by: other)?.name == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(try ask(bench) == nil)
        bench.bluez.ignored.removeAll()
    }
}

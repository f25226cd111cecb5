import Pipeline
import SystemdKit
import Testing

@testable import BlueZSource

@Suite(.serialized) struct BluetoothDoctorTests {
    private let good = Radios(
        controllers: [.init(name: "hci0", isUp: true, supportsLowEnergy: true)],
        switches: [.init(name: "hci0", isSoftBlocked: false, isHardBlocked: false)])

    private func findings(
        _ bench: Bench, _ radios: Radios, version: DaemonVersion? = DaemonVersion("5.66"), membership: BusUser.Membership = .none
    ) throws -> [Finding] {
        let doctor = BluetoothDoctor(
            bus: SystemBus(loop: bench.loop, address: .custom(bench.daemon.address)), radios: radios, version: version,
            user: BusUser(name: "pi", membership: membership))
        var findings: [Finding]?
        doctor.examine { findings = $0 }
        try bench.until("findings") { findings != nil }
        return try #require(findings)
    }

    @Test func allWell() throws {
        let found = try findings(try Bench(), good)
        #expect(found.allSatisfy { $0.weight == .good })
        #expect(found.map(\.component) == ["kernel", "bluetoothd", "bluetoothd", "adapter hci0"])
    }

    @Test func switchedOff() throws {
        let bench = try Bench()
        bench.bluez.change(ScriptedBlueZ.adapterPath, BlueZ.adapter, ["Powered": .boolean(false)])
        var radios = good
        radios.switches[0].isSoftBlocked = true
        let found = try findings(bench, radios)
        #expect(found.compactMap(\.command) == ["sudo rfkill unblock bluetooth", "bluetoothctl power on"])
    }

    /// Story 10.
    @Test func accessDenied() throws {
        let bench = try Bench(
            policy: #"<deny send_destination="org.bluez" send_interface="org.freedesktop.DBus.ObjectManager"/>"#)
        #expect(try findings(bench, good).last?.command == "sudo usermod -aG bluetooth pi  # then log in again")
        #expect(try findings(bench, good, membership: .afterLogin).last?.command == "newgrp bluetooth")
        #expect(try findings(bench, good, membership: .member).last?.command?.hasPrefix("cat /etc/dbus-1") == true)
    }

    @Test func notRunning() throws {
        let bench = try Bench()
        bench.bluez.die()
        let found = try findings(bench, good)
        #expect(found.last?.command == "sudo systemctl enable --now bluetooth")
        #expect(try findings(bench, good, version: nil).last?.command == "sudo apt install bluez")
    }

    /// Story 1: it is up and never answers.
    @Test func stuck() throws {
        let bench = try Bench()
        bench.bluez.answers["GetManagedObjects"] = { bench.bluez.ignored.append($0) }
        let doctor = BluetoothDoctor(
            bus: SystemBus(loop: bench.loop, address: .custom(bench.daemon.address)), radios: good, version: nil,
            user: BusUser(name: "pi", membership: .none))
        var findings: [Finding]?
        doctor.examine { findings = $0 }
        try bench.until("the question") { !bench.bluez.ignored.isEmpty }
        bench.clock.uptime += .seconds(20)
        try bench.until("findings") { findings != nil }
        #expect(findings?.last?.command == "sudo systemctl restart bluetooth")
    }

    @Test func noAdapter() {
        #expect(BluetoothDoctor.evaluate(Radios(controllers: [], switches: [])).first?.text == "there is no Bluetooth adapter")
        let old = Radios(
            controllers: [.init(name: "hci0", isUp: true, supportsLowEnergy: false)], switches: [])
        #expect(BluetoothDoctor.evaluate(old).first?.text.contains("does not support Bluetooth Low Energy") == true)
    }

    @Test(arguments: [
        ("5.43", true), ("5.50", false), ("5.64", true), ("5.66", false), ("5.71", true), ("5.82", false), ("6.0", false),
    ])
    func knownBadVersions(text: String, isBad: Bool) throws {
        let version = try #require(DaemonVersion(text + "\n"))
        #expect("\(version)" == text)
        #expect(BluetoothDoctor.evaluate(version).first?.weight == (isBad ? .warning : .good))
    }

    @Test func readsVersionFromProgram() {
        #expect(DaemonVersion.installed(program: "/bin/echo", arguments: ["5.66"]) == DaemonVersion("5.66"))
        #expect(DaemonVersion.installed(program: "/bin/echo", arguments: ["none"]) == nil)
        #expect(DaemonVersion.installed(program: "/usr/bin/yes", arguments: ["without end"]) == nil)
        #expect(DaemonVersion.installed(program: "/usr/bin/false", arguments: []) == nil)
        #expect(DaemonVersion.installed(program: "/nonexistent") == nil)
    }

    /// On whatever machine this is: it answers, with adapters or with a reason.
    @Test func thisMachine() {
        let radios = Radios.ofThisMachine()
        #expect(radios.failure != nil || radios.controllers.allSatisfy { $0.name.hasPrefix("hci") })
        #expect(!BusUser.current().name.isEmpty)
    }
}

import SystemdKit
import Testing

@testable import BlueZSource

/// A bluetoothd that violates its interface: no crash, no reading invented or doubled, and a working device keeps working.
@Suite(.serialized) struct HostileBluetoothdTests {
    static let strap = "C0:01:02:03:04:01"
    static var device: String { ScriptedBlueZ.path(strap) }

    private func liveBench(acquire: Bool = false) throws -> Bench {
        let bench = try Bench()
        bench.addStrap(acquire: acquire)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        return bench
    }

    /// The strap returns, and its next beat is one frame.
    private func expectRecovery(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<12 where !bench.isLive() {
            try bench.pass(.seconds(30))
            bench.bluez.change(Self.device, BlueZ.device, ["RSSI": .int16(-51)])
            try bench.waitUntilIdle()
        }
        #expect(bench.isLive(), sourceLocation: sourceLocation)
        let before = bench.frames.count
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x50])
        try bench.waitUntilIdle()
        #expect(Array(bench.frames.dropFirst(before)) == ["gatt:2A37 1650"], sourceLocation: sourceLocation)
    }

    /// Values of undocumented types: numbers for texts, texts for flags, variants in variants, arrays for bytes.
    static var wrong: [BusValue] {
        [
            .byte(7), .boolean(true), .int16(.min), .uint64(.max), .double(.nan), .string("\u{1B}[2J\nforged"), .string(""),
            .path("/"),
            .signature("a{sv}"), .array(of: "i", [.int32(1), .int32(2)]), .array(of: "s", []),
            .structure([.byte(1), .string("x")]),
            .variant(.variant(.variant(.int32(1)))), .dictionary(key: "s", value: "s", [.init(.string("a"), .string("b"))]),
            .dictionary(key: "u", value: "v", [.init(.uint32(1), .variant(.bytes([1])))]),
        ]
    }

    @Test func propertiesOfWrongTypes() throws {
        let bench = try liveBench()
        let heart = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        let right = bench.bluez.objects
        let places: [(String, String, [String])] = [
            (heart, BlueZ.characteristic, ["Value", "Flags", "UUID", "Service", "NotifyAcquired"]),
            (
                Self.device, BlueZ.device,
                [
                    "Name", "RSSI", "UUIDs", "ServiceData", "ManufacturerData", "Paired", "ServicesResolved", "Connected",
                    "Adapter", "Address",
                ]
            ),
            (ScriptedBlueZ.adapterPath, BlueZ.adapter, ["Discovering", "Powered", "Address"]),
        ]
        for (path, interface, names) in places {
            for name in names {
                for value in Self.wrong {
                    bench.bluez.change(path, interface, [name: value])
                }
                try bench.waitUntilIdle()
                bench.bluez.change(path, interface, right[path]?[interface] ?? [:])
                try bench.waitUntilIdle()
            }
        }
        #expect(bench.frames.isEmpty)
        bench.bluez.connect(Self.strap)
        try expectRecovery(bench)
    }

    /// The same in the list of all objects, and in signals that add objects.
    @Test func objectsOfWrongTypes() throws {
        let bench = try Bench(adapter: false)
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        for (index, value) in Self.wrong.enumerated() {
            let properties = [
                "Address": value, "Adapter": value, "Connected": value, "Name": value, "UUID": value, "Value": value,
            ]
            bench.bluez.objects["/org/bluez/hci\(index)"] = [BlueZ.adapter: properties]
            bench.bluez.objects["/org/bluez/hci0/dev_\(index)"] = [BlueZ.device: properties]
            bench.bluez.objects["/org/bluez/hci0/dev_\(index)/service1/char1"] = [BlueZ.characteristic: properties]
        }
        bench.source.start()
        try bench.waitUntilIdle()
        for (path, interfaces) in bench.bluez.objects { bench.bluez.add(path, interfaces) }
        for (index, value) in Self.wrong.enumerated() {
            try bench.bluez.bus.emit("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", [.path("/x\(index)"), value])
            try bench.bluez.bus.emit("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", [value, value])
            try bench.bluez.bus.emit(Self.device, BlueZ.properties, "PropertiesChanged", [value])
            try bench.bluez.bus.emit(
                Self.device, BlueZ.properties, "PropertiesChanged", [.string(BlueZ.device), value, value])
        }
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        bench.bluez.addAdapter()
        bench.addStrap()
        try bench.waitUntilIdle()
        try expectRecovery(bench)
    }

    /// An invalid list of objects is reported and requested again.
    @Test(arguments: 0..<3) func requestsObjectsAgainAfterInvalidList(_ kind: Int) throws {
        let answer: [BusValue] = [[], [.string("none")], [.array(of: "o", [.path("/")])]][kind]
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.bluez.answers["GetManagedObjects"] = { $0.reply(answer) }
        bench.source.start()
        try bench.waitUntilIdle()
        #expect(!bench.source.tree.isFilled)
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
        bench.bluez.answers["GetManagedObjects"] = nil
        try bench.pass(.seconds(30))
        try expectRecovery(bench)
    }

    /// The device's object is removed during a request, and the answer arrives anyway.
    @Test(arguments: ["Connect", "ReadValue", "StartNotify", "AcquireNotify"]) func objectsThatVanishInACall(_ member: String)
        throws
    {
        let bench = try Bench()
        bench.addStrap(acquire: member == "AcquireNotify")
        var wasMissing = false
        bench.bluez.answers[member] = { [unowned bench] call in
            guard !wasMissing else { return bench.bluez.defaultAnswer(call) }
            wasMissing = true
            bench.bluez.remove(Self.device)
            switch member {
            case "ReadValue": call.reply([.bytes([1])])
            case "AcquireNotify": bench.bluez.defaultAnswer(call)
            default: call.reply()
            }
        }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("it is gone") { wasMissing }
        try bench.waitUntilIdle()
        #expect(bench.source.tree.objects.keys.allSatisfy { !$0.hasPrefix(Self.device) })
        bench.addStrap(acquire: member == "AcquireNotify")
        try expectRecovery(bench)
        #expect(bench.frames.count == 1)
    }

    /// Answers of another form than documented, and none at all.
    @Test(arguments: ["Connect", "ReadValue", "StartNotify", "AcquireNotify", "StartDiscovery", "SetDiscoveryFilter"])
    func answersOfWrongTypes(_ member: String) throws {
        let bench = try Bench()
        bench.addStrap(acquire: member == "AcquireNotify")
        var turn = 0
        bench.bluez.answers[member] = { [unowned bench] call in
            turn += 1
            guard turn <= 3 else {
                bench.bluez.answers[member] = nil
                return bench.bluez.defaultAnswer(call)
            }
            call.reply(turn == 1 ? Self.wrong : turn == 2 ? [.array(of: "i", [.int32(3)]), .string("x")] : [])
        }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.waitUntilIdle()
        for _ in 0..<6 where turn < 3 && !bench.isLive() {
            try bench.pass(.seconds(60))
            bench.bluez.change(Self.device, BlueZ.device, ["RSSI": .int16(-51)])
        }
        bench.bluez.answers[member] = nil
        // A device that believes it is subscribed receives nothing and subscribes again.
        for _ in 0..<4 { try bench.pass(.seconds(60)) }
        try bench.waitUntilIdle()
        try expectRecovery(bench)
        #expect(bench.frames.count == 1)
    }

    /// Signals that the owner of the name did not send are ignored. Any process on the machine can send a signal to one address.
    @Test func signalsOfOthers() throws {
        let bench = try liveBench()
        let peer = try RawPeer(bench.daemon)
        let name = try #require(bench.source.bus.uniqueName)
        let heart = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        var signal = RawMessage(kind: .signal, serial: 2, path: heart, interface: BlueZ.properties, member: "PropertiesChanged")
        signal.destination = name
        signal.signature = "sa{sv}as"
        var body = RawMessage.MessageReader()
        body.add(BlueZ.characteristic)
        // One entry: "Value", a variant of two bytes, and nothing invalidated.
        var entry = RawMessage.MessageReader()
        entry.add("Value")
        entry.add(signature: "ay")
        entry.add(2 as UInt32)
        entry.bytes += [0x16, 0x63]
        body.add(UInt32(entry.bytes.count))
        body.align(8)
        body.bytes += entry.bytes
        body.add(0 as UInt32)
        signal.body = body.bytes
        peer.transmit(signal.bytes)
        // Also claims that the sender now owns the name, and that the device is gone.
        var owner = RawMessage(
            kind: .signal, serial: 3, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged"
        )
        owner.destination = name
        owner.signature = "sss"
        body = RawMessage.MessageReader()
        for text in ["org.bluez", ":1.1", ""] { body.add(text) }
        owner.body = body.bytes
        peer.transmit(owner.bytes)
        var removed = RawMessage(
            kind: .signal, serial: 4, path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved")
        removed.destination = name
        removed.signature = "oas"
        body = RawMessage.MessageReader()
        body.add(Self.device)
        var names = RawMessage.MessageReader()
        names.add(BlueZ.device)
        body.add(UInt32(names.bytes.count))
        body.bytes += names.bytes
        removed.body = body.bytes
        peer.transmit(removed.bytes)
        peer.waitUntilIdle()
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        #expect(bench.isLive() && bench.bluez.count("Connect ") == 1)
        #expect(!bench.notices.contains { $0.component == "bluetoothd" })
        try expectRecovery(bench)
    }

    /// Another process takes over the name at once, so that the name always has an owner.
    @Test func anotherOwner() throws {
        let bench = try liveBench()
        let next = ScriptedBlueZ(loop: bench.loop, address: bench.daemon.address)
        try bench.until("it waits for the name") { next.isNamed }
        next.addAdapter()
        let old = bench.bluez
        bench.bluez = next
        bench.addStrap()
        old.die()
        try bench.until("live again") { bench.isLive() && next.count("StartNotify") > 0 }
        try expectRecovery(bench)
        #expect(bench.frames.count == 1)
    }
}

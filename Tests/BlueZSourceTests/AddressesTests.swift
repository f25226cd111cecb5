import EventLoopKit
import Glibc
import PipelineTesting
import SystemdKit
import Testing

@testable import BlueZSource
@testable import SystemdKit

/// Phones change their address all day, and anyone with a radio can use a new one for each packet. The hub must not grow with them.
@Suite(.serialized) struct AddressesTests {
    private static let count = 1_000_000
    private static let strap = EndlessBluetoothdTests.strap

    /// Memory is measured for the whole process, which other tests share. The addresses are therefore received in a separate process.
    @Test func aMillionAddresses() throws {
        #expect(try OwnProcess.run("aMillionAddresses", receive) == 0)
    }

    /// Sends the signals that BlueZ sends for each device: added, heard again, and for the first half, removed.
    ///
    /// The signals are injected where those of the bus arrive, because two million messages through a daemon would take minutes.
    private func receive() throws {
        let bench = try Bench()
        bench.addStrap()
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("live") { bench.isLive() }
        try bench.waitUntilIdle()
        let tree = bench.source.tree
        var maximum = 0
        var memory = 0
        let received = BusValue.options(["RSSI": .int16(-71)])
        for number in 0..<Self.count {
            let isForgotten = number < Self.count / 2
            let path = ScriptedBlueZ.adapterPath + "/dev_\(number)"
            tree.objectsChanged(signal("/", "InterfacesAdded", [.path(path), Self.device(number)], tree))
            tree.propertiesChanged(
                signal(path, "PropertiesChanged", [.string(BlueZ.device), received, .array(of: "s", [])], tree))
            if isForgotten, number >= 200 {
                let deleted = BusValue.path(ScriptedBlueZ.adapterPath + "/dev_\(number - 200)")
                tree.objectsChanged(signal("/", "InterfacesRemoved", [deleted, .array(of: "s", [.string(BlueZ.device)])], tree))
            }
            if isForgotten { maximum = max(maximum, tree.objects.count) }
            if number == 20_000 { memory = Self.resident() }
        }
        let grown = Self.resident() - memory
        #expect(maximum <= 250)
        #expect(tree.objects.count <= ObjectTree.Rank.other.limit + 50)
        #expect(bench.source.scanned.isEmpty && bench.source.sessions.count == 1)
        #expect(bench.notices.count { $0.component == "bluetoothd" } == 1)
        #expect(grown < 16 << 20, "\(grown) octets more in memory")
        #expect(bench.isLive())
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x50])
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:2A37 1650"])
    }

    private func signal(_ path: String, _ member: String, _ arguments: [BusValue], _ tree: ObjectTree) -> BusSignal {
        BusSignal(sender: tree.owner, path: path, interface: "", member: member, arguments: arguments)
    }

    /// As BlueZ shows a phone.
    private static func device(_ number: Int) -> BusValue {
        let address = BusValue.Entry(.string("Address"), .variant(.string(EndlessBluetoothdTests.address(number))))
        let properties = BusValue.dictionary(key: "s", value: "v", phone + [address])
        return .dictionary(key: "s", value: "a{sv}", [.init(.string(BlueZ.device), properties)])
    }

    private static var phone: [BusValue.Entry] {
        let data = BusValue.dictionary(key: "q", value: "v", [.init(.uint16(0x004C), .variant(.bytes([16, 5, 1, 24, 77])))])
        return [
            .init(.string("AddressType"), .variant(.string("random"))), .init(.string("RSSI"), .variant(.int16(-70))),
            .init(.string("Adapter"), .variant(.path(ScriptedBlueZ.adapterPath))),
            .init(.string("ManufacturerData"), .variant(data)),
        ]
    }

    /// In bytes.
    private static func resident() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

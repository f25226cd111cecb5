import EventLoopKit
import Testing

@testable import BlueZSource

/// Dialogues over a link: their commands are written to the device, and records are acknowledged only after the commit.
@Suite struct DialogueSessionTests {
    private static let address = "C0:01:02:03:04:01"

    /// Values that were written, such as `2A9F<0201D809`.
    private final class Scale {
        var written: [String] = []
        var answers: (String, [UInt8]) -> [(path: String, bytes: [UInt8])] = { _, _ in [] }
    }

    private func scale(_ bench: Bench) -> Scale {
        let scale = Scale()
        bench.bluez.answers["WriteValue"] = { [weak bench] call in
            call.reply()
            let bytes = call.arguments.first?.bytes ?? []
            let name = call.path.split(separator: "/char").last.map { $0.uppercased() } ?? ""
            scale.written.append(name + "<" + DialogueProof.hex(bytes))
            for answer in scale.answers(name, bytes) { bench?.bluez.notify(answer.path, answer.bytes) }
        }
        return scale
    }

    @Test func consentsForEachUser() throws {
        let bench = try Bench()
        defer { bench.source.stop() }
        bench.bluez.addDevice(Self.address, ["Name": .string("BF720"), "Paired": .boolean(true), "Bonded": .boolean(true)])
        bench.bluez.addService(Self.address, 0x181C, [(0x2A9F, [:]), (0x2A99, [:]), (0x2A8C, ["Value": .bytes([1])])])
        bench.bluez.addService(Self.address, 0x181D, [(0x2A9D, [:])])
        let (point, weight) = (
            bench.bluez.characteristic(Self.address, 0x181C, 0x2A9F), bench.bluez.characteristic(Self.address, 0x181D, 0x2A9D)
        )
        let scale = scale(bench)
        scale.answers = { name, bytes in
            guard name == "2A9F" else { return [] }
            return [(point, [0x20, 0x02, 0x01]), (weight, [0x00, bytes[1], 0x3E])]
        }
        var description = DeviceDescription(address: try #require(BluetoothAddress(Self.address)), profile: "sig-user-data")
        description.subscriptions = [CharacteristicName(0x181C, 0x2A9F), CharacteristicName(0x181D, 0x2A9D)]
        description.dialogue = .userData([ConsentingUser(number: 1, code: 2520), ConsentingUser(number: 2, code: 7)])
        description.needsBond = true
        description.presence = .leave(quiet: .seconds(30), rest: .seconds(20))
        bench.confirms = false
        bench.source.adopt(description, memory: DeviceMemory())
        bench.source.start()
        try bench.until("the first user") { !bench.frames.isEmpty }
        try bench.waitUntilIdle()
        #expect(bench.isLive())
        #expect(scale.written == ["2A9F<0201D809", "2A8C<01", "2A99<01000000"])
        #expect(bench.frames == ["gatt:2A9D 00013E"])
        try bench.pass(.seconds(5))
        // Nothing more is requested until the weight is durable.
        #expect(bench.tokens.count == 1 && scale.written.count == 3)
        try bench.pass(.seconds(20))
        #expect(scale.written.count == 3)
        bench.source.confirm(try #require(bench.tokens.first))
        try bench.until("the second user") { bench.frames.count == 2 }
        try bench.waitUntilIdle()
        #expect(scale.written[3] == "2A9F<02020700")
        #expect(bench.frames.last == "gatt:2A9D 00023E")
        #expect(!bench.notices.contains { $0.weight == .action })
    }

    /// A weight is acknowledged after its commit. If the link is lost in between, nothing is acknowledged, whatever is confirmed
    /// afterwards.
    @Test(arguments: [false, true]) func acknowledgesScaleAfterCommit(losesLink: Bool) throws {
        let bench = try Bench()
        defer { bench.source.stop() }
        bench.bluez.addDevice(Self.address, ["Name": .string("Fit Plus")])
        bench.bluez.addService(Self.address, 0xFFF0, [(0xFFF1, [:]), (0xFFF2, [:])])
        let notify = bench.bluez.characteristic(Self.address, 0xFFF0, 0xFFF1)
        let scale = scale(bench)
        var description = DeviceDescription(address: try #require(BluetoothAddress(Self.address)), profile: "qn-scale")
        description.subscriptions = [CharacteristicName(0xFFF0, 0xFFF1), CharacteristicName(0xFFE0, 0xFFE1)]
        description.dialogue = .qnScale
        description.presence = .leave(quiet: .seconds(30), rest: .seconds(20))
        bench.confirms = false
        bench.source.adopt(description, memory: DeviceMemory())
        bench.source.start()
        try bench.until("the subscription") { bench.bluez.count("StartNotify") == 1 }
        try bench.waitUntilIdle()
        bench.bluez.notify(notify, DialogueProof.bytes("12 12 FF 11 22 33 44 55 66 13 07 10 00 01 05 9F 32 89"))
        try bench.until("its answer") { scale.written.count == 1 }
        try bench.waitUntilIdle()
        #expect(bench.isLive())
        bench.bluez.notify(notify, DialogueProof.bytes("10 0F FF FE 02 21 57 10 FE 10 FC 00 AC 00 5C"))
        try bench.until("a commit") { bench.tokens.count == 1 }
        try bench.waitUntilIdle()
        #expect(bench.frames == ["gatt:FFF1 01100FFFFE02215710FE10FC00AC005C"])
        #expect(scale.written == ["FFF2<1309FF01100000002C"])
        if losesLink {
            bench.bluez.disconnect(Self.address)
            try bench.waitUntilIdle()
        }
        bench.source.confirm(try #require(bench.tokens.first))
        try bench.waitUntilIdle()
        #expect(scale.written.count == (losesLink ? 1 : 2))
        if !losesLink { #expect(scale.written[1] == "FFF2<1F05FF1033") }
    }
}

import Testing

@testable import BlueZSource

/// Data received from a device that was not adopted, through a bluetoothd on a private bus.
@Suite(.serialized) struct SurveyTests {
    static let scale = "C0:01:02:03:04:09"

    private func bench() throws -> Bench {
        let bench = try Bench()
        bench.bluez.addDevice(
            Self.scale,
            [
                "Name": .string("Scale 9"), "RSSI": .int16(-60),
                "ServiceData": .options(["0000fcd2-0000-1000-8000-00805f9b34fb": .bytes([0x40, 0x01])]),
            ])
        bench.source.start()
        try bench.until("an adapter") { bench.source.hasAdapter }
        return bench
    }

    private func begin(_ bench: Bench, connects: Bool) throws -> () -> DeviceSurvey?? {
        let address = try #require(BluetoothAddress(Self.scale))
        nonisolated(unsafe) var answer: DeviceSurvey??
        bench.source.survey(address, for: .seconds(2), connects: connects) { answer = .some($0) }
        return { answer }
    }

    private func advertise(_ bench: Bench, _ bytes: [UInt8]) throws {
        bench.bluez.change(
            ScriptedBlueZ.path(Self.scale), BlueZ.device,
            ["ServiceData": .options(["0000fcd2-0000-1000-8000-00805f9b34fb": .bytes(bytes)])])
        try bench.waitUntilIdle()
    }

    @Test func surveyListsAdvertisements() throws {
        let bench = try bench()
        let answer = try begin(bench, connects: false)
        try bench.pass(.milliseconds(200))
        try advertise(bench, [0x40, 0x02])
        try bench.pass(.milliseconds(200))
        // The same advertisement again is not reported.
        try advertise(bench, [0x40, 0x02])
        try bench.pass(.seconds(2))
        try bench.pass(.seconds(1))
        let answered = answer() ?? nil
        let survey = try #require(answered)
        #expect(survey.name == "Scale 9")
        #expect(survey.frames.map(\.channel) == ["advert:FCD2", "advert:FCD2"])
        #expect(survey.frames.map(\.bytes) == [[0x40, 0x01], [0x40, 0x02]])
        #expect(bench.bluez.count("Connect ") == 0, "nobody was connected")
    }

    @Test func surveyListsServicesAndValues() throws {
        let bench = try bench()
        bench.bluez.addService(
            Self.scale, 0xFFE0,
            [
                (0xFFE4, ["Flags": .array(of: "s", [.string("notify"), .string("read")])]),
                (0xFFE9, ["Flags": .array(of: "s", [.string("write")])]),
            ])
        let answer = try begin(bench, connects: true)
        for _ in 0..<6 where bench.bluez.count("StartNotify") == 0 { try bench.pass(.seconds(1)) }
        #expect(bench.bluez.count("StartNotify") == 1)
        bench.bluez.notify(bench.bluez.characteristic(Self.scale, 0xFFE0, 0xFFE4), [0xAA, 0x55, 0x01])
        for _ in 0..<4 where answer() == nil { try bench.pass(.seconds(1)) }
        let answered = answer() ?? nil
        let survey = try #require(answered)
        #expect(survey.failure == nil)
        #expect(
            survey.characteristics.map { "\($0.service)/\($0.uuid) \($0.flags)" } == [
                "FFE0/FFE4 [\"notify\", \"read\"]", "FFE0/FFE9 [\"write\"]",
            ])
        #expect(
            survey.frames.last
                == DeviceSurvey.Frame(
                    after: survey.frames.last?.after ?? .zero, channel: "gatt:FFE4", bytes: [0xAA, 0x55, 0x01]))
        #expect(bench.bluez.count("WriteValue") == 0, "nothing is written to a device that nobody knows")
        #expect(bench.bluez.count("Disconnect") == 1)
    }

    @Test func surveyOfAbsentDevice() throws {
        let bench = try Bench()
        bench.source.start()
        try bench.until("an adapter") { bench.source.hasAdapter }
        let answer = try begin(bench, connects: true)
        for _ in 0..<4 where answer() == nil { try bench.pass(.seconds(1)) }
        #expect(try #require(answer()) == nil)
    }
}

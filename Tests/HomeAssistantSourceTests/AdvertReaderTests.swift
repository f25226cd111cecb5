import BlueZSource
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import HomeAssistantSource

@Suite struct AdvertReaderTests {
    private static let address = "A4:C1:38:02:83:F4"

    private func event(
        raw: String? = nil, service: String = "{}", maker: String = "{}", time: Double? = 1000, address: String = address
    ) -> [UInt8] {
        Array(
            (#"{"id":1,"type":"event","event":{"add":[{"name":"\#(address)","address":"\#(address)","rssi":-60,"#
                + #""manufacturer_data":\#(maker),"service_data":\#(service),"service_uuids":[],"source":"S","connectable":false,"#
                + #""time":\#(time.map { "\($0)" } ?? "null"),"tx_power":null,"raw":\#(raw.map { "\"\($0)\"" } ?? "null")}]}}"#)
                .utf8)
    }

    private static let empty = Array(#"{"id":1,"type":"event","event":{"add":[]}}"#.utf8)

    private func reader(_ addresses: Set<String>? = nil) -> AdvertReader {
        AdvertReader(addresses: addresses, uptime: 50, now: 1000)
    }

    private func parts(_ adverts: [HomeAssistantAdvert]) -> [[String: String]] {
        adverts.map { Dictionary(uniqueKeysWithValues: $0.parts.map { ($0.key.channel, HexadecimalText.text($0.value)) }) }
    }

    /// An adapter without packets shows merged data, so only the data that changed was sent.
    @Test func mergedDataIsReadOnce() {
        var reader = reader()
        _ = reader.read(Self.empty, uptime: 50, now: 1000)
        let one = #"{"0000181a-0000-1000-8000-00805f9b34fb":"01"}"#
        let found = [
            reader.read(event(service: one), uptime: 50, now: 1000),
            reader.read(event(service: one, maker: #"{"4369":"0102"}"#), uptime: 51, now: 1001),
            reader.read(event(service: one, maker: #"{"4369":"0103","8738":"ff"}"#), uptime: 52, now: 1002),
        ].flatMap(\.self)
        #expect(
            parts(found) == [
                ["advert:181A": "01"], ["advert:manufacturer:1111": "0102"],
                ["advert:manufacturer:1111": "0103", "advert:manufacturer:2222": "ff"],
            ])
    }

    @Test func memoryHasAgeOrNone() {
        func replay(_ bytes: [UInt8]) -> (Hearing.Replay?, Duration)? {
            var reader = reader()
            return reader.read(bytes, uptime: 50, now: 1000).first.map { ($0.replay, $0.age) }
        }
        #expect(replay(event(raw: "020106", time: 990)) ?? (nil, .zero) == (.timed, .seconds(10)))
        // Another clock, no packet, no time.
        #expect(replay(event(raw: "020106", time: 1010))?.0 == .untimed)
        #expect(replay(event(time: 990))?.0 == .untimed)
        #expect(replay(event(raw: "020106", time: nil))?.0 == .untimed)
    }

    /// Neither clock has to be right, and both may drift.
    @Test func ageIsFromLeastDelay() {
        var clock = HearingClock(assuming: -1000)
        #expect(clock.age(of: 1070, at: 100) == 30)
        // Its clock is an hour ahead of ours.
        #expect(clock.age(of: 4700, at: 101) == 0)
        #expect(clock.age(of: 4699, at: 105) == 5)
        for second in 0..<2000 { #expect(clock.age(of: 4710 + Double(second) * 1.001, at: 110 + Double(second)) == 0) }
        for second in 0..<2000 { #expect(clock.age(of: 6713.001 + Double(second) * 0.9999, at: 2111 + Double(second)) < 0.2) }
    }

    @Test func otherDevicesAreNotRead() {
        var reader = reader([Self.address])
        _ = reader.read(Self.empty, uptime: 50, now: 1000)
        #expect(reader.read(event(raw: "020106", address: "A4:C1:38:00:00:01"), uptime: 50, now: 1000).isEmpty)
        #expect(reader.read(event(raw: "020106"), uptime: 50, now: 1000).count == 1)
        // The text with blanks, and an address in a name.
        let spaced = String(decoding: event(raw: "020106"), as: UTF8.self).replacing(":\"", with: ": \"")
        #expect(reader.read(Array(spaced.utf8), uptime: 50, now: 1000).count == 1)
        let named = String(decoding: event(raw: "020106", address: "A4:C1:38:00:00:01"), as: UTF8.self)
            .replacing(#""name":"A4:C1:38:00:00:01""#, with: #""name":"\"address\":\"\#(Self.address)""#)
        #expect(reader.read(Array(named.utf8), uptime: 50, now: 1000).isEmpty)
        #expect(reader.counts.received == 2)
    }

    @Test func structuresOfAllLengths() {
        func parts(_ raw: String) -> [String: Int]? {
            HexadecimalText.bytes(raw).flatMap(Advertisement.parts).map {
                Dictionary(uniqueKeysWithValues: $0.map { ($0.key.channel, $0.value.count) })
            }
        }
        #expect(parts("020106" + "0416d2fc40" + "0000") == ["advert:FCD2": 1])
        #expect(parts("0720d2fc00000102") == ["advert:FCD2": 2])
        #expect(
            parts("12" + "21" + "00112233445566778899aabbccddeeff" + "07")
                == ["advert:FFEEDDCC-BBAA-9988-7766-554433221100": 1])
        #expect(parts("") == [:] && parts("0116" + "0216d2" + "02ff11") == [:])
        for raw in ["02", "0201", "0201061f161a18a4", "ff"] { #expect(parts(raw) == nil, "\(raw)") }
    }

    /// Anything may arrive. It is read or left out, and the memory stays small.
    @Test func garbage() {
        var random = SeededGenerator(seed: 7)
        var reader = reader()
        let valid = event(raw: "0201060416d2fc40", service: #"{"181a":"zz"}"#, maker: #"{"99999":"00","76":5}"#)
        for _ in 0..<5000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            _ = reader.read(bytes, uptime: 50, now: 1000)
            reader.readRadios(bytes)
        }
        let long = event(raw: String(repeating: "02ff", count: 10_000), address: Self.address)
        #expect(reader.read(long, uptime: 50, now: 1000).allSatisfy { $0.parts.isEmpty })
        for number in 0..<300 {
            reader.readRadios(
                Array(
                    #"{"id":2,"event":{"add":[{"source":"\#(number)","name":"\#(String(repeating: "n", count: 9999))"}]}}"#.utf8))
        }
        #expect(reader.radios.count <= 256 && reader.radios.values.allSatisfy { $0.count <= 100 })
    }
}

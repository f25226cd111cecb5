import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import BlueZSource
@testable import Ingestion
@testable import SampleStore

/// Each advertisement is one reading, at its first hearing, whichever receivers heard it.
@Suite struct ReceivedAdvertsTests {
    private static let second: Int64 = 1_000_000

    private func outcomes(_ hearings: [(String, UInt8, Double)]) -> [ReceivedAdverts.Outcome] {
        var adverts = ReceivedAdverts()
        return hearings.map { adverts.receive([$0.1], by: $0.0, at: Int64($0.2 * Double(Self.second))) }
    }

    @Test func otherReceiversReportTheSame() {
        #expect(
            outcomes([("", 1, 0), ("a", 1, 0.01), ("b", 1, 0.1), ("a", 2, 10), ("", 2, 10.01), ("b", 2, 9.99)])
                == [.new, .repeated, .repeated, .new, .repeated, .repeated])
    }

    @Test func slowReceiverReportsPreviousData() {
        #expect(outcomes([("", 1, 0), ("", 2, 10), ("a", 1, 10.1), ("a", 2, 10.2)]) == [.new, .new, .repeated, .repeated])
    }

    @Test func sameDataAgainIsNew() {
        // One receiver alone, then one that the others did not hear, then all of them.
        #expect(outcomes([("", 1, 0), ("", 2, 1), ("", 1, 2)]) == [.new, .new, .new])
        #expect(outcomes([("", 1, 0), ("a", 2, 5), ("a", 1, 10), ("", 1, 10.1)]) == [.new, .new, .new, .repeated])
        #expect(
            outcomes([("", 1, 0), ("a", 1, 0), ("", 2, 1), ("a", 2, 1), ("", 1, 2), ("a", 1, 2)])
                == [.new, .repeated, .new, .repeated, .new, .repeated])
    }

    @Test func silenceEndsRepetition() {
        #expect(outcomes([("", 1, 0), ("a", 1, 59), ("", 1, 118), ("", 1, 178.1)]) == [.new, .repeated, .repeated, .new])
    }

    /// A connection that was interrupted delivers everything at once.
    @Test func lateHearingsAreCompared() {
        #expect(
            outcomes([
                ("", 1, 0), ("", 3, 20), ("", 4, 30), ("a", 1, 0.1), ("a", 2, 10), ("a", 3, 20.1), ("a", 4, 30.1), ("", 4, 31),
            ]) == [.new, .new, .new, .repeated, .new, .repeated, .repeated, .repeated])
    }

    @Test func forgottenDataIsNotReadAgain() {
        var adverts = ReceivedAdverts()
        for number in 0..<1000 {
            #expect(adverts.receive([UInt8(number % 251), 0], by: "", at: Int64(number) * Self.second / 10) == .new)
        }
        #expect(adverts.runs.count == 128)
        #expect(adverts.receive([7, 0], by: "a", at: Self.second) == .unknown)
        // Our own clock was set back.
        #expect(adverts.receive([7, 0], by: "b", at: -1000 * Self.second) == .new)
    }

    @Test func memoryIsBounded() {
        var adverts = ReceivedAdverts()
        for number in 0..<100_000 {
            _ = adverts.receive([UInt8(number % 3)], by: "receiver \(number)", at: Int64(number) * 7 * Self.second)
        }
        #expect(adverts.runs.count <= 128)
    }

    /// Receivers with gaps and delays hear a device. Each advertisement that one of them heard is read once.
    @Test(arguments: 0..<200) func randomReceivers(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var adverts = ReceivedAdverts()
        var sent: [(data: UInt8, from: Double, to: Double)] = []
        var time = 0.0
        for _ in 0..<60 {
            // Few values, so that the same data returns, though not within the delay of the receivers.
            let recent = sent.suffix(5).map(\.data)
            let unused = (0...6).filter { !recent.contains(UInt8($0)) }
            let data = unused[Int.random(in: unused.indices, using: &random)]
            let length = Double.random(in: 1...20, using: &random)
            sent.append((UInt8(data), time, time + length))
            time += length
        }
        var hearings: [(receiver: String, sent: Int, at: Double, arrives: Double)] = []
        for receiver in ["", "a", "b", "c"] {
            let delay = receiver.isEmpty ? 0 : Double.random(in: 0...0.3, using: &random)
            for (number, each) in sent.enumerated() where Int.random(in: 0..<3, using: &random) > 0 {
                let first = Double.random(in: each.from...each.to, using: &random)
                hearings.append((receiver, number, first + delay, first + delay + Double.random(in: 0...0.2, using: &random)))
            }
        }
        hearings.sort { $0.arrives < $1.arrives }
        var read: [Int: Int] = [:]
        for each in hearings {
            let outcome = adverts.receive([sent[each.sent].data], by: each.receiver, at: Int64(each.at * Double(Self.second)))
            if outcome == .new { read[each.sent, default: 0] += 1 }
        }
        #expect(Set(read.keys) == Set(hearings.map(\.sent)))
        #expect(read.values.allSatisfy { $0 == 1 })
    }

    // MARK: In the hub

    private func hearing(_ bench: RadioBench, _ receiver: String = "house", _ replay: Hearing.Replay? = nil) -> Hearing {
        Hearing(receiver: receiver, arrived: bench.clock.now, replay: replay)
    }

    private func receive(
        _ bytes: [UInt8], _ bench: RadioBench, _ hearing: Hearing?, ago seconds: Int64 = 0, channel: String = "advert:FCD2"
    ) {
        bytes.withUnsafeBytes {
            var frame = RawFrame(
                payload: .bytes($0), place: Place(.record, 1),
                received: Instant(microseconds: bench.clock.now.microseconds - seconds * Self.second), channel: channel,
                device: RadioBench.device)
            frame.hearing = hearing
            bench.service.received(frame, of: RadioBench.address)
        }
    }

    private func skipped(_ bench: RadioBench) throws -> [String: Int] {
        try bench.store.ledger.accounts().reduce(into: [:]) { $0.merge($1.skipped, uniquingKeysWith: +) }
    }

    @Test func hubAndReceiverStoreOneReading() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        let packet: (UInt8) -> [UInt8] = { [0x40, 0x00, $0, 0x02, 0xC4, 0x09] }
        for number: UInt8 in 1...3 {
            receive(packet(number), bench, hearing(bench), ago: number == 2 ? 3 : 0)
            receive(packet(number), bench, nil)
            receive(packet(number), bench, hearing(bench, "garage"))
            bench.pass(.seconds(5))
        }
        try bench.stop()
        let samples = try bench.samples().map(\.sample)
        #expect(samples.count == 3)
        // The second one has the time at which the receiver heard it.
        let starts = samples.map(\.start.microseconds).sorted()
        #expect(zip(starts, starts.dropFirst()).map { ($1 - $0) / Self.second } == [2, 8])
        #expect(try skipped(bench) == ["repeated-advert": 6])
    }

    @Test func memoryOfReceiverIsNoReadingOfNow() throws {
        // Without a counter, in any case.
        let plain: [UInt8] = [0x40, 0x02, 0xC4, 0x09]
        for replay in [Hearing.Replay.timed, .untimed] {
            let bench = try RadioBench()
            try bench.adopt("bthome-v2")
            receive(plain, bench, hearing(bench, replay), ago: 5)
            // The hub hears it now, so it is a reading of now.
            receive(plain, bench, nil)
            receive(plain, bench, hearing(bench, replay), ago: 5)
            receive([0x40, 0x02, 0x00, 0x09], bench, hearing(bench, replay), ago: 500)
            try bench.stop()
            #expect(try bench.samples().map(\.sample.value) == [25])
            #expect(try skipped(bench) == ["replayed-advert": 3])
        }
        // With a counter, if it has a time and is newer than everything known.
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        let packet: (UInt8) -> [UInt8] = { [0x40, 0x00, $0, 0x02, 0xC4, 0x09] }
        receive(packet(9), bench, hearing(bench, .untimed))
        receive(packet(1), bench, hearing(bench, .timed), ago: 60)
        receive(packet(1), bench, nil)
        bench.pass(.seconds(20))
        receive(packet(2), bench, hearing(bench, .timed), ago: 30)
        receive(packet(2), bench, hearing(bench, .timed), ago: 10)
        receive([0x40, 0x00], bench, hearing(bench, .timed))
        try bench.stop()
        #expect(try bench.samples().count == 2)
        // The number of the packet shows that the hub's own hearing is not another one.
        #expect(try skipped(bench) == ["replayed-advert": 3, "repeated-advert": 1])
        #expect(try bench.store.ledger.accounts().allSatisfy { $0.refused == 0 })
    }

    private func hearing(_ bench: RadioBench, _ replay: Hearing.Replay) -> Hearing { hearing(bench, "house", replay) }

    /// The last advertisement is known after a restart, although a receiver's memory is older than the restart.
    @Test func restartKeepsLastAdvert() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        let packet: [UInt8] = [0x40, 0x00, 7, 0x02, 0xC4, 0x09]
        receive(packet, bench, hearing(bench))
        try bench.stop()
        bench.pass(.seconds(100))
        try bench.travel(to: .berlin)
        receive(packet, bench, hearing(bench, .timed), ago: 200)
        receive(packet, bench, hearing(bench, .timed), ago: 50)
        try bench.stop()
        #expect(try bench.samples().count == 1)
        #expect(try skipped(bench) == ["replayed-advert": 2])
    }
}

import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// Posts of the app HC Webhook.
@Suite struct HealthConnectPostTests {
    private struct Read {
        var readings: [Reading] = []
        var refused: [String] = []
        var skipped: [String: Int] = [:]
        var unread: [String: Int] = [:]
        var error: SourceError?

        init(_ bytes: [UInt8]) {
            let interpreter = HealthConnectPostInterpreter(registry: OriginRegistry(person: "me"))
            let source = HealthConnectPostSource(bytes: bytes, received: Instant(seconds: 1_790_000_000))
            do {
                try source.forEachFrame { frame in
                    do throws(Refusal) {
                        if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) {
                            skipped[kind.name, default: 0] += 1
                        }
                    } catch {
                        refused.append(error.reason)
                    }
                    for (kind, count) in interpreter.takeLeftOut()?.skipped ?? [:] { skipped[kind.name, default: 0] += count }
                }
            } catch let fault as SourceError {
                error = fault
            } catch {
                Issue.record(error)
            }
            for (kind, count) in source.unread.counts { unread[kind.name] = count }
        }

        init(_ lists: String, at time: String = "2026-05-11T10:00:00.123Z") {
            self.init(Array(#"{"timestamp":"\#(time)","app_version":"1.9.9",\#(lists)}"#.utf8))
        }

        /// Type, value, unit, start, and end in seconds.
        var lines: [String] {
            readings.map { reading in
                guard case .instants(let start, let end, let offset) = reading.time, offset == nil else {
                    return "not an instant"
                }
                let seconds = (end.microseconds - start.microseconds) / 1_000_000
                let time = "\(start)".replacing(".000000", with: "")
                return "\(reading.origin.type.id) \(reading.numeral.text) \(reading.unit.code) \(time) +\(seconds)"
            }
        }
    }

    private static var post: [UInt8] { get throws { try testFile("hc-webhook/post.json").bytes } }

    /// Each value of the post, worked out by hand.
    @Test func readsAPost() throws {
        let read = Read(try Self.post)
        #expect(read.error == nil && read.refused.isEmpty && read.unread.isEmpty)
        #expect(
            read.lines.sorted()
                == [
                    "basalMetabolicRate 78.0 W 2026-05-11T05:31:00Z +0", "bloodGlucose 5.3 mmol/L 2026-05-11T05:30:00Z +0",
                    "bloodPressureDiastolic 76.0 mm[Hg] 2026-05-11T05:35:00Z +0",
                    "bloodPressureSystolic 118.0 mm[Hg] 2026-05-11T05:35:00Z +0", "bodyMass 72.45 kg 2026-05-11T05:31:00Z +0",
                    "dietaryEnergyConsumed 410.0 kcal 2026-05-11T06:00:00Z +600",
                    "dietarySodium 0.62 g 2026-05-11T06:00:00Z +600",
                    "heartRate 61 /min 2026-05-11T06:15:00Z +0", "oxygenSaturation 97.0 % 2026-05-11T02:30:00Z +0",
                    "sleepAnalysis 2 1 2026-05-11T04:00:00Z +2400", "sleepAnalysis 3 1 2026-05-10T22:00:00Z +10800",
                    "sleepAnalysis 4 1 2026-05-11T01:00:00Z +4200", "sleepAnalysis 5 1 2026-05-11T02:10:00Z +6600",
                    "stepCount 2210 1{steps} 2026-05-10T22:00:00Z +43200", "stepCount 9120 1{steps} 2026-05-09T22:00:00Z +86400",
                    "workout 37 1 2026-05-10T16:00:00Z +1800",
                ])
        // The first day began before the 48 hours of the post, so its sum is that of a part.
        #expect(
            read.skipped == [
                "steps of a part of a day": 1, "heart rate variability as RMSSD": 1, "skin temperature difference": 1,
            ])
        let rate = try #require(read.readings.first { $0.origin.type == .heartRate })
        #expect(rate.origin.source.id == "hc-webhook/com.sec.android.app.shealth")
        #expect(rate.origin.device?.key == "Samsung/SM-R960")
        let day = try #require(read.readings.first { $0.origin.type == .stepCount })
        #expect(day.metadata?["statistic"] == .string("sum") && day.record?.isOpen == true)
        let pressures = read.readings.filter { $0.group == .frame }
        #expect(Set(pressures.map(\.origin.type)) == [.bloodPressureSystolic, .bloodPressureDiastolic])
        let workout = try #require(read.readings.first { $0.origin.type.kind == .workout })
        #expect(workout.body.map { String(decoding: $0.json, as: UTF8.self) }?.contains("distanceWalkingRunning") == true)
    }

    /// A night that grows has the same parts, in a later version.
    @Test func aGrowingNight() {
        func night(_ end: String, _ duration: Int, _ stages: String) -> [Reading] {
            Read(#""sleep":[{"session_end_time":"\#(end)","duration_seconds":\#(duration),"stages":[\#(stages)]}]"#).readings
        }
        func stage(_ code: String, _ start: String, _ end: String) -> String {
            #"{"stage":"\#(code)","start_time":"2026-05-11T\#(start):00Z","end_time":"2026-05-11T\#(end):00Z"}"#
        }
        let first = stage("4", "00:00", "01:00")
        let before = night("2026-05-11T01:30:00Z", 5400, first + "," + stage("5", "01:00", "01:30"))
        let after = night(
            "2026-05-11T03:00:00Z", 10_800, first + "," + stage("5", "01:00", "02:00") + "," + stage("6", "02:00", "03:00"))
        #expect(before.map(\.record?.id) == after.prefix(2).map(\.record?.id))
        #expect(zip(before, after).allSatisfy { ($0.record?.version ?? 0) < ($1.record?.version ?? 0) })
        #expect(after.last?.record?.whole == before.first?.record?.id)
    }

    @Test func aNightWithoutStages() {
        let read = Read(
            #""sleep":[{"session_end_time":"2026-05-11T06:00:00Z","duration_seconds":3600,"stages":[{"stage":"3"},{"stage":"0"}]}]"#
        )
        #expect(read.lines == ["sleepAnalysis 1 1 2026-05-11T05:00:00Z +3600"])
        #expect(read.skipped == ["out of bed": 1, "unknown stage of sleep": 1])
    }

    /// Two foods of a meal are two, although their values are equal.
    @Test func equalFoods() {
        func food(_ name: String) -> String {
            #"{"start_time":"2026-05-11T06:00:00Z","end_time":"2026-05-11T06:10:00Z","calories":90,"name":"\#(name)"}"#
        }
        let read = Read(#""nutrition":[\#(food("Egg")),\#(food("Toast"))]"#)
        #expect(Set(read.readings.map(\.ordinal)).count == 2)
        #expect(read.readings.map { $0.metadata?["foodType"] } == [.string("Egg"), .string("Toast")])
    }

    /// What is not known is named, and never guessed.
    @Test func unknownParts() {
        let read = Read(
            #"""
            "steps_cadence":[{"rate":100,"time":"2026-05-11T06:00:00Z"}],"heart_rate":[{"avg":61,"min":50,"max":70},{"bpm":61}],
            "weight":[{"kilograms":"72","time":"2026-05-11T06:00:00Z"},{"kilograms":72,"time":"2026-05-11T06:00:00"}],
            "steps":[{"count":5,"start_time":"2026-05-11T06:00:00Z","end_time":"2026-05-11T06:00:00Z"}],"note":"text",
            "exercise":[{"type":"ski_ballet","start_time":"2026-05-10T16:00:00Z","end_time":"2026-05-10T15:00:00Z"}]
            """#)
        #expect(read.readings.isEmpty)
        #expect(read.skipped == ["steps_cadence": 1, "heart_rate: average": 1])
        #expect(read.unread == ["member note": 1])
        #expect(
            read.refused == [
                "heart_rate: time: it is missing", "weight: kilograms: it is not a number",
                "weight: time: it is not a time with an offset", "steps: the period is empty",
                "exercise: it ends before it starts",
            ])
    }

    /// A ratio can be a wrong unit, so it is quarantined.
    @Test func oxygenSaturationAsARatio() {
        let read = Read(#""oxygen_saturation":[{"percentage":0.97,"time":"2026-05-11T06:00:00Z"}]"#)
        #expect(read.readings.first?.metadata?["unit"] == .string("unknown"))
    }

    @Test(arguments: [
        (#"{"timestamp":"2026-05-11T10:00:00Z","app_version":"1""#, true),
        (#"{"app_version":"1","timestamp":"x","steps":["#, true),
        (#"{"timestamp":1,"app_version":"1"}"#, false), (#"{"timestamp":"x","steps":[]}"#, false), ("{", false), ("", false),
        (#"[{"timestamp":"x","app_version":"1"}]"#, false),
    ]) func recognisesAPost(text: String, isOne: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { HealthConnectPostFile.recognises($0) } == isOne)
    }

    /// Posts of Life Dashboard have deletions and versions, which these rules would lose.
    @Test func refusesPostsOfOtherApps() {
        let read = Read(#""source":"health_connect","steps":[]"#)
        #expect(read.error?.kind == .malformed && read.readings.isEmpty)
    }

    /// A post that is cut at any byte stores nothing.
    @Test func cutAtEachByte() throws {
        let bytes = try Self.post
        for length in 0..<(bytes.count - 1) {
            let read = Read(Array(bytes[..<length]))
            #expect(read.error != nil && read.readings.isEmpty, "\(length)")
        }
    }

    /// No mutated post traps, and none with a fault in its text delivers a part.
    @Test func survivesMutatedPosts() throws {
        var generator = SeededGenerator(seed: 62)
        let bytes = try Self.post
        for _ in 0..<10_000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<mutated.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: mutated[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: mutated.remove(at: index)
                case 2: mutated.insert(mutated[Int.random(in: 0..<mutated.count, using: &generator)], at: index)
                default: mutated[index] = Array("0123456789-+.eE\"{}[],:".utf8).randomElement(using: &generator) ?? 0x20
                }
            }
            let read = Read(mutated)
            if read.error != nil { #expect(read.readings.isEmpty) }
        }
    }
}

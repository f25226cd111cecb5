import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The measuring method distinguishes readings that agree in everything else.
@Suite struct MeasuringMethodTests {
    private static func metadata(_ method: String) -> Metadata { Metadata([("glucoseMethod", .string(method))]) }

    private static func maker(_ source: String = "file.app", _ unit: String = "mmol/L") throws -> SampleMaker {
        try SampleMaker(.bloodGlucose, source: source, sourceName: source, unit: unit)
    }

    private static let methods = ["sensorHistoric", "sensorScan", "strip", "calibration"]

    @Test func readingsOfOneMinute() throws {
        try TestStore.with { test in
            let batch = try Self.methods.map { try Self.maker()("5.6", at: 0, metadata: Self.metadata($0)) }
            #expect(try test.keep(batch).outcomes == [[.stored, .stored, .stored, .stored]])
            #expect(try test.keep(batch).account.duplicate == 4)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The file again after the unit was changed: each reading matches its own, and new ones are stored.
    @Test func anotherUnit() throws {
        try TestStore.with { test in
            try test.keep([try Self.maker()("5.6", at: 0, metadata: Self.metadata("sensorHistoric"))])
            let again = try ["strip", "sensorScan", "sensorHistoric"].map {
                try Self.maker("file.app", "mg/dL")("101", at: 0, metadata: Self.metadata($0))
            }
            // The third is more precise than the one that it repeats, and replaces it.
            #expect(try test.keep(again).outcomes == [[.stored, .stored, .stored]])
            #expect(try test.samples().count == 3)
        }
    }

    /// Two programs upload one sensor's reading some seconds apart. A minute later it is the next one.
    @Test(arguments: [
        (9.0, "sensor", true), (29, "sensor", true), (31, "sensor", false), (60, "sensor", false), (9, "strip", false),
    ])
    func twoUploaders(seconds: Double, method: String, isOne: Bool) throws {
        try TestStore.with { test in
            func maker(_ device: String) throws -> SampleMaker {
                try SampleMaker(
                    .bloodGlucose, source: "file.nightscout", device: Device(key: device, model: device), unit: "mg/dL")
            }
            // A whole minute may be of a program that writes no seconds.
            try test.keep([try maker("loop://Phone")("137", at: 5, metadata: Self.metadata(method))])
            let account = try test.keep([try maker("share2")("137", at: 5 + seconds, metadata: Self.metadata(method))]).account
            #expect(account.stored == 1)
            #expect(account.linked == (isOne ? 1 : 0))
        }
    }

    /// Another source: a strip is not a sensor's reading. With another maker's word, or without one, it may be the same reading.
    @Test(arguments: [
        ("sensor", "strip", false), ("sensorScan", "sensor", true), ("calibration", "strip", true), ("strip", nil, true),
    ])
    func anotherPath(first: String, second: String?, isOne: Bool) throws {
        try TestStore.with { test in
            try test.keep([try Self.maker()("5.6", at: 0, metadata: Self.metadata(first))])
            let other = try Self.maker("file.other")("5.6", at: 0, metadata: second.map(Self.metadata))
            #expect(try test.keep([other]).outcomes == [[isOne ? .duplicate : .stored]])
        }
    }
}

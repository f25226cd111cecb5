import Testing

@testable import HealthModel

@Suite struct SampleOrderTests {
    private static func sample(
        _ type: SampleType = .heartRate, _ numeral: Numeral = Numeral(coefficient: 60), metadata: Metadata? = nil,
        body: SampleBody? = nil, lasting seconds: Int64 = 90
    ) -> Sample {
        let origin = Origin(person: "me", type: type, source: SourceRevision(id: "a", name: "A"))
        let start = Instant(microseconds: 1_795_156_260_000_000)
        return Sample(
            origin: origin,
            identity: SampleIdentity(
                series: origin.seriesKey, start: start.microseconds, end: start.microseconds, numeral: numeral,
                unit: type.canonicalUnit, ordinal: 0),
            nominalStart: start.microseconds, start: start, end: Instant(microseconds: start.microseconds + seconds * 1_000_000),
            value: numeral.doubleValue, numeral: numeral, unit: type.canonicalUnit, zone: nil, timeOrigin: .device,
            received: start, metadata: metadata, body: body)
    }

    @Test(
        arguments: [
            ("value", .number(60)), ("-value", .number(60)), ("start", .integer(1_795_156_260_000_000)),
            ("duration", .number(90)),
            ("type", .text("heartRate")), ("kind", .text("quantity")), ("source.name", .text("A")), ("device.model", .missing),
            ("zone", .missing), ("metadata.HKMetadataKeySyncVersion", .number(3)), ("metadata.none", .missing),
            ("metadata.HKWasUserEntered", .integer(1)), ("totalDistance", .missing), ("case", .missing),
        ] as [(String, SampleOrder.Key)])
    func keys(text: String, key: SampleOrder.Key) throws {
        let metadata = Metadata([("syncVersion", .number(Numeral(coefficient: 3))), ("wasUserEntered", .boolean(true))])
        let order = try #require(SampleOrder(text))
        #expect(order.key(of: Self.sample(metadata: metadata)) == key)
        #expect(order.descending == text.hasPrefix("-"))
    }

    @Test func refusesInvalidOrders() {
        for text in ["", "-", "--value", "height", "inCorrelation", "fromWorkout", "metadata"] {
            #expect(SampleOrder(text) == nil, "\(text)")
        }
    }

    @Test func workoutDurationExcludesPauses() throws {
        let workout = Workout(
            totalDistance: Amount(try Numeral("5.2"), try Unit(ucum: "km")),
            events: [
                Workout.Event(type: "pause", start: 10_000_000, end: 10_000_000),
                Workout.Event(type: "resume", start: 40_000_000, end: 40_000_000),
            ])
        let type = try #require(SampleType("workout"))
        let sample = Self.sample(type, Numeral(coefficient: 37), body: try SampleBody(encoding: workout))
        #expect(SampleOrder(.duration).key(of: sample) == .number(60))
        #expect(try SamplePredicate("duration = 1 min").matches(sample))
        #expect(SamplePredicate.predicateForWorkouts(with: .atMost, duration: Numeral(coefficient: 60)).matches(sample))
        #expect(SampleOrder("totalDistance")?.key(of: sample) == .number(5200))
        #expect(SampleOrder("activity")?.key(of: sample) == .text("running"))
    }
}

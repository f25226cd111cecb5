import Testing

@testable import HealthModel

/// What HealthKit's constructors mean here, in words that `--where` takes.
@Suite struct HealthKitPredicateTests {
    private static func unit(_ code: String) throws -> HealthModel.Unit { try HealthModel.Unit(ucum: code) }

    @Test func wordsOfConstructors() throws {
        let (from, to) = (Instant(seconds: 1_795_156_260), Instant(seconds: 1_795_159_860))
        let uuid = try #require(SampleIdentity("01a1f7a6-b4a0-8f29-adfe-bb0975c93095"))
        let (day, later) = (try #require(PartialDate("2026-11-20")), try #require(PartialDate("2026-11-22")))
        let a = "2026-11-20T06:31:00.000000Z"
        let b = "2026-11-20T07:31:00.000000Z"
        let table: [(SamplePredicate, String)] = [
            (.predicateForSamples(withStart: from, end: to), "end >= \(a) and start < \(b)"),
            (.predicateForSamples(withStart: from, end: to, options: .strictStartDate), "start >= \(a) and start < \(b)"),
            (.predicateForSamples(withStart: from, end: to, options: .strictEndDate), "end >= \(a) and end < \(b)"),
            (
                .predicateForSamples(withStart: from, end: to, options: [.strictStartDate, .strictEndDate]),
                "start >= \(a) and start < \(b) and end >= \(a) and end < \(b)"
            ),
            (.predicateForSamples(withStart: nil, end: nil), "everything"),
            (.predicateForObject(with: uuid), "uuid = \(uuid)"), (.predicateForObjects(with: []), "nothing"),
            (.predicateForObjects(fromSources: ["b", "a"]), "source.id = a or source.id = b"),
            (
                .predicateForObjects(fromSourceRevisions: [SourceRevision(id: "a", name: "A")]),
                "source.id = a and source.version != *"
            ),
            (
                .predicateForObjects(withDeviceProperty: .firmware, allowedValues: ["v 1"]), "device.firmware = 'v 1'"
            ),
            (.predicateForObjects(withDeviceProperty: .udi, allowedValues: []), "device.key = * and device.udi != *"),
            (.predicateForObjects(withMetadataKey: "HKWasUserEntered"), "metadata.wasUserEntered = *"),
            (
                .predicateForObjects(withMetadataKey: "my key", allowedValues: [.string("it's"), .boolean(true)]),
                "metadata.'my key' = 'it''s' or metadata.'my key' = true"
            ),
            (
                .predicateForObjects(
                    withMetadataKey: "HKWeatherTemperature", operatorType: .above,
                    value: .quantity(Numeral(coefficient: 10), try Self.unit("Cel"))), "metadata.weatherTemperature > '10 Cel'"
            ),
            (.predicateForObjectsWithNoCorrelation(), "inCorrelation != *"),
            (.predicateForObjects(fromCorrelation: uuid), "inCorrelation = \(uuid)"),
            (.predicateForObjects(fromWorkout: uuid), "fromWorkout = \(uuid)"),
            (
                .predicateForQuantitySamples(with: .above, quantity: Numeral(coefficient: 38), unit: try Self.unit("Cel")),
                "kind = quantity and value > '38 Cel'"
            ),
            (.predicateForCategorySamples(with: .equal, value: 4), "kind = category and value = 4"),
            (.predicateForWorkouts(with: "running"), "activity = running"),
            (.predicateForWorkouts(with: .atLeast, duration: Numeral(coefficient: 60)), "kind = workout and duration >= 60"),
            (
                .predicateForWorkouts(
                    with: .above, totalEnergyBurned: Numeral(coefficient: 300), unit: try Self.unit("kcal")),
                "statistics.activeEnergyBurned.sum > '300 kcal'"
            ),
            (
                .predicateForWorkouts(
                    with: .above, quantityType: .heartRate, maximumQuantity: Numeral(coefficient: 170),
                    unit: try Self.unit("/min")), "statistics.heartRate.maximum > '170 /min'"
            ),
            (.predicateForActivitySummary(with: day), "date = 2026-11-20"),
            (
                .predicate(forActivitySummariesBetweenStart: day, end: later), "date >= 2026-11-20 and date <= 2026-11-22"
            ),
            (.predicateForClinicalRecords(withFHIRResourceType: "Immunization"), "fhir.resourceType = Immunization"),
            (
                .predicateForClinicalRecords(from: "clinic", fhirResourceType: "Condition", identifier: "c-1"),
                "source.id = clinic and fhir.resourceType = Condition and fhir.identifier = c-1"
            ),
            (
                .predicateForDocuments(with: .custodian, operatorType: .contains, value: "Clinic"), "custodian ~ Clinic"
            ),
            (.predicateForElectrocardiograms(classification: "sinusRhythm"), "classification = sinusRhythm"),
            (.predicateForStatesOfMind(withValence: Numeral(coefficient: 0), operatorType: .above), "valence > 0"),
        ]
        for (predicate, words) in table {
            #expect("\(predicate)" == words)
            #expect("\(try SamplePredicate(words))" == words)
        }
    }

    /// The ends of an interval: an instantaneous sample, one that began before, and one that continues after it.
    @Test(arguments: [
        (100, 100, true, true, true), (199, 199, true, true, true), (200, 200, false, false, false),
        (99, 99, false, false, false),
        (50, 100, true, false, true), (50, 250, true, false, false), (150, 200, true, true, false), (50, 99, false, false, false),
    ])
    func timeOptions(start: Int64, end: Int64, overlaps: Bool, starts: Bool, ends: Bool) {
        let origin = Origin(person: "me", type: .stepCount, source: SourceRevision(id: "a", name: "A"))
        let numeral = Numeral(coefficient: 1)
        let sample = Sample(
            origin: origin,
            identity: SampleIdentity(
                series: origin.seriesKey, start: start, end: end, numeral: numeral, unit: .one, ordinal: 0),
            nominalStart: start, start: Instant(microseconds: start), end: Instant(microseconds: end), value: 1, numeral: numeral,
            unit: .one, zone: nil, timeOrigin: .device, received: Instant(microseconds: end))
        func meets(_ options: SamplePredicate.TimeOptions) -> Bool {
            SamplePredicate.predicateForSamples(
                withStart: Instant(microseconds: 100), end: Instant(microseconds: 200), options: options
            ).matches(sample)
        }
        #expect(meets([]) == overlaps)
        #expect(meets(.strictStartDate) == starts)
        #expect(meets(.strictEndDate) == ends)
        #expect(meets([.strictStartDate, .strictEndDate]) == (starts && ends))
    }

    @Test(arguments: [
        ("type = stepz", 8), ("type < heartRate", 8), ("kind = number", 8), ("uuid = 12", 8), ("uuid ~ 12", 8),
        ("fromWorkout = *", 15), ("fromWorkout = run", 15), ("value > *", 9), ("metadata.'open = 1", 10), ("zone = 'it''", 8),
    ])
    func refusesInvalidConditions(text: String, position: Int) {
        let error = thrown(PredicateError.self) { _ = try SamplePredicate(text) }
        #expect(error?.position == position, "\(text)")
    }
}

import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAnswers

/// Objects as the page and other programs show them.
@Suite struct ObjectReadingTests {
    private let answered: AnsweredStore
    private let utc = TimeZoneRules(fixed: .utc)

    init() throws { answered = try AnsweredStore() }

    /// Stores objects and returns them.
    @discardableResult
    private func keep(
        _ name: String, value: Int = 0, _ hours: Double, to end: Double, _ body: SampleBody, source: String = "watch"
    ) throws -> Sample {
        let type = try #require(SampleType(name))
        let reading = Reading(
            origin: Origin(
                person: AnsweredStore.person, type: type, source: SourceRevision(id: source, name: source, version: nil),
                device: nil),
            numeral: Numeral(coefficient: Int64(value)), unit: .one,
            time: .instants(start: AnsweredStore.instant(hours), end: AnsweredStore.instant(end), offset: .utc), body: body,
            place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: utc, received: AnsweredStore.received)
        let ingest = try answered.store.beginIngest(
            IngestDescription(kind: .import, received: AnsweredStore.received.microseconds))
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
        return try #require(samples.first).sample
    }

    /// A route with a location each minute: time, latitude, longitude, altitude.
    private static func route(_ places: [(Double, Double)]) throws -> SampleBody {
        var writer = PointsWriter(columns: Array(WorkoutRoute.columns.prefix(4)))
        for (index, place) in places.enumerated() {
            try writer.append([
                Numeral("\(index * 60_000_000)"), Numeral("\(place.0)"), Numeral("\(place.1)"), Numeral("\(100 + index)"),
            ])
        }
        let (points, content) = try writer.end()
        return try SampleBody(encoding: WorkoutRoute(points: points), content: content)
    }

    // MARK: Routes and workouts

    /// A thousandth of a degree of latitude has 111.2 m on a sphere with the earth's mean radius.
    @Test func aRouteHasALength() throws {
        let track = try #require(
            RouteTrack(try keep("workoutRoute", 8, to: 9, Self.route([(52, 13), (52.001, 13), (52.002, 13)]))))
        #expect(abs(track.length - 222.39) < 0.05)
        #expect(abs(track.distance(at: AnsweredStore.instant(8).microseconds + 30_000_000) - 55.6) < 0.05)
        #expect(track.locations.map(\.altitude) == [100, 101, 102])
        #expect(track.passes(every: 100).count == 3)
    }

    /// The equator has 360 degrees of the same length, also at the date line.
    @Test func aRouteCrossesTheDateLine() throws {
        let track = try #require(RouteTrack(try keep("workoutRoute", 8, to: 9, Self.route([(0, 179.999), (0, -179.999)]))))
        #expect(abs(track.length - 222.39) < 0.05 && track.locations.map(\.longitude) == [179.999, 180.001])
    }

    @Test func aRouteWithoutLocationsIsNone() throws {
        #expect(RouteTrack(try keep("workoutRoute", 8, to: 9, Self.route([(52, 13)]))) == nil)
        try answered.add("heartRate", "60", 8)
        #expect(RouteTrack(try #require(try answered.store.samples.latest().first).sample) == nil)
    }

    @Test func workoutPrefersOwnFigures() throws {
        let route = try keep("workoutRoute", 8, to: 9, Self.route([(52, 13), (52.01, 13), (52.02, 13)]))
        for (minute, value) in ["100", "120", "140"].enumerated() {
            try answered.add("heartRate", value, 8 + Double(minute) / 60)
        }
        try answered.add("distanceWalkingRunning", "452.88", 8, to: 8.1)
        let metre = try Unit(ucum: "m")
        let workout = Workout(
            duration: nil, totalDistance: Amount(try Numeral("10302"), metre),
            events: [
                .init(type: "lap", start: 0, end: 60_000_000), .init(type: "lap", start: 60_000_000, end: 120_000_000),
                .init(type: "pause", start: 30_000_000, end: 30_000_000),
                .init(type: "resume", start: 45_000_000, end: 45_000_000),
            ], statistics: [.init(type: "distanceWalkingRunning", sum: Amount(try Numeral("10302"), metre))],
            routes: [route.identity.description])
        let sample = try keep("workout", value: 37, 8, to: 8 + 2.0 / 60, SampleBody(encoding: workout))
        let read = try #require(try WorkoutReading(sample, in: answered.store, zone: utc, priority: []))
        #expect(read.seconds == 105 && !read.isDurationReported && read.distance == 10302)
        let distances = read.figures.filter { $0.type?.id == "distanceWalkingRunning" }
        #expect(distances.map(\.sum) == [10302] && distances.first?.count == nil)
        let pulse = try #require(read.figures.first { $0.type == .heartRate })
        #expect(pulse.count == 2 && pulse.lowest == 100 && pulse.highest == 120)
        #expect(read.laps.map { $0.end - $0.start } == [60_000_000, 60_000_000] && read.laps.map(\.heartRate) == [100, 120])
        #expect(abs((read.laps.first?.distance ?? 0) - 1111.95) < 0.5)
        // The first kilometer has a pause of 15 seconds.
        let splits = read.splits(every: 1000)
        #expect(splits.count == 3 && abs(splits[0].seconds - (60 / 1.11195 - 15)) < 0.1)
    }

    /// Exports since iOS 16 have the distance in the statistics only.
    @Test func aDistanceOfStatisticsIsTheSources() throws {
        let statistics = Workout.Statistics(
            type: "distanceWalkingRunning", sum: Amount(try Numeral("10"), try Unit(ucum: "km")))
        let sample = try keep("workout", value: 37, 8, to: 9, SampleBody(encoding: Workout(statistics: [statistics])))
        let read = try #require(try WorkoutReading(sample, in: answered.store, zone: utc, priority: []))
        #expect(read.distance == 10_000)
    }

    /// The pulse after a workout of six hours is not part of it.
    @Test func thePulseEndsWithTheWorkout() throws {
        for (hours, value) in [(7.99, "50"), (8, "140"), (14, "150"), (14.01, "60")] {
            try answered.add("heartRate", value, hours)
        }
        let sample = try keep("workout", value: 37, 8, to: 14.001, SampleBody(encoding: Workout()))
        let read = try #require(try WorkoutReading(sample, in: answered.store, zone: utc, priority: []))
        #expect(read.heartRate.map(\.middle) == [140, 150])
    }

    // MARK: Electrocardiograms

    @Test func aTraceIsInMillivolts() throws {
        var writer = PointsWriter(columns: [Electrocardiogram.voltage])
        for value in ["-120.5", "1000"] { try writer.append([try Numeral(value)]) }
        try writer.append([nil])
        let (points, content) = try writer.end()
        let body = try SampleBody(
            encoding: Electrocardiogram(points: points, samplingFrequency: Amount(try Numeral("512"), try Unit(ucum: "Hz"))),
            content: content)
        let trace = try #require(ElectrocardiogramTrace(try keep("electrocardiogram", value: 1, 8, to: 8, body)))
        #expect(trace.frequency == 512 && trace.voltages[1] == 1 && trace.voltages[2] == nil)
        #expect(abs((trace.voltages[0] ?? 0) + 0.1205) < 1e-12)
    }

    // MARK: Laboratory values

    private func lab(
        _ value: String, _ hours: Double, effective: String? = nil, interpretation: [String]? = nil, unit: String = "%",
        comparator: String? = nil, code: String = "4548-4"
    ) throws -> Sample {
        let quantity = ClinicalResult.Quantity(value: value, comparator: comparator, unit: unit, code: unit)
        let bounds = (ClinicalResult.Quantity(value: "4", unit: unit), ClinicalResult.Quantity(value: "5.6", unit: unit))
        let record = ClinicalRecord(
            displayName: "HbA1c", resourceType: "Observation", identifier: "\(hours)", version: "R4",
            dates: effective.map { ["effective": $0] } ?? [:], codes: [Coding(system: "http://loinc.org", code: code)],
            result: ClinicalResult(
                quantity: quantity, interpretation: interpretation,
                ranges: [ClinicalResult.ReferenceRange(low: bounds.0, high: bounds.1)]))
        return try keep(
            "labResultRecord", hours, to: hours,
            SampleBody(encoding: record, content: try PackedContent(Array("{\"resourceType\":\"Observation\"}".utf8))))
    }

    @Test func laboratoryValueHasRangeAndTrend() throws {
        let first = try lab("5.10", 8)
        let second = try lab("6.2", 32, interpretation: ["High"])
        _ = try lab("140", 40, code: "2951-2")
        let result = try #require(LabResult(second, zone: utc))
        #expect(result.result.text == "6.2 %" && result.result.isOutside == true && result.result.interpretation == ["High"])
        #expect(result.result.range?.text == "4–5.6 %")
        #expect(LabResult(first, zone: utc)?.result.isOutside == false)
        let others = try result.others(like: second, in: answered.store, zone: utc)
        #expect(others.map { $0.result.quantity?.value } == ["5.10", "6.2"])
    }

    /// A record is stored with the time of its arrival.
    @Test func laboratoryValueHasMeasurementTime() throws {
        let times = [("2026", "2026-01-01"), ("2026-07", "2026-07-01"), ("2026-07-10", "2026-07-10")]
        for (index, (written, day)) in times.enumerated() {
            let result = try #require(LabResult(try lab("5", Double(index), effective: written), zone: utc))
            #expect(result.time.description == day + "T00:00:00.000000Z")
        }
    }

    @Test func laboratoryStatisticsUseTestDay() throws {
        for (index, (value, day)) in [("88.10", "2026-05-02"), ("90", "2026-05-20"), ("101.5", "2026-07-01")].enumerated() {
            _ = try lab(value, Double(index), effective: day, unit: "mg/dL", code: "2339-0")
        }
        _ = try lab("5.5", 10, effective: "2026-07-02", unit: "mmol/L", code: "2339-0")
        _ = try lab("20", 11, effective: "2026-07-03", unit: "mg/dL", comparator: "<", code: "2339-0")
        _ = try lab("1", 12, effective: "2026-07-04", unit: "kg", code: "2339-0")
        _ = try lab("7", 13, effective: "2026-07-04", unit: "%")
        let month = try #require(CalendarInterval("1mo"))
        let all = try LabStatistics(
            loinc: "2339-0", in: answered.store, matching: SampleQuery(types: LabStatistics.types), zone: utc)
        #expect(all.entries.count == 6 && all.without.map(\.result.text) == ["<20 mg/dL"])
        let unit = try Unit(ucum: "mg/dL")
        #expect(all.otherUnits(than: unit) == 1)
        let rows = all.rows(
            by: CalendarIntervals(month, zone: utc), unit: unit, ranges: [try #require(ValueRange("..90"))], includesGaps: true)
        #expect(rows.map { $0.start.description.prefix(7) } == ["2026-05", "2026-06", "2026-07"])
        #expect(rows.map(\.count) == [2, 0, 2])
        #expect(rows[0].minimum == 88.1 && rows[0].maximum == 90 && rows[0].mostRecent == 90 && rows[0].inRange[0].amount == 2)
        // 5.5 mmol/L by the molar mass of glucose.
        #expect(abs((rows[2].mostRecent ?? 0) - 99.0858) < 0.001)
        let some = try LabStatistics(
            loinc: "2339-0", in: answered.store, matching: SampleQuery(types: LabStatistics.types),
            from: Instant(iso8601: "2026-05-03", zone: utc), to: Instant(iso8601: "2026-07-01", zone: utc), zone: utc)
        #expect(some.entries.map { $0.result.result.text } == ["90 mg/dL"])
        for (text, code) in [
            ("2339-0", "2339-0"), ("loinc:2339-0", "2339-0"), ("heartRate", nil), ("2339", nil), ("2026-11-20", nil),
        ] {
            #expect(LabStatistics.code(text) == code)
        }
    }

    // MARK: References

    /// - Parameter source: The source's id, as the interpreter makes it.
    private func record(
        _ type: String, _ resource: String, _ id: String, _ name: String, _ hours: Double, source: String = "fhir/clinic",
        url: String? = nil, references: [ClinicalReference]? = nil
    ) throws -> StoredSample {
        let record = ClinicalRecord(
            displayName: name, resourceType: resource, identifier: id, version: "R4", sourceURL: url, references: references)
        let body = try SampleBody(
            encoding: record, content: try PackedContent(Array("{\"resourceType\":\"\(resource)\"}".utf8)))
        let sample = try keep(type, hours, to: hours, body, source: source)
        return try #require(try answered.store.samples.sample(sample.identity))
    }

    @Test func prescriptionHasDrugName() throws {
        func request(_ id: String, _ hours: Double, _ reference: String, source: String = "fhir/clinic") throws -> StoredSample {
            try record(
                "medicationRecord", "MedicationRequest", id, "MedicationRequest", hours, source: source,
                references: [ClinicalReference(element: "medicationReference", reference: reference)])
        }
        let early = try request("1", 1, "Medication/x")
        _ = try record("referencedRecord", "Medication", "x", "metformin 500 MG", 2, url: "urn:uuid:5")
        _ = try record("referencedRecord", "Medication", "x", "ibuprofen", 3, source: "fhir/other")
        _ = try record("referencedRecord", "Medication", "y", "one", 4, source: "fhir")
        _ = try record("referencedRecord", "Medication", "y", "two", 5, source: "fhir")
        _ = try record("referencedRecord", "Medication", "z", "aspirin", 6, source: "fhir")
        let names = RecordNames(answered.store)
        func name(_ stored: StoredSample) throws -> String? {
            try names.named(stored).sample.body?.decoded(as: ClinicalRecord.self).displayName
        }
        #expect(try name(early) == "metformin 500 MG")
        #expect(try name(try request("2", 7, "urn:uuid:5")) == "metformin 500 MG")
        #expect(try name(try request("3", 8, "Medication/x/_history/2")) == "metformin 500 MG")
        #expect(try name(try request("4", 9, "Medication/z", source: "fhir/7d4ea0cc")) == "aspirin")
        // Two drugs have this id, so the name is not chosen.
        #expect(try name(try request("5", 10, "Medication/y", source: "fhir/7d4ea0cc")) == "MedicationRequest")
        #expect(try name(try request("6", 11, "https://elsewhere.example.org/Medication/x")) == "MedicationRequest")
        #expect(try name(try request("7", 12, "Medication/none")) == "MedicationRequest")
    }

    // MARK: Nights and pressures

    @Test func eachDayHasLongestNight() throws {
        for day in [-2, -1, 0] as [Double] { try answered.sleep("asleepCore", day * 24 - 1, to: day * 24 + 6) }
        try answered.sleep("asleepCore", 10, to: 11)
        let nights = try NightReader(answered.store, priority: []).history(
            of: AnsweredStore.person, days: 2, through: AnsweredStore.instant(12), zone: utc)
        #expect(nights.map(\.date) == [AnsweredStore.instant(-24), AnsweredStore.instant(0)])
        #expect(nights.map(\.night.asleep) == [7, 7].map { $0 * 3_600_000_000 })
    }

    @Test func aPressureIsOneRange() throws {
        try answered.add("bloodPressureSystolic", "124", 7)
        try answered.add("bloodPressureDiastolic", "79", 7)
        // Without the other pressure there is no range.
        try answered.add("bloodPressureSystolic", "130", 31)
        let frame = try #require(
            ChartFrame(
                from: AnsweredStore.instant(-48).microseconds / 1000, to: AnsweredStore.instant(48).microseconds / 1000, width: 50
            ))
        let chart = try Chart.pressures(of: AnsweredStore.person, in: frame, of: answered.store, zone: utc, priority: [])
        #expect(chart.points.map(\.low) == [79] && chart.points.map(\.high) == [124])
        #expect(chart.moved(by: 1000).points[0].start == chart.points[0].start + 1000)
    }

    @Test func chartOfSourceHasOnlyOwnSamples() throws {
        try answered.add("heartRate", "60", 1)
        try answered.add("heartRate", "90", 2, source: "strap")
        for days in [1, 100] as [Double] {
            let frame = try #require(
                ChartFrame(
                    from: AnsweredStore.instant(-24 * days).microseconds / 1000,
                    to: AnsweredStore.instant(24).microseconds / 1000, width: 4000))
            let chart = try Chart(
                .heartRate, person: AnsweredStore.person, in: frame, of: answered.store, zone: utc, priority: [],
                where: .comparison(.source(.id), .equal, .text("strap")))
            #expect(chart.points.map(\.middle) == [90], "\(days)")
        }
    }

    // MARK: Medications

    @Test func medicationHasDoses() throws {
        try answered.store.people.save(UserAnnotatedMedication(name: "Old", isArchived: true), of: AnsweredStore.person)
        let values = try #require(SampleType("medicationDoseEvent")?.categoryValues)
        let taken = try #require(values.value(of: "taken"))
        let dose = MedicationDoseEvent(medication: "Ibuprofen 400 mg")
        try keep("medicationDoseEvent", value: taken, 8, to: 8, SampleBody(encoding: dose))
        try keep("medicationDoseEvent", value: taken, 9, to: 9, SampleBody(encoding: dose))
        let all = try MedicationReading.all(
            of: AnsweredStore.person, from: AnsweredStore.instant(0),
            recorded: answered.store.people.medications(of: AnsweredStore.person),
            doses: answered.store)
        #expect(all.map(\.name) == ["Ibuprofen 400 mg", "Old"])
        #expect(all[0].counts == ["taken": 2] && all[0].doses.map(\.start) == [9, 8].map { AnsweredStore.instant($0) })
    }
}

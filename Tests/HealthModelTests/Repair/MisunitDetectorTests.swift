import HealthModel
import Testing

/// The detector of wrong units, held to the labelled set. The benchmark prints the same over more series.
@Suite struct MisunitDetectorTests {
    /// What of a labelled set was found.
    private func found(_ series: LabelledSeries) throws -> [MisunitRange] {
        try #require(MisunitDetector(series.type)).ranges(of: series.readings)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func cleanSeriesRaiseNoAlarm(seed: UInt64) throws {
        var maker = LabelledSeriesMaker(seed: seed)
        var alarms = 0
        for _ in 0..<500 { alarms += try found(try maker.clean()).isEmpty ? 0 : 1 }
        // Fewer than one in a thousand.
        #expect(alarms == 0)
    }

    /// An interval counts as found if the right unit is named for four fifths of it, and for little else. The test does what a hub does: it
    /// examines the last readings again and again as more arrive.
    @Test(arguments: 5...6 as ClosedRange<UInt64>) func growingCleanSeriesRaiseNoAlarm(seed: UInt64) throws {
        var maker = LabelledSeriesMaker(seed: seed)
        var alarms = 0
        for _ in 0..<250 {
            let series = try maker.clean()
            let detector = try #require(MisunitDetector(series.type))
            var count = MisunitDetector.shortest
            var isAlarmed = false
            while count < series.readings.count {
                if !detector.ranges(of: series.readings.prefix(count).suffix(256).map { $0 }).isEmpty { isAlarmed = true }
                count += min(max(1, count / 2), 64)
            }
            alarms += isAlarmed ? 1 : 0
        }
        #expect(alarms == 0)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func findsWrongRanges(seed: UInt64) throws {
        var maker = LabelledSeriesMaker(seed: seed)
        var hits = 0
        for _ in 0..<500 {
            let series = try maker.mislabelled()
            let wrong = try #require(series.wrong)
            let ranges = try found(series).filter { $0.fits.code == wrong.unit.code }
            let reported = series.readings.indices.filter { index in
                ranges.contains { $0.from <= series.readings[index].start && series.readings[index].start <= $0.to }
            }
            let covered = reported.count { wrong.range.contains($0) }
            let size = Double(wrong.range.count)
            if Double(covered) >= 0.8 * size, Double(reported.count - covered) <= max(1, 0.2 * size) { hits += 1 }
        }
        #expect(Double(hits) / 500 >= 0.95)
    }

    private func days(_ values: [String], _ unit: String, each days: Double = 1) throws -> [MisunitReading] {
        let unit = try Unit(ucum: unit)
        return try values.enumerated().map { index, text in
            MisunitReading(
                start: Instant(seconds: 1_700_000_000 + Int64(Double(index) * days * 86_400)), numeral: try Numeral(text),
                unit: unit)
        }
    }

    @Test("story 20: a child's 15 kg among a 100 kg person's are no stones") func story20() throws {
        let readings = try days(["100.2", "100.4", "99.8", "100.1", "15.0", "15.1", "100.3", "99.9"], "kg")
        #expect(try #require(MisunitDetector(.bodyMass)).ranges(of: readings).isEmpty)
    }

    /// A reference reading before the first reading of an interval, or after its last one, ends the search and is not part of the interval.
    @Test(arguments: 1...16 as ClosedRange<UInt64>) func referencesAreNotPartOfRange(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        var readings = try days((0..<60).map { "\(170 + $0 % 5).5" }, "kg")
        var own = 0
        for index in readings.indices where index == 0 || Bool.random(using: &random) {
            readings[index].numeral = try Numeral("77.\(index % 10)")
            readings[index].isReference = true
        }
        for range in try #require(MisunitDetector(.bodyMass)).ranges(of: readings) {
            #expect(readings.contains { $0.start == range.from && !$0.isReference })
            #expect(readings.contains { $0.start == range.to && !$0.isReference })
            own += range.count
        }
        #expect(own == readings.count { !$0.isReference })
    }

    @Test func acceptsFeverNewbornAndHypoglycemia() throws {
        let fever = ["36.6", "36.5", "36.7", "39.4", "40.1", "40.6", "40.2", "39.5", "36.9", "36.6"]
        #expect(try #require(MisunitDetector(.bodyTemperature)).ranges(of: try days(fever, "Cel", each: 0.3)).isEmpty)
        let newborn = ["3.40", "3.31", "3.25", "3.30", "3.38", "3.47", "3.55", "3.66", "3.80", "3.95"]
        #expect(try #require(MisunitDetector(.bodyMass)).ranges(of: try days(newborn, "kg")).isEmpty)
        let hypo = ["110", "104", "88", "61", "48", "39", "33", "30", "31", "42", "70", "115", "140"]
        #expect(try #require(MisunitDetector(.bloodGlucose)).ranges(of: try days(hypo, "mg/dL", each: 0.01)).isEmpty)
    }

    /// Another device of the same person shows the level. Then even a whole series in pounds is unambiguous.
    @Test func usesOtherDeviceAsReference() throws {
        var readings = try days((0..<20).map { "70.\($0 % 6)" }, "kg")
        for index in readings.indices { readings[index].isReference = index % 2 == 0 }
        #expect(try #require(MisunitDetector(.bodyMass)).ranges(of: readings).isEmpty)
        for index in readings.indices where index % 2 == 1 { readings[index].numeral = try Numeral("154.\(index % 7)") }
        let ranges = try #require(MisunitDetector(.bodyMass)).ranges(of: readings)
        #expect(ranges.map(\.fits.code) == ["[lb_av]"])
        #expect(ranges.map(\.count) == [10])
        #expect(try #require(MisunitDetector(.bodyMass, isShared: true)).ranges(of: readings).isEmpty)
        #expect(try #require(ranges.first).confidence > 0.9)
    }

    @Test func noDetectorForOtherTypes() {
        #expect(MisunitDetector(.heartRate) == nil)
        #expect(MisunitDetector.types.contains(.bloodGlucose))
        #expect(MisunitDetector.types.count == 14)
    }
}

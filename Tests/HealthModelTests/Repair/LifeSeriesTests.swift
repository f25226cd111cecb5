import HealthModel
import Testing

/// Wrong units that begin with the first reading or come and go, two people on one scale, and series without faults.
@Suite struct LifeSeriesTests {
    private static let seeds = 1...50 as ClosedRange<UInt64>

    struct Fault: CustomTestStringConvertible {
        var (type, real, label): (String, String, String)
        /// Whether the stored values are plausible for another person.
        var isPersonal: Bool
        var testDescription: String { "\(type) in \(real) stored as \(label)" }
    }

    static let faults = [
        Fault(type: "bodyMass", real: "[lb_av]", label: "kg", isPersonal: true),
        Fault(type: "bodyMass", real: "[stone_av]", label: "kg", isPersonal: true),
        Fault(type: "bodyMass", real: "kg", label: "[lb_av]", isPersonal: true),
        Fault(type: "height", real: "[in_i]", label: "cm", isPersonal: true),
        Fault(type: "waistCircumference", real: "[in_i]", label: "cm", isPersonal: true),
        Fault(type: "waistCircumference", real: "cm", label: "[in_i]", isPersonal: true),
        Fault(type: "bodyTemperature", real: "[degF]", label: "Cel", isPersonal: false),
        Fault(type: "bloodGlucose", real: "mmol/L", label: "mg/dL", isPersonal: false),
        Fault(type: "bloodGlucose", real: "mg/dL", label: "mmol/L", isPersonal: false),
    ]

    private func found(_ series: LifeSeries) throws -> [MisunitRange] {
        try #require(MisunitDetector(series.type)).ranges(of: series.readings)
    }

    /// Whether the right unit is found for four fifths of the wrong readings, and for little else.
    private func isFound(_ series: LifeSeries) throws -> Bool {
        let ranges = try found(series).filter { $0.fits.code == series.unit?.code }
        let reported = try series.readings.indices.filter { index in
            let reading = series.readings[index]
            let value = try series.type.conversion(from: reading.unit).convert(reading.numeral)
            return ranges.contains {
                $0.from <= reading.start && reading.start <= $0.to && $0.values?.contains(value) ?? true
            }
        }
        let covered = reported.count { series.wrong.contains($0) }
        return covered * 5 >= series.wrong.count * 4 && reported.count - covered <= max(1, series.wrong.count / 5)
    }

    @Test(arguments: faults) func wrongFromTheFirstReading(_ fault: Fault) throws {
        var hits = 0
        for seed in Self.seeds {
            var maker = LifeSeriesMaker(seed: seed)
            hits += try isFound(maker.wrongFromTheFirst(fault.type, real: fault.real, label: fault.label)) ? 1 : 0
        }
        #expect(hits >= 48)
    }

    @Test(arguments: faults) func everyOtherReadingIsWrong(_ fault: Fault) throws {
        var (hits, people) = (0, 0)
        for seed in Self.seeds {
            var maker = LifeSeriesMaker(seed: seed)
            let series = try maker.alternating(fault.type, real: fault.real, label: fault.label)
            hits += try isFound(series) ? 1 : 0
            people += try found(series).contains { $0.mayBeAnotherPerson } ? 1 : 0
        }
        #expect(hits >= 48)
        // Kilograms and pounds may be two people. A temperature of 98 °C is not anybody's.
        #expect(fault.isPersonal ? people >= 45 : people == 0)
    }

    /// A repair is never the only explanation.
    @Test func twoPeopleOnOneScale() throws {
        var (alarms, named) = (0, 0)
        for seed in 1...200 as ClosedRange<UInt64> {
            var maker = LifeSeriesMaker(seed: seed)
            let ranges = try found(maker.family())
            alarms += ranges.contains { !$0.mayBeAnotherPerson || $0.values == nil } ? 1 : 0
            named += ranges.isEmpty ? 0 : 1
        }
        #expect(alarms == 0)
        // Most ratios are not exactly that of the units.
        #expect(named <= 70)
    }

    @Test(arguments: LifeEvent.allCases) func aSeriesWithoutFaultsRaisesNoAlarm(_ event: LifeEvent) throws {
        var alarms = 0
        for seed in Self.seeds {
            var maker = LifeSeriesMaker(seed: seed)
            alarms += try found(maker.clean(event)).isEmpty ? 0 : 1
        }
        #expect(alarms == 0)
    }

    /// Another source has both values as they are: two people use both.
    @Test func anotherSourceKnowsBothPeople() throws {
        var maker = LifeSeriesMaker(seed: 7)
        var series = try maker.alternating("bodyMass", real: "[lb_av]", label: "kg")
        #expect(try found(series).map(\.mayBeAnotherPerson) == [true])
        for index in series.readings.indices.reversed() where index % 10 < 2 {
            var duplicate = series.readings[index]
            duplicate.start = Instant(microseconds: duplicate.start.microseconds + 3_600_000_000)
            duplicate.isReference = true
            series.readings.insert(duplicate, at: index + 1)
        }
        #expect(try found(series).isEmpty)
    }

    /// Another source measured the same minutes in the right unit: the readings are not another person's.
    @Test func anotherSourceOfTheSameMinutesDecides() throws {
        var maker = LifeSeriesMaker(seed: 7)
        var series = try maker.alternating("bodyMass", real: "[lb_av]", label: "kg")
        let kilograms = try Unit(ucum: "kg")
        for index in series.readings.indices.reversed() where series.wrong.contains(index) {
            var duplicate = series.readings[index]
            let value = try Unit(ucum: "[lb_av]").conversion(to: kilograms)(duplicate.numeral.doubleValue)
            duplicate.numeral = try Numeral("\((value * 10).rounded() / 10)")
            duplicate.isReference = true
            series.readings.insert(duplicate, at: index + 1)
        }
        let ranges = try found(series)
        #expect(!ranges.isEmpty)
        #expect(ranges.allSatisfy { !$0.mayBeAnotherPerson && $0.fits.code == "[lb_av]" })
    }

    /// The readings that are wrong are seldom fewer than those that show it. The stranger values are the wrong ones.
    @Test func keepsRightReadingsAmongWrongSource() throws {
        var maker = LifeSeriesMaker(seed: 3)
        var series = try maker.alternating("bloodGlucose", real: "mg/dL", label: "mmol/L")
        for index in series.readings.indices { series.readings[index].isReference = series.wrong.contains(index) }
        #expect(try found(series).isEmpty)
    }

    @Test func theConditionOfEachTypeCanBeRead() throws {
        for type in MisunitDetector.types {
            for values in [MisunitValues.above(1.25), .below(70)] {
                let condition = try SamplePredicate(values.condition(of: type))
                #expect(throws: Never.self) { try condition.check(for: [type]) }
            }
        }
    }
}

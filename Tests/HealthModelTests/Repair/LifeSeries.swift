import HealthModel

/// Series of readings as people have them over months and years, with and without faults. Everything follows from the seed.
///
/// A fault is a wrong unit from the first reading on, or a wrong unit of every other reading. A household is two people who use one scale,
/// so that nothing is in a wrong unit.
struct LifeSeries {
    var type: SampleType
    var readings: [MisunitReading]
    /// The readings with a wrong unit.
    var wrong: Set<Int> = []
    /// The unit that they are really in.
    var unit: Unit?
}

/// A series of true values of a person.
enum LifeEvent: String, CaseIterable {
    case growth, height, waistOfAChild, pregnancy, surgery, diet, gain, dialysis, gaps, fevers, cycle, hypoglycemia, sensor,
        finger
    case pressure, saturation, fat, fatLoss, lean, fatMass, waist, adultHeight, energy, newborn

    var type: String {
        switch self {
        case .growth, .pregnancy, .surgery, .diet, .gain, .dialysis, .gaps, .newborn: "bodyMass"
        case .height, .adultHeight: "height"
        case .waist, .waistOfAChild: "waistCircumference"
        case .fevers: "bodyTemperature"
        case .cycle: "basalBodyTemperature"
        case .hypoglycemia, .sensor, .finger: "bloodGlucose"
        case .pressure: "bloodPressureSystolic"
        case .saturation: "oxygenSaturation"
        case .fat: "bodyFatPercentage"
        case .fatLoss, .fatMass: "bodyFatMass"
        case .lean: "leanBodyMass"
        case .energy: "basalEnergyBurned"
        }
    }

    /// The units in which such readings are stored.
    var units: [String] {
        switch type {
        case "bodyMass", "bodyFatMass", "leanBodyMass": ["kg", "[lb_av]"]
        case "height", "waistCircumference": ["cm", "[in_i]"]
        case "bodyTemperature", "basalBodyTemperature": ["Cel", "[degF]"]
        case "bloodGlucose": ["mg/dL", "mmol/L"]
        case "bloodPressureSystolic": ["mm[Hg]", "kPa"]
        case "basalEnergyBurned": ["kcal", "kJ"]
        default: ["%"]
        }
    }
}

struct LifeSeriesMaker {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    /// True values in the catalogue's unit, by the day.
    typealias Truth = [(day: Double, value: Double)]

    /// A series without faults.
    mutating func clean(_ event: LifeEvent) throws -> LifeSeries {
        let truth = truth(event)
        let unit = event.units[random.integer(0...event.units.count - 1)]
        return try series(event.type, truth, unit: unit, digits: unit == "kJ" || unit == "mg/dL" || unit == "kcal" ? 0 : 1)
    }

    /// The first readings are in another unit, and later ones are right.
    mutating func wrongFromTheFirst(_ type: String, real: String, label: String) throws -> LifeSeries {
        let truth = plain(type)
        let first = random.integer(3...truth.count - 5)
        return try series(type, truth, unit: label, digits: 1, wrong: Set(0..<first), real: real)
    }

    /// Every other reading is in another unit.
    mutating func alternating(_ type: String, real: String, label: String) throws -> LifeSeries {
        let truth = plain(type)
        let first = random.integer(0...1)
        return try series(
            type, truth, unit: label, digits: 1, wrong: Set(truth.indices.filter { $0 % 2 == first }), real: real)
    }

    /// Two people on one scale, of whom one weighs 2.1 to 2.3 times as much as the other.
    mutating func family() throws -> LifeSeries {
        let light = random.uniform(25...50)
        let heavy = light * random.uniform(2.1...2.3)
        let takesTurns = random.happens(0.3)
        let share = random.uniform(0.3...0.7)
        let grows = random.happens(0.5) ? random.uniform(0.0001...0.0005) : 0
        var (truth, day): (Truth, Double) = ([], 0)
        for index in 0..<random.integer(30...150) {
            day += random.uniform(0.1...1.5)
            let isLight = takesTurns ? index % 2 == 0 : random.happens(share)
            truth.append((day, (isLight ? light * (1 + grows * day) : heavy) * (1 + random.normal(0.007))))
        }
        return try series("bodyMass", truth, unit: "kg", digits: 1)
    }

    private mutating func series(
        _ type: String, _ truth: Truth, unit label: String, digits: Int, wrong: Set<Int> = [], real: String? = nil
    ) throws -> LifeSeries {
        guard let type = SampleType(type) else { preconditionFailure("the catalogue has no \(type)") }
        let label = try Unit(ucum: label)
        let real = try real.map { try Unit(ucum: $0) }
        var series = LifeSeries(type: type, readings: [], wrong: wrong, unit: real)
        for (index, (day, value)) in truth.enumerated() {
            let unit = wrong.contains(index) ? real ?? label : label
            let number = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)(value)
            let scaled = Int64((number * Numeral.powersOfTen[digits]).rounded())
            series.readings.append(
                MisunitReading(
                    start: Instant(microseconds: 1_700_000_000_000_000 + Int64(day * 86_400e6)),
                    duration: type.aggregation == .cumulative ? 1 : 0,
                    numeral: try Numeral(Numeral(coefficient: scaled, exponent: Int16(-digits)).text), unit: label))
        }
        return series
    }

    /// An adult's usual readings over some weeks.
    private mutating func plain(_ type: String) -> Truth {
        switch type {
        case "bodyMass": return drifting(random.uniform(45...110), steps: 20...120, noise: 0.006, drift: 0.002)
        case "height": return drifting(random.uniform(1.45...1.95), steps: 10...30, noise: 0.004, drift: 0)
        case "waistCircumference": return drifting(random.uniform(0.62...1.2), steps: 10...40, noise: 0.012, drift: 0.002)
        case "bodyTemperature": return drifting(36.7, steps: 20...60, noise: 0.007, drift: 0)
        default: return drifting(random.uniform(85...170), steps: 40...200, noise: 0.2, drift: 0)
        }
    }

    /// - Parameter drift: the random change in a day, as a part of the value.
    private mutating func drifting(
        _ level: Double, steps: ClosedRange<Int>, noise: Double, drift: Double, trend: Double = 0,
        every: ClosedRange<Double> = 0.4...2.5
    ) -> Truth {
        var (truth, day, level): (Truth, Double, Double) = ([], 0, level)
        for _ in 0..<random.integer(steps) {
            let step = random.uniform(every)
            day += step
            level *= 1 + trend * step + random.normal(drift)
            truth.append((day, level * (1 + random.normal(noise))))
        }
        return truth
    }

    /// The value at each of some days, with noise.
    private mutating func following(
        days: ClosedRange<Double>, every: ClosedRange<Double>, noise: Double, _ value: (Double) -> Double
    ) -> Truth {
        var (truth, day): (Truth, Double) = ([], days.lowerBound)
        while day < days.upperBound {
            truth.append((day, value(day) * (1 + random.normal(noise))))
            day += random.uniform(every)
        }
        return truth
    }

    private mutating func truth(_ event: LifeEvent) -> Truth {
        let size = random.uniform(0.85...1.2)
        switch event {
        case .growth:
            return following(days: 0...random.uniform(400...6500), every: 5...90, noise: 0.01) { day in
                let years = day / 365
                return size
                    * (years < 1 ? 3.4 + 6.6 * years.squareRoot() : 10 + 2 * (years - 1) + 0.11 * (years - 1) * (years - 1))
            }
        case .height:
            return following(days: 0...random.uniform(700...6500), every: 10...(random.happens(0.3) ? 500 : 120), noise: 0.005) {
                day in
                let years = day / 365
                return size * 0.9 * (years < 1 ? 0.55 + 0.28 * years.squareRoot() : 0.83 + 0.06 * (years - 1))
            }
        case .waistOfAChild:
            return following(days: 200...random.uniform(1000...5000), every: 20...200, noise: 0.02) {
                size * (0.45 + 0.00006 * $0)
            }
        case .newborn:
            return following(days: 0...random.uniform(10...80), every: 0.5...2, noise: 0.006) {
                size * (3.3 + ($0 < 4 ? -0.07 * $0 : 0.03 * ($0 - 14)))
            }
        case .pregnancy:
            let before = random.uniform(48...90)
            let gain = random.uniform(9...24)
            return following(days: 0...420, every: 1...14, noise: 0.006) { before + ($0 < 280 ? gain * $0 / 280 : gain * 0.35) }
        case .surgery:
            let before = random.uniform(110...190)
            let lost = random.uniform(0.25...0.5)
            return following(days: 0...600, every: 1...20, noise: 0.006) {
                before * ($0 < 60 ? 1 : 1 - lost * (1 - 1 / (1 + ($0 - 60) / 90)))
            }
        case .diet:
            return drifting(
                random.uniform(70...140), steps: 40...200, noise: 0.007, drift: 0.002, trend: random.uniform(-0.003...(-0.001)))
        case .gain:
            return drifting(
                random.uniform(40...70), steps: 40...200, noise: 0.007, drift: 0.002, trend: random.uniform(0.001...0.003))
        case .dialysis:
            let dry = random.uniform(50...95)
            return following(days: 0...90, every: 0.3...1.2, noise: 0.005) {
                dry * (1 + 0.06 * (($0 / 2.3).truncatingRemainder(dividingBy: 1)))
            }
        case .gaps: return drifting(random.uniform(50...110), steps: 12...40, noise: 0.01, drift: 0.03, every: 5...400)
        case .fevers:
            let peak = random.uniform(38.5...41)
            return following(days: 0...60, every: 0.2...1, noise: 0.006) { day in
                day.truncatingRemainder(dividingBy: 20) < 4
                    ? min(41, peak - 0.4 * abs(day.truncatingRemainder(dividingBy: 20) - 2)) : 36.7
            }
        case .cycle:
            return following(days: 0...120, every: 0.9...1.1, noise: 0.003) {
                $0.truncatingRemainder(dividingBy: 28) > 14 ? 36.9 : 36.4
            }
        case .hypoglycemia:
            return following(days: 0...20, every: 0.1...0.4, noise: 0.15) { day in
                let hour = day.truncatingRemainder(dividingBy: 1.3)
                return hour < 0.25 ? 42 : hour > 1.1 ? 330 : 150
            }
        case .sensor:
            var level = 140.0
            return following(days: 0...4, every: 0.0035...0.0036, noise: 0.01) { day in
                level +=
                    0.06
                    * ((day.truncatingRemainder(dividingBy: 0.7) < 0.15
                        ? 45 : day.truncatingRemainder(dividingBy: 0.5) < 0.1 ? 320 : 130) - level)
                return max(40, level)
            }
        case .finger: return drifting(random.uniform(85...200), steps: 40...300, noise: 0.25, drift: 0, every: 0.1...1)
        case .pressure:
            return following(days: 0...90, every: 0.4...1.5, noise: 0.05) { $0 > 40 && $0 < 44 ? 205 : 135 * size.squareRoot() }
        case .saturation: return following(days: 0...90, every: 0.4...1.5, noise: 0.01) { min(99, $0 > 40 && $0 < 50 ? 82 : 96) }
        case .fat: return drifting(random.uniform(8...45), steps: 25...200, noise: 0.02, drift: 0.004)
        case .fatLoss:
            return drifting(
                random.uniform(20...60), steps: 40...150, noise: 0.03, drift: 0.004, trend: random.uniform(-0.008...(-0.004)))
        case .fatMass: return drifting(random.uniform(6...50), steps: 25...150, noise: 0.04, drift: 0.005)
        case .lean: return drifting(random.uniform(35...80), steps: 25...150, noise: 0.015, drift: 0.002)
        case .waist: return drifting(random.uniform(0.6...1.3), steps: 10...60, noise: 0.015, drift: 0.003)
        case .adultHeight: return drifting(random.uniform(1.45...2.0), steps: 4...20, noise: 0.006, drift: 0, every: 5...300)
        case .energy: return drifting(random.uniform(1200...2300), steps: 30...120, noise: 0.03, drift: 0.004)
        }
    }
}

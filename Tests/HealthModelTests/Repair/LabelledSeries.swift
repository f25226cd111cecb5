import HealthModel

/// Series of readings as people have them, and the same with an interval in a wrong unit. The detector of wrong units is measured with
/// them.
///
/// Everything follows from the seed. A clean series is one of: a thermometer used daily, with fevers of some days up to 40.8 °C; a waking
/// temperature with its cycle; an adult's weight with drift, clothes, weeks of travel and diets; a child's from birth, with months between
/// weighings; a newborn's first weeks; blood glucose by the finger or every five minutes, healthy or diabetic with hypos down to 32 mg/dL
/// and highs to 480; blood pressure, low to a crisis; oxygen saturation, healthy, with COPD or at altitude; body fat; daily energy at rest.
/// Half of them use another unit than the catalog's, which is correct.
///
/// A mislabeled series has one interval of five readings or more, half of them five to twelve, whose numbers are in one unit and were
/// interpreted in another. The gate would quarantine values beyond the type's hard limits, so no such interval is made. Weights and fat
/// have correct readings on at least one side of the interval, because 154 alone may be kilograms.
struct LabelledSeries {
    var type: SampleType
    var kind: String
    var readings: [MisunitReading]
    /// Where the wrong unit is, and which the numbers are really in.
    var wrong: (range: Range<Int>, unit: Unit)?
}

/// SplitMix64: small, and the same everywhere.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func uniform(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }
    mutating func integer(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func happens(_ probability: Double) -> Bool { uniform(0...1) < probability }

    /// Close to a normal distribution: the sum of twelve.
    mutating func normal(_ deviation: Double) -> Double {
        ((0..<12).reduce(0.0) { sum, _ in sum + uniform(0...1) } - 6) * deviation
    }
}

struct LabelledSeriesMaker {
    private var random: SplitMix
    /// True values in the canonical unit, by time in days.
    private var truth: [(day: Double, value: Double)] = []

    init(seed: UInt64) { random = SplitMix(state: seed) }

    private struct Kind {
        var name: String
        var type: String
        var units: [String]
        var digits: Int
        /// Whether the values alone reveal the unit, so that a whole series may be wrong.
        var isPlain: Bool
    }

    private static let kinds = [
        Kind(name: "thermometer", type: "bodyTemperature", units: ["Cel", "[degF]"], digits: 1, isPlain: true),
        Kind(name: "waking temperature", type: "basalBodyTemperature", units: ["Cel", "[degF]"], digits: 2, isPlain: true),
        Kind(name: "adult", type: "bodyMass", units: ["kg", "[lb_av]", "[stone_av]"], digits: 1, isPlain: false),
        Kind(name: "child", type: "bodyMass", units: ["kg", "[lb_av]"], digits: 2, isPlain: false),
        Kind(name: "newborn", type: "bodyMass", units: ["kg"], digits: 2, isPlain: false),
        Kind(name: "finger", type: "bloodGlucose", units: ["mg/dL", "mmol/L"], digits: 1, isPlain: true),
        Kind(name: "sensor", type: "bloodGlucose", units: ["mg/dL", "mmol/L"], digits: 1, isPlain: true),
        Kind(name: "systolic", type: "bloodPressureSystolic", units: ["mm[Hg]", "kPa"], digits: 1, isPlain: true),
        Kind(name: "diastolic", type: "bloodPressureDiastolic", units: ["mm[Hg]", "kPa"], digits: 1, isPlain: true),
        Kind(name: "saturation", type: "oxygenSaturation", units: ["%", "1"], digits: 3, isPlain: true),
        Kind(name: "fat", type: "bodyFatPercentage", units: ["%", "1"], digits: 3, isPlain: true),
        Kind(name: "energy at rest", type: "basalEnergyBurned", units: ["kcal", "kJ"], digits: 0, isPlain: true),
    ]

    /// A series without anything wrong.
    mutating func clean() throws -> LabelledSeries { try make(isWrong: false) }

    /// A series with one stretch in a wrong unit.
    mutating func mislabelled() throws -> LabelledSeries {
        while true {
            let series = try make(isWrong: true)
            if series.wrong != nil { return series }
        }
    }

    private mutating func make(isWrong: Bool) throws -> LabelledSeries {
        let kinds = isWrong ? Self.kinds.filter { $0.name != "newborn" && $0.name != "child" } : Self.kinds
        let kind = kinds[random.integer(0...kinds.count - 1)]
        guard let type = SampleType(kind.type) else { preconditionFailure("the catalogue has no \(kind.type)") }
        let units = try kind.units.map { try Unit(ucum: $0) }
        live(kind.name)
        var unit = units[0]
        if random.happens(0.5) { unit = units[random.integer(0...units.count - 1)] }
        var series = LabelledSeries(type: type, kind: kind.name, readings: [])
        var range = 0..<0
        var other = unit
        if isWrong {
            let count = truth.count
            let length =
                random.happens(0.5) ? random.integer(5...12) : random.integer(5...max(5, kind.isPlain ? count : count - 12))
            guard length <= count, kind.isPlain || count - length >= 12 else { return series }
            let first = random.integer(0...count - length)
            guard kind.isPlain || first >= 12 || count - first - length >= 12 else { return series }
            range = first..<first + length
            let others = units.filter { $0.code != unit.code }
            other = others[random.integer(0...others.count - 1)]
        }
        for (index, (day, value)) in truth.enumerated() {
            let real = range.contains(index) ? other : unit
            let number = try type.canonicalUnit.conversion(to: real, molarMass: type.molarMass)(value)
            let numeral = try Numeral(Self.text(number, digits: real.code == "mg/dL" || real.code == "kJ" ? 0 : kind.digits))
            let taken = try type.conversion(from: unit).convert(numeral)
            guard type.hardLimits?.contains(taken) ?? true else { return series }
            series.readings.append(
                MisunitReading(
                    start: Instant(microseconds: 1_700_000_000_000_000 + Int64(day * 86_400e6)),
                    duration: type.aggregation == .cumulative ? 1 : 0, numeral: numeral, unit: unit))
        }
        if isWrong { series.wrong = (range, other) }
        return series
    }

    private static func text(_ value: Double, digits: Int) -> String {
        let power = Numeral.powersOfTen[digits]
        let scaled = Int64((value * power).rounded())
        return Numeral(coefficient: scaled, exponent: Int16(-digits)).text
    }

    private mutating func live(_ kind: String) {
        truth = []
        switch kind {
        case "thermometer": thermometer()
        case "waking temperature":
            for day in 0..<random.integer(30...300) {
                let phase = day % 28 > 14 ? 0.35 : 0
                truth.append((Double(day) + 0.25, 36.4 + phase + random.normal(0.12)))
            }
        case "adult": adult()
        case "child": child()
        case "newborn":
            var weight = random.uniform(2.0...4.6)
            for day in 0..<random.integer(8...60) {
                weight *= day < 4 ? 0.985 : 1.008
                truth.append((Double(day), weight + random.normal(0.02)))
            }
        case "finger": finger()
        case "sensor": sensor()
        case "systolic", "diastolic": pressure(isSystolic: kind == "systolic")
        case "saturation":
            let level = random.happens(0.2) ? random.uniform(80...90) : random.uniform(94...98.5)
            let altitude = random.happens(0.1) ? random.integer(5...20) : -1
            for day in 0..<random.integer(20...200) {
                let high = altitude > 0 && (altitude..<altitude + 10).contains(day) ? -14.0 : 0
                truth.append((Double(day) + random.uniform(0...0.9), min(100, max(62, level + high + random.normal(1.2)))))
            }
        case "fat":
            var level = random.uniform(8...45)
            for day in 0..<random.integer(25...300) {
                level = min(60, max(4, level * (1 + random.normal(0.004))))
                truth.append((Double(day), level * (1 + random.normal(0.015))))
            }
        default:
            let level = random.uniform(1150...2400)
            for day in 0..<random.integer(20...200) { truth.append((Double(day), level * (1 + random.normal(0.03)))) }
        }
    }

    private mutating func thermometer() {
        var day = 0.0
        let base = random.uniform(36.2...37.0)
        for _ in 0..<random.integer(20...120) {
            if random.happens(0.03) {
                let peak = random.uniform(38...40.8)
                for hour in 0..<random.integer(4...20) {
                    truth.append((day + Double(hour) * 0.25, min(41.2, peak - 0.5 * Double(hour % 4) / 2 + random.normal(0.25))))
                }
                day += 5
            }
            truth.append((day, base + random.normal(0.25)))
            day += random.happens(0.02) ? random.uniform(30...200) : random.uniform(0.5...3)
        }
    }

    private mutating func adult() {
        var weight = random.uniform(42...150)
        var day = 0.0
        let trend = random.happens(0.2) ? random.uniform(-0.0015...0.001) : 0
        for _ in 0..<random.integer(30...300) {
            let step = random.happens(0.02) ? random.uniform(14...120) : random.uniform(0.4...2.5)
            day += step
            weight = min(230, max(38, weight * (1 + trend * step + random.normal(0.002))))
            let clothes = random.happens(0.05) ? random.uniform(0.5...2.5) : 0
            truth.append((day, weight + clothes + random.normal(0.4)))
        }
    }

    private mutating func child() {
        // Grams grow quickly first: 3.4 kg at birth, 10 at one year, 20 at six, 40 at twelve.
        let size = random.uniform(0.85...1.2)
        var day = 0.0
        for _ in 0..<random.integer(15...80) {
            let years = day / 365
            let weight = years < 1 ? 3.4 + 6.6 * years.squareRoot() : 10 + 2 * (years - 1) + 0.1 * (years - 1) * (years - 1)
            truth.append((day, weight * size * (1 + random.normal(0.012))))
            day += random.happens(0.1) ? random.uniform(60...400) : random.uniform(3...40)
        }
    }

    private mutating func finger() {
        let isDiabetic = random.happens(0.6)
        var day = 0.0
        for _ in 0..<random.integer(20...300) {
            day += random.uniform(0.1...(isDiabetic ? 0.5 : 4))
            guard isDiabetic else {
                truth.append((day, 98 + random.normal(14)))
                continue
            }
            let value =
                random.happens(0.06)
                ? random.uniform(32...62) : random.happens(0.05) ? random.uniform(280...480) : 155 + random.normal(45)
            truth.append((day, max(32, value)))
        }
    }

    private mutating func sensor() {
        var value = random.uniform(90...180)
        let center = random.uniform(95...190)
        var target = center
        for index in 0..<random.integer(200...1500) {
            if index % 40 == 0 {
                target = random.happens(0.1) ? random.uniform(40...60) : random.happens(0.1) ? random.uniform(280...390) : center
            }
            value += 0.08 * (target - value) + random.normal(4)
            value = min(400, max(39, value))
            truth.append((Double(index) / 288, value))
        }
    }

    private mutating func pressure(isSystolic: Bool) {
        let level = isSystolic ? random.uniform(95...165) : random.uniform(58...100)
        let crisis = random.happens(0.1) ? random.integer(5...15) : -10
        for day in 0..<random.integer(20...200) {
            let high = (crisis..<crisis + 4).contains(day) ? (isSystolic ? 55.0 : 28) : 0
            let low = random.happens(0.02) ? -15.0 : 0
            truth.append((Double(day) + random.uniform(0...0.9), level + high + low + random.normal(isSystolic ? 8 : 6)))
        }
    }
}

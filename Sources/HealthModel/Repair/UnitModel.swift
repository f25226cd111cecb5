/// Prior knowledge of a quantity for any person: the usual range, the scatter and the drift of its values, and the units that are confused.
///
/// There is one row per type, for quantities whose unit can be recognised by their values. Amounts of any size (active energy, insulin)
/// have none.
///
/// - low, high: the usual range over days, in the canonical unit. Beyond it, values become unlikely at a rate set by `spread`.
/// - spread: the width of that decline. Like `noise` it is a logarithm, or in °C for temperatures.
/// - noise: the difference between two readings of the same hour.
/// - drift: the change of the level in a day (it grows with the root of time), with `reach` as its limit.
struct UnitModel: Sendable {
    var low: Double
    var high: Double
    var spread: Double
    var noise: Double
    var drift: Double
    var reach: Double
    var isLinear: Bool
    /// Whether the values are amounts over time that are compared as rates per day.
    var isRate: Bool
    /// The units that are mistaken for one another.
    var units: [Unit]

    private static let table = """
        type                     | low | high  | spread | noise | drift | reach | scale  | units
        bodyTemperature          | 34  | 41.5  | 0.9    | 0.5   | 0.5   | 1.5   | linear | Cel [degF]
        basalBodyTemperature     | 34  | 40    | 0.9    | 0.4   | 0.4   | 1.2   | linear | Cel [degF]
        bodyMass                 | 1.5 | 250   | 0.25   | 0.015 | 0.012 | 0.6   | log    | kg [lb_av] [stone_av]
        leanBodyMass             | 1   | 130   | 0.25   | 0.03  | 0.015 | 0.6   | log    | kg [lb_av] [stone_av]
        bodyFatMass              | 0.5 | 150   | 0.25   | 0.05  | 0.03  | 0.7   | log    | kg [lb_av] [stone_av]
        height                   | 0.45| 2.3  | 0.1    | 0.012 | 0.004 | 0.8   | log    | cm [in_i] m [ft_i]
        waistCircumference       | 0.4 | 2     | 0.2    | 0.03  | 0.01  | 0.6   | log    | cm [in_i] m
        bloodGlucose             | 45  | 450   | 0.3    | 0.35  | 0.1   | 0.5   | log    | mg/dL mmol/L
        bloodPressureSystolic    | 75  | 220   | 0.12   | 0.12  | 0.04  | 0.3   | log    | mm[Hg] kPa
        bloodPressureDiastolic   | 38  | 135   | 0.12   | 0.12  | 0.04  | 0.3   | log    | mm[Hg] kPa
        oxygenSaturation         | 60  | 100   | 0.1    | 0.02  | 0.01  | 0.1   | log    | % 1
        bodyFatPercentage        | 3   | 65    | 0.25   | 0.06  | 0.03  | 0.6   | log    | % 1
        basalEnergyBurned        | 900 | 3200  | 0.1    | 0.06  | 0.03  | 0.4   | rate   | kcal kJ W.h
        totalEnergyBurned        | 900 | 9000  | 0.25   | 0.35  | 0.1   | 0.5   | rate   | kcal kJ W.h
        """

    private static let models: [SampleType: UnitModel] = {
        var models: [SampleType: UnitModel] = [:]
        for row in table.split(separator: "\n").dropFirst() {
            let cells = row.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
            let numbers = cells.dropFirst().prefix(6).compactMap { $0.first.flatMap(Double.init) }
            guard cells.count == 9, numbers.count == 6, let type = cells[0].first.flatMap({ SampleType($0) }) else { continue }
            models[type] = UnitModel(
                low: numbers[0], high: numbers[1], spread: numbers[2], noise: numbers[3], drift: numbers[4], reach: numbers[5],
                isLinear: cells[7] == ["linear"], isRate: cells[7] == ["rate"], units: cells[8].compactMap { try? Unit(ucum: $0) }
            )
        }
        return models
    }()

    static var types: Set<SampleType> { Set(models.keys) }

    static func of(_ type: SampleType) -> UnitModel? { models[type] }

    /// The value on the scale of comparison, or `nil` if it is not on it.
    func position(_ value: Double, days: Double) -> Double? {
        if isLinear { return value }
        let value = isRate ? value / days : value
        return value > 0 && value.isFinite ? logarithm(value) : nil
    }

    /// How unlikely a position is for anybody, 0 within the usual.
    func strangeness(_ position: Double) -> Double {
        let (low, high) = isLinear ? (low, high) : (logarithm(low), logarithm(high))
        let beyond = max(low - position, position - high, 0) / spread
        return Self.surprise(beyond * beyond)
    }

    /// Minus the logarithm of Student's t with three degrees of freedom: an outlier is unlikely, not impossible.
    static func surprise(_ squared: Double) -> Double { 2 * logarithm(1 + squared / 3) }
}

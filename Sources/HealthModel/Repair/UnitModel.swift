/// What is known of a quantity before one looks at a person: where its values mostly lie, how far they scatter, how fast they drift, and
/// which units are mistaken for one another.
///
/// One row a type, of the quantities whose unit can be told by their values. Amounts that may be anything (active energy, insulin) have none.
///
/// - low, high: what a person shows for days, in the canonical unit; beyond it values become unlikely by `spread`.
/// - spread: how fast; with `noise` in the logarithm, for temperatures in °C.
/// - noise: how far two readings of the same hour differ.
/// - drift: by how much the level moves in a day (it grows with the root of time), and `reach`, how far it ever gets.
struct UnitModel: Sendable {
    var low: Double
    var high: Double
    var spread: Double
    var noise: Double
    var drift: Double
    var reach: Double
    var isLinear: Bool
    /// Whether the values are amounts over a time, and their rate a day is what is compared.
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

    /// The types that have one.
    static var types: Set<SampleType> { Set(models.keys) }

    static func of(_ type: SampleType) -> UnitModel? { models[type] }

    /// On the scale on which values are compared; `nil` for what lies on none.
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

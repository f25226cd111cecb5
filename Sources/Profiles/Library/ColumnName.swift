/// A guess at a column's type and unit from its name, for the user to confirm.
struct ColumnName {
    let type: String?
    /// The unit in UCUM, only if the name contains it.
    let unit: String?

    init(_ name: String) {
        let name = name.lowercased()
        // Units can contain a slash, a degree sign or a percent sign. All other signs separate words.
        let words = name.split { !($0.isLetter || $0.isNumber || "/%°µ".contains($0)) }.map(String.init)
        let spelling = Self.units.first { unit in words.contains(unit.word) || (unit.isSign && name.contains(unit.word)) }
        // A derived or averaged value has another type than the quantity in its name.
        let isDerived = Self.derived.contains { name.contains($0) }
        let type =
            isDerived
            ? nil
            : Self.types.first { type in
                type.stems.contains { name.contains($0) } || type.words.contains { words.contains($0) }
            }?.type
        self.type = type
        // A count is a pure number in every unit.
        unit = type == "stepCount" ? "1" : spelling?.unit
    }

    private static let derived = ["variab", "hrv", "target", "goal", "ziel", "average", "max", "min.", "lean", "ideal"]

    private static let units: [(word: String, unit: String, isSign: Bool)] = [
        ("mg/dl", "mg/dL", true), ("mmol/l", "mmol/L", true), ("mmhg", "mm[Hg]", true), ("mm hg", "mm[Hg]", true),
        ("°c", "Cel", true), ("°f", "[degF]", true), ("celsius", "Cel", false), ("fahrenheit", "[degF]", false),
        ("kg", "kg", false), ("lb", "[lb_av]", false), ("lbs", "[lb_av]", false), ("bpm", "/min", false), ("/min", "/min", false),
        ("1/min", "/min", false), ("cm", "cm", false), ("kcal", "kcal", false), ("%", "%", true),
    ]

    /// Names in English, German, French, Spanish and Dutch: stems that may occur anywhere in a name, and words that are too short for that.
    private static let types: [(type: String, stems: [String], words: [String])] = [
        ("bloodPressureSystolic", ["systol", "sistól", "sistol"], ["sys"]),
        ("bloodPressureDiastolic", ["diastol", "diastól"], ["dia"]),
        (
            "heartRate",
            [
                "pulse", "heart rate", "heartrate", "heart_rate", "herzfrequenz", "herzschlag", "pouls", "fréquence cardiaque",
                "frecuencia cardíaca", "pulso", "hartslag",
            ], ["puls", "bpm", "hr", "heart"]
        ),
        (
            "bloodGlucose",
            ["glucose", "glukose", "glucosa", "blutzucker", "blood sugar", "glycémie", "glucemia", "bloedsuiker"], []
        ),
        ("bloodKetone", ["ketone", "keton", "cétone", "cetona"], []),
        ("bodyFatPercentage", ["body fat", "körperfett", "graisse", "grasa", "lichaamsvet"], ["fat"]),
        ("boneMass", ["bone", "knochen", "masse osseuse", "masa ósea", "botmassa"], []),
        ("bodyMass", ["weight", "gewicht", "poids"], ["peso"]),
        ("oxygenSaturation", ["spo2", "oxygen", "sauerstoff", "oxygène", "oxígeno", "zuurstof"], []),
        ("bodyTemperature", ["temperatur", "température"], ["temp"]),
        ("stepCount", ["steps", "step count", "stepcount", "schritte", "pasos", "stappen"], ["pas"]),
    ]
}

import HealthModel

/// The lists of a post of HC Webhook and the codes in them.
///
/// Sources: docs/webhook.md and HealthConnectManager.kt of mcnaveen/health-connect-webhook (ed6d706), and the constants of
/// androidx.health.connect.client: `SleepSessionRecord` and `ExerciseSessionRecord`.
enum HealthConnectNames {
    /// The values of a record.
    struct Shape {
        var values: [(member: String, type: SampleType, unit: Unit)]
        /// Whether a record covers a time, from `start_time` to `end_time`.
        var lasts = false
        /// Whether the values belong together, such as two pressures.
        var isGroup = false
        /// Whether a record is sent again with a later end while it grows, or with another value.
        var grows = false
    }

    /// The shape of the records in a list, or `nil` if the list is unknown or read otherwise.
    static func shape(of list: String) -> Shape? { shapes[list] }

    private static let shapes: [String: Shape] = {
        func values(_ rows: [(String, String, String)]) -> [(member: String, type: SampleType, unit: Unit)] {
            rows.compactMap { member, id, code in
                guard let type = SampleType(known: id), let unit = try? Unit(ucum: code) else {
                    preconditionFailure("\(id) has no type or \(code) is no unit")
                }
                return (member, type, unit)
            }
        }
        func moment(_ member: String, _ id: String, _ code: String) -> Shape { Shape(values: values([(member, id, code)])) }
        func energy(_ id: String) -> Shape {
            Shape(values: values([("calories", id, "kcal")]), lasts: true, grows: true)
        }
        return [
            "weight": moment("kilograms", "bodyMass", "kg"), "lean_body_mass": moment("kilograms", "leanBodyMass", "kg"),
            "bone_mass": moment("kilograms", "boneMass", "kg"), "body_water_mass": moment("kilograms", "bodyWaterMass", "kg"),
            "height": moment("meters", "height", "m"), "body_temperature": moment("celsius", "bodyTemperature", "Cel"),
            "basal_body_temperature": moment("celsius", "basalBodyTemperature", "Cel"),
            "body_fat": moment("percentage", "bodyFatPercentage", "%"),
            "oxygen_saturation": moment("percentage", "oxygenSaturation", "%"), "heart_rate": moment("bpm", "heartRate", "/min"),
            "resting_heart_rate": moment("bpm", "restingHeartRate", "/min"),
            "blood_glucose": moment("mmol_per_liter", "bloodGlucose", "mmol/L"),
            "respiratory_rate": moment("rate", "respiratoryRate", "/min"),
            "vo2_max": moment("ml_per_kg_per_min", "vo2Max", "mL/kg/min"),
            "basal_metabolic_rate": moment("watts", "basalMetabolicRate", "W"),
            "blood_pressure": Shape(
                values: values([
                    ("systolic", "bloodPressureSystolic", "mm[Hg]"), ("diastolic", "bloodPressureDiastolic", "mm[Hg]"),
                ]), isGroup: true),
            "active_calories": energy("activeEnergyBurned"), "total_calories": energy("totalEnergyBurned"),
            "hydration": Shape(values: values([("liters", "dietaryWater", "L")]), lasts: true),
            "nutrition": Shape(
                values: values([
                    ("calories", "dietaryEnergyConsumed", "kcal"), ("protein_grams", "dietaryProtein", "g"),
                    ("carbs_grams", "dietaryCarbohydrates", "g"), ("fat_grams", "dietaryFatTotal", "g"),
                    ("sugar_grams", "dietarySugar", "g"), ("sodium_grams", "dietarySodium", "g"),
                    ("dietary_fiber_grams", "dietaryFiber", "g"),
                ]), lasts: true),
        ]
    }()

    /// Lists whose records are counted and not stored, with their names in the ledger.
    static let skipped = [
        "distance": "distance of any activity", "heart_rate_variability": "heart rate variability as RMSSD",
        "skin_temperature": "skin temperature difference",
    ]

    static let sampleTypes: [SampleType] = {
        let others = ["stepCount", "sleepAnalysis", "mindfulSession", "workout"].compactMap { SampleType(known: $0) }
        return Set(shapes.values.flatMap { $0.values.map(\.type) }).union(others).sorted { $0.id < $1.id }
    }()

    /// The cases of sleep by `SleepSessionRecord.STAGE_TYPE_…`. The others are unknown (0) and out of bed (3).
    static let stages = [
        "1": "awake", "2": "asleepUnspecified", "4": "asleepCore", "5": "asleepDeep", "6": "asleepREM", "7": "awake",
    ]

    /// HealthKit's activities by `ExerciseSessionRecord.EXERCISE_TYPE_…`.
    static let activities = [
        "0": "other", "2": "badminton", "4": "baseball", "5": "basketball", "8": "cycling", "9": "cycling", "10": "mixedCardio",
        "11": "boxing", "13": "functionalStrengthTraining", "14": "cricket", "16": "socialDance", "25": "elliptical",
        "26": "other",
        "27": "fencing", "28": "americanFootball", "29": "australianFootball", "31": "discSports", "32": "golf",
        "33": "mindAndBody", "34": "gymnastics", "35": "handball", "36": "highIntensityIntervalTraining", "37": "hiking",
        "38": "hockey", "39": "skatingSports", "44": "martialArts", "46": "paddleSports", "47": "other", "48": "pilates",
        "50": "racquetball", "51": "climbing", "52": "hockey", "53": "rowing", "54": "rowing", "55": "rugby", "56": "running",
        "57": "running", "58": "sailing", "59": "underwaterDiving", "60": "skatingSports", "61": "snowSports",
        "62": "snowboarding", "63": "snowSports", "64": "soccer", "65": "softball", "66": "squash", "68": "stairs",
        "69": "stairClimbing", "70": "traditionalStrengthTraining", "71": "flexibility", "72": "surfingSports", "73": "swimming",
        "74": "swimming", "75": "tableTennis", "76": "tennis", "78": "volleyball", "79": "walking", "80": "waterPolo",
        "81": "traditionalStrengthTraining", "82": "wheelchairWalkPace", "83": "yoga",
    ]
}

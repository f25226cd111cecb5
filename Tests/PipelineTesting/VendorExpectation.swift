import FoundationEssentials

/// The result of independent readers for a vendor's file, from `<file>.expected.json`.
public struct VendorExpectation: Decodable, Sendable {
    /// A reading. Its value and unit are the file's, its times are those of the wall.
    public struct Sample: Decodable, Sendable {
        /// The number of its row or record.
        public var row: Int
        public var code: String
        public var value: Double
        public var unit: String
        public var time: String
        public var endTime: String?
        public var offset: String?
        public var ambiguous: Bool?
        public var method: String?
        public var comparator: String?
        public var confidence: Int?
        public var source: String?
        public var motionContext: String?
        public var meal: String?
        public var userEntered: Bool?
        public var panel: String?

        /// The type's name in HealthKit's terms. `nil` for an unknown code.
        public var type: String? { VendorExpectation.types[code] }
        /// How glucose was measured, as metadata has it.
        public var glucoseMethod: String? { code == "glucose" ? method.map { VendorExpectation.methods[$0] ?? $0 } : nil }
        /// The metadata key of a value at the limit of the device's range.
        public var clampedTo: String? {
            comparator.map { $0 == "<" ? "quantityClampedToLowerBound" : "quantityClampedToUpperBound" }
        }
    }

    /// A row without a reading.
    public struct Skip: Decodable, Sendable {
        public var row: Int
        public var reason: String
    }

    private struct Assumption: Decodable, Sendable { var timezone: String? }

    public var format: String
    public var samples: [Sample]
    public var skipped: [Skip]
    private var assume: Assumption?

    /// Of the file at a path.
    public init(of path: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: try Data(contentsOf: URL(filePath: path + ".expected.json")))
    }

    /// The zone that local times of the file were read in.
    public var zone: String { assume?.timezone ?? "Europe/Berlin" }

    private static let types = [
        "weight": "bodyMass", "body_fat": "bodyFatPercentage", "muscle_percentage": "musclePercentage",
        "body_water_percentage": "bodyWaterPercentage", "heart_rate": "heartRate", "fat_mass": "bodyFatMass",
        "bone_mass": "boneMass", "muscle_mass": "muscleMass", "body_water_mass": "bodyWaterMass",
        "systolic": "bloodPressureSystolic", "diastolic": "bloodPressureDiastolic", "glucose": "bloodGlucose",
        "ketone": "bloodKetone", "heart_rate_average": "heartRateAverage", "heart_rate_maximum": "heartRateMaximum",
        "energy": "totalEnergyBurned", "resting_heart_rate": "restingHeartRate", "respiratory_rate": "respiratoryRate",
        "body_temperature": "bodyTemperature", "spo2": "oxygenSaturation", "steps": "stepCount",
        "active_energy": "activeEnergyBurned", "height": "height", "hrv_sdnn": "heartRateVariabilitySDNN",
        "distance": "distanceWalkingRunning", "vo2max": "vo2Max", "water_intake": "dietaryWater", "bmi": "bodyMassIndex",
    ]

    private static let methods = ["sensor_historic": "sensorHistoric", "sensor_scan": "sensorScan"]
}

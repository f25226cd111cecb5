import FoundationEssentials

/// The result of independent readers for a vendor's file, from `<file>.expected.json`.
package struct VendorExpectation: Decodable, Sendable {
    /// A reading. Its value and unit are the file's, its times are those of the wall.
    package struct Sample: Decodable, Sendable {
        /// The number of its row or record.
        package var row: Int
        package var code: String
        package var value: Double
        package var unit: String
        package var time: String
        package var endTime: String?
        package var offset: String?
        package var ambiguous: Bool?
        package var method: String?
        package var comparator: String?
        package var confidence: Int?
        package var source: String?
        package var motionContext: String?
        package var meal: String?
        package var userEntered: Bool?
        package var panel: String?

        /// The type's name in HealthKit's terms. `nil` for an unknown code.
        package var type: String? { VendorExpectation.types[code] }
        /// How glucose was measured, as metadata has it.
        package var glucoseMethod: String? { code == "glucose" ? method.map { VendorExpectation.methods[$0] ?? $0 } : nil }
        /// The metadata key of a value at the limit of the device's range.
        package var clampedTo: String? {
            comparator.map { $0 == "<" ? "quantityClampedToLowerBound" : "quantityClampedToUpperBound" }
        }
    }

    /// A row without a reading.
    package struct Skip: Decodable, Sendable {
        package var row: Int
        package var reason: String
    }

    private struct Assumption: Decodable, Sendable { var timezone: String? }

    package var format: String
    package var samples: [Sample]
    package var skipped: [Skip]
    private var assume: Assumption?

    /// Of the file at a path.
    package init(of path: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: try Data(contentsOf: URL(filePath: path + ".expected.json")))
    }

    /// The zone that local times of the file were read in.
    package var zone: String { assume?.timezone ?? "Europe/Berlin" }

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

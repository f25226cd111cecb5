import CommandLineKit
import HealthModel

/// Suggestions for unknown type names.
enum TypeSuggestion {
    /// The id of the type that the user probably meant.
    static func nearest(to text: String) -> String? {
        let word = plain(text)
        guard !word.isEmpty else { return nil }
        if let id = spoken[word] { return id }
        let types = SampleType.all
        if let type = types.first(where: { plain($0.id) == word || plain($0.displayName) == word }) { return type.id }
        if let type = types.first(where: { plain($0.id).hasPrefix(word) }) { return type.id }
        let ids = Dictionary(types.map { (plain($0.id), $0.id) }, uniquingKeysWith: { first, _ in first })
        return Suggestion.nearest(to: word, among: types.map { plain($0.id) }).flatMap { ids[$0] }
    }

    /// The letters and digits only: `heart_rate`, `Heart Rate` and `heartRate` are equal.
    private static func plain(_ text: String) -> String { text.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// Common names of types.
    private static let spoken = [
        "weight": "bodyMass", "mass": "bodyMass", "steps": "stepCount", "step": "stepCount", "pulse": "heartRate",
        "bpm": "heartRate",
        "hr": "heartRate", "temperature": "bodyTemperature", "temp": "bodyTemperature", "fever": "bodyTemperature",
        "glucose": "bloodGlucose", "sugar": "bloodGlucose", "bloodsugar": "bloodGlucose", "spo2": "oxygenSaturation",
        "oxygen": "oxygenSaturation", "saturation": "oxygenSaturation", "bloodpressure": "bloodPressureSystolic",
        "pressure": "bloodPressureSystolic", "systolic": "bloodPressureSystolic", "diastolic": "bloodPressureDiastolic",
        "bmi": "bodyMassIndex", "fat": "bodyFatPercentage", "bodyfat": "bodyFatPercentage", "energy": "activeEnergyBurned",
        "calories": "activeEnergyBurned", "distance": "distanceWalkingRunning", "hrv": "heartRateVariabilitySDNN",
        "breathing": "respiratoryRate", "respiration": "respiratoryRate", "stairs": "flightsClimbed", "floors": "flightsClimbed",
        "water": "dietaryWater", "sleep": "sleepAnalysis", "period": "menstrualFlow", "mindfulness": "mindfulSession",
        "meditation": "mindfulSession", "cough": "coughing",
    ]
}

import HealthModel
import Testing

/// The names by which people call types.
@Suite struct TypeNamesTests {
    private func ids(_ name: String) -> [String] { SampleType.named(name).map(\.id) }

    @Test func everyIdAndDisplayNameIsOneType() {
        for type in SampleType.all {
            #expect(SampleType.named(type.id) == [type])
            #expect(SampleType.named(type.displayName) == [type], "\(type.displayName)")
            #expect(SampleType.named(type.displayName.uppercased()) == [type], "\(type.displayName)")
            if let identifier = type.healthKitIdentifier { #expect(SampleType.named(identifier) == [type]) }
        }
    }

    @Test(arguments: [
        ("weight", "bodyMass"), ("Weight", "bodyMass"), ("Blood Pressure", "bloodPressure"), ("steps", "stepCount"),
        ("heart rate", "heartRate"), ("heart_rate", "heartRate"), ("heartrate", "heartRate"), ("pulse", "heartRate"),
        ("bp", "bloodPressure"), ("systolic", "bloodPressureSystolic"), ("Blood Oxygen", "oxygenSaturation"),
        ("SpO2", "oxygenSaturation"),
        ("walking + running distance", "distanceWalkingRunning"), ("sleep", "sleepAnalysis"), ("fever", "fever"),
        ("water", "dietaryWater"), ("PM2.5", "particulateMatter2_5"), ("EKG", "electrocardiogram"),
    ])
    func aNameIsAType(name: String, id: String) { #expect(ids(name) == [id]) }

    /// A name that may be several types is never guessed.
    @Test func anAmbiguousNameHasCandidates() {
        #expect(ids("temperature").contains("bodyTemperature") && ids("temperature").contains("roomTemperature"))
        #expect(ids("energy").count == 4)
        #expect(ids("sugar") == ["bloodGlucose", "dietarySugar"])
        #expect(ids("fat").count == 3)
        #expect(ids("distance").count == 5)
    }

    /// Every short name leads to types of the catalogue: a misspelled id in the table would leave none.
    @Test func everyShortNameLeadsSomewhere() {
        for name in [
            "hr", "bpm", "resting pulse", "rhr", "hrv", "diastolic", "pressure", "oxygen", "saturation", "breathing",
            "respiration",
            "breathing rate", "glucose", "blood sugar", "ketones", "insulin", "alcohol", "temp", "body temp", "mass", "bmi",
            "body fat",
            "muscle", "bone", "waist", "step", "stairs", "floors", "flights", "calories", "active calories", "exercise",
            "workouts",
            "rings", "activity", "mindfulness", "meditation", "mood", "period", "menstruation", "cough", "ecg", "carbs",
            "humidity",
            "co2",
        ] {
            #expect(!ids(name).isEmpty, "\(name)")
        }
    }

    @Test(arguments: [
        "", " ", "-", "nosuch", "hartrate", "HKQuantityTypeIdentifierNone", String(repeating: "weight", count: 1000),
    ])
    func noType(name: String) { #expect(ids(name).isEmpty) }
}

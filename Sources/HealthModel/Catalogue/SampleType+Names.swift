extension SampleType {
    /// The types of the catalogue that a person may mean by a name: one, none for an unknown name, or several for an ambiguous one.
    ///
    ///     SampleType.named("Blood Pressure")  // [bloodPressure]
    ///     SampleType.named("steps")           // [stepCount]
    ///     SampleType.named("energy")          // four types
    ///
    /// A name is an id or HealthKit's identifier, which take precedence, or a display name or short name. Upper and lower case, spaces
    /// and punctuation are equal in display and short names.
    public static func named(_ name: some StringProtocol) -> [SampleType] {
        if let type = SampleType(known: name) { return [type] }
        // The longest name has 40 letters, and names come from outside.
        guard name.utf8.count <= 100 else { return [] }
        let word = plain(name)
        return word.isEmpty ? [] : TypeNames.table[word] ?? []
    }

    /// The only type with a name, or `nil` for an unknown or ambiguous one.
    public static func only(named name: some StringProtocol) -> SampleType? {
        let types = named(name)
        return types.count == 1 ? types[0] : nil
    }

    /// The type that a person means by a name in the configuration, on the command line, or in a table. Types that only this process has
    /// met have their ids.
    ///
    /// - Throws: ``TypeNameError`` for an unknown or ambiguous name.
    public init(anyName name: some StringProtocol) throws(TypeNameError) {
        if let type = SampleType(name) {
            self = type
            return
        }
        let types = Self.named(name)
        guard types.count == 1 else { throw TypeNameError(name: String(name), candidates: types) }
        self = types[0]
    }

    /// The letters and digits of a name in lower case: `heart_rate`, `Heart Rate` and `heartRate` are equal.
    public static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

/// A name that no type has, or several types.
public struct TypeNameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name as written.
    public let name: String
    /// The types with this name. None if it is unknown.
    public let candidates: [SampleType]

    public var description: String {
        candidates.isEmpty
            ? "unknown type '\(name)': run 'vitalgate types' for a list"
            : "'\(name)' means several types, expected one of \(candidates.map(\.id).joined(separator: ", "))"
    }
}

/// The names of types other than their ids.
private enum TypeNames {
    /// The types by plain name. Names that several types have are ambiguous.
    static let table: [String: [SampleType]] = {
        var table: [String: [SampleType]] = [:]
        for type in SampleType.all {
            for name in Set([SampleType.plain(type.id), SampleType.plain(type.displayName)]) {
                table[name, default: []].append(type)
            }
        }
        for line in short.split(separator: "\n") {
            let cells = line.split(separator: "|")
            let types = cells[1].split(separator: " ").compactMap { SampleType(known: $0) }
            for name in cells[0].split(separator: ",") { table[SampleType.plain(name)] = types }
        }
        return table
    }()

    /// Short names in common use. A name with several types is ambiguous.
    private static let short = """
        pulse, hr, bpm                         | heartRate
        resting pulse, rhr                     | restingHeartRate
        hrv                                    | heartRateVariabilitySDNN
        bp                                     | bloodPressure
        systolic                               | bloodPressureSystolic
        diastolic                              | bloodPressureDiastolic
        pressure                               | bloodPressure barometricPressure
        spo2, oxygen, saturation               | oxygenSaturation
        breathing, respiration, breathing rate | respiratoryRate
        glucose                                | bloodGlucose
        sugar                                  | bloodGlucose dietarySugar
        blood sugar                            | bloodGlucose
        ketones                                | bloodKetone
        insulin                                | insulinDelivery
        alcohol                                | bloodAlcoholContent numberOfAlcoholicBeverages
        temperature, temp                      | bodyTemperature basalBodyTemperature appleSleepingWristTemperature roomTemperature waterTemperature
        body temp                              | bodyTemperature
        mass                                   | bodyMass leanBodyMass bodyFatMass muscleMass boneMass bodyWaterMass
        bmi                                    | bodyMassIndex
        body fat                               | bodyFatPercentage
        fat                                    | bodyFatPercentage bodyFatMass dietaryFatTotal
        muscle                                 | muscleMass musclePercentage
        bone                                   | boneMass
        waist                                  | waistCircumference
        step                                   | stepCount
        stairs, floors, flights                | flightsClimbed
        energy, calories                       | activeEnergyBurned basalEnergyBurned totalEnergyBurned dietaryEnergyConsumed
        active calories                        | activeEnergyBurned
        distance                               | distanceWalkingRunning distanceCycling distanceSwimming distanceWheelchair distanceRowing
        exercise                               | appleExerciseTime workout
        workouts                               | workout
        rings, activity                        | activitySummary
        sleep                                  | sleepAnalysis
        mindfulness, meditation                | mindfulSession
        mood                                   | stateOfMind moodChanges
        period, menstruation                   | menstrualFlow
        cough                                  | coughing
        ecg, ekg                               | electrocardiogram
        carbs                                  | dietaryCarbohydrates
        humidity                               | relativeHumidity
        co2                                    | carbonDioxideConcentration
        """
}

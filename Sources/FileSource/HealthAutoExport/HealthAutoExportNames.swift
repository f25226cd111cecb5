import HealthModel

/// The names of metrics and units in exports of Health Auto Export.
///
/// Sources: the maker's help pages and wiki, and nine public receivers. A metric's name has changed with versions of the app.
enum HealthAutoExportNames {
    /// The kind of the points of a metric.
    enum Shape: Hashable {
        case quantity(SampleType)
        /// Minimum, average and maximum.
        case heartRate
        case bloodPressure
        case sleep
        /// Events of a category type, with their duration.
        case event(String)
        /// Numbers of events, which no type of sample contains.
        case counts
    }

    /// The shape of a metric, or `nil` if the name is unknown.
    static func shape(of metric: String) -> Shape? {
        if let shape = special[metric] { return shape }
        if let type = types[metric] { return .quantity(type) }
        // New names are those of HealthKit's types in other letters. The unit is checked against the type.
        guard let type = SampleType(known: camelCase(metric)), type.kind == .quantity else { return nil }
        return .quantity(type)
    }

    /// The unit that a word means for a type, or `nil` if the word is unknown.
    static func unit(_ word: String, of type: SampleType) -> Unit? {
        // The app counts what HealthKit has no unit for.
        if word == "count", type.id == "bodyMassIndex" { return squareIndex }
        return units[String(word.map { $0 == "\u{A0}" ? " " : $0 })]
    }

    private static let squareIndex = try? Unit(ucum: "kg/m2")

    private static func camelCase(_ metric: String) -> String {
        let words = metric.split(separator: "_")
        return words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
    }

    private static let special: [String: Shape] = [
        "heart_rate": .heartRate, "blood_pressure": .bloodPressure, "sleep_analysis": .sleep,
        "mindful_minutes": .event("mindfulSession"), "handwashing": .event("handwashingEvent"),
        "toothbrushing": .event("toothbrushingEvent"), "sexual_activity": .counts, "apple_stand_hour": .counts,
        "high_heart_rate_notifications": .counts, "low_heart_rate_notifications": .counts,
        "irregular_heart_rate_notifications": .counts,
    ]

    static let sampleTypes: [SampleType] = {
        let others = [
            "heartRate", "heartRateAverage", "heartRateMinimum", "heartRateMaximum", "bloodPressureSystolic",
            "bloodPressureDiastolic",
            "sleepAnalysis", "mindfulSession", "handwashingEvent", "toothbrushingEvent", "workout", "workoutRoute",
        ]
        return Set(types.values).union(others.compactMap { SampleType(known: $0) }).sorted { $0.id < $1.id }
    }()

    private static let types: [String: SampleType] = {
        var types: [String: SampleType] = [:]
        for line in metrics.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "|" }
            guard let type = words.first.flatMap({ SampleType(known: $0) }) else { continue }
            for name in words.dropFirst() { types[String(name)] = type }
        }
        return types
    }()

    /// A type, the usual name, and names of other versions.
    private static let metrics = """
        activeEnergyBurned                 | active_energy active_energy_burned
        basalEnergyBurned                  | basal_energy_burned resting_energy
        appleExerciseTime                  | apple_exercise_time
        appleMoveTime                      | apple_move_time
        appleStandTime                     | apple_stand_time
        stepCount                          | step_count
        distanceWalkingRunning             | walking_running_distance distance_walking_running
        distanceCycling                    | cycling_distance
        distanceSwimming                   | swimming_distance
        swimmingStrokeCount                | swimming_stroke_count swim_stroke_count
        distanceDownhillSnowSports         | distance_downhill_snow_sports downhill_snow_sports
        distanceWheelchair                 | wheelchair_distance
        pushCount                          | push_count wheelchair_push_count
        flightsClimbed                     | flights_climbed
        physicalEffort                     | physical_effort
        vo2Max                             | vo2_max vo2max
        cyclingCadence                     | cycling_cadence
        cyclingPower                       | cycling_power
        cyclingSpeed                       | cycling_speed
        cyclingFunctionalThresholdPower    | cycling_functional_threshold_power
        runningPower                       | running_power
        runningSpeed                       | running_speed
        runningGroundContactTime           | running_ground_contact_time
        runningStrideLength                | running_stride_length
        runningVerticalOscillation         | running_vertical_oscillation
        underwaterDepth                    | underwater_depth under_water_depth
        waterTemperature                   | underwater_temperature under_water_temperature
        bodyMass                           | weight_body_mass weight_&_body_mass
        height                             | height
        bodyMassIndex                      | body_mass_index
        bodyFatPercentage                  | body_fat_percentage
        leanBodyMass                       | lean_body_mass
        waistCircumference                 | waist_circumference
        restingHeartRate                   | resting_heart_rate
        walkingHeartRateAverage            | walking_heart_rate_average walking_heart_rate
        heartRateVariabilitySDNN           | heart_rate_variability heart_rate_variability_sdnn
        heartRateRecoveryOneMinute         | cardio_recovery heart_rate_recovery_one_minute
        atrialFibrillationBurden           | atrial_fibrillation_burden
        oxygenSaturation                   | blood_oxygen_saturation oxygen_saturation
        respiratoryRate                    | respiratory_rate
        bodyTemperature                    | body_temperature
        basalBodyTemperature               | basal_body_temperature
        appleSleepingWristTemperature      | apple_sleeping_wrist_temperature
        peripheralPerfusionIndex           | peripheral_perfusion_index
        forcedExpiratoryVolume1            | forced_expiratory_volume_1 forced_expiratory_volume
        forcedVitalCapacity                | forced_vital_capacity
        peakExpiratoryFlowRate             | peak_expiratory_flow_rate
        inhalerUsage                       | inhaler_usage
        appleSleepingBreathingDisturbances | breathing_disturbances
        bloodGlucose                       | blood_glucose
        insulinDelivery                    | insulin_delivery
        bloodAlcoholContent                | blood_alcohol_content
        numberOfAlcoholicBeverages         | alcohol_consumption number_of_alcoholic_beverages
        numberOfTimesFallen                | number_of_times_fallen number_of_time_fallen
        electrodermalActivity              | electrodermal_activity
        uvExposure                         | uv_exposure
        timeInDaylight                     | time_in_daylight
        environmentalAudioExposure         | environmental_audio_exposure environmental_audio
        headphoneAudioExposure             | headphone_audio_exposure headphone_audio
        walkingSpeed                       | walking_speed
        walkingStepLength                  | walking_step_length
        walkingAsymmetryPercentage         | walking_asymmetry_percentage
        walkingDoubleSupportPercentage     | walking_double_support_percentage
        sixMinuteWalkTestDistance          | six_minute_walking_test_distance six-minute_walking_test_distance
        stairAscentSpeed                   | stair_speed_up stair_speed:_up
        stairDescentSpeed                  | stair_speed_down stair_speed:_down
        dietaryEnergyConsumed              | dietary_energy
        dietaryWater                       | dietary_water
        dietarySugar                       | dietary_sugar
        dietaryCarbohydrates               | carbohydrates
        dietaryProtein                     | protein
        dietaryFiber                       | fiber
        dietaryFatTotal                    | total_fat
        dietaryFatSaturated                | saturated_fat
        dietaryFatMonounsaturated          | monounsaturated_fat monosaturated_fat
        dietaryFatPolyunsaturated          | polyunsaturated_fat
        dietaryCholesterol                 | cholesterol dietary_cholesterol
        dietaryCaffeine                    | caffeine dietary_caffeine
        dietaryBiotin                      | dietary_biotin biotin
        dietaryCalcium                     | calcium
        dietaryChloride                    | chloride
        dietaryChromium                    | chromium
        dietaryCopper                      | copper
        dietaryFolate                      | folate
        dietaryIodine                      | iodine
        dietaryIron                        | iron
        dietaryMagnesium                   | magnesium
        dietaryManganese                   | manganese
        dietaryMolybdenum                  | molybdenum
        dietaryNiacin                      | niacin
        dietaryPantothenicAcid             | pantothenic_acid
        dietaryPhosphorus                  | phosphorus
        dietaryPotassium                   | potassium
        dietaryRiboflavin                  | riboflavin
        dietarySelenium                    | selenium
        dietarySodium                      | sodium
        dietaryThiamin                     | thiamin
        dietaryVitaminA                    | vitamin_a
        dietaryVitaminB6                   | vitamin_b6
        dietaryVitaminB12                  | vitamin_b12
        dietaryVitaminC                    | vitamin_c
        dietaryVitaminD                    | vitamin_d
        dietaryVitaminE                    | vitamin_e
        dietaryVitaminK                    | vitamin_k
        dietaryZinc                        | zinc
        """

    private static let units: [String: Unit] = {
        var units: [String: Unit] = [:]
        for line in unitWords.split(separator: "\n") {
            let parts = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
            guard parts.count == 2, let unit = try? Unit(ucum: parts[0]) else { continue }
            for word in parts[1].split(separator: ",") { units[word.split(separator: " ").joined(separator: " ")] = unit }
        }
        return units
    }()

    /// A UCUM code, and the words for it. `%` is already 97 for 97 %.
    private static let unitWords = """
        1           | count, steps, times, falls
        /min        | count/min, bpm, spm
        kJ          | kJ
        kcal        | kcal
        km          | km
        [mi_i]      | mi
        m           | m
        [ft_i]      | ft
        [yd_i]      | yd
        cm          | cm
        [in_i]      | in
        km/h        | km/hr, kmph
        [mi_i]/h    | mi/hr, mph
        m/s         | m/s
        [ft_i]/s    | ft/s
        kg          | kg
        [lb_av]     | lb
        g           | g
        mg          | mg
        ug          | mcg
        Cel         | degC, °C, ºC
        [degF]      | degF, °F, ºF
        %           | %
        dB[SPL]     | dBASPL
        ms          | ms
        s           | s
        min         | min
        h           | hr
        mm[Hg]      | mmHg
        mg/dL       | mg/dL
        mmol/L      | mmol/L
        [iU]        | IU
        mL/(kg.min) | ml/(kg·min)
        kcal/(h.kg) | kcal/hr·kg, MET
        W           | W, watts
        mL          | mL
        [foz_us]    | fl_oz_us, fl. oz.
        L           | L
        L/min       | L/min
        S           | S
        """
}

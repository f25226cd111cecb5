import HealthModel

/// The groups of types in Apple's Health app, in the order of the page.
///
///     HealthGroup(of: .bodyMass)  // .body
package enum HealthGroup: String, CaseIterable, Sendable {
    /// Movement, the energy that it uses, and workouts.
    case activity
    /// The pulse and its rhythm.
    case heart
    /// Size, mass, and composition of the body.
    case body
    /// Nights and breathing during sleep.
    case sleep
    /// Blood pressure, temperature, glucose, and breathing.
    case vitals
    case nutrition
    /// Everything else.
    case other

    package init(of type: SampleType) {
        self = Self.ranks[type.id]?.group ?? (type.id.hasPrefix("dietary") ? .nutrition : .other)
    }

    /// Whether a type is shown before another one of the same group. Types without a rank are sorted by id.
    package static func precedes(_ one: SampleType, _ other: SampleType) -> Bool {
        (ranks[one.id]?.rank ?? .max, one.id) < (ranks[other.id]?.rank ?? .max, other.id)
    }

    private static let ranks: [String: (group: HealthGroup, rank: Int)] = {
        var ranks: [String: (group: HealthGroup, rank: Int)] = [:]
        for group in allCases {
            for (rank, id) in group.members.split(separator: " ").enumerated() { ranks[String(id)] = (group, rank) }
        }
        return ranks
    }()

    /// The ids of the group's types, the most frequently read first.
    private var members: String {
        switch self {
        case .activity:
            """
            stepCount distanceWalkingRunning activeEnergyBurned appleExerciseTime flightsClimbed workout distanceCycling \
            distanceSwimming pushCount distanceWheelchair appleStandTime appleStandHour appleMoveTime basalEnergyBurned \
            totalEnergyBurned swimmingStrokeCount physicalEffort workoutEffortScore estimatedWorkoutEffortScore nikeFuel \
            distanceRowing distancePaddleSports distanceSkatingSports distanceCrossCountrySkiing distanceDownhillSnowSports \
            runningSpeed runningPower runningStrideLength runningVerticalOscillation runningGroundContactTime cyclingSpeed \
            cyclingPower cyclingCadence cyclingFunctionalThresholdPower rowingSpeed paddleSportsSpeed crossCountrySkiingSpeed \
            walkingSpeed walkingStepLength walkingAsymmetryPercentage walkingDoubleSupportPercentage appleWalkingSteadiness \
            sixMinuteWalkTestDistance stairAscentSpeed stairDescentSpeed workoutRoute underwaterDepth
            """
        case .heart:
            """
            heartRate restingHeartRate walkingHeartRateAverage heartRateVariabilitySDNN heartRateRecoveryOneMinute vo2Max \
            electrocardiogram atrialFibrillationBurden heartRateAverage heartRateMinimum heartRateMaximum heartbeatInterval heartbeatSeries \
            pulseAmplitudeIndex highHeartRateEvent lowHeartRateEvent irregularHeartRhythmEvent lowCardioFitnessEvent \
            hypertensionEvent
            """
        case .body:
            """
            bodyMass bodyMassIndex bodyFatPercentage bodyFatMass leanBodyMass fatFreeMass muscleMass musclePercentage \
            softLeanMass boneMass bodyWaterMass bodyWaterPercentage waistCircumference height basalMetabolicRate bodyImpedance \
            appleSleepingWristTemperature
            """
        case .sleep: "sleepAnalysis appleSleepingBreathingDisturbances sleepApneaEvent"
        case .vitals:
            """
            bloodPressure bloodPressureSystolic bloodPressureDiastolic bloodPressureMean bodyTemperature bloodGlucose \
            bloodKetone oxygenSaturation respiratoryRate basalBodyTemperature peripheralPerfusionIndex peakExpiratoryFlowRate \
            forcedExpiratoryVolume1 forcedVitalCapacity insulinDelivery intermediateCuffPressure
            """
        case .nutrition: "dietaryEnergyConsumed dietaryWater dietaryCarbohydrates dietaryProtein dietaryFatTotal food"
        case .other: ""
        }
    }
}

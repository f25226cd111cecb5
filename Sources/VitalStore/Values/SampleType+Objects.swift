import HealthModel

extension SampleType {
    /// Workouts (`HKWorkoutType`).
    public static let workout = of("workout")
    /// Where workouts went (`HKSeriesType.workoutRoute()`).
    public static let workoutRoute = of("workoutRoute")
    /// When hearts beat (`HKSeriesType.heartbeat()`).
    public static let heartbeatSeries = of("heartbeatSeries")
    /// Electrocardiograms (`HKElectrocardiogramType`).
    public static let electrocardiogram = of("electrocardiogram")
    /// Two pressures of one measurement (`HKCorrelationTypeIdentifier.bloodPressure`).
    public static let bloodPressure = of("bloodPressure")
    /// Days' rings (`HKActivitySummaryType`).
    public static let activitySummary = of("activitySummary")
    /// Documents of health records (`HKDocumentTypeIdentifier.CDA`).
    public static let clinicalDocument = of("cda")
    /// Doses of medications (`HKMedicationDoseEventType`).
    public static let medicationDoseEvent = of("medicationDoseEvent")
    /// How far somebody walked or ran, in m.
    public static let distanceWalkingRunning = of("distanceWalkingRunning")
    /// Energy spent beyond what a body at rest spends, in kcal.
    public static let activeEnergyBurned = of("activeEnergyBurned")

    /// A type that a test has found in the catalogue.
    private static func of(_ id: String) -> SampleType {
        guard let type = SampleType(id) else { preconditionFailure("the catalogue has no \(id)") }
        return type
    }
}

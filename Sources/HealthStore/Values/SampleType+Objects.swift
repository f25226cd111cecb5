import HealthModel

extension SampleType {
    /// Workouts (`HKWorkoutType`).
    public static let workout = of("workout")
    /// Routes of workouts (`HKSeriesType.workoutRoute()`).
    public static let workoutRoute = of("workoutRoute")
    /// Series of heartbeats (`HKSeriesType.heartbeat()`).
    public static let heartbeatSeries = of("heartbeatSeries")
    /// Electrocardiograms (`HKElectrocardiogramType`).
    public static let electrocardiogram = of("electrocardiogram")
    /// Systolic and diastolic pressure of one measurement (`HKCorrelationTypeIdentifier.bloodPressure`).
    public static let bloodPressure = of("bloodPressure")
    /// Daily activity rings (`HKActivitySummaryType`).
    public static let activitySummary = of("activitySummary")
    /// Documents of health records (`HKDocumentTypeIdentifier.CDA`).
    public static let clinicalDocument = of("cda")
    /// Doses of medications (`HKMedicationDoseEventType`).
    public static let medicationDoseEvent = of("medicationDoseEvent")
    /// The distance walked or run, in m.
    public static let distanceWalkingRunning = of("distanceWalkingRunning")
    /// The energy burned beyond the resting energy, in kcal.
    public static let activeEnergyBurned = of("activeEnergyBurned")

    /// Returns a type of the catalogue. A test checks that these exist.
    private static func of(_ id: String) -> SampleType {
        guard let type = SampleType(id) else { preconditionFailure("the catalogue has no \(id)") }
        return type
    }
}

/// The kind of a sample, by HealthKit's classes. Stores keep the numbers, so they never change.
///
/// A store with a kind that this version does not know was made by a newer version.
public enum SampleKind: Int64, Hashable, Sendable, CaseIterable {
    /// A number with a unit (HealthKit's `HKQuantitySample`).
    case quantity = 0
    /// One of a list of values (`HKCategorySample`).
    case category = 1
    /// Samples that belong together (`HKCorrelation`), as listed in its ``SampleBody``.
    case correlation = 2
    /// An activity from a start to an end (`HKWorkout`).
    case workout = 3
    /// The rings of a calendar day (`HKActivitySummary`).
    case activitySummary = 4
    /// Where a workout went (`HKWorkoutRoute`).
    case workoutRoute = 5
    /// When a heart beat (`HKHeartbeatSeriesSample`).
    case heartbeatSeries = 6
    /// Voltages of a heart (`HKElectrocardiogram`).
    case electrocardiogram = 7
    /// How well ears hear (`HKAudiogramSample`).
    case audiogram = 8
    /// Glasses or contact lenses (`HKVisionPrescription`).
    case visionPrescription = 9
    /// A state of mind (`HKStateOfMind`).
    case stateOfMind = 10
    /// A dose of a medication, taken or not (`HKMedicationDoseEvent`).
    case medicationDoseEvent = 11
    /// The score of a questionnaire (`HKScoredAssessment`).
    case scoredAssessment = 12
    /// A FHIR resource from a health record (`HKClinicalRecord`).
    case clinicalRecord = 13
    /// A document of a health record (`HKDocumentSample`).
    case document = 14

    /// The name in a sample's line.
    public var name: String { "\(self)" }

    /// The kind of this name.
    public init?(named name: some StringProtocol) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

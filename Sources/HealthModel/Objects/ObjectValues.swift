/// HealthKit's lists of values in objects: raw numbers with their names.
///
///     ObjectValues.stateOfMindLabel.name(of: 7)                       // "calm"
///     ObjectValues.biologicalSex.value(of: "HKBiologicalSexFemale")   // 1
public enum ObjectValues {
    /// `HKElectrocardiogramClassification`.
    public static let electrocardiogramClassification = list("HKElectrocardiogramClassification")
    /// `HKElectrocardiogramSymptomsStatus`.
    public static let symptomsStatus = list("HKElectrocardiogramSymptomsStatus")
    /// `HKVisionPrescriptionType`.
    public static let visionPrescriptionType = list("HKVisionPrescriptionType")
    /// `HKStateOfMindKind`.
    public static let stateOfMindKind = list("HKStateOfMindKind")
    /// `HKStateOfMindLabel`.
    public static let stateOfMindLabel = list("HKStateOfMindLabel")
    /// `HKStateOfMindAssociation`.
    public static let stateOfMindAssociation = list("HKStateOfMindAssociation")
    /// `HKStateOfMindValenceClassification`.
    public static let valenceClassification = list("HKStateOfMindValenceClassification")
    /// `HKMedicationDoseEventLogStatus`.
    public static let medicationLogStatus = list("HKMedicationDoseEventLogStatus")
    /// `HKMedicationDoseEventScheduleType`.
    public static let medicationScheduleType = list("HKMedicationDoseEventScheduleType")
    /// `HKGAD7AssessmentAnswer`.
    public static let gad7Answer = list("HKGAD7AssessmentAnswer")
    /// `HKGAD7AssessmentRisk`.
    public static let gad7Risk = list("HKGAD7AssessmentRisk")
    /// `HKPHQ9AssessmentAnswer`.
    public static let phq9Answer = list("HKPHQ9AssessmentAnswer")
    /// `HKPHQ9AssessmentRisk`.
    public static let phq9Risk = list("HKPHQ9AssessmentRisk")
    /// `HKBiologicalSex`.
    public static let biologicalSex = list("HKBiologicalSex")
    /// `HKBloodType`.
    public static let bloodType = list("HKBloodType")
    /// `HKFitzpatrickSkinType`.
    public static let fitzpatrickSkinType = list("HKFitzpatrickSkinType")
    /// `HKWheelchairUse`.
    public static let wheelchairUse = list("HKWheelchairUse")
    /// `HKActivityMoveMode`.
    public static let activityMoveMode = list("HKActivityMoveMode")

    /// A list by HealthKit's name.
    static func list(_ name: String) -> CategoryValues {
        CategoryValues([("", Catalogue.numbered(Catalogue.objectValues[name] ?? ""))], prefix: name)
    }
}

import Testing

@testable import HealthModel

/// The lists and identifiers of objects match the facts, row by row.
@Suite struct ObjectValuesTests {
    private static let lists: [String: CategoryValues] = [
        "HKElectrocardiogramClassification": ObjectValues.electrocardiogramClassification,
        "HKElectrocardiogramSymptomsStatus": ObjectValues.symptomsStatus,
        "HKVisionPrescriptionType": ObjectValues.visionPrescriptionType, "HKStateOfMindKind": ObjectValues.stateOfMindKind,
        "HKStateOfMindLabel": ObjectValues.stateOfMindLabel, "HKStateOfMindAssociation": ObjectValues.stateOfMindAssociation,
        "HKStateOfMindValenceClassification": ObjectValues.valenceClassification,
        "HKMedicationDoseEventLogStatus": ObjectValues.medicationLogStatus,
        "HKMedicationDoseEventScheduleType": ObjectValues.medicationScheduleType,
        "HKGAD7AssessmentAnswer": ObjectValues.gad7Answer, "HKGAD7AssessmentRisk": ObjectValues.gad7Risk,
        "HKPHQ9AssessmentAnswer": ObjectValues.phq9Answer, "HKPHQ9AssessmentRisk": ObjectValues.phq9Risk,
        "HKBiologicalSex": ObjectValues.biologicalSex, "HKBloodType": ObjectValues.bloodType,
        "HKFitzpatrickSkinType": ObjectValues.fitzpatrickSkinType, "HKWheelchairUse": ObjectValues.wheelchairUse,
        "HKActivityMoveMode": ObjectValues.activityMoveMode,
    ]

    @Test func listsMatchFacts() throws {
        var facts: [String: [Int: String]] = [:]
        for row in try TestFile.csv("Facts/other-enums.csv") + TestFile.csv("Facts/characteristics.csv") {
            guard let list = row["enum"] ?? row["value_enum"], let raw = row["raw"].flatMap({ Int($0) }) else { continue }
            facts[list, default: [:]][raw] = row["case_as_in_export_xml"]
        }
        #expect(Set(Catalogue.objectValues.keys) == Set(Self.lists.keys))
        for (name, values) in Self.lists {
            let reported = try #require(facts[name], "\(name)")
            #expect(values.cases.count == reported.count, "\(name)")
            for (raw, constant) in reported {
                #expect(values.constant(of: raw) == constant && values.value(of: constant) == raw, "\(constant)")
            }
        }
    }

    @Test func identifiersMatchFacts() throws {
        var named = Set(SampleType.all.compactMap(\.healthKitIdentifier))
        named.formUnion(CharacteristicType.allCases.map(\.healthKitIdentifier))
        for row in try TestFile.csv("Facts/other-type-identifiers.csv") {
            let identifier = try #require(row["identifier"])
            // Not a sample: a user's annotation of a medication.
            #expect(named.contains(identifier) || identifier == "HKDataTypeIdentifierUserAnnotatedMedicationConcept")
        }
        for row in try TestFile.csv("Facts/clinical-types.csv") {
            guard let identifier = row["identifier"], identifier.hasPrefix("HKClinicalType") else { continue }
            let type = try #require(SampleType(identifier))
            #expect(type.kind == .clinicalRecord && type.since == row["first_ios"].map { "iOS " + $0 })
        }
    }

    @Test func characteristics() {
        #expect(Characteristic(.biologicalSex, "HKBiologicalSexFemale")?.value == "female")
        #expect(Characteristic(.biologicalSex, "female")?.value == "female")
        #expect(Characteristic(.biologicalSex, "woman") == nil)
        #expect(Characteristic(.dateOfBirth, "1990-02-28")?.value == "1990-02-28")
        for text in ["1990-02-30", "", "1990-2-28", "28.02.1990", "1990-02-28T00:00:00Z"] {
            #expect(Characteristic(.dateOfBirth, text) == nil, "\(text)")
        }
    }
}

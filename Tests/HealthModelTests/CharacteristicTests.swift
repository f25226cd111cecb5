import HealthModel
import Testing

/// Characteristics as people write them.
@Suite struct CharacteristicTests {
    @Test(arguments: [
        ("bloodType", "A+", "aPositive"), ("bloodType", "ab-", "aBNegative"), ("bloodType", "0+", "oPositive"),
        ("bloodType", "O negative", "oNegative"), ("bloodType", "B pos", "bPositive"), ("bloodType", "aBPositive", "aBPositive"),
        ("bloodType", "HKBloodTypeABPositive", "aBPositive"), ("bloodType", "ABPOSITIVE", "aBPositive"),
        ("biologicalSex", "Female", "female"), ("biologicalSex", "f", "female"), ("biologicalSex", "m", "male"),
        ("biologicalSex", "HKBiologicalSexOther", "other"), ("fitzpatrickSkinType", "type II", "iI"),
        ("fitzpatrickSkinType", "IV", "iV"), ("fitzpatrickSkinType", "6", "vI"), ("fitzpatrickSkinType", "Type 1", "i"),
        ("fitzpatrickSkinType", "HKFitzpatrickSkinTypeIII", "iII"), ("wheelchairUse", "yes", "yes"), ("wheelchairUse", "N", "no"),
        ("wheelchairUse", "HKWheelchairUseYes", "yes"), ("activityMoveMode", "appleMoveTime", "appleMoveTime"),
        ("activityMoveMode", "energy", "activeEnergy"), ("dateOfBirth", "1990-01-31", "1990-01-31"),
        ("bloodType", "notSet", "notSet"),
    ])
    func readsWrittenValue(type: String, text: String, value: String) throws {
        let type = try #require(CharacteristicType(written: type))
        #expect(Characteristic(type, written: text)?.value == value)
    }

    @Test(arguments: [
        ("bloodType", "C+"), ("bloodType", "A"), ("bloodType", "+"), ("bloodType", "AB"), ("bloodType", ""), ("bloodType", "2"),
        ("biologicalSex", "fe"), ("fitzpatrickSkinType", "VII"), ("fitzpatrickSkinType", "type"), ("fitzpatrickSkinType", "0"),
        ("wheelchairUse", "maybe"), ("dateOfBirth", "31.01.1990"), ("dateOfBirth", "1990-02-30"), ("dateOfBirth", "90-01-31"),
        ("activityMoveMode", "steps"),
    ])
    func noneOfTheValues(type: String, text: String) throws {
        let type = try #require(CharacteristicType(written: type))
        #expect(Characteristic(type, written: text) == nil)
    }

    @Test func names() {
        #expect(CharacteristicType(written: "HKCharacteristicTypeIdentifierDateOfBirth") == .dateOfBirth)
        #expect(CharacteristicType(written: "blood type") == .bloodType)
        #expect(CharacteristicType(written: "shoe size") == nil)
        for type in CharacteristicType.allCases {
            #expect(CharacteristicType(written: type.rawValue) == type)
            // Whatever is shown can be written.
            for value in type.values?.cases ?? [] {
                let characteristic = Characteristic(type, value.name)
                #expect(characteristic.flatMap { Characteristic(type, written: $0.shown) } == characteristic)
            }
        }
    }
}

/// A property of a person that sensors do not measure (`HKCharacteristicType`). It has one value at a time and is not a sample.
public enum CharacteristicType: String, Hashable, Sendable, CaseIterable {
    /// A calendar date, `1990-01-31`.
    case dateOfBirth
    /// A value of ``ObjectValues/biologicalSex``.
    case biologicalSex
    /// A value of ``ObjectValues/bloodType``.
    case bloodType
    /// A value of ``ObjectValues/fitzpatrickSkinType``.
    case fitzpatrickSkinType
    /// A value of ``ObjectValues/wheelchairUse``.
    case wheelchairUse
    /// The unit of the move ring, from ``ObjectValues/activityMoveMode``.
    case activityMoveMode

    /// HealthKit's identifier, which is also the attribute of an export's `Me`.
    public var healthKitIdentifier: String { "HKCharacteristicTypeIdentifier" + rawValue.capitalised }

    /// The possible values, or `nil` for a date.
    public var values: CategoryValues? {
        switch self {
        case .dateOfBirth: nil
        case .biologicalSex: ObjectValues.biologicalSex
        case .bloodType: ObjectValues.bloodType
        case .fitzpatrickSkinType: ObjectValues.fitzpatrickSkinType
        case .wheelchairUse: ObjectValues.wheelchairUse
        case .activityMoveMode: ObjectValues.activityMoveMode
        }
    }
}

/// One characteristic of a person.
public struct Characteristic: Hashable, Sendable {
    /// The type of the characteristic.
    public var type: CharacteristicType
    /// A date, or a case name (`female`, `aPositive`). It is `notSet` if the source explicitly leaves it open.
    public var value: String

    /// Parses a value from its name, HealthKit's constant or a date. Returns `nil` if the type does not have it.
    public init?(_ type: CharacteristicType, _ text: some StringProtocol) {
        self.type = type
        guard let values = type.values else {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2], text.utf8.allSatisfy({ $0 == 0x2D || $0 &- 0x30 < 10 }),
                let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
                Calendar.isValid(year: year, month: month, day: day)
            else { return nil }
            value = String(text)
            return
        }
        guard let name = values.value(of: text).flatMap(values.name) else { return nil }
        value = name
    }
}

/// What is so of a person and is measured by no sensor (`HKCharacteristicType`): one value at a time, no sample.
public enum CharacteristicType: String, Hashable, Sendable, CaseIterable {
    /// A day of the calendar, `1990-01-31`.
    case dateOfBirth
    /// Of ``ObjectValues/biologicalSex``.
    case biologicalSex
    /// Of ``ObjectValues/bloodType``.
    case bloodType
    /// Of ``ObjectValues/fitzpatrickSkinType``.
    case fitzpatrickSkinType
    /// Of ``ObjectValues/wheelchairUse``.
    case wheelchairUse
    /// What the move ring counts, of ``ObjectValues/activityMoveMode``.
    case activityMoveMode

    /// HealthKit's identifier, which is also the attribute of an export's `Me`.
    public var healthKitIdentifier: String { "HKCharacteristicTypeIdentifier" + rawValue.capitalised }

    /// The values that it may have; `nil` for a date.
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
    /// Which.
    public var type: CharacteristicType
    /// A date, or the name of a case (`female`, `aPositive`); `notSet` where it says that it says nothing.
    public var value: String

    /// Reads a value by its name, HealthKit's constant, or as a date; `nil` where it is none of the type's.
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

extension CharacteristicType {
    /// Parses the type's name or HealthKit's identifier, case-insensitively. Returns `nil` for any other text.
    public init?(written text: some StringProtocol) {
        let word = Self.plain(text)
        guard
            let type = Self.allCases.first(where: {
                Self.plain($0.rawValue) == word || Self.plain($0.healthKitIdentifier) == word
            })
        else { return nil }
        self = type
    }

    /// The accepted values, as text for a message.
    public var expectation: String {
        switch self {
        case .dateOfBirth: "a past day, such as 1990-01-31"
        case .biologicalSex: "female, male or other"
        case .bloodType: "A+, A-, B+, B-, AB+, AB-, O+ or O-"
        case .fitzpatrickSkinType: "I, II, III, IV, V or VI"
        case .wheelchairUse: "yes or no"
        case .activityMoveMode: "activeEnergy or appleMoveTime"
        }
    }

    /// Keeps letters, digits and signs, in lowercase.
    fileprivate static func plain(_ text: some StringProtocol) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" }
    }
}

extension Characteristic {
    /// The value without information.
    public static let notSet = "notSet"

    /// Whether it has a value.
    public var isSet: Bool { value != Self.notSet }

    /// Parses a value as users write it: a name or HealthKit's constant in any case, `A+`, `0 negative`, `type II`, `f`, `yes`, a date.
    ///
    ///     Characteristic(.bloodType, written: "AB-")?.value              // "aBNegative"
    ///     Characteristic(.fitzpatrickSkinType, written: "type II")?.value  // "iI"
    public init?(_ type: CharacteristicType, written text: some StringProtocol) {
        if let exact = Characteristic(type, text) {
            self = exact
            return
        }
        let word = CharacteristicType.plain(text)
        let cases = type.values?.cases ?? []
        var found = cases.first { $0.name.lowercased() == word }?.name
        if found == nil {
            found = cases.first { type.values?.constant(of: $0.value).map(CharacteristicType.plain) == word }?.name
        }
        guard let name = found ?? Self.spoken(word, type) else { return nil }
        self.init(type, name)
    }

    private static func spoken(_ word: String, _ type: CharacteristicType) -> String? {
        switch type {
        case .dateOfBirth: return nil
        case .biologicalSex: return ["f": "female", "m": "male"][word]
        case .bloodType: return bloodType(word)
        case .fitzpatrickSkinType:
            let number = word.hasPrefix("type") ? word.dropFirst(4) : word[...]
            return ["i", "iI", "iII", "iV", "v", "vI"].first { $0.lowercased() == number }
                ?? ["1": "i", "2": "iI", "3": "iII", "4": "iV", "5": "v", "6": "vI"][number]
        case .wheelchairUse: return ["y": "yes", "true": "yes", "n": "no", "false": "no"][word]
        case .activityMoveMode:
            return ["energy": "activeEnergy", "kcal": "activeEnergy", "movetime": "appleMoveTime", "minutes": "appleMoveTime"][
                word]
        }
    }

    /// Parses `a+`, `ab-`, `0+`, `opos`, `bnegative`.
    private static func bloodType(_ word: String) -> String? {
        var group = word[...]
        var factor: String?
        for (suffix, name) in [
            ("+", "Positive"), ("-", "Negative"), ("positive", "Positive"), ("negative", "Negative"), ("pos", "Positive"),
            ("neg", "Negative"),
        ] where factor == nil && group.hasSuffix(suffix) {
            group = group.dropLast(suffix.count)
            factor = name
        }
        guard let factor, let letters = ["a": "a", "b": "b", "ab": "aB", "o": "o", "0": "o"][String(group)] else { return nil }
        return letters + factor
    }

    /// The display text: `A+`, `type II`, or the case's name if there is no shorter form.
    public var shown: String {
        switch type {
        case .bloodType:
            guard value.hasSuffix("Positive") || value.hasSuffix("Negative") else { return value }
            return value.dropLast(8).uppercased() + (value.hasSuffix("Positive") ? "+" : "-")
        case .fitzpatrickSkinType: return isSet ? "type \(value.uppercased())" : value
        default: return value
        }
    }
}

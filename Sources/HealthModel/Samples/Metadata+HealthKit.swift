extension Metadata {
    /// Converts HealthKit's key and text value from export.xml to our name and its type.
    ///
    /// `("HKHeartRateMotionContext…", "1")` becomes `("heartRateMotionContext", "sedentary")`, `("HKWeatherTemperature", "54 degF")` a
    /// quantity. An unknown key, or a value that does not parse as the key's kind, is stored as received, with raw key and string. A number
    /// that an enumeration does not have stays a number.
    public static func entry(healthKitKey: String, text: String) -> (String, MetadataValue) {
        guard let key = MetadataKey(rawKey: healthKitKey), let value = value(of: key.kind, text: text) else {
            return (healthKitKey, .string(text))
        }
        return (key.name, value)
    }

    private static func value(of kind: MetadataKey.Kind, text: String) -> MetadataValue? {
        switch kind {
        case .string, .date: return .string(text)
        case .number: return (try? Numeral(text)).map { .number($0) }
        case .boolean: return boolean(text)
        case .quantity: return quantity(text)
        case .enumeration(let names):
            guard let numeral = try? Numeral(text) else { return nil }
            // Other spellings of the same number (`1.0`) name the same value.
            return Int(numeral.canonicalText).flatMap { names[$0] }.map { .string($0) } ?? .number(numeral)
        }
    }

    private static func boolean(_ text: String) -> MetadataValue? {
        switch text {
        case "1", "true", "YES": .boolean(true)
        case "0", "false", "NO": .boolean(false)
        default: nil
        }
    }

    /// A number, one blank, and a unit of HealthKit's.
    private static func quantity(_ text: String) -> MetadataValue? {
        let parts = text.split(maxSplits: 1) { $0 == " " || $0 == "\u{A0}" }
        guard parts.count == 2, let numeral = try? Numeral(parts[0]), let unit = try? Unit(healthKit: parts[1]) else {
            return nil
        }
        return .quantity(numeral, unit)
    }
}

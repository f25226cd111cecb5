/// A condition on samples, as a person writes it:
///
///     value > 38 Cel and source.name = 'Ear thermometer'
///     metadata.bodyTemperatureSensorLocation = armpit or not device.firmware < '1.2'
///
/// Fields are those of a sample's line: `value`, `start`, `end`, `duration` (seconds, or with a unit), `zone`, `subject`, `group`, `source.id`,
/// `source.name`, `source.version`, `device.key` (and `name`, `manufacturer`, `model`, `serial`, `hardware`, `firmware`, `software`, `udi`),
/// `original.value`, `original.unit`, `time.origin`, `metadata.KEY`. Comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=` and `~` (contains);
/// `not`, `and`, `or` and parentheses join them. A number with a unit is compared after conversion; without one it is in the type's
/// unit. A field that a sample does not have is equal to nothing and different from everything. What cannot be compared, a heart rate with
/// 38 Cel, meets neither the comparison nor its contrary: `not` must not make a condition true that was never meant for the sample.
public struct SamplePredicate: Sendable {
    /// A condition, and what its comparisons compare with: as it was written, or as it was understood.
    indirect enum Node<Value: Sendable>: Sendable {
        case comparison(Field, Comparison, Value)
        case not(Node)
        case and(Node, Node)
        case or(Node, Node)

        /// The same condition with other values.
        func map<Other: Sendable>(
            _ transform: (Field, Comparison, Value) throws(PredicateError) -> Other
        ) throws(PredicateError) -> Node<Other> {
            switch self {
            case .comparison(let field, let comparison, let value):
                .comparison(field, comparison, try transform(field, comparison, value))
            case .not(let inner): .not(try inner.map(transform))
            case .and(let one, let other): .and(try one.map(transform), try other.map(transform))
            case .or(let one, let other): .or(try one.map(transform), try other.map(transform))
            }
        }
    }

    enum Comparison: String, Sendable, CaseIterable {
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case below = "<"
        case above = ">"
        case contains = "~"

        var isOrder: Bool { [.below, .atMost, .above, .atLeast].contains(self) }
    }

    /// What a field is compared with: of the field's own kind.
    enum Literal: Sendable {
        case number(Numeral, Unit?)
        case instant(Instant)
        case unit(Unit)
        case text(String)
        /// For metadata whose values may be of any kind.
        case any(String, Numeral?, Unit?)
    }

    enum Field: Hashable, Sendable {
        case value, start, end, duration, zone, subject, group
        case source(String)
        case device(String)
        case original(String)
        case timeOrigin
        case metadata(String)

        /// Versions have an order of their own: 1.10 comes behind 1.9.
        var isVersion: Bool {
            switch self {
            case .source("version"), .device("hardware"), .device("firmware"), .device("software"): true
            default: false
            }
        }
    }

    let root: Node<Literal>

    /// Whether the sample meets the condition.
    public func matches(_ sample: QuantitySample) -> Bool { Self.meets(sample, root) ?? false }

    /// Refuses a condition whose units suit none of the types that are asked for.
    ///
    /// - Throws: ``UnitError`` of the first unit that no type has a conversion from.
    public func check(for types: Set<QuantityType>) throws(UnitError) { try Self.check(root, types) }

    private static func check(_ node: Node<Literal>, _ types: Set<QuantityType>) throws(UnitError) {
        switch node {
        case .not(let inner): try check(inner, types)
        case .and(let one, let other), .or(let one, let other):
            try check(one, types)
            try check(other, types)
        case .comparison(.value, _, .number(_, let unit?)):
            try unit.checkConversion(toOneOf: types)
        case .comparison: return
        }
    }

    /// `nil` where the sample has nothing that could be compared.
    private static func meets(_ sample: QuantitySample, _ node: Node<Literal>) -> Bool? {
        switch node {
        case .not(let inner): return meets(sample, inner).map { !$0 }
        case .and(let one, let other):
            let first = meets(sample, one)
            if first == false { return false }
            let second = meets(sample, other)
            return second == false ? false : first == nil ? nil : second
        case .or(let one, let other):
            let first = meets(sample, one)
            if first == true { return true }
            let second = meets(sample, other)
            return second == true ? true : first == nil ? nil : second
        case .comparison(let field, let comparison, let literal): return compare(sample, field, comparison, literal)
        }
    }

    private static func compare(
        _ sample: QuantitySample, _ field: Field, _ comparison: Comparison, _ literal: Literal
    ) -> Bool? {
        switch (field, literal) {
        case (.value, .number(let numeral, let unit)):
            guard let unit else { return order(sample.value, numeral.doubleValue, comparison) }
            guard let conversion = try? sample.origin.type.conversion(from: unit) else { return nil }
            return order(sample.value, conversion.convert(numeral), comparison)
        case (.duration, .number(let numeral, _)):
            return order(Double(sample.end.microseconds - sample.start.microseconds) / 1e6, numeral.doubleValue, comparison)
        case (.start, .instant(let instant)): return order(sample.start, instant, comparison)
        case (.end, .instant(let instant)): return order(sample.end, instant, comparison)
        case (.original, .number(let numeral, _)): return order(sample.numeral.doubleValue, numeral.doubleValue, comparison)
        case (.original, .unit(let unit)): return order(sample.unit.code, unit.code, comparison)
        case (.metadata(let key), _):
            let value = sample.metadata?[key] ?? MetadataKey(named: key).flatMap { sample.metadata?[$0.rawKey] }
            guard let value else { return comparison == .notEqual }
            return compare(value, comparison, literal)
        case (_, .text(let other)):
            guard let own = text(of: field, in: sample) else { return comparison == .notEqual }
            guard field.isVersion, comparison.isOrder else { return compare(own, comparison, other) }
            return order(VersionRange.order(own, other), 0, comparison)
        default: return nil
        }
    }

    private static func compare(_ value: MetadataValue, _ comparison: Comparison, _ literal: Literal) -> Bool? {
        guard case .any(let text, let number, let unit) = literal else { return nil }
        switch value {
        case .string(let own): return compare(own, comparison, text)
        case .boolean(let own):
            guard let other = boolean(text), comparison == .equal || comparison == .notEqual else { return nil }
            return (own == other) == (comparison == .equal)
        case .number(let own), .quantity(let own, _):
            if comparison == .contains { return compare(own.text, comparison, text) }
            guard let number else { return nil }
            guard let unit else { return order(own.doubleValue, number.doubleValue, comparison) }
            guard case .quantity(_, let ownUnit) = value, let conversion = try? unit.conversion(to: ownUnit) else { return nil }
            return order(own.doubleValue, conversion.convert(number), comparison)
        }
    }

    /// A yes or no as a person writes it.
    static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private static func compare(_ own: String, _ comparison: Comparison, _ other: String) -> Bool {
        if comparison == .contains { return other.isEmpty || own.contains(other) }
        return order(own, other, comparison)
    }

    private static func order<Ordered: Comparable>(_ own: Ordered, _ other: Ordered, _ comparison: Comparison) -> Bool {
        switch comparison {
        case .equal: own == other
        case .notEqual: own != other
        case .below: own < other
        case .atMost: own <= other
        case .above: own > other
        case .atLeast: own >= other
        case .contains: false
        }
    }

    private static func text(of field: Field, in sample: QuantitySample) -> String? {
        let source = sample.origin.source
        let device = sample.origin.device
        return switch field {
        case .zone: sample.zone?.description
        case .subject: sample.origin.subject
        case .group: sample.group.map(SampleLine.groupText)
        case .timeOrigin: sample.timeOrigin.name
        case .original: sample.unit.code
        case .source("id"): source.id
        case .source("name"): source.name
        case .source: source.version
        case .device("key"): device?.key
        case .device("name"): device?.name
        case .device("manufacturer"): device?.manufacturer
        case .device("model"): device?.model
        case .device("serial"): device?.serial
        case .device("hardware"): device?.hardware
        case .device("firmware"): device?.firmware
        case .device("software"): device?.software
        case .device: device?.udi
        default: nil
        }
    }
}

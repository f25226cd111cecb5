/// A condition on samples, as a person writes it:
///
///     value > 38 Cel and source.name = 'Ear thermometer'
///     metadata.bodyTemperatureSensorLocation = armpit or not device.firmware < '1.2'
///
/// Fields are those of a sample's line: `value`, `start`, `end`, `duration` (seconds), `zone`, `subject`, `group`, `source.id`,
/// `source.name`, `source.version`, `device.key` (and `name`, `manufacturer`, `model`, `serial`, `hardware`, `firmware`, `software`, `udi`),
/// `original.value`, `original.unit`, `time.origin`, `metadata.KEY`. Comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=` and `~` (contains);
/// `not`, `and`, `or` and parentheses join them. A number with a unit is compared after conversion; without one it is in the type's
/// unit. A field that a sample does not have is equal to nothing and different from everything.
public struct SamplePredicate: Sendable {
    indirect enum Node: Sendable {
        case comparison(Field, Comparison, Literal)
        case not(Node)
        case and(Node, Node)
        case or(Node, Node)
    }

    enum Comparison: String, Sendable, CaseIterable {
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case below = "<"
        case above = ">"
        case contains = "~"
    }

    enum Literal: Hashable, Sendable {
        case number(Numeral, Unit?)
        case text(String)
    }

    enum Field: Hashable, Sendable {
        case value, start, end, duration, zone, subject, group
        case source(String)
        case device(String)
        case original(String)
        case timeOrigin
        case metadata(String)
    }

    let root: Node

    /// Whether the sample meets the condition. A value compared with a unit that its type has no conversion to does not meet it.
    public func matches(_ sample: QuantitySample) -> Bool { Self.matches(sample, root) }

    /// Refuses a condition whose units suit none of the types that are asked for.
    ///
    /// - Throws: ``UnitError`` of the first unit that no type has a conversion from.
    public func check(for types: Set<QuantityType>) throws(UnitError) { try Self.check(root, types) }

    private static func check(_ node: Node, _ types: Set<QuantityType>) throws(UnitError) {
        switch node {
        case .not(let inner): try check(inner, types)
        case .and(let one, let other), .or(let one, let other):
            try check(one, types)
            try check(other, types)
        case .comparison(.value, _, .number(_, let unit?)):
            var failure: UnitError?
            for type in types {
                do throws(UnitError) {
                    _ = try type.conversion(from: unit)
                    return
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        case .comparison: return
        }
    }

    private static func matches(_ sample: QuantitySample, _ node: Node) -> Bool {
        switch node {
        case .not(let inner): return !matches(sample, inner)
        case .and(let one, let other):
            if !matches(sample, one) { return false }
            return matches(sample, other)
        case .or(let one, let other):
            if matches(sample, one) { return true }
            return matches(sample, other)
        case .comparison(let field, let comparison, let literal):
            return compare(sample, field, comparison, literal)
        }
    }

    private static func compare(
        _ sample: QuantitySample, _ field: Field, _ comparison: Comparison, _ literal: Literal
    ) -> Bool {
        switch field {
        case .value:
            guard case .number(let numeral, let unit) = literal else { return comparison == .notEqual }
            var number = numeral.doubleValue
            if let unit {
                guard let conversion = try? sample.origin.type.conversion(from: unit) else { return comparison == .notEqual }
                number = conversion.convert(numeral)
            }
            return order(sample.value, number, comparison)
        case .duration:
            guard case .number(let numeral, _) = literal else { return comparison == .notEqual }
            return order(Double(sample.end.microseconds - sample.start.microseconds) / 1e6, numeral.doubleValue, comparison)
        case .start: return compare(sample.start, comparison, literal)
        case .end: return compare(sample.end, comparison, literal)
        case .original("value"):
            guard case .number(let numeral, _) = literal else { return compare(sample.numeral.text, comparison, literal) }
            return order(sample.numeral.doubleValue, numeral.doubleValue, comparison)
        case .metadata(let key): return compare(sample.metadata?[key], comparison, literal)
        default: return compare(text(of: field, in: sample), comparison, literal)
        }
    }

    private static func compare(_ instant: Instant, _ comparison: Comparison, _ literal: Literal) -> Bool {
        guard case .text(let text) = literal, let stamp = try? Timestamp(iso8601: text), let other = stamp.instant else {
            return comparison == .notEqual
        }
        return order(instant.microseconds, other.microseconds, comparison)
    }

    private static func compare(
        _ value: MetadataValue?, _ comparison: Comparison, _ literal: Literal
    ) -> Bool {
        switch (value, literal) {
        case (.number(let own), .number(let other, nil)): return order(own.doubleValue, other.doubleValue, comparison)
        case (.quantity(let own, let unit), .number(let other, let otherUnit)):
            guard let otherUnit else { return order(own.doubleValue, other.doubleValue, comparison) }
            guard let conversion = try? otherUnit.conversion(to: unit) else { return comparison == .notEqual }
            return order(own.doubleValue, conversion.convert(other), comparison)
        case (.boolean(let own), .text(let text)): return compare(own ? "true" : "false", comparison, .text(text))
        case (.boolean(let own), .number(let number, nil)): return order(own ? 1 : 0, number.doubleValue, comparison)
        case (.string(let own), _): return compare(own, comparison, literal)
        case (.number(let own), .text): return compare(own.text, comparison, literal)
        default: return comparison == .notEqual
        }
    }

    private static func compare(_ own: String?, _ comparison: Comparison, _ literal: Literal) -> Bool {
        guard let own else { return comparison == .notEqual }
        let other: String
        switch literal {
        case .text(let text): other = text
        case .number(let numeral, let unit): other = unit.map { "\(numeral.text) \($0.code)" } ?? numeral.text
        }
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

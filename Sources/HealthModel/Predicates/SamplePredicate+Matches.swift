extension SamplePredicate {
    /// Whether the sample meets the condition.
    ///
    /// - Parameter isCorrelated: Whether a sample belongs to a correlation. Without it, no sample meets conditions on that.
    public func matches(_ sample: Sample, isCorrelated: ((Sample) -> Bool)? = nil) -> Bool {
        var facts = LazyFacts(isCorrelated: isCorrelated)
        return meets(sample, &facts) ?? false
    }

    /// Whether the sample meets the condition, or `nil` if it has nothing to compare.
    ///
    /// - Parameter facts: The values in its body, shared by all parts of the condition.
    private func meets(_ sample: Sample, _ facts: inout LazyFacts) -> Bool? {
        switch self {
        case .types(let types): return types.contains(sample.origin.type)
        case .uuids(let uuids): return uuids.contains(sample.identity)
        case .comparison(let field, let comparison, .present):
            guard let isThere = field.isThere(in: sample, &facts) else { return nil }
            return isThere == (comparison != .notEqual)
        case .comparison(.object(let field), let comparison, let literal):
            return Self.compare(sample, field, comparison, literal, &facts)
        case .comparison(.duration, let comparison, .number(let numeral, _)) where sample.origin.kind == .workout:
            return Self.order(facts.of(sample).seconds(of: sample), numeral.doubleValue, comparison)
        case .comparison(.value, let comparison, .number(let numeral, let unit)) where sample.origin.kind == .clinicalRecord:
            guard let measured = facts.of(sample).measured else { return comparison == .notEqual }
            return Self.compare(measured, comparison, numeral, unit)
        case .comparison(let field, let comparison, let literal): return Self.compare(sample, field, comparison, literal)
        case .not(let inner): return inner.meets(sample, &facts).map { !$0 }
        case .and(let parts): return Self.join(parts, sample, &facts, decisive: false)
        case .or(let parts): return Self.join(parts, sample, &facts, decisive: true)
        }
    }

    /// Returns the decisive answer if any part has it. Otherwise the result is known only if all parts are.
    private static func join(
        _ parts: [SamplePredicate], _ sample: Sample, _ facts: inout LazyFacts, decisive: Bool
    ) -> Bool? {
        var answer: Bool? = !decisive
        for part in parts {
            guard let result = part.meets(sample, &facts) else {
                answer = nil
                continue
            }
            if result == decisive { return decisive }
        }
        return answer
    }

    /// Compares the number of a health record. Without a unit, the numbers are compared as written.
    private static func compare(
        _ measured: ClinicalRecord.Measured, _ comparison: Comparison, _ numeral: Numeral, _ unit: Unit?
    ) -> Bool? {
        guard let amount = measured.result.amount else { return comparison == .notEqual }
        guard let unit else { return order(amount.numeral.doubleValue, numeral.doubleValue, comparison) }
        if amount.unit?.code == unit.code { return order(amount.numeral.doubleValue, numeral.doubleValue, comparison) }
        return amount.value(in: unit, of: measured.type).flatMap { order($0, numeral.doubleValue, comparison) }
    }

    private static func compare(
        _ sample: Sample, _ field: Field, _ comparison: Comparison, _ literal: Literal
    ) -> Bool? {
        switch (field, literal) {
        case (.value, .number(let numeral, let unit)):
            guard let unit else { return order(sample.value, numeral.doubleValue, comparison) }
            guard let conversion = try? sample.origin.type.conversion(from: unit) else { return nil }
            return order(sample.value, conversion.convert(numeral), comparison)
        case (.category, .text(let name)):
            // An unknown case name cannot be compared.
            guard let value = sample.origin.type.categoryValues?.value(of: name) else { return nil }
            return (Double(value) == sample.value) == (comparison == .equal)
        case (.duration, .number(let numeral, _)):
            return order(Double(sample.end.microseconds - sample.start.microseconds) / 1e6, numeral.doubleValue, comparison)
        case (.start, .instant(let instant)): return order(sample.start, instant, comparison)
        case (.end, .instant(let instant)): return order(sample.end, instant, comparison)
        case (.received, .instant(let instant)): return order(sample.received, instant, comparison)
        case (.originalValue, .number(let numeral, _)):
            return order(sample.numeral.doubleValue, numeral.doubleValue, comparison)
        case (.originalUnit, .unit(let unit)): return order(sample.unit.code, unit.code, comparison)
        case (.metadata(let key), _):
            guard let value = sample.metadataValue(named: key) else { return comparison == .notEqual }
            return compare(value, comparison, literal)
        // What only a store knows.
        case (.fromWorkout, _), (.inCorrelation, _): return nil
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

    /// Parses a boolean as users write it.
    static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    static func compare(_ own: String, _ comparison: Comparison, _ other: String) -> Bool? {
        switch comparison {
        case .contains: TextSearch.contains(own, other)
        case .beginsWith: own.hasPrefix(other)
        default: order(own, other, comparison)
        }
    }

    static func order<Ordered: Comparable>(_ own: Ordered, _ other: Ordered, _ comparison: Comparison) -> Bool? {
        switch comparison {
        case .equal: own == other
        case .notEqual: own != other
        case .below: own < other
        case .atMost: own <= other
        case .above: own > other
        case .atLeast: own >= other
        case .contains, .beginsWith: nil
        }
    }

    static func text(of field: Field, in sample: Sample) -> String? {
        switch field {
        case .type: sample.origin.type.id
        case .kind: sample.origin.kind.name
        case .uuid: sample.identity.description
        case .zone: sample.zone?.description
        case .person: sample.origin.person
        case .group: sample.group.map(Sample.groupText)
        case .timeOrigin: sample.timeOrigin.name
        case .source(let property): sample.origin.source[property]
        case .device(let property): sample.origin.device?[property]
        default: nil
        }
    }
}

extension SamplePredicate.Field {
    /// Whether a sample has the field, or `nil` if only a store knows.
    func isThere(in sample: Sample, _ facts: inout LazyFacts) -> Bool? {
        switch self {
        case .value where sample.origin.kind == .clinicalRecord: return facts.of(sample).measured?.result.amount != nil
        case .value, .start, .end, .duration, .person, .type, .kind, .uuid, .originalValue, .originalUnit, .timeOrigin,
            .received:
            return true
        case .zone, .group, .source, .device: return SamplePredicate.text(of: self, in: sample) != nil
        case .category: return sample.origin.type.categoryValues != nil
        case .metadata(let key): return sample.metadataValue(named: key) != nil
        case .object(let field): return !SamplePredicate.values(sample, field, &facts).isEmpty
        case .inCorrelation: return facts.isCorrelated?(sample)
        case .fromWorkout: return nil
        }
    }
}

extension Sample {
    /// The metadata value under a key, given by our name or HealthKit's string.
    func metadataValue(named key: String) -> MetadataValue? { metadata?.metadataValue(named: key) }
}

extension Metadata {
    /// The value under a key, given by our name or HealthKit's string.
    func metadataValue(named key: String) -> MetadataValue? { self[key] ?? MetadataKey(named: key).flatMap { self[$0.rawKey] } }
}

extension SourceRevision {
    fileprivate subscript(property: SamplePredicate.SourceProperty) -> String? {
        switch property {
        case .id: id
        case .name: name
        case .version: version
        }
    }
}

extension Device {
    fileprivate subscript(property: SamplePredicate.DeviceProperty) -> String? {
        switch property {
        case .key: key
        case .name: name
        case .manufacturer: manufacturer
        case .model: model
        case .serial: serial
        case .hardware: hardware
        case .firmware: firmware
        case .software: software
        case .udi: udi
        }
    }
}

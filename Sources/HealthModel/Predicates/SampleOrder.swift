/// An order of samples (HealthKit's sort descriptor) by any field that conditions can use, ascending or descending.
///
///     SampleOrder(.value, descending: true)
///     SampleOrder("-value")
///
/// Samples without the field come last in either direction.
public struct SampleOrder: Hashable, Sendable, CustomStringConvertible {
    /// The field to compare.
    public var field: SamplePredicate.Field
    /// Whether the highest value comes first.
    public var descending: Bool

    /// Sorts by a field.
    public init(_ field: SamplePredicate.Field, descending: Bool = false) {
        (self.field, self.descending) = (field, descending)
    }

    /// Parses the value of `--sort`: a field's name, prefixed with `-` for descending order. Returns `nil` if the field does not exist or
    /// cannot be evaluated from a sample alone.
    public init?(_ text: some StringProtocol) {
        let descending = text.hasPrefix("-")
        guard let field = SamplePredicate.Field(named: String(descending ? text.dropFirst() : text[...])) else { return nil }
        switch field {
        case .fromWorkout, .inCorrelation: return nil
        default: self.init(field, descending: descending)
        }
    }

    public var description: String { (descending ? "-" : "") + field.description }

    /// The key of a sample. Numbers come before texts if a field has both.
    public enum Key: Hashable, Sendable {
        case integer(Int64)
        case number(Double)
        case text(String)
        /// The sample does not have the field.
        case missing
    }

    /// The key of a sample, from the first value of the field. Amounts are in the unit of lines.
    public func key(of sample: Sample) -> Key {
        switch field {
        case .value where sample.origin.kind == .clinicalRecord:
            return (ObjectFacts(of: sample).measured?.result.amount).map { .number($0.numeral.doubleValue) } ?? .missing
        case .value: return .number(sample.value)
        case .start: return .integer(sample.start.microseconds)
        case .end: return .integer(sample.end.microseconds)
        case .received: return .integer(sample.received.microseconds)
        case .duration:
            guard sample.origin.kind == .workout else {
                return .number(Double(sample.end.microseconds - sample.start.microseconds) / 1e6)
            }
            return .number(ObjectFacts(of: sample).seconds(of: sample))
        case .category: return sample.origin.type.caseName(of: sample.value).map { .text($0) } ?? .missing
        case .originalValue: return .number(sample.numeral.doubleValue)
        case .originalUnit: return .text(sample.unit.code)
        case .metadata(let key): return sample.metadataValue(named: key).map(Self.key) ?? .missing
        case .object(let field):
            var facts = LazyFacts()
            return SamplePredicate.values(sample, field, &facts).first.map { Self.key($0, of: field) } ?? .missing
        default: return SamplePredicate.text(of: field, in: sample).map { .text($0) } ?? .missing
        }
    }

    private static func key(_ value: MetadataValue) -> Key {
        switch value {
        case .string(let text): .text(text)
        case .boolean(let isTrue): .integer(isTrue ? 1 : 0)
        case .number(let numeral), .quantity(let numeral, _): .number(numeral.doubleValue)
        }
    }

    private static func key(_ value: ObjectFacts.Value, of field: ObjectField) -> Key {
        switch value {
        case .text(let text): return .text(text)
        case .number(let number): return .number(number)
        case .boolean(let isTrue): return .integer(isTrue ? 1 : 0)
        case .coding(let coding): return .text(coding.code ?? "")
        case .amount(let amount):
            guard case .amount(let unit?, let type) = field.content, let shown = amount.value(in: unit, of: type) else {
                return .number(amount.numeral.doubleValue)
            }
            return .number(shown)
        }
    }
}

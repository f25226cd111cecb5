/// The facts of a body, decoded when a part of a condition first needs them.
struct LazyFacts {
    private var facts: ObjectFacts?
    /// Whether a sample belongs to a correlation, or `nil` if unknown.
    let isCorrelated: ((Sample) -> Bool)?

    init(isCorrelated: ((Sample) -> Bool)? = nil) { self.isCorrelated = isCorrelated }

    mutating func of(_ sample: Sample) -> ObjectFacts {
        if let facts { return facts }
        let read = ObjectFacts(of: sample)
        facts = read
        return read
    }
}

extension SamplePredicate {
    /// Whether an object's field compares this way to a value, or `nil` if they cannot be compared.
    static func compare(
        _ sample: Sample, _ field: ObjectField, _ comparison: Comparison, _ literal: Literal, _ facts: inout LazyFacts
    ) -> Bool? {
        guard field.kinds.contains(sample.origin.kind) else { return comparison == .notEqual }
        let values = values(sample, field, &facts)
        // `!=` holds if no value is equal.
        let asked = comparison == .notEqual ? .equal : comparison
        var answer: Bool? = values.isEmpty ? false : nil
        for value in values {
            guard let result = compare(value, field, asked, literal) else { continue }
            answer = (answer ?? false) || result
        }
        return comparison == .notEqual ? answer.map { !$0 } : answer
    }

    /// The values of an object's field, or none if it does not have it.
    static func values(_ sample: Sample, _ field: ObjectField, _ facts: inout LazyFacts) -> [ObjectFacts.Value] {
        guard field.kinds.contains(sample.origin.kind) else { return [] }
        switch field.content {
        case .number: return [.number(sample.value)]
        // A number that has no name is compared by itself.
        case .namedNumber: return [.text(sample.origin.type.caseName(of: sample.value) ?? sample.numeral.canonicalText)]
        case .code(let systems):
            return facts.of(sample).values(of: field).filter { value in
                guard let systems, case .coding(let coding) = value else { return true }
                guard let system = coding.system else { return false }
                return systems.contains { CodeSystems.isSame($0, system) }
            }
        default: return facts.of(sample).values(of: field)
        }
    }

    private static func compare(
        _ value: ObjectFacts.Value, _ field: ObjectField, _ comparison: Comparison, _ literal: Literal
    ) -> Bool? {
        switch (value, literal) {
        case (.text(let own), .text(let other)): return compare(own, comparison, other)
        case (.text(let own), .date(let other)):
            return PartialDate(own).flatMap { order(PartialDate.order($0, other), 0, comparison) }
        case (.number(let own), .number(let other, _)): return order(own, other.doubleValue, comparison)
        case (.boolean(let own), .text(let other)): return boolean(other).flatMap { order(own ? 1 : 0, $0 ? 1 : 0, comparison) }
        case (.amount(let own), .number(let other, let unit)):
            guard case .amount(let fieldUnit, let type) = field.content else { return nil }
            guard let unit else {
                // As lines print it.
                let shown = fieldUnit.flatMap { own.value(in: $0, of: type) } ?? own.numeral.doubleValue
                return order(shown, other.doubleValue, comparison)
            }
            return own.value(in: unit, of: type).flatMap { order($0, other.doubleValue, comparison) }
        case (.coding(let own), .text(let other)):
            guard let code = own.code else { return false }
            // FHIR's way to write a code with its system.
            return compare(other.contains("|") ? "\(own.system ?? "")|\(code)" : code, comparison, other)
        default: return nil
        }
    }
}

extension SamplePredicate.Written {
    /// The written text as a value of an object's field.
    func literal(
        for field: ObjectField, _ comparison: SamplePredicate.Comparison
    ) throws(PredicateError) -> SamplePredicate.Literal {
        switch field.content {
        case .number, .count:
            try refuseContains(comparison, "a number")
            guard case .number(let numeral, nil) = try number() else { throw expected("a number without a unit") }
            return .number(numeral, nil)
        case .amount(let fieldUnit, let type):
            try refuseContains(comparison, "an amount")
            let literal = try number()
            if let fieldUnit, case .number(_, let unit?) = literal, !Self.measures(unit, fieldUnit, type) {
                throw expected("an amount in \(fieldUnit.code), or in a unit that has a conversion to it")
            }
            return literal
        case .boolean:
            try refuseAllButEquality(comparison, "a yes or no")
            guard SamplePredicate.boolean(try wholeText()) != nil else { throw expected("true or false") }
            return .text(try wholeText())
        case .date:
            try refuseContains(comparison, "a date")
            guard let date = PartialDate(try wholeText()) else {
                throw expected(
                    "a date as far as it is known: 2012, 2012-05, 2012-05-15, or a time such as 2012-05-15T10:30:00+01:00")
            }
            return .date(date)
        case .namedNumber:
            try refuseOrder(comparison)
            return .text(try name(of: field.kinds.flatMap(Self.lists), comparison))
        case .names(let lists):
            try refuseOrder(comparison)
            let text = try wholeText()
            return .text(comparison == .contains ? text : Self.name(text, lists) ?? text)
        case .code:
            try refuseOrder(comparison)
            return .text(try wholeText())
        case .text: return .text(try wholeText())
        }
    }

    private static func measures(_ unit: Unit, _ fieldUnit: Unit, _ type: SampleType?) -> Bool {
        if let type { return (try? type.conversion(from: unit)) != nil }
        return (try? unit.conversion(to: fieldUnit)) != nil
    }

    /// The lists that the numbers of a kind's samples are of.
    private static func lists(_ kind: SampleKind) -> [CategoryValues] {
        SampleType.all.compactMap { $0.kind == kind ? $0.categoryValues : nil }
    }

    /// The case name for a case name, HealthKit's constant or a raw number. A number without a name is kept.
    private func name(
        of lists: [CategoryValues], _ comparison: SamplePredicate.Comparison
    ) throws(PredicateError) -> String {
        let text = try wholeText()
        if comparison == .contains { return text }
        if let name = Self.name(text, lists) { return name }
        if let numeral = try? Numeral(text), let number = Int(numeral.canonicalText) {
            return lists.lazy.compactMap { $0.name(of: number) }.first ?? numeral.canonicalText
        }
        let known = lists.flatMap { $0.cases.map(\.name) }
        throw expected("one of \(known.joined(separator: ", "))")
    }

    private static func name(_ text: String, _ lists: [CategoryValues]) -> String? {
        lists.lazy.compactMap { list in list.value(of: text).flatMap { list.name(of: $0) } }.first
    }

    private func refuseOrder(_ comparison: SamplePredicate.Comparison) throws(PredicateError) {
        if comparison.isOrder { throw error("names and codes have no order: compare them with =, != or ~") }
    }
}

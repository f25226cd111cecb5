extension SamplePredicate.Written {
    /// The written text as a value of the field's kind.
    ///
    /// - Throws: ``PredicateError`` if it is of another kind or the comparison is meaningless. Such a comparison would be false for every
    ///   sample, and true under `not`.
    func literal(
        for field: SamplePredicate.Field, _ comparison: SamplePredicate.Comparison, _ instant: (String) -> Instant?,
        _ person: (String) -> String?, _ type: (String) -> SampleType?
    ) throws(PredicateError) -> SamplePredicate.Literal {
        if isAnything {
            try refuseAllButEquality(comparison, "what may be anything")
            if case .fromWorkout = field { throw error("name the workout by its UUID") }
            return .present
        }
        switch field {
        case .type:
            let text = try wholeText()
            if comparison == .contains || comparison == .beginsWith { return .text(text) }
            try refuseAllButEquality(comparison, "a type")
            guard let type = type(text) else { throw expected("a type from 'vitalgate types'") }
            return .text(type.id)
        case .kind:
            try refuseAllButEquality(comparison, "a kind")
            guard let kind = SampleKind(named: try wholeText()) else {
                throw expected("one of \(SampleKind.allCases.map(\.name).joined(separator: ", "))")
            }
            return .text(kind.name)
        case .uuid, .fromWorkout, .inCorrelation:
            try refuseAllButEquality(comparison, "a UUID")
            guard let uuid = SampleIdentity(try wholeText()) else {
                throw expected("a sample's UUID, as 'query --format ndjson' prints it")
            }
            return .text(uuid.description)
        case .value:
            try refuseContains(comparison, "a value")
            return try number()
        case .category:
            try refuseAllButEquality(comparison, "a case")
            return .text(try wholeText())
        case .duration:
            try refuseContains(comparison, "a duration")
            return .number(try seconds(), nil)
        case .start, .end, .received:
            try refuseContains(comparison, "a time")
            return .instant(try time(comparison, instant))
        case .zone:
            try refuseAllButEquality(comparison, "a zone")
            guard let zone = ZoneOffset(try wholeText()) else { throw expected("an offset such as +01:00") }
            return .text(zone.description)
        case .person:
            try refuseAllButEquality(comparison, "a person")
            guard let person = person(try wholeText()) else {
                throw error(
                    "there is no such person: use me, unassigned, a UUID, or a name from 'vitalgate people list'")
            }
            return .text(person)
        case .group:
            try refuseAllButEquality(comparison, "a group")
            let group = try wholeText().lowercased()
            guard group.utf8.count == 16, group.allSatisfy(\.isHexDigit) else {
                throw expected("a group's 16 digits, as 'query --format ndjson' prints them")
            }
            return .text(group)
        case .originalValue:
            try refuseContains(comparison, "a value")
            guard case .number(let numeral, nil) = try number() else {
                throw expected("a number without a unit (compare the unit with original.unit)")
            }
            return .number(numeral, nil)
        case .originalUnit:
            try refuseAllButEquality(comparison, "a unit")
            return .unit(try Self.unit(try wholeText(), self))
        case .timeOrigin:
            let text = try wholeText()
            let names = TimeOrigin.allCases.map(\.name)
            let fits = comparison == .contains ? names.contains { $0.contains(text) } : names.contains(text)
            guard fits, !comparison.isOrder else { throw expected("= or ~ and one of \(names.joined(separator: ", "))") }
            return .text(text)
        case .source, .device: return .text(try wholeText())
        case .metadata(let key): return try metadata(MetadataKey(named: key)?.kind, comparison)
        case .object(let field): return try literal(for: field, comparison)
        }
    }

    func error(_ reason: String) -> PredicateError { PredicateError(reason: reason, position: position + 1) }

    func expected(_ expectation: String) -> PredicateError {
        let words = unit.map { "\(text) \($0)" } ?? text
        return error("'\(words.excerpt())' does not fit: expected \(expectation)")
    }

    func refuseContains(_ comparison: SamplePredicate.Comparison, _ expectation: String) throws(PredicateError) {
        if comparison == .contains || comparison == .beginsWith {
            throw error("\(comparison.rawValue) is for texts: compare \(expectation) with =, !=, <, <=, > or >=")
        }
    }

    func refuseAllButEquality(_ comparison: SamplePredicate.Comparison, _ expectation: String) throws(PredicateError) {
        guard comparison == .equal || comparison == .notEqual else { throw error("compare \(expectation) with = or !=") }
    }

    /// The whole text. Two words must be in quotes.
    func wholeText() throws(PredicateError) -> String {
        if let unit { throw expected("one word, or a text in quotes: '\("\(text) \(unit)".excerpt())'") }
        return text
    }

    private static func unit(_ code: String, _ written: Self) throws(PredicateError) -> Unit {
        do throws(UnitError) {
            return try Unit(written: code)
        } catch {
            throw written.error("\(error)")
        }
    }

    /// The number and its unit, which may be one word, or `nil` if the text does not start with a number.
    private func parts() -> (Numeral, unit: String?)? {
        if let numeral = try? Numeral(text) { return (numeral, unit) }
        var digits = text.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
        while !digits.isEmpty {
            if let numeral = try? Numeral(digits) {
                return (numeral, String(text.dropFirst(digits.count).drop { $0.isWhitespace }))
            }
            digits.removeLast()
        }
        return nil
    }

    func number() throws(PredicateError) -> SamplePredicate.Literal {
        if text.contains(","), (try? Numeral(text.replacing(",", with: "."))) != nil {
            throw expected("a number with a point, such as 61.5")
        }
        guard let (numeral, unit) = parts() else { throw expected("a number with an optional unit, such as 38.5 Cel") }
        return .number(numeral, try unit.map { code throws(PredicateError) in try Self.unit(code, self) })
    }

    private func seconds() throws(PredicateError) -> Numeral {
        let example = "a duration such as 90 s, 5 min, 1h30min or 0.5 d"
        guard case (let numeral, let code)? = parts() else { throw expected(example) }
        guard let code else { return numeral }
        if unit == nil, let whole = Repair.duration(text) { return Numeral(coefficient: whole, exponent: -6) }
        guard let second = try? Unit(ucum: "s"), let unit = try? Unit(ucum: code),
            let conversion = try? unit.conversion(to: second),
            let seconds = try? Numeral(conversion.convert(numeral).description)
        else { throw expected(example) }
        return seconds
    }

    private func time(
        _ comparison: SamplePredicate.Comparison, _ instant: (String) -> Instant?
    ) throws(PredicateError) -> Instant {
        let text = try wholeText()
        guard let instant = instant(text) else {
            throw expected("a time such as 2026-11-20T06:30:00+01:00 (or 2026-11-20, today or -7d if --from accepts it)")
        }
        // A day is not an instant. The author of `start = 2026-11-20` means the whole day.
        guard comparison.isOrder || (try? Timestamp(iso8601: text)) != nil else {
            throw expected("a time of day (use >= and < for a whole day)")
        }
        return instant
    }

    private func metadata(
        _ kind: MetadataKey.Kind?, _ comparison: SamplePredicate.Comparison
    ) throws(PredicateError) -> SamplePredicate.Literal {
        switch kind {
        case .number, .quantity:
            try refuseContains(comparison, "a number")
            guard case .number(let numeral, let unit) = try number() else { throw expected("a number") }
            if kind == .number, unit != nil { throw expected("a number without a unit") }
            return .any(text, numeral, unit)
        case .boolean:
            try refuseAllButEquality(comparison, "a yes or no")
            guard SamplePredicate.boolean(try wholeText()) != nil else { throw expected("true or false") }
            return .any(text, nil, nil)
        case .enumeration(let names):
            let text = try wholeText()
            // HealthKit's number of a name.
            let name = (try? Numeral(text)).flatMap { Int($0.canonicalText) }.flatMap { names[$0] }
            return .any(name ?? text, try? Numeral(text), nil)
        case .string, .date: return .any(try wholeText(), nil, nil)
        case nil:
            guard case (let numeral, let code)? = parts() else { return .any(try wholeText(), nil, nil) }
            let unit = code.flatMap { try? Unit(written: $0) }
            // An app's own key may have any value: what begins with a number need not be one.
            if let word = self.unit {
                return .any("\(text) \(word)", numeral, try Self.unit(word, self))
            }
            return code != nil && unit == nil ? .any(text, nil, nil) : .any(text, numeral, unit)
        }
    }
}

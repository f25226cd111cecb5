/// The result of a FHIR Observation, or of one of its components, as the laboratory wrote it.
///
///     record.result?.text              // "88.10 mg/dL", "<5 mg/dL", "positive"
///     record.result?.amount?.numeral   // 88.10, only for a single number
///
/// `ClinicalModel` reads it from the resource once, and all commands, pages and files show this value. A result that is not one number has
/// no ``amount``: a limit (`<5`), words, or a panel of components.
public struct ClinicalResult: Hashable, Sendable, Codable {
    /// A number with its unit (FHIR's `Quantity`).
    public struct Quantity: Hashable, Sendable, Codable {
        /// The digits as received.
        public var value: String
        /// `<`, `<=`, `>=` or `>`, if the value is a limit.
        public var comparator: String?
        /// The unit for people, or else its code.
        public var unit: String?
        /// The code of the unit, if its system is UCUM.
        public var code: String?

        /// A number with its parts.
        public init(value: String, comparator: String? = nil, unit: String? = nil, code: String? = nil) {
            (self.value, self.comparator, self.unit, self.code) = (value, comparator, unit, code)
        }

        /// `88.10 mg/dL`
        public var text: String { (comparator ?? "") + value + (unit.map { " " + $0 } ?? "") }

        /// The value in the unit of ``code``, or in a written unit that is a UCUM code. Its unit is `nil` if the written unit is another one.
        public var amount: Amount? {
            guard let numeral = try? Numeral(value) else { return nil }
            return Amount(numeral, (code ?? unit).flatMap { try? HealthModel.Unit(ucum: $0) })
        }
    }

    /// A reference range of the laboratory.
    public struct ReferenceRange: Hashable, Sendable, Codable {
        /// The lower bound, or `nil` if unbounded.
        public var low: Quantity?
        /// The upper bound, or `nil` if unbounded.
        public var high: Quantity?
        /// The range in words.
        public var words: String?
        /// The kind of range and the people that it applies to, such as `Normal Range` and `Female`.
        public var appliesTo: [String]?

        /// A range with its parts.
        public init(low: Quantity? = nil, high: Quantity? = nil, words: String? = nil, appliesTo: [String]? = nil) {
            (self.low, self.high, self.words, self.appliesTo) = (low, high, words, appliesTo)
        }

        /// `70–99 mg/dL`, or the words of a range without bounds. The people that it applies to are in parentheses.
        public var text: String {
            let unit = (high?.unit ?? low?.unit).map { " " + $0 } ?? ""
            let bounds: String? =
                switch (low, high) {
                case (let low?, let high?) where low.unit == high.unit || low.unit == nil: "\(low.value)–\(high.value)\(unit)"
                case (let low?, let high?): "\(low.text)–\(high.text)"
                case (let low?, nil): "≥ \(low.value)\(unit)"
                case (nil, let high?): "≤ \(high.value)\(unit)"
                case (nil, nil): nil
                }
            let people = (appliesTo ?? []).isEmpty ? "" : " (\((appliesTo ?? []).joined(separator: ", ")))"
            return (bounds ?? words ?? "") + people
        }
    }

    /// A part of a panel, such as the systolic pressure of a blood pressure.
    public struct Component: Hashable, Sendable, Codable {
        /// The name for people.
        public var name: String
        /// The codes of the part.
        public var codes: [Coding]
        /// Its result.
        public var result: ClinicalResult

        /// A part of a panel.
        public init(name: String, codes: [Coding], result: ClinicalResult) {
            (self.name, self.codes, self.result) = (name, codes, result)
        }
    }

    /// The value, if it is a number.
    public var quantity: Quantity?
    /// The value in words, if it is not a number.
    public var words: String?
    /// The reason for a missing value.
    public var absent: String?
    /// The interpretations of the laboratory, such as `High`.
    public var interpretation: [String]?
    /// The reference ranges.
    public var ranges: [ReferenceRange]?
    /// Comments.
    public var notes: [String]?
    /// The parts of a panel.
    public var components: [Component]?

    /// A result with its parts.
    public init(
        quantity: Quantity? = nil, words: String? = nil, absent: String? = nil, interpretation: [String]? = nil,
        ranges: [ReferenceRange]? = nil, notes: [String]? = nil, components: [Component]? = nil
    ) {
        (self.quantity, self.words, self.absent, self.interpretation) = (quantity, words, absent, interpretation)
        (self.ranges, self.notes, self.components) = (ranges, notes, components)
    }

    /// The number, or `nil` for a limit and for a result that is not a number.
    public var amount: Amount? { quantity?.comparator == nil ? quantity?.amount : nil }

    /// The result in one line: the number with its unit, the words, the parts of a panel, or the reason why it is absent.
    public var text: String? {
        if let value = quantity?.text ?? words { return value }
        let parts = (components ?? []).compactMap { part in part.result.text.map { "\(part.name) \($0)" } }
        return parts.isEmpty ? absent.map { "absent: \($0)" } : parts.joined(separator: ", ")
    }

    /// The only reference range, or `nil` if there are several, because the right one depends on the person.
    public var range: ReferenceRange? { ranges?.count == 1 ? ranges?.first : nil }

    /// Whether the number is outside the only reference range. `nil` if it cannot be decided.
    public var isOutside: Bool? {
        guard let amount, let quantity, let range, range.low != nil || range.high != nil else { return nil }
        func order(_ bound: Quantity?, _ isOutside: (Double, Double) -> Bool) -> Bool? {
            guard let bound else { return false }
            guard bound.comparator == nil, let limit = bound.amount else { return nil }
            if bound.unit == nil || bound.unit == quantity.unit {
                return isOutside(amount.numeral.doubleValue, limit.numeral.doubleValue)
            }
            return amount.unit.flatMap { limit.value(in: $0) }.map { isOutside(amount.numeral.doubleValue, $0) }
        }
        guard let below = order(range.low, <), let above = order(range.high, >) else { return nil }
        return below || above
    }
}

extension ClinicalRecord {
    /// A number with the codes of its measurement: the record's result, or a part of its panel.
    public struct Measured: Hashable, Sendable {
        /// The name for people.
        public var name: String
        /// The codes.
        public var codes: [Coding]
        /// The result.
        public var result: ClinicalResult

        /// The sample type of a LOINC code, which may define the molar mass of the substance.
        public var type: SampleType? {
            codes.lazy.compactMap { coding in
                CodeSystems.isLOINC(coding.system) ? coding.code.flatMap { SampleType.byLOINC[$0] } : nil
            }.first
        }

        /// Whether one of the codes is this LOINC code.
        public func isCoded(loinc code: String) -> Bool {
            codes.contains { $0.code == code && CodeSystems.isLOINC($0.system) }
        }
    }

    /// The results of the record and of each part of its panel.
    public var measured: [Measured] {
        guard let result else { return [] }
        return [Measured(name: displayName, codes: codes, result: result)]
            + (result.components ?? []).map { Measured(name: $0.name, codes: $0.codes, result: $0.result) }
    }

    /// The date of the described event, as written, such as the day of a test. `nil` if the resource has none.
    public var date: String? { Self.date(among: dates) }

    static func date(among dates: [String: String]) -> String? { ownDates.lazy.compactMap { dates[$0] }.first }

    private static let ownDates = [
        "effective", "occurrence", "performed", "authored", "handedOver", "prepared", "asserted", "onset", "period", "recorded",
        "created", "issued", "indexed",
    ]

    /// The time of ``date``: the first moment of a year, a month, or a day without a time.
    ///
    /// - Parameter zone: The zone of dates without one.
    public func time(zone: TimeZoneRules) -> Instant? {
        date.flatMap { text in
            let rest = text.utf8.count == 4 ? "-01-01" : text.utf8.count == 7 ? "-01" : ""
            return Instant(iso8601: text + rest, zone: zone)
        }
    }
}

extension SampleType {
    /// The quantity types by LOINC code, for codes of one type only.
    static let byLOINC: [String: SampleType] = {
        let coded = quantities.compactMap { type in type.loinc.map { ($0, type) } }
        let types = Dictionary(grouping: coded) { $0.0 }
        return types.compactMapValues { $0.count == 1 ? $0[0].1 : nil }
    }()
}

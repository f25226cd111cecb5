extension SamplePredicate {
    /// What a condition lets a store read: the series and the stretch of start times beyond which nothing meets it.
    public struct Reach: Hashable, Sendable {
        /// `nil` for all types.
        public var types: Set<SampleType>?
        /// `nil` for all kinds.
        public var kinds: Set<SampleKind>?
        /// Persons' UUIDs; `nil` for everyone.
        public var subjects: Set<String>?
        /// The first start.
        public var from = Instant(microseconds: .min)
        /// The last start.
        public var through = Instant(microseconds: .max)

        /// Whether a series may have such samples.
        public func contains(type: SampleType, subject: String) -> Bool {
            types?.contains(type) ?? true && kinds?.contains(type.kind) ?? true && subjects?.contains(subject) ?? true
        }

        fileprivate static let nowhere = Reach(types: [], subjects: [])

        fileprivate func intersection(_ other: Reach) -> Reach {
            Reach(
                types: Self.both(types, other.types), kinds: Self.both(kinds, other.kinds),
                subjects: Self.both(subjects, other.subjects),
                from: max(from, other.from), through: min(through, other.through))
        }

        fileprivate func union(_ other: Reach) -> Reach {
            if self == .nowhere { return other }
            if other == .nowhere { return self }
            return Reach(
                types: Self.either(types, other.types), kinds: Self.either(kinds, other.kinds),
                subjects: Self.either(subjects, other.subjects),
                from: min(from, other.from), through: max(through, other.through))
        }

        /// Sets that are missing are those of all.
        private static func both<Element>(_ one: Set<Element>?, _ other: Set<Element>?) -> Set<Element>? {
            guard let one, let other else { return one ?? other }
            return one.intersection(other)
        }

        private static func either<Element>(_ one: Set<Element>?, _ other: Set<Element>?) -> Set<Element>? {
            guard let one, let other else { return nil }
            return one.union(other)
        }
    }

    /// How a store reads what meets the condition: where it looks, and what it still has to ask of each sample there.
    ///
    /// - Returns: a reach that has everything that meets the condition, and what is left of the condition within; `nil` where all of it is met.
    public func plan() -> (reach: Reach, rest: SamplePredicate?) {
        let parts = conjuncts
        let rest = parts.filter { !$0.isAllReach }
        let reach = parts.reduce(Reach()) { $0.intersection($1.reach) }
        return (reach, rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest))
    }

    /// What all has to be met.
    private var conjuncts: [SamplePredicate] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// Whether the reach says the same as the condition.
    private var isAllReach: Bool {
        switch self {
        case .types, .comparison(.subject, .equal, .text): true
        case .comparison(.start, .equal, .instant): true
        case .comparison(.start, let comparison, .instant): comparison.isOrder
        default: false
        }
    }

    private var reach: Reach {
        switch self {
        case .types(let types): return Reach(types: types)
        case .comparison(.subject, .equal, .text(let subject)): return Reach(subjects: [subject])
        case .comparison(.start, let comparison, .instant(let instant)): return Self.reach(comparison, instant)
        // What has no such field differs from everything, and meets nothing else.
        case .comparison(.object(let field), let comparison, _):
            return comparison == .notEqual ? Reach() : Reach(kinds: field.kinds)
        case .and(let parts): return parts.reduce(Reach()) { $0.intersection($1.reach) }
        case .or(let parts): return parts.reduce(.nowhere) { $0.union($1.reach) }
        // The contrary of a stretch is two of them, that of a type all others.
        case .comparison, .not, .uuids: return Reach()
        }
    }

    private static func reach(_ comparison: Comparison, _ instant: Instant) -> Reach {
        let (before, atFirst) = instant.microseconds.subtractingReportingOverflow(1)
        let (behind, atLast) = instant.microseconds.addingReportingOverflow(1)
        return switch comparison {
        case .equal: Reach(from: instant, through: instant)
        case .atLeast: Reach(from: instant)
        case .atMost: Reach(through: instant)
        case .above: atLast ? .nowhere : Reach(from: Instant(microseconds: behind))
        case .below: atFirst ? .nowhere : Reach(through: Instant(microseconds: before))
        case .notEqual, .contains, .beginsWith: Reach()
        }
    }
}

extension SamplePredicate {
    /// What all samples of a series have in common, of which a condition is decided before any of them is read.
    public struct SeriesFacts: Hashable, Sendable {
        /// The type of the samples.
        public var type: SampleType
        /// Whose samples they are.
        public var person: String
        /// The source's id.
        public var source: String
        /// The device's key, or empty without a device.
        public var device: String
        /// No sample lasts longer, in microseconds.
        public var maximumDuration: Int64

        /// The facts of a series.
        public init(type: SampleType, person: String, source: String, device: String, maximumDuration: Int64) {
            (self.type, self.person, self.source, self.device) = (type, person, source, device)
            self.maximumDuration = maximumDuration
        }
    }

    /// A store's plan for reading the matching samples of one series: the times to read, and the condition still to be checked for each
    /// sample.
    public struct SeriesPlan: Sendable {
        /// The starts of all that meets the condition, and maybe of more.
        public var starts: TimeIntervalSet
        /// The remaining condition, or `nil` if it is fully met.
        public var rest: SamplePredicate?
    }

    /// The starts for which a part of a condition may be true, and those for which it may be false.
    private struct Bounds {
        var matched: TimeIntervalSet
        var unmet: TimeIntervalSet
        /// Whether it can be compared, whatever the sample.
        var isKnown = true

        static let open = Bounds(matched: .all, unmet: .all)
        static func constant(_ isTrue: Bool?) -> Bounds {
            guard let isTrue else { return Bounds(matched: .none, unmet: .none, isKnown: false) }
            return isTrue ? Bounds(matched: .all, unmet: .none) : Bounds(matched: .none, unmet: .all)
        }
    }

    /// The plan for one series, or `nil` if none of its samples can meet the condition.
    ///
    /// - Parameter starts: Returns the times at which samples with these UUIDs may start, or all times if unknown.
    public func plan<Failure: Error>(
        for series: SeriesFacts, starts: (Set<SampleIdentity>) throws(Failure) -> TimeIntervalSet
    ) throws(Failure) -> SeriesPlan? {
        var reach = TimeIntervalSet.all
        var parts: [(part: SamplePredicate, bounds: Bounds)] = []
        for part in conjuncts {
            let bounds = try part.bounds(series, starts)
            reach = reach.intersection(bounds.matched)
            guard !reach.isEmpty else { return nil }
            parts.append((part, bounds))
        }
        // Parts that hold throughout the range need not be checked.
        let rest = parts.filter { !$0.bounds.isKnown || !$0.bounds.unmet.intersection(reach).isEmpty }.map(\.part)
        return SeriesPlan(starts: reach, rest: rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest))
    }

    /// The plan for one series if the times of UUIDs are unknown.
    public func plan(for series: SeriesFacts) -> SeriesPlan? { plan(for: series) { _ in .all } }

    private var conjuncts: [SamplePredicate] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    private func bounds<Failure: Error>(
        _ series: SeriesFacts, _ starts: (Set<SampleIdentity>) throws(Failure) -> TimeIntervalSet
    ) throws(Failure) -> Bounds {
        switch self {
        case .types(let types): return .constant(types.contains(series.type))
        case .uuids(let uuids): return Bounds(matched: try starts(uuids), unmet: .all)
        case .comparison(.uuid, .equal, .text(let text)):
            guard let uuid = SampleIdentity(text) else { return .open }
            return Bounds(matched: try starts([uuid]), unmet: .all)
        case .comparison(let field, let comparison, let literal): return Self.bounds(field, comparison, literal, series)
        case .not(let inner):
            let bounds = try inner.bounds(series, starts)
            return Bounds(matched: bounds.unmet, unmet: bounds.matched, isKnown: bounds.isKnown)
        case .and(let parts):
            var sum = Bounds.constant(true)
            for part in parts {
                let bounds = try part.bounds(series, starts)
                sum.matched = sum.matched.intersection(bounds.matched)
                sum.unmet = sum.unmet.union(bounds.unmet)
                sum.isKnown = sum.isKnown && bounds.isKnown
            }
            return sum
        case .or(let parts):
            var sum = Bounds.constant(false)
            for part in parts {
                let bounds = try part.bounds(series, starts)
                sum.matched = sum.matched.union(bounds.matched)
                sum.unmet = sum.unmet.intersection(bounds.unmet)
                sum.isKnown = sum.isKnown && bounds.isKnown
            }
            return sum
        }
    }

    private static func bounds(
        _ field: Field, _ comparison: Comparison, _ literal: Literal, _ series: SeriesFacts
    ) -> Bounds {
        switch (field, literal) {
        case (.start, .instant(let instant)): return bounds(ofStart: comparison, instant.microseconds)
        case (.end, .instant(let instant)): return bounds(ofEnd: comparison, instant.microseconds, series.maximumDuration)
        case (.person, .text(let text)): return .constant(compare(series.person, comparison, text))
        case (.type, .text(let text)): return .constant(compare(series.type.id, comparison, text))
        case (.kind, .text(let text)): return .constant(compare(series.type.kind.name, comparison, text))
        case (.source(.id), .text(let text)): return .constant(compare(series.source, comparison, text))
        case (.device, _) where series.device.isEmpty: return .constant(comparison == .notEqual)
        case (.device(.key), .text(let text)): return .constant(compare(series.device, comparison, text))
        case (.object(let field), _) where !field.kinds.contains(series.type.kind): return .constant(comparison == .notEqual)
        // A health record has its own unit.
        case (.value, .number(_, _?)) where series.type.kind == .clinicalRecord: return .open
        case (.value, .number(_, let unit?)):
            return (try? series.type.conversion(from: unit)) == nil ? .constant(nil) : .open
        case (.category, .text(let name)):
            return series.type.categoryValues?.value(of: name) == nil ? .constant(nil) : .open
        default: return .open
        }
    }

    private static func bounds(ofStart comparison: Comparison, _ time: Int64) -> Bounds {
        switch comparison {
        case .equal: Bounds(matched: .at(time), unmet: TimeIntervalSet.before(time).union(.after(time)))
        case .notEqual: Bounds(matched: TimeIntervalSet.before(time).union(.after(time)), unmet: .at(time))
        case .below: Bounds(matched: .before(time), unmet: .from(time))
        case .atMost: Bounds(matched: .through(time), unmet: .after(time))
        case .above: Bounds(matched: .after(time), unmet: .through(time))
        case .atLeast: Bounds(matched: .from(time), unmet: .before(time))
        case .contains, .beginsWith: .constant(nil)
        }
    }

    /// An end is after its start by at most the longest duration.
    private static func bounds(ofEnd comparison: Comparison, _ time: Int64, _ maximumDuration: Int64) -> Bounds {
        let (difference, isFirst) = time.subtractingReportingOverflow(max(0, maximumDuration))
        let earliest = isFirst ? Int64.min : difference
        return switch comparison {
        case .equal: Bounds(matched: TimeIntervalSet.from(earliest).intersection(.through(time)), unmet: .all)
        case .notEqual: .open
        case .below: Bounds(matched: .before(time), unmet: .from(earliest))
        case .atMost: Bounds(matched: .through(time), unmet: .after(earliest))
        case .above: Bounds(matched: .after(earliest), unmet: .through(time))
        case .atLeast: Bounds(matched: .from(earliest), unmet: .before(time))
        case .contains, .beginsWith: .constant(nil)
        }
    }
}

/// Computes the repaired form of each sample, or the reason to leave it alone. It caches conversions, so each run needs its own.
///
/// A repair of the value is judged by the type's plausible range. A value that is plausible only after the repair is repaired, and one that
/// is plausible only before it is already right. In all other cases the user has to decide.
public final class Repairer {
    /// The reading in its correct form.
    public struct Outcome {
        /// The person, type and source.
        public var origin: Origin
        /// The numeral as it would have been received.
        public var numeral: Numeral
        /// As it would have been received.
        public var unit: Unit
        /// In the type's canonical unit.
        public var value: Double
        /// When it began.
        public var start: Instant
        /// The end, equal to the start for an instantaneous measurement.
        public var end: Instant
        /// The zone of the source, if known.
        public var zone: ZoneOffset?
        /// The clock that the time is from.
        public var timeOrigin: TimeOrigin
        /// What identity would have been computed from, had it been read rightly.
        public var nominalStart: Int64

        /// The reading as it is, before a repair changes anything.
        public init(_ sample: Sample) {
            origin = sample.origin
            numeral = sample.numeral
            unit = sample.unit
            value = sample.value
            start = sample.start
            end = sample.end
            zone = sample.zone
            timeOrigin = sample.timeOrigin
            nominalStart = sample.nominalStart
        }

        /// The repaired sample. Its nominal start is its start.
        ///
        /// - Parameter repair: The text of the repair.
        public func sample(instead sample: Sample, by repair: String) -> Sample {
            var after = sample
            after.origin = origin
            after.numeral = numeral
            after.unit = unit
            after.value = value
            after.start = start
            after.end = end
            after.zone = zone
            after.timeOrigin = timeOrigin
            after.nominalStart = start.microseconds
            after.identity = SampleIdentity(
                series: origin.seriesKey, start: after.nominalStart, repaired: sample.identity, by: repair)
            return after
        }
    }

    /// What becomes of one sample.
    public enum Evaluation {
        /// The repaired sample.
        case repaired(Outcome)
        /// The sample is left alone, for this reason.
        case left(RepairReason)
    }

    /// The repair to apply.
    public let repair: Repair
    /// Whether also those are repaired that could be right as they are.
    private let takesAmbiguous: Bool
    private let latest: Int64
    private var origins: [ObjectIdentifier: (old: Origin, new: Origin)] = [:]
    private var conversions: [Key: UnitConversion?] = [:]

    private struct Key: Hashable {
        var type: SampleType
        var unit: Unit
    }

    /// - Parameters:
    ///   - takesAmbiguous: Whether to repair samples that may already be right.
    ///   - now: The current time. Samples that would start more than a day later are left alone.
    public init(_ repair: Repair, takesAmbiguous: Bool, now: Instant) {
        self.repair = repair
        self.takesAmbiguous = takesAmbiguous
        latest = now.microseconds + Calendar.day
    }

    /// Judges one sample.
    public func evaluate(_ sample: Sample) -> Evaluation {
        var outcome = Outcome(sample)
        switch repair {
        // The numbers of a category are names.
        case .unit where sample.origin.kind != .quantity, .scale where sample.origin.kind != .quantity:
            return .left(.noConversion)
        // A calendar date is independent of clocks.
        case .shift where sample.origin.kind == .activitySummary, .zone where sample.origin.kind == .activitySummary:
            return .left(.noInstant)
        case .unit(let unit):
            if sample.unit.code == unit.code { return .left(.hasTheUnit) }
            outcome.unit = unit
            return evaluated(outcome, instead: sample)
        case .scale(let factor):
            guard let product = sample.numeral.times(factor) else { return .left(.impossibleValue) }
            outcome.numeral = product
            return evaluated(outcome, instead: sample)
        case .shift(let offset):
            let moved = (
                sample.start.microseconds.addingReportingOverflow(offset), sample.end.microseconds.addingReportingOverflow(offset)
            )
            guard !moved.0.overflow, !moved.1.overflow else { return .left(.impossibleTime) }
            outcome.start.microseconds = moved.0.partialValue
            outcome.end.microseconds = moved.1.partialValue
            outcome.nominalStart &+= offset
            outcome.timeOrigin = .deviceCorrected
            return timed(outcome)
        case .zone(let rules): return moved(outcome, sample, to: rules)
        case .person(let person):
            if sample.origin.person == person { return .left(.samePerson) }
            outcome.origin = origin(instead: sample.origin) {
                Origin(person: person, type: $0.type, source: $0.source, device: $0.device)
            }
            return .repaired(outcome)
        case .type(let type):
            if sample.origin.type == type { return .left(.sameType) }
            guard type.kind == sample.origin.kind, let conversion = conversion(from: sample.unit, of: type) else {
                return .left(.noConversion)
            }
            outcome.value = conversion.convert(sample.numeral) + 0
            guard isPossible(outcome.value, type) else { return .left(.impossibleValue) }
            outcome.origin = origin(instead: sample.origin) {
                Origin(person: $0.person, type: type, source: $0.source, device: $0.device)
            }
            return .repaired(outcome)
        }
    }

    /// Judges a repair of the value by the type's range, before and after it.
    private func evaluated(_ outcome: Outcome, instead sample: Sample) -> Evaluation {
        let type = sample.origin.type
        guard let conversion = conversion(from: outcome.unit, of: type) else { return .left(.noConversion) }
        var outcome = outcome
        // SQLite does not preserve negative zero.
        outcome.value = conversion.convert(outcome.numeral) + 0
        guard isPossible(outcome.value, type) else { return .left(.impossibleValue) }
        guard let range = type.plausible else { return takesAmbiguous ? .repaired(outcome) : .left(.noRange) }
        switch (range.contains(sample.value), range.contains(outcome.value)) {
        case (false, true): return .repaired(outcome)
        case (true, false): return .left(.alreadyPlausible)
        case (true, true): return takesAmbiguous ? .repaired(outcome) : .left(.bothPlausible)
        case (false, false): return takesAmbiguous ? .repaired(outcome) : .left(.neitherPlausible)
        }
    }

    /// Keeps the local time. A time that is repeated or skipped in the zone is left to the user.
    private func moved(_ outcome: Outcome, _ sample: Sample, to rules: TimeZoneRules) -> Evaluation {
        guard let zone = sample.zone else { return .left(.noZone) }
        var outcome = outcome
        func instant(_ time: Instant) -> (Instant, ZoneOffset)? {
            let wall = time.wallTime(at: zone)
            let offsets = rules.offsets(at: wall)
            return offsets.count == 1 ? (wall.instant(at: offsets[0]), offsets[0]) : nil
        }
        guard let start = instant(sample.start), let end = instant(sample.end), end.0 >= start.0 else {
            return .left(.noSuchLocalTime)
        }
        if start.1 == zone { return .left(.sameZone) }
        (outcome.start, outcome.zone) = start
        outcome.end = end.0
        // A nominal time that is a local time is kept. One that equals the instant moves with it.
        if sample.nominalStart == sample.start.microseconds { outcome.nominalStart = start.0.microseconds }
        return timed(outcome)
    }

    private func timed(_ outcome: Outcome) -> Evaluation {
        // A device clock that was never set starts at 1970.
        guard outcome.start.microseconds >= 31_536_000_000_000, outcome.end.microseconds <= latest else {
            return .left(.impossibleTime)
        }
        return .repaired(outcome)
    }

    private func isPossible(_ value: Double, _ type: SampleType) -> Bool {
        Origin.measurable.contains(value) && (type.hardLimits?.contains(value) ?? true)
    }

    private func conversion(from unit: Unit, of type: SampleType) -> UnitConversion? {
        let key = Key(type: type, unit: unit)
        if let known = conversions[key] { return known }
        let conversion = try? type.conversion(from: unit)
        conversions[key] = .some(conversion)
        return conversion
    }

    /// One object for all samples of a series.
    private func origin(instead old: Origin, _ make: (Origin) -> Origin) -> Origin {
        if let known = origins[ObjectIdentifier(old)] { return known.new }
        if origins.count > 10_000 { origins.removeAll() }
        let new = make(old)
        origins[ObjectIdentifier(old)] = (old, new)
        return new
    }
}

import HealthModel
import Pipeline
import SampleStore

/// Estimates of what a person's body is made of, from the impedances that scales told: samples of their own, beside those that were measured.
///
/// Each has `estimated` in its metadata, with the formula and all that went into it. Where a scale tells fat itself there is nothing to estimate, and
/// where anything is not known of the person nothing is made up (Decisions/0039).
public struct BodyEstimates {
    /// What has to be known of a person beside the weighing.
    public enum Missing: String, Hashable, Sendable, CaseIterable {
        case dateOfBirth, biologicalSex, height

        /// What is missing, and how it is said.
        public var advice: String {
            switch self {
            case .dateOfBirth: "the date of birth: 'vitalgate characteristics set dateOfBirth DATE'"
            case .biologicalSex: "the biological sex, female or male: 'vitalgate characteristics set biologicalSex …'"
            case .height: "the height: a sample of the type height, as a line of 'vitalgate import' or of a scale"
            }
        }
    }

    /// What became of the impedances.
    public struct Account: Equatable, Sendable {
        /// So many were estimated now: samples.
        public var stored = 0
        /// Weighings whose estimate is there, or was there and was deleted.
        public var known = 0
        /// Weighings of which the scale tells more than an impedance.
        public var measured = 0
        /// Impedances without a weight within two minutes.
        public var withoutWeight = 0
        /// Weighings of somebody who still grows, whose height at that time is not known.
        public var withoutHeight = 0
        /// Weighings that the formula was not made for: another age, or an impossible result.
        public var outside = 0
        /// What is not known of the person; then nothing was estimated.
        public var missing: Set<Missing> = []

        /// Nothing was looked at.
        public init() {}
    }

    private let store: SampleStore
    private let subject: String
    private let formula: ImpedanceFormula
    private let zone: TimeZoneRules

    /// A weight and an impedance so near, in microseconds, are of one weighing.
    private static let weighing: Int64 = 120_000_000
    /// The years at which a height counts for all times; before that, one so far off, in microseconds, is another.
    private static let grown = 20
    private static let growing = 90 * Calendar.day
    /// What no estimate is wanted beside.
    private static let measurements = Set(
        ["bodyFatPercentage", "bodyFatMass", "fatFreeMass", "softLeanMass", "muscleMass", "musclePercentage"].compactMap {
            SampleType($0)
        })

    /// - Parameters:
    ///   - subject: the person's UUID.
    ///   - zone: of the days on which people have their birthdays.
    public init(store: SampleStore, subject: String, formula: ImpedanceFormula, zone: TimeZoneRules) {
        (self.store, self.subject, self.formula, self.zone) = (store, subject, formula, zone)
    }

    /// The id of the source that its samples have.
    public static func source(of formula: ImpedanceFormula) -> String { "estimate." + formula.rawValue }

    /// What is not known of the person now.
    public func missing(on date: String) throws -> Set<Missing> {
        var missing: Set<Missing> = []
        let history = try store.characteristics(of: subject)
        if history.value(of: .dateOfBirth, on: date) == nil { missing.insert(.dateOfBirth) }
        if Self.isMale(history, date) == nil { missing.insert(.biologicalSex) }
        if try height(at: Instant(microseconds: .max), within: nil) == nil { missing.insert(.height) }
        return missing
    }

    /// Estimates what has no estimate yet.
    ///
    /// - Parameters:
    ///   - range: of the impedances.
    ///   - now: the time of the ledger, and the day of which the person's characteristics are taken: they hold of earlier days, too.
    public func make(in range: ClosedRange<Instant>, now: Instant) throws -> Account {
        var account = Account()
        var readings: [Reading] = []
        var sources: [[SampleIdentity]] = []
        let today = zone.date(of: now)
        var inputs: (born: String, isMale: Bool)?
        for impedance in try samples(of: [Self.type("bodyImpedance")], in: range) {
            let near = around(impedance)
            guard
                let weight = try samples(of: [.bodyMass], in: near).filter({ Self.isOfOne($0.origin, impedance.origin) }).min(
                    by: { Self.distance($0, impedance) < Self.distance($1, impedance) })
            else {
                account.withoutWeight += 1
                continue
            }
            if try samples(of: Self.measurements, in: near).contains(where: { Self.isOfOne($0.origin, impedance.origin) }) {
                account.measured += 1
                continue
            }
            if try isKnown(impedance) {
                account.known += 1
                continue
            }
            if inputs == nil {
                account.missing = try missing(on: today)
                guard account.missing.isEmpty else { return account }
                let history = try store.characteristics(of: subject)
                guard let born = history.value(of: .dateOfBirth, on: today)?.value, let isMale = Self.isMale(history, today)
                else { return account }
                inputs = (born, isMale)
            }
            guard let inputs else { continue }
            let age = Self.years(from: inputs.born, to: zone.date(of: impedance.start))
            guard let height = try height(at: impedance.start, within: age < Self.grown ? Self.growing : nil) else {
                account.withoutHeight += 1
                continue
            }
            let body = ImpedanceFormula.Inputs(
                weight: weight.value, height: height.value * 100, age: age, isMale: inputs.isMale, impedance: impedance.value)
            guard let values = formula.estimate(body) else {
                account.outside += 1
                continue
            }
            let made = self.readings(values, of: impedance, body, number: readings.count)
            readings += made
            sources += made.map { _ in [weight.identity, impedance.identity, height.identity] }
        }
        guard !readings.isEmpty else { return account }
        let batch = try ReadingPath.samples(of: readings, zone: zone, received: now)
        let day = now.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient * Calendar.day
        let description = IngestDescription(
            kind: .save, name: "estimates of " + formula.rawValue, received: now.microseconds, comparesPaths: false)
        for outcome in try store.save(batch, as: description, within: day..<(day + Calendar.day), from: sources) {
            if case .stored = outcome { account.stored += 1 } else { account.known += 1 }
        }
        return account
    }

    private func readings(
        _ values: [Numeral], of impedance: Sample, _ body: ImpedanceFormula.Inputs, number: Int
    ) -> [Reading] {
        let metadata = Metadata([
            ("estimated", .boolean(true)), ("formula", .string(formula.rawValue)),
            ("estimatedFrom", .string("\(impedance.identity)")),
            ("estimatedWithAge", .number(Numeral(coefficient: Int64(body.age)))),
            ("estimatedWithSex", .string(body.isMale ? "male" : "female")),
            ("estimatedWithHeight", Self.quantity(body.height / 100, Self.type("height"))),
            ("estimatedWithWeight", Self.quantity(body.weight, .bodyMass)),
            ("estimatedWithImpedance", Self.quantity(body.impedance, Self.type("bodyImpedance"))),
        ])
        let source = SourceRevision(id: Self.source(of: formula), name: "Estimate: " + formula.title, version: "1")
        return zip(formula.types, values).map { type, value in
            Reading(
                origin: Origin(subject: subject, type: type, source: source), numeral: value, unit: type.canonicalUnit,
                time: .instants(start: impedance.start, end: impedance.start, offset: impedance.zone),
                group: .shared(UInt64(number)),
                metadata: metadata, place: Place(.record, number + 1))
        }
    }

    // MARK: What the store knows

    private func samples(of types: Set<SampleType>, in range: ClosedRange<Instant>) throws -> [Sample] {
        let cursor = try store.samples(
            matching: SampleQuery(
                .and([
                    .types(types), .comparison(.subject, .equal, .text(subject)),
                    .comparison(.start, .atLeast, .instant(range.lowerBound)),
                    .comparison(.start, .atMost, .instant(range.upperBound)),
                ])))
        defer { cursor.close() }
        var samples: [Sample] = []
        while let stored = try cursor.next() {
            // What was estimated is no measurement.
            if stored.sample.metadata?["estimated"] == nil { samples.append(stored.sample) }
        }
        return samples
    }

    private func isKnown(_ impedance: Sample) throws -> Bool {
        let cursor = try store.samples(
            matching: SampleQuery(
                .and([
                    .types(Set(formula.types)), .comparison(.subject, .equal, .text(subject)),
                    .comparison(.source(.id), .equal, .text(Self.source(of: formula))),
                    .comparison(.start, .atLeast, .instant(impedance.start)),
                    .comparison(.start, .atMost, .instant(impedance.start)),
                ]), limit: 1))
        defer { cursor.close() }
        return try cursor.next() != nil
    }

    /// In metres: the last that was told before, else the first that was told after; not farther off than so many microseconds.
    private func height(at time: Instant, within limit: Int64?) throws -> Sample? {
        func first(_ comparison: SamplePredicate.Comparison, descending: Bool) throws -> Sample? {
            let cursor = try store.samples(
                matching: SampleQuery(
                    .and([
                        .types([Self.type("height")]), .comparison(.subject, .equal, .text(subject)),
                        .comparison(.start, comparison, .instant(time)),
                    ]), descending: descending, limit: 1))
            defer { cursor.close() }
            guard let height = try cursor.next()?.sample else { return nil }
            if let limit, (height.start.microseconds &- time.microseconds).magnitude > limit.magnitude { return nil }
            return height
        }
        return try first(.atMost, descending: true) ?? first(.above, descending: false)
    }

    /// Of one scale: of one device, or where the file names none, of one source.
    private static func isOfOne(_ one: Origin, _ other: Origin) -> Bool {
        one.device?.key == other.device?.key && (one.device != nil || one.source.id == other.source.id)
    }

    private func around(_ sample: Sample) -> ClosedRange<Instant> {
        let time = sample.start.microseconds
        return Instant(microseconds: time - Self.weighing)...Instant(microseconds: time + Self.weighing)
    }

    private static func distance(_ one: Sample, _ other: Sample) -> UInt64 {
        (one.start.microseconds &- other.start.microseconds).magnitude
    }

    private static func isMale(_ history: CharacteristicHistory, _ date: String) -> Bool? {
        switch history.value(of: .biologicalSex, on: date)?.value {
        case "male": true
        case "female": false
        default: nil
        }
    }

    /// Whole years between two dates, `2026-11-20`.
    static func years(from born: String, to date: String) -> Int {
        guard let first = Int(born.prefix(4)), let last = Int(date.prefix(4)) else { return -1 }
        return last - first - (date.dropFirst(4) < born.dropFirst(4) ? 1 : 0)
    }

    /// To three places, as nothing that goes in is known better.
    private static func quantity(_ value: Double, _ type: SampleType) -> MetadataValue {
        .quantity(Numeral(coefficient: Int64((value * 1000).rounded()), exponent: -3), type.canonicalUnit)
    }

    private static func type(_ name: String) -> SampleType { SampleType(name) ?? .bodyMass }
}

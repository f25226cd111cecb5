import HealthModel
import Pipeline
import SampleStore

/// Estimates of body composition from the impedances that scales report, stored as separate samples beside the measured ones.
///
/// Each sample has `estimated` in its metadata, with the formula and all its inputs. If a scale reports body fat itself, nothing
/// is estimated. If a fact about the person is missing, nothing is assumed (Decisions/0039).
package struct BodyEstimates {
    /// A fact about the person that is needed besides the weighing.
    package enum Missing: String, Hashable, Sendable, CaseIterable {
        case dateOfBirth, biologicalSex, height

        /// The missing fact and the command that sets it.
        package var advice: String {
            switch self {
            case .dateOfBirth: "the date of birth: 'vitalgate characteristics set dateOfBirth DATE'"
            case .biologicalSex: "the biological sex, female or male: 'vitalgate characteristics set biologicalSex …'"
            case .height: "the height: import a sample of the type height"
            }
        }
    }

    /// The results for the impedances.
    package struct Account: Equatable, Sendable {
        /// The number of samples that were estimated now.
        package var stored = 0
        /// The number of weighings whose estimate exists, or existed and was deleted.
        package var known = 0
        /// The number of weighings for which the scale reports more than an impedance.
        package var measured = 0
        /// The number of impedances without a weight within two minutes.
        package var withoutWeight = 0
        /// The number of weighings of a person who still grows, whose height at that time is not known.
        package var withoutHeight = 0
        /// The number of weighings outside of the formula's range: another age, or an impossible result.
        package var outside = 0
        /// The missing facts about the person. If there are any, the rest was not estimated.
        package var missing: Set<Missing> = []

        /// Creates an account with all counts zero.
        package init() {}
    }

    private let store: SampleStore
    private let person: String
    private let formula: ImpedanceFormula
    private let zone: TimeZoneRules

    /// The maximum distance in microseconds between a weight and an impedance of one weighing.
    private static let weighing: Int64 = 120_000_000
    /// The age in years from which a height is valid for all times.
    private static let grown = 20
    private static let growing = 90 * Calendar.day
    /// Types of measurements that make an estimate unnecessary.
    private static let measurements = Set(
        ["bodyFatPercentage", "bodyFatMass", "fatFreeMass", "softLeanMass", "muscleMass", "musclePercentage"].compactMap {
            SampleType($0)
        })

    /// - Parameters: - subject: the person's UUID. - zone: the zone of the days on which ages change.
    package init(store: SampleStore, person: String, formula: ImpedanceFormula, zone: TimeZoneRules) {
        (self.store, self.person, self.formula, self.zone) = (store, person, formula, zone)
    }

    /// Returns the id of the source of the estimated samples.
    package static func source(of formula: ImpedanceFormula) -> String { "estimate." + formula.rawValue }

    /// Returns the facts about the person that are missing on a date.
    package func missing(on date: String) throws -> Set<Missing> {
        var missing: Set<Missing> = []
        let history = try store.people.characteristics(of: person)
        if history.value(of: .dateOfBirth, on: date) == nil { missing.insert(.dateOfBirth) }
        if Self.isMale(history, date) == nil { missing.insert(.biologicalSex) }
        if try height(at: Instant(microseconds: .max), within: nil) == nil { missing.insert(.height) }
        return missing
    }

    /// Estimates the weighings that have no estimate yet.
    ///
    /// - Parameters: - range: the times of the impedances. - now: the time for the ledger, and the day whose characteristics are
    ///   used. They are applied to earlier days too.
    package func make(in range: ClosedRange<Instant>, now: Instant) throws -> Account {
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
                let history = try store.people.characteristics(of: person)
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
        for outcome in try store.samples.save(batch, as: description, within: day..<(day + Calendar.day), from: sources) {
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
                origin: Origin(person: person, type: type, source: source), numeral: value, unit: type.canonicalUnit,
                time: .instants(start: impedance.start, end: impedance.start, offset: impedance.zone),
                group: .shared(UInt64(number)),
                metadata: metadata, place: Place(.record, number + 1))
        }
    }

    // MARK: What the store knows

    private func samples(of types: Set<SampleType>, in range: ClosedRange<Instant>) throws -> [Sample] {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                .and([
                    .types(types), .comparison(.person, .equal, .text(person)),
                    .comparison(.start, .atLeast, .instant(range.lowerBound)),
                    .comparison(.start, .atMost, .instant(range.upperBound)),
                ])))
        defer { cursor.close() }
        var samples: [Sample] = []
        while let stored = try cursor.next() {
            // Estimated samples are not measurements.
            if stored.sample.metadata?["estimated"] == nil { samples.append(stored.sample) }
        }
        return samples
    }

    private func isKnown(_ impedance: Sample) throws -> Bool {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                .and([
                    .types(Set(formula.types)), .comparison(.person, .equal, .text(person)),
                    .comparison(.source(.id), .equal, .text(Self.source(of: formula))),
                    .comparison(.start, .atLeast, .instant(impedance.start)),
                    .comparison(.start, .atMost, .instant(impedance.start)),
                ]), limit: 1))
        defer { cursor.close() }
        return try cursor.next() != nil
    }

    /// Returns the last height before a time, or else the first after it, no farther away than the limit in microseconds.
    private func height(at time: Instant, within limit: Int64?) throws -> Sample? {
        func first(_ comparison: SamplePredicate.Comparison, descending: Bool) throws -> Sample? {
            let cursor = try store.samples.cursor(
                matching: SampleQuery(
                    .and([
                        .types([Self.type("height")]), .comparison(.person, .equal, .text(person)),
                        .comparison(.start, comparison, .instant(time)),
                    ]), descending: descending, limit: 1))
            defer { cursor.close() }
            guard let height = try cursor.next()?.sample else { return nil }
            if let limit, (height.start.microseconds &- time.microseconds).magnitude > limit.magnitude { return nil }
            return height
        }
        return try first(.atMost, descending: true) ?? first(.above, descending: false)
    }

    /// Whether two samples are from one scale: the same device or, if the file names none, the same source.
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

    /// Rounds to three decimal places because no input is more precise.
    private static func quantity(_ value: Double, _ type: SampleType) -> MetadataValue {
        .quantity(Numeral(coefficient: Int64((value * 1000).rounded()), exponent: -3), type.canonicalUnit)
    }

    private static func type(_ name: String) -> SampleType { SampleType(name) ?? .bodyMass }
}

/// Finds intervals of a series that were read in the wrong unit.
///
/// The unit is a hidden state that rarely changes. For each unit, a level follows the readings as they would be in it (a Kalman filter: a
/// value that drifts and is measured with noise). Costs arise for distance from the level, for values outside the human range, and for
/// changes of the unit. The cheapest path through all readings (``UnitPaths``) yields the intervals. One is reported only if it is far
/// cheaper than the stored unit, and fits the level as well as a correct reading would.
///
/// Wrong readings among right ones change the unit too often for such a path. They are found by a second path on which a change costs
/// little. Two people of whom one weighs about 2.2 times as much as the other look the same as kilograms and pounds, so such readings
/// are reported with both explanations (``MisunitRange/mayBeAnotherPerson``).
public struct MisunitDetector: Sendable {
    let type: SampleType
    let model: UnitModel
    private let conversions: [UnitConversion]
    private let limits: ClosedRange<Double>?
    /// Whether the readings may be from several people, in which case their level is meaningless.
    let isShared: Bool
    /// The cost of a change of unit, which happens once in many thousand readings.
    private static let change = 8.0
    /// The evidence that an interval must exceed to be reported.
    public static let threshold = 12.0
    /// The minimum number of readings. Fewer are outliers.
    public static let shortest = 3
    /// The maximum distance of an interval's median from the level, in standard deviations of the level.
    private static let fit = 2.5
    /// The strangeness of a median at which it is implausible for anyone, so that surrounding readings are not needed.
    private static let plain = 4.0
    /// Two readings of one hour that differ by this part of the distance between two units may be in two units.
    private static let jump = 0.4

    /// The types whose units can be recognised by their values.
    public static var types: Set<SampleType> { UnitModel.types }

    /// A detector, or `nil` for a type whose unit cannot be recognised by its values.
    ///
    /// - Parameter isShared: Whether the readings may be from several people.
    public init?(_ type: SampleType, isShared: Bool = false) {
        self.isShared = isShared
        guard let model = UnitModel.of(type) else { return nil }
        self.type = type
        self.model = model
        limits = type.hardLimits
        conversions = model.units.compactMap { try? type.conversion(from: $0) }
        guard conversions.count == model.units.count else { return nil }
    }

    /// Whether values in this range are valid in no other unit, so that no search is needed.
    public func cannotBeWrong(_ low: Double, _ high: Double) -> Bool {
        guard !model.isRate, low >= model.low, high <= model.high else { return false }
        return conversions.allSatisfy { conversion in
            // Where the usual range, read in another unit, lies apart from itself.
            let (first, last) = (conversion(model.low), conversion(model.high))
            return conversion.isIdentity || last < model.low || first > model.high
        }
    }

    /// The reading's value under one unit, or `nil` if that is its own unit or has no valid value.
    func position(_ reading: MisunitReading, _ state: Int) -> Double? {
        let conversion: UnitConversion?
        if state == 0 {
            let known = model.units.firstIndex { $0.code == reading.unit.code }
            conversion = known.map { conversions[$0] } ?? (try? type.conversion(from: reading.unit))
        } else {
            let unit = model.units[state - 1]
            if unit.code == reading.unit.code || !model.units.contains(where: { $0.code == reading.unit.code }) { return nil }
            conversion = conversions[state - 1]
        }
        guard let value = conversion?.convert(reading.numeral), reading.duration > 0 || !model.isRate else { return nil }
        if let limits, state > 0, !limits.contains(value) { return nil }
        return model.position(value, days: reading.duration)
    }

    /// Finds the intervals of one series.
    ///
    /// - Parameter readings: The readings ordered by time. At most some hundred thousand, since each needs a byte or two per unit.
    public func ranges(of readings: [MisunitReading], series: Int64 = 0) -> [MisunitRange] {
        // There are many, and nearly always all can be judged.
        let readings = readings.contains { position($0, 0) == nil } ? readings.filter { position($0, 0) != nil } : readings
        let jumps = jumps(in: readings)
        guard jumps.count > 0 || jumps.hasImplausibleReadings else { return [] }
        var ranges = blocks(of: readings, series)
        guard jumps.count >= UnitMixture.minimumChanges else { return ranges }
        for mixture in mixtures(in: readings) {
            ranges.removeAll { $0.fits.code == mixture.fits.code && $0.from <= mixture.to && mixture.from <= $0.to }
            if let range = evaluate(mixture, readings, series) { ranges.append(range) }
        }
        return ranges.sorted { $0.from < $1.from }
    }

    /// The number of times that neighbors lie so far apart that their units may differ, and whether any reading is implausible.
    /// Most series have neither, and need no search.
    private func jumps(in readings: [MisunitReading]) -> (count: Int, hasImplausibleReadings: Bool) {
        guard let first = readings.first, let own = position(first, 0) else { return (0, false) }
        let apart = (1...model.units.count).compactMap { position(first, $0) }.map { ($0 - own).magnitude }.min() ?? 0
        var (count, hasImplausibleReadings, last) = (0, false, own)
        for reading in readings {
            guard let position = position(reading, 0) else { continue }
            if (position - last).magnitude > Self.jump * apart { count += 1 }
            if !reading.isReference, model.strangeness(position) > 0 { hasImplausibleReadings = true }
            last = position
        }
        return (count, hasImplausibleReadings)
    }

    /// The intervals that are in another unit as a whole.
    private func blocks(of readings: [MisunitReading], _ series: Int64) -> [MisunitRange] {
        let units = UnitPaths(model: model, count: model.units.count + 1, change: Self.change).units(of: readings, position)
        var ranges: [MisunitRange] = []
        var index = 0
        while index < readings.count {
            // An interval starts and ends with a judged reading. A witness takes the state of its surroundings.
            guard units[index] != 0, !readings[index].isReference else {
                index += 1
                continue
            }
            let first = index
            while index < readings.count, units[index] == units[first] || readings[index].isReference { index += 1 }
            while readings[index - 1].isReference { index -= 1 }
            if let range = evaluate(first..<index, state: Int(units[first]), readings, series) { ranges.append(range) }
        }
        return ranges
    }

    /// Judges whether an interval fits far better in the other unit, by the surrounding readings and the human range.
    private func evaluate(
        _ range: Range<Int>, state: Int, _ readings: [MisunitReading], _ series: Int64
    ) -> MisunitRange? {
        let own = readings[range].filter { !$0.isReference }
        guard own.count >= Self.shortest, let first = own.first, let last = own.last else { return nil }
        let around = Array(readings[max(0, range.lowerBound - 40)..<range.lowerBound].suffix(40))
        let following = Array(readings[range.upperBound..<min(readings.count, range.upperBound + 40)])
        var level = UnitLevel()
        for reading in around {
            if let position = position(reading, 0) { level.take(position, at: reading.start.microseconds, model) }
        }
        let asItIs = cost(readings[range], following, state: 0, level)
        let instead = cost(readings[range], following, state: state, level)
        let evidence = asItIs - instead - 2 * Self.change
        guard evidence >= Self.threshold else { return nil }
        let before = own.compactMap { position($0, 0) }.sorted()
        let after = own.compactMap { position($0, state) }.sorted()
        guard before.count == own.count, after.count == own.count else { return nil }
        let neighbours = (around.suffix(20) + following.prefix(20)).compactMap { position($0, 0) }.sorted()
        let middle = after[after.count / 2]
        let isPlain = isPlain(before: before[before.count / 2], after: middle)
        if !isPlain {
            guard !isShared, isAtLeastAsPlausible(middle, than: before[before.count / 2]) else { return nil }
            // The usual range is not sufficient by itself. There must be surrounding readings, and they must fit.
            guard !neighbours.isEmpty else { return nil }
            let days = min(gap(around.last, first), gap(last, following.first))
            let allowed = (model.noise * model.noise + min(model.drift * model.drift * days, model.reach * model.reach))
                .squareRoot()
            guard (middle - neighbours[neighbours.count / 2]).magnitude <= Self.fit * allowed else { return nil }
        }
        return MisunitRange(
            series: series, type: type, taken: first.unit, fits: model.units[state - 1], from: first.start, to: last.start,
            count: own.count, before: value(before[before.count / 2]), after: value(middle),
            around: neighbours.isEmpty ? nil : value(neighbours[neighbours.count / 2]), evidence: evidence,
            mayBeAnotherPerson: mayBeAnotherPerson(before[before.count / 2])
                && !isConfirmed(Array(range), state: state, readings))
    }

    /// Whether a value in the other unit is at least as plausible as the stored one. Otherwise the readings around it are wrong.
    func isAtLeastAsPlausible(_ after: Double, than before: Double) -> Bool {
        model.strangeness(after) <= model.strangeness(before)
    }

    /// Whether a value is plausible for another person as stored.
    func mayBeAnotherPerson(_ before: Double) -> Bool { model.strangeness(before) <= Self.plain / 2 }

    /// Whether a value is implausible for anyone as stored, and usual in the other unit.
    func isPlain(before: Double, after: Double) -> Bool {
        model.strangeness(after) == 0 && model.strangeness(before) > Self.plain
    }

    private func gap(_ one: MisunitReading?, _ other: MisunitReading?) -> Double {
        guard let one, let other else { return .infinity }
        return Double(other.start.microseconds - one.start.microseconds) / 86_400e6
    }

    /// The cost of reading an interval in a unit, and some following readings as they are.
    private func cost(_ range: ArraySlice<MisunitReading>, _ following: [MisunitReading], state: Int, _ level: UnitLevel)
        -> Double
    {
        var level = level
        var cost = 0.0
        for (reading, state) in range.map({ ($0, $0.isReference ? 0 : state) }) + following.map({ ($0, 0) }) {
            guard let position = position(reading, state) else { continue }
            if !reading.isReference {
                cost +=
                    model.strangeness(position)
                    + UnitModel.surprise(level.distance(position, at: reading.start.microseconds, model))
            }
            level.take(position, at: reading.start.microseconds, model)
        }
        return cost
    }

    func value(_ position: Double) -> Double { model.isLinear ? position : exponential(position) }
}

/// An interval of a series whose numbers fit far better in another unit.
public struct MisunitStretch: Hashable, Sendable {
    /// The number of the series, and its type.
    public var series: Int64
    public var type: SampleType
    /// The assumed unit, and the fitting one.
    public var taken: Unit
    public var fits: Unit
    /// The first and the last of the samples.
    public var from: Instant
    public var to: Instant
    public var count: Int
    /// The median value as stored, and as repaired, in the canonical unit.
    public var before: Double
    public var after: Double
    /// The median of the person's surrounding readings, if there are any.
    public var around: Double?
    /// The evidence for the other unit, as a natural logarithm of the likelihood ratio.
    public var evidence: Double
    /// 0 to 1.
    public var confidence: Double { 1 - exponential(-evidence / 5) }
}

/// One value of a series, in the order of time.
public struct MisunitReading: Sendable {
    public var start: Instant
    /// Days, for amounts over a time.
    public var duration: Double
    public var numeral: Numeral
    public var unit: Unit
    /// Another device's reading of the same person. It contributes to the level and is not judged.
    public var isWitness: Bool

    /// A reading by its parts.
    public init(start: Instant, duration: Double = 0, numeral: Numeral, unit: Unit, isWitness: Bool = false) {
        self.start = start
        self.duration = duration
        self.numeral = numeral
        self.unit = unit
        self.isWitness = isWitness
    }
}

/// Finds intervals of a series that were read in the wrong unit.
///
/// The unit is a hidden state that rarely changes. For each unit, a level follows the readings as they would be in it (a Kalman filter: a
/// value that drifts and is measured with noise). Costs arise for distance from the level, for values outside the human range, and for
/// changes of the unit. The cheapest path through all readings (the Viterbi algorithm) yields the intervals. One is reported only if it is
/// far cheaper than the stored unit, and fits the level as well as a correct reading would.
public struct MisunitDetector {
    private let type: SampleType
    private let model: UnitModel
    private let conversions: [UnitConversion]
    /// Whether the readings may be from several people, in which case their level is meaningless.
    private let isShared: Bool
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

    /// Where the level is, and how sure that is.
    private struct Level {
        var position = 0.0
        var variance = -1.0
        var time: Int64 = 0

        var isKnown: Bool { variance >= 0 }

        /// How far off a position is, in squared deviations.
        func distance(_ other: Double, at time: Int64, _ model: UnitModel) -> Double {
            guard isKnown else { return 0 }
            let difference = other - position
            return difference * difference / (spread(at: time, model) + model.noise * model.noise)
        }

        private func spread(at time: Int64, _ model: UnitModel) -> Double {
            let days = max(0, Double(time - self.time) / 86_400e6)
            return min(variance + model.drift * model.drift * days, model.reach * model.reach)
        }

        mutating func take(_ other: Double, at time: Int64, _ model: UnitModel) {
            defer { self.time = time }
            guard isKnown else {
                position = other
                variance = model.noise * model.noise
                return
            }
            let before = spread(at: time, model)
            // An outlier moves the level by its weight under Student's t, not by its distance.
            let noise = model.noise * model.noise * (1 + distance(other, at: time, model) / 3)
            let gain = before / (before + noise)
            position += gain * (other - position)
            variance = (1 - gain) * before
        }
    }

    private struct Path {
        var cost: Double
        var level: Level
    }

    /// The reading's value under one unit, or `nil` if that is its own unit or has no valid value.
    private func position(_ reading: MisunitReading, _ state: Int) -> Double? {
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
        if let limits = type.hardLimits, state > 0, !limits.contains(value) { return nil }
        return model.position(value, days: reading.duration)
    }

    /// Finds the intervals of one series.
    ///
    /// - Parameter readings: The readings ordered by time. At most some hundred thousand, since each needs a byte or two per unit.
    public func stretches(of readings: [MisunitReading], series: Int64 = 0) -> [MisunitStretch] {
        // There are many, and nearly always all can be judged.
        let readings = readings.contains { position($0, 0) == nil } ? readings.filter { position($0, 0) != nil } : readings
        let units = walk(readings)
        var stretches: [MisunitStretch] = []
        var index = 0
        while index < readings.count {
            // An interval starts and ends with a judged reading. A witness takes the state of its surroundings.
            guard units[index] != 0, !readings[index].isWitness else {
                index += 1
                continue
            }
            let first = index
            while index < readings.count, units[index] == units[first] || readings[index].isWitness { index += 1 }
            while readings[index - 1].isWitness { index -= 1 }
            if let stretch = judge(first..<index, state: Int(units[first]), readings, series) { stretches.append(stretch) }
        }
        return stretches
    }

    /// The unit of each reading on the cheapest way: 0 for the one it has.
    private func walk(_ readings: [MisunitReading]) -> [UInt8] {
        let count = model.units.count + 1
        var paths = (0..<count).map { Path(cost: $0 == 0 ? 0 : Self.change, level: Level()) }
        var previous = [UInt8](repeating: 0, count: readings.count * count)
        for (index, reading) in readings.enumerated() {
            let time = reading.start.microseconds
            if reading.isWitness {
                for state in 0..<count { previous[index * count + state] = UInt8(state) }
                guard let position = position(reading, 0) else { continue }
                for state in 0..<count { paths[state].level.take(position, at: time, model) }
                continue
            }
            var next: [Path] = []
            for state in 0..<count {
                guard let position = position(reading, state) else {
                    next.append(Path(cost: .infinity, level: Level()))
                    continue
                }
                var best = Path(cost: .infinity, level: Level())
                for (from, path) in paths.enumerated() where path.cost < .infinity {
                    let cost =
                        path.cost + (from == state ? 0 : Self.change) + model.strangeness(position)
                        + UnitModel.surprise(path.level.distance(position, at: time, model))
                    if cost < best.cost {
                        best = Path(cost: cost, level: path.level)
                        previous[index * count + state] = UInt8(from)
                    }
                }
                best.level.take(position, at: time, model)
                next.append(best)
            }
            paths = next
        }
        var units = [UInt8](repeating: 0, count: readings.count)
        var state = paths.indices.min { paths[$0].cost < paths[$1].cost } ?? 0
        for index in readings.indices.reversed() {
            units[index] = UInt8(state)
            state = Int(previous[index * count + state])
        }
        return units
    }

    /// Judges whether an interval fits far better in the other unit, by the surrounding readings and the human range.
    private func judge(
        _ stretch: Range<Int>, state: Int, _ readings: [MisunitReading], _ series: Int64
    ) -> MisunitStretch? {
        let own = readings[stretch].filter { !$0.isWitness }
        guard own.count >= Self.shortest, let first = own.first, let last = own.last else { return nil }
        let around = Array(readings[max(0, stretch.lowerBound - 40)..<stretch.lowerBound].suffix(40))
        let behind = Array(readings[stretch.upperBound..<min(readings.count, stretch.upperBound + 40)])
        var level = Level()
        for reading in around {
            if let position = position(reading, 0) { level.take(position, at: reading.start.microseconds, model) }
        }
        let asItIs = cost(readings[stretch], behind, state: 0, level)
        let instead = cost(readings[stretch], behind, state: state, level)
        let evidence = asItIs - instead - 2 * Self.change
        guard evidence >= Self.threshold else { return nil }
        let before = own.compactMap { position($0, 0) }.sorted()
        let after = own.compactMap { position($0, state) }.sorted()
        guard before.count == own.count, after.count == own.count else { return nil }
        let neighbours = (around.suffix(20) + behind.prefix(20)).compactMap { position($0, 0) }.sorted()
        let middle = after[after.count / 2]
        let isPlain = model.strangeness(middle) == 0 && model.strangeness(before[before.count / 2]) > Self.plain
        if !isPlain {
            guard !isShared else { return nil }
            // The usual range is not sufficient by itself. There must be surrounding readings, and they must fit.
            guard !neighbours.isEmpty else { return nil }
            let days = min(gap(around.last, first), gap(last, behind.first))
            let allowed = (model.noise * model.noise + min(model.drift * model.drift * days, model.reach * model.reach))
                .squareRoot()
            guard (middle - neighbours[neighbours.count / 2]).magnitude <= Self.fit * allowed else { return nil }
        }
        return MisunitStretch(
            series: series, type: type, taken: first.unit, fits: model.units[state - 1], from: first.start, to: last.start,
            count: own.count, before: value(before[before.count / 2]), after: value(middle),
            around: neighbours.isEmpty ? nil : value(neighbours[neighbours.count / 2]), evidence: evidence)
    }

    private func gap(_ one: MisunitReading?, _ other: MisunitReading?) -> Double {
        guard let one, let other else { return .infinity }
        return Double(other.start.microseconds - one.start.microseconds) / 86_400e6
    }

    /// The cost of reading an interval in a unit, and some following readings as they are.
    private func cost(_ stretch: ArraySlice<MisunitReading>, _ behind: [MisunitReading], state: Int, _ level: Level) -> Double {
        var level = level
        var cost = 0.0
        for (reading, state) in stretch.map({ ($0, $0.isWitness ? 0 : state) }) + behind.map({ ($0, 0) }) {
            guard let position = position(reading, state) else { continue }
            if !reading.isWitness {
                cost +=
                    model.strangeness(position)
                    + UnitModel.surprise(level.distance(position, at: reading.start.microseconds, model))
            }
            level.take(position, at: reading.start.microseconds, model)
        }
        return cost
    }

    private func value(_ position: Double) -> Double { model.isLinear ? position : exponential(position) }
}

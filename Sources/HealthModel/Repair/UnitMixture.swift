/// Readings of one series in a wrong unit that lie among right ones.
struct UnitMixture {
    /// The number of changes of unit from which on right and wrong readings are mixed.
    static let minimumChanges = 4
    /// The greatest number of neighbors in one unit, on average. More are an interval of their own.
    fileprivate static let maximumRunLength = 4
    fileprivate static let change = 2.5

    /// The index of the unit in the model, from 1.
    var state: Int
    var fits: Unit
    /// The indices of the wrong readings, and of the right ones from the first wrong one to the last.
    var wrong: [Int]
    var right: [Int]
    var changes: Int
    var from: Instant
    var to: Instant
}

extension MisunitDetector {
    /// The mixtures of right and wrong readings, at most one for each unit.
    func mixtures(in readings: [MisunitReading]) -> [UnitMixture] {
        let count = model.units.count + 1
        let units = UnitPaths(model: model, count: count, change: UnitMixture.change).units(of: readings, position)
        return (1..<count).compactMap { state in
            let own = readings.indices.filter { !readings[$0].isReference && (units[$0] == 0 || Int(units[$0]) == state) }
            guard let first = own.firstIndex(where: { units[$0] != 0 }), let last = own.lastIndex(where: { units[$0] != 0 })
            else {
                return nil
            }
            // The right readings on both sides count, too: right, wrong, right, wrong, right.
            let part = own[max(0, first - 1)...min(own.count - 1, last + 1)]
            let changes = zip(part, part.dropFirst()).count { units[$0] != units[$1] }
            guard changes >= UnitMixture.minimumChanges, part.count <= UnitMixture.maximumRunLength * (changes + 1) else {
                return nil
            }
            return UnitMixture(
                state: state, fits: model.units[state - 1], wrong: part.filter { units[$0] != 0 },
                right: part.filter { units[$0] == 0 }, changes: changes, from: readings[own[first]].start,
                to: readings[own[last]].start)
        }
    }

    /// Judges whether the wrong readings of a mixture fit the right ones in the other unit.
    func evaluate(_ mixture: UnitMixture, _ readings: [MisunitReading], _ series: Int64) -> MisunitRange? {
        guard mixture.wrong.count >= Self.shortest, mixture.right.count >= 2 else { return nil }
        let before = mixture.wrong.compactMap { position(readings[$0], 0) }.sorted()
        let after = mixture.wrong.compactMap { position(readings[$0], mixture.state) }.sorted()
        let right = mixture.right.compactMap { position(readings[$0], 0) }.sorted()
        guard before.count == after.count, let low = before.first, let high = before.last, let lowest = right.first,
            let highest = right.last
        else { return nil }
        // A repair needs a condition that right readings do not meet.
        guard low > highest || high < lowest else { return nil }
        let (evidence, offset) = compare(mixture, readings)
        guard evidence >= Self.threshold else { return nil }
        let (middle, stored) = (after[after.count / 2], before[before.count / 2])
        let isPlain = isPlain(before: stored, after: middle)
        if !isPlain {
            guard !isShared, isAtLeastAsPlausible(middle, than: stored), offset <= tolerance(mixture) else { return nil }
            // Another source that has both values as they are shows that both are real.
            guard readings.count(where: { $0.isReference && isNear(position($0, 0), stored) }) < 2 else { return nil }
        }
        return MisunitRange(
            series: series, type: type, taken: readings[mixture.wrong[0]].unit, fits: mixture.fits, from: mixture.from,
            to: mixture.to, count: mixture.wrong.count, before: value(stored), after: value(middle),
            around: value(right[right.count / 2]), evidence: evidence,
            values: low > highest
                ? .above(bound(between: value(highest), value(low))) : .below(bound(between: value(high), value(lowest))),
            mayBeAnotherPerson: mayBeAnotherPerson(stored) && !isConfirmed(mixture.wrong, state: mixture.state, readings))
    }

    /// A value between two others, with few digits.
    private func bound(between low: Double, _ high: Double) -> Double {
        let middle = (low + high) / 2
        for power in [1.0, 10, 100, 1000] {
            let rounded = (middle * power).rounded() / power
            if rounded > low, rounded < high { return rounded }
        }
        return middle
    }

    private func isNear(_ position: Double?, _ other: Double) -> Bool {
        position.map { ($0 - other).magnitude <= 4 * model.noise } ?? false
    }

    /// The largest distance between the level and the wrong readings in the other unit that chance explains.
    private func tolerance(_ mixture: UnitMixture) -> Double {
        let (wrong, right) = (Double(mixture.wrong.count), Double(mixture.right.count))
        return model.noise * max(0.8, 2.5 * (1 / wrong + 1 / right).squareRoot())
    }

    /// The evidence for the other unit, and how far the wrong readings are from the level of the right ones, by the median.
    private func compare(_ mixture: UnitMixture, _ readings: [MisunitReading]) -> (evidence: Double, offset: Double) {
        let wrong = Set(mixture.wrong)
        let all = (mixture.wrong + mixture.right).sorted()
        var (stored, repaired, right) = (UnitLevel(), UnitLevel(), UnitLevel())
        var evidence = -UnitMixture.change * Double(mixture.changes)
        var offsets: [Double] = []
        for index in all {
            let (time, isWrong) = (readings[index].start.microseconds, wrong.contains(index))
            guard let before = position(readings[index], 0),
                let after = isWrong ? position(readings[index], mixture.state) : before
            else { continue }
            evidence +=
                model.strangeness(before) + UnitModel.surprise(stored.distance(before, at: time, model))
                - model.strangeness(after) - UnitModel.surprise(repaired.distance(after, at: time, model))
            stored.take(before, at: time, model)
            repaired.take(after, at: time, model)
            if !isWrong {
                right.take(after, at: time, model)
            } else if right.isKnown {
                offsets.append(after - right.position)
            }
        }
        offsets.sort()
        return (evidence, offsets.isEmpty ? .infinity : offsets[offsets.count / 2].magnitude)
    }

    /// Whether other sources of the person measured the same within two minutes if the readings are in the other unit.
    func isConfirmed(_ indices: [Int], state: Int, _ readings: [MisunitReading]) -> Bool {
        let minutes: Int64 = 120_000_000
        var confirmed = 0
        for index in indices where !readings[index].isReference {
            guard let after = position(readings[index], state) else { continue }
            let near = max(0, index - 8)..<min(readings.count, index + 9)
            if near.contains(where: { other in
                readings[other].isReference && isNear(position(readings[other], 0), after)
                    && (readings[other].start.microseconds - readings[index].start.microseconds).magnitude <= minutes
            }) {
                confirmed += 1
            }
        }
        return confirmed >= 2
    }
}

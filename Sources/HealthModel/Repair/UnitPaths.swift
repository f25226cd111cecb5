/// Where the level is, and how sure that is.
struct UnitLevel {
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

    /// Whether two levels are too far apart to be one.
    func differs(from other: UnitLevel, _ model: UnitModel) -> Bool {
        isKnown != other.isKnown || (position - other.position).magnitude > 2 * model.noise
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

/// Assigns a unit to each reading of a series.
///
/// It computes the cheapest path through all readings (the Viterbi algorithm). A path has a level as well as a unit, so the cheapest path
/// to a unit is not sufficient: the first reading after a change may cost less at the old level, and each later one costs more. Two
/// paths with different levels are kept for each unit.
struct UnitPaths {
    let model: UnitModel
    /// The number of units, including the stored one at 0.
    let count: Int
    let change: Double

    private struct Path {
        var cost = Double.infinity
        var level = UnitLevel()
    }

    private static let retained = 2

    /// Returns the unit of each reading on the cheapest path: 0 for the stored one.
    ///
    /// - Parameter position: The position of a reading in a unit, or `nil` if the reading cannot have that unit.
    func units(of readings: [MisunitReading], _ position: (MisunitReading, Int) -> Double?) -> [UInt8] {
        let slots = count * Self.retained
        var paths = [Path](repeating: Path(), count: slots)
        for unit in 0..<count { paths[unit * Self.retained].cost = unit == 0 ? 0 : change }
        var next = paths
        var costs = [Double](repeating: .infinity, count: slots)
        var previous = [UInt8](repeating: 0, count: readings.count * slots)
        for (index, reading) in readings.enumerated() {
            let time = reading.start.microseconds
            if reading.isReference {
                for slot in 0..<slots { previous[index * slots + slot] = UInt8(slot) }
                guard let position = position(reading, 0) else { continue }
                for slot in 0..<slots { paths[slot].level.take(position, at: time, model) }
                continue
            }
            for unit in 0..<count {
                let first = unit * Self.retained
                for slot in first..<first + Self.retained { next[slot].cost = .infinity }
                guard let position = position(reading, unit) else { continue }
                let strangeness = model.strangeness(position)
                var best = 0
                for slot in 0..<slots {
                    costs[slot] =
                        paths[slot].cost == .infinity
                        ? .infinity
                        : paths[slot].cost + (slot / Self.retained == unit ? 0 : change) + strangeness
                            + UnitModel.surprise(paths[slot].level.distance(position, at: time, model))
                    if costs[slot] < costs[best] { best = slot }
                }
                let level = paths[best].level
                var other: Int?
                for slot in 0..<slots where costs[slot] < costs[other ?? slot] || (other == nil && costs[slot] < .infinity) {
                    if paths[slot].level.differs(from: level, model) { other = slot }
                }
                for (place, from) in [best, other].enumerated() {
                    guard let from, costs[from] < .infinity else { continue }
                    next[first + place] = Path(cost: costs[from], level: paths[from].level)
                    next[first + place].level.take(position, at: time, model)
                    previous[index * slots + first + place] = UInt8(from)
                }
            }
            swap(&paths, &next)
        }
        var units = [UInt8](repeating: 0, count: readings.count)
        var slot = paths.indices.min { paths[$0].cost < paths[$1].cost } ?? 0
        for index in readings.indices.reversed() {
            units[index] = UInt8(slot / Self.retained)
            slot = Int(previous[index * slots + slot])
        }
        return units
    }
}

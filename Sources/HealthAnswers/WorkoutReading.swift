import HealthModel
import Pipeline
import SampleStore

/// A workout with its figures, laps, path, and heart rate.
package struct WorkoutReading: Sendable {
    /// A lap, from the workout's own events.
    package struct Lap: Hashable, Sendable {
        /// The start and end in microseconds since 1970.
        package var (start, end): (Int64, Int64)
        /// The distance along the route in metres, or `nil` without a route.
        package var distance: Double?
        /// The average heart rate per minute.
        package var heartRate: Double?
    }

    /// One figure of the workout, such as its distance.
    package struct Figure: Sendable {
        /// The type, or `nil` if this version does not know it.
        package var type: SampleType?
        /// The sum, average, lowest, and highest value, in the type's canonical unit.
        package var (sum, average, lowest, highest): (Double?, Double?, Double?, Double?)
        /// The number of samples that the figure is computed from, or `nil` if the workout's source reported it.
        package var count: Int?
    }

    /// A part of the path with a fixed length.
    package struct Split: Hashable, Sendable {
        /// The length in metres.
        package var metres: Double
        /// The duration in seconds, without pauses.
        package var seconds: Double
    }

    /// The duration in seconds, without pauses.
    package let seconds: Double
    package let isDurationReported: Bool
    /// The distance in metres as the source reported it.
    package let distance: Double?
    /// The figures that the source reported, then those computed from samples, by type.
    package let figures: [Figure]
    package let laps: [Lap]
    package let tracks: [RouteTrack]
    package let heartRate: [Chart.Point]
    private let pauses: [(start: Int64, end: Int64)]

    private static let (maximumRoutes, maximumLaps) = (20, 500)

    /// Reads a workout. Returns `nil` for another kind of sample, and for a body that cannot be read.
    package init?(_ sample: Sample, in store: SampleStore, zone: TimeZoneRules, priority: [String]) throws {
        guard sample.origin.kind == .workout, let workout = try? sample.body?.decoded(as: Workout.self) else { return nil }
        let (start, end) = (sample.start.microseconds, sample.end.microseconds)
        seconds = workout.seconds(from: sample.start, to: sample.end)
        isDurationReported = workout.duration != nil
        distance = workout.distance?.value(in: Self.metre)
        pauses = end > start ? workout.pauses(within: end - start).map { (start + $0.start, start + $0.end) } : []
        var tracks: [RouteTrack] = []
        for uuid in workout.routes.prefix(Self.maximumRoutes) {
            guard let identity = SampleIdentity(uuid), let route = try store.samples.object(named: identity, in: sample)?.sample
            else {
                continue
            }
            if let track = RouteTrack(route) { tracks.append(track) }
        }
        self.tracks = tracks
        heartRate = try Self.heartRate(of: sample, store, zone, priority)
        laps = Self.laps(workout, from: start, tracks, heartRate)
        figures = Self.reported(workout) + (try Self.computed(sample, reported: workout, store))
    }

    private static let metre = SampleType("distanceWalkingRunning")?.canonicalUnit ?? .one

    private static func heartRate(
        of sample: Sample, _ store: SampleStore, _ zone: TimeZoneRules, _ priority: [String]
    ) throws(StoreError) -> [Chart.Point] {
        let (from, to) = (sample.start.microseconds / 1000, sample.end.microseconds / 1000)
        // At least a pixel for each minute, so that no interval of statistics reaches beyond the workout.
        guard let frame = ChartFrame(from: from, to: to, width: max(340, Int(min((to - from) / 60_000, 4000)) + 1)) else {
            return []
        }
        return try Chart(.heartRate, person: sample.origin.person, in: frame, of: store, zone: zone, priority: priority).points
    }

    private static func laps(
        _ workout: Workout, from start: Int64, _ tracks: [RouteTrack], _ heartRate: [Chart.Point]
    ) -> [Lap] {
        let events = workout.events.filter { $0.type == "lap" }.sorted { $0.start < $1.start }.prefix(maximumLaps)
        return events.enumerated().map { index, event in
            // A lap without a duration marks the end of a lap.
            let before = index > 0 ? events[events.startIndex + index - 1].start : 0
            let (from, to) = event.end > event.start ? (event.start, event.end) : (before, event.start)
            var lap = Lap(start: start + from, end: start + to)
            if tracks.count == 1, let track = tracks.first {
                lap.distance = track.distance(at: lap.end) - track.distance(at: lap.start)
            }
            let rates = heartRate.filter { $0.start * 1000 >= lap.start && $0.start * 1000 < lap.end }.map(\.middle)
            lap.heartRate = rates.isEmpty ? nil : rates.reduce(0, +) / Double(rates.count)
            return lap
        }
    }

    private static func reported(_ workout: Workout) -> [Figure] {
        workout.statistics.compactMap { reported in
            guard let type = SampleType(reported.type), type.kind == .quantity else { return nil }
            func value(_ amount: Amount?) -> Double? { amount?.value(in: type.canonicalUnit, of: type) }
            let all = (value(reported.sum), value(reported.average), value(reported.minimum), value(reported.maximum))
            guard all.0 != nil || all.1 != nil || all.2 != nil || all.3 != nil else { return nil }
            return Figure(type: type, sum: all.0, average: all.1, lowest: all.2, highest: all.3)
        }
    }

    /// The figures of types that the source did not report.
    private static func computed(_ sample: Sample, reported: Workout, _ store: SampleStore) throws -> [Figure] {
        let known = Set(reported.statistics.map(\.type))
        return try store.workoutStatistics(of: sample).compactMap { row in
            guard row.from == .samples, !known.contains(row.type), let type = SampleType(row.type), type != .batteryLevel else {
                return nil
            }
            return Figure(
                type: type, sum: row.sum, average: row.average, lowest: row.minimum, highest: row.maximum, count: row.count)
        }
    }

    /// The durations of parts of the path, such as of each kilometer. The last part is shorter. Empty unless there is one route.
    package func splits(every metres: Double) -> [Split] {
        guard tracks.count == 1, let track = tracks.first, let last = track.locations.last else { return [] }
        let passes = track.passes(every: metres)
        guard !passes.isEmpty else { return [] }
        var splits = zip(passes, passes.dropFirst()).map { Split(metres: metres, seconds: moving(from: $0, to: $1)) }
        let rest = track.length - metres * Double(passes.count - 1)
        if rest > metres / 100 {
            splits.append(Split(metres: rest, seconds: moving(from: passes[passes.count - 1], to: last.time)))
        }
        return splits
    }

    /// The seconds between two times without pauses.
    private func moving(from start: Int64, to end: Int64) -> Double {
        let paused = pauses.reduce(Int64(0)) { $0 + max(0, min($1.end, end) - max($1.start, start)) }
        return Double(max(0, end - start - paused)) / 1e6
    }
}

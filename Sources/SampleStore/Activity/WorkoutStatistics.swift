import HealthModel

/// The statistics of a sample type over a workout, and their origin.
public struct WorkoutStatistics: Sendable, Equatable {
    /// The origin of the figures.
    public enum Origin: String, Sendable {
        /// Computed from the stored samples.
        case samples
        /// Reported by the workout's source.
        case source
    }

    /// The quantity type's id, or HealthKit's identifier if this version does not know it.
    public var type: String
    /// The sum, for cumulative types.
    public var sum: Double?
    /// The average, for discrete types.
    public var average: Double?
    /// The lowest value.
    public var minimum: Double?
    /// The highest value.
    public var maximum: Double?
    /// The unit of the figures: the type's canonical unit or the reported one. `nil` if no unit was reported.
    public var unit: Unit?
    /// The number of samples that count.
    public var count: Int
    /// The origin of the figures.
    public var from: Origin
}

extension SampleStore {
    /// The sources whose samples the figures are computed from.
    public enum WorkoutSources: Sendable {
        /// The workout's own source.
        case same
        /// All sources of the person. If several cover the same moment, the first in `priority`, by id or name, counts.
        case all(priority: [String])
    }

    /// Returns the statistics of a workout, by type.
    ///
    /// The samples that count are quantities of the same person between the workout's start and end, without its pauses. A sample at an
    /// instant counts if it is not in a pause. A cumulative sample with a duration counts by the share of its time. For a type without such
    /// samples the figures are those that the source reported. See ``WorkoutStatistics/from``.
    ///
    /// - Parameter workout: A sample of the kind `workout`. Other samples have no statistics.
    public func workoutStatistics(of workout: Sample, sources: WorkoutSources = .same) throws -> [WorkoutStatistics] {
        guard workout.origin.kind == .workout else { return [] }
        let reported = try? workout.body?.decoded(as: Workout.self)
        var found: [WorkoutStatistics] = []
        let start = workout.start.microseconds
        let whole = workout.end.microseconds &- start
        if whole > 0 {
            let pauses = (reported?.pauses(within: whole) ?? []).map { (start: start + $0.start, end: start + $0.end) }
            found = try figures(of: workout, without: pauses, sources)
        }
        let reckoned = Set(found.map(\.type))
        found += (reported?.statistics ?? []).filter { !reckoned.contains($0.type) }.map(WorkoutStatistics.init)
        return found.sorted { $0.type < $1.type }
    }

    private func figures(
        of workout: Sample, without pauses: [(start: Int64, end: Int64)], _ sources: WorkoutSources
    ) throws -> [WorkoutStatistics] {
        // An interval longer than any workout.
        guard let whole = CalendarInterval(count: 10_000, unit: .year) else { return [] }
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let source = workout.origin.source.id
        var priority: [String] = []
        var own = try samples.series(matching: SampleQuery(person: workout.origin.person)).filter { $0.type.kind == .quantity }
        switch sources {
        case .same: own = own.filter { $0.source == source }
        case .all(let named): priority = named
        }
        var found: [WorkoutStatistics] = []
        for type in Set(own.map(\.type)) {
            var query = StatisticsQuery(
                type: type,
                intervals: CalendarIntervals(whole, zone: TimeZoneRules(fixed: .utc), anchor: workout.start),
                from: workout.start, to: workout.end, person: workout.origin.person, priority: priority)
            query.without = pauses
            guard let row = try statistics(query, of: own.filter { $0.type == type }).first(where: { $0.count > 0 }) else {
                continue
            }
            found.append(WorkoutStatistics(row, of: type))
        }
        return found
    }
}

extension WorkoutStatistics {
    fileprivate init(_ row: Statistics, of type: SampleType) {
        self.init(
            type: type.id, sum: type.aggregation == .cumulative ? row.sum : nil, average: row.average, minimum: row.minimum,
            maximum: row.maximum, unit: type.canonicalUnit, count: row.count, from: .samples)
    }

    /// Uses the type's unit if all figures can be converted to it, and otherwise the reported one.
    fileprivate init(_ reported: Workout.Statistics) {
        let type = SampleType(reported.type)
        let figures = [reported.sum, reported.average, reported.minimum, reported.maximum]
        let own: [Double?] = figures.map { figure in
            type.flatMap { type in figure?.value(in: type.canonicalUnit, of: type) }
        }
        let isOwn = zip(figures, own).allSatisfy { ($0 == nil) == ($1 == nil) }
        let values = isOwn ? own : figures.map { $0?.numeral.doubleValue }
        let unit = isOwn ? type?.canonicalUnit : figures.lazy.compactMap { $0?.unit }.first
        self.init(
            type: reported.type, sum: values[0], average: values[1], minimum: values[2], maximum: values[3], unit: unit, count: 0,
            from: .source)
    }
}

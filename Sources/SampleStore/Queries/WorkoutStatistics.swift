import HealthModel

/// What a type of sample came to over a workout, and who says so.
public struct WorkoutStatistics: Sendable, Equatable {
    /// Where figures come from.
    public enum Origin: String, Sendable {
        /// Reckoned from the samples that the store has.
        case samples
        /// As the workout's source told them.
        case source
    }

    /// The quantity type's id, or HealthKit's identifier where this version does not know it.
    public var type: String
    /// Of types that add up.
    public var sum: Double?
    /// Of types that do not.
    public var average: Double?
    /// The lowest.
    public var minimum: Double?
    /// The highest.
    public var maximum: Double?
    /// Of the figures: the type's own, or the one they were told in; `nil` where none was told.
    public var unit: Unit?
    /// Samples that count.
    public var count: Int
    /// Where they come from.
    public var from: Origin
}

extension SampleStore {
    /// Whose samples a workout's figures are reckoned from.
    public enum WorkoutSources: Sendable {
        /// Those of the workout's own source.
        case same
        /// All of the person's, each moment once; of several sources the first that is named here counts, by id or name.
        case all(priority: [String])
    }

    /// What a workout's samples come to, by type.
    ///
    /// The samples that count are the quantities of the same person between the workout's start and end, without its pauses: a sample at an
    /// instant counts if it begins in none of them, one that adds up and lasts counts by the share of its time. Of a type with no such sample
    /// the figures are those that the source told. ``WorkoutStatistics/from`` says which.
    ///
    /// - Parameter workout: a sample of the kind `workout`; any other has no figures.
    public func workoutStatistics(of workout: Sample, sources: WorkoutSources = .same) throws -> [WorkoutStatistics] {
        guard workout.origin.kind == .workout else { return [] }
        let told = try? workout.body?.decoded(as: Workout.self)
        var found: [WorkoutStatistics] = []
        let start = workout.start.microseconds
        let whole = workout.end.microseconds &- start
        if whole > 0 {
            let pauses = (told?.pauses(within: whole) ?? []).map { (start: start + $0.start, end: start + $0.end) }
            found = try figures(of: workout, without: pauses, sources)
        }
        let reckoned = Set(found.map(\.type))
        found += (told?.statistics ?? []).filter { !reckoned.contains($0.type) }.map(WorkoutStatistics.init)
        return found.sorted { $0.type < $1.type }
    }

    private func figures(
        of workout: Sample, without pauses: [(start: Int64, end: Int64)], _ sources: WorkoutSources
    ) throws -> [WorkoutStatistics] {
        // Longer than any workout.
        guard let whole = CalendarInterval(count: 10_000, unit: .year) else { return [] }
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let source = workout.origin.source.id
        var priority: [String] = []
        var own = try series(matching: SampleQuery(subject: workout.origin.subject)).filter { $0.type.kind == .quantity }
        switch sources {
        case .same: own = own.filter { $0.source == source }
        case .all(let named): priority = named
        }
        var found: [WorkoutStatistics] = []
        for type in Set(own.map(\.type)) {
            var query = StatisticsQuery(
                type: type,
                intervals: CalendarIntervals(whole, zone: TimeZoneRules(fixed: .utc), anchor: workout.start),
                from: workout.start, to: workout.end, subject: workout.origin.subject, priority: priority)
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

    /// In the type's unit where all figures can be told in it, else as they were told.
    fileprivate init(_ told: Workout.Statistics) {
        let type = SampleType(told.type)
        let figures = [told.sum, told.average, told.minimum, told.maximum]
        let own: [Double?] = figures.map { figure in
            type.flatMap { type in figure?.value(in: type.canonicalUnit, of: type) }
        }
        let isOwn = zip(figures, own).allSatisfy { ($0 == nil) == ($1 == nil) }
        let values = isOwn ? own : figures.map { $0?.numeral.doubleValue }
        let unit = isOwn ? type?.canonicalUnit : figures.lazy.compactMap { $0?.unit }.first
        self.init(
            type: told.type, sum: values[0], average: values[1], minimum: values[2], maximum: values[3], unit: unit, count: 0,
            from: .source)
    }
}

import HealthModel
import Pipeline
import SampleStore

/// Reads what is known about each of a person's types today.
///
///     for each in try TodayReader(store, zone: zone, priority: []).types(of: person, at: now) { print(each.type, each.week) }
package struct TodayReader {
    let store: SampleStore
    private let zone: TimeZoneRules
    private let priority: [String]
    let figures: DailyFigures
    /// The days of a card: the last seven, and today.
    private static let shown = 8

    /// - Parameters:
    ///   - zone: The zone whose midnights separate the days.
    ///   - priority: Source and device ids or names in the configured order, the best first.
    ///   - conditions: The readings that count, for types of which not all do. A type without such a reading is omitted.
    package init(
        _ store: SampleStore, zone: TimeZoneRules, priority: [String], conditions: [SampleType: SamplePredicate] = [:]
    ) {
        (self.store, self.zone, self.priority) = (store, zone, priority)
        figures = DailyFigures(store, zone: zone, priority: priority, conditions: conditions)
    }

    /// All types with data, in the order of ``HealthGroup``. The systolic and the diastolic pressure of one measurement are one blood
    /// pressure. Activity summaries are omitted, since the rings show them.
    package func types(of person: String, at now: Instant) throws(StoreError) -> [TypeToday] {
        let latest = try latest(of: person, at: now)
        var types: [TypeToday] = []
        for type in Self.sorted(latest.keys) {
            if let stored = latest[type] { types.append(try today(of: stored, person: person, at: now)) }
        }
        return types
    }

    /// All types with data in the same order, without their values.
    package func list(of person: String, at now: Instant) throws(StoreError) -> [SampleType] {
        Self.sorted(try latest(of: person, at: now).keys)
    }

    private func latest(of person: String, at now: Instant) throws(StoreError) -> [SampleType: StoredSample] {
        var latest: [SampleType: StoredSample] = [:]
        for stored in try LatestSamples.all(in: store, person: person, at: now)
        where stored.sample.origin.kind != .activitySummary && stored.sample.origin.type.id != "referencedRecord" {
            latest[stored.sample.origin.type] = stored
        }
        let soon = Instant(microseconds: now.microseconds + LatestSamples.leeway)
        for (type, condition) in figures.conditions where latest[type] != nil {
            let cursor = try store.samples.cursor(
                matching: SampleQuery(types: [type], to: soon, person: person, where: condition, descending: true, limit: 1))
            defer { cursor.close() }
            latest[type] = try cursor.next()
        }
        try joinPressures(in: &latest, of: person, before: soon)
        return latest
    }

    /// Types in the order of ``HealthGroup``.
    private static func sorted(_ types: some Sequence<SampleType>) -> [SampleType] {
        let groups = HealthGroup.allCases
        return types.map { (type: $0, group: groups.firstIndex(of: HealthGroup(of: $0)) ?? groups.count) }.sorted {
            $0.group == $1.group ? HealthGroup.precedes($0.type, $1.type) : $0.group < $1.group
        }.map(\.type)
    }

    /// Replaces the systolic and the diastolic pressure by the blood pressure that contains them.
    private func joinPressures(
        in latest: inout [SampleType: StoredSample], of person: String, before soon: Instant
    ) throws(StoreError) {
        guard let whole = SampleType(BloodPressure.type) else { return }
        // If there is no condition on pressures, the first one counts.
        var query = SampleQuery(types: [whole], to: soon, person: person, descending: true)
        query.derivesCorrelations = true
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var counted: StoredSample?
        while counted == nil, let stored = try cursor.next() {
            if try counts(stored.sample, person: person) { counted = stored }
        }
        guard let newest = counted else { return }
        latest[whole] = newest
        for part in [SampleType.bloodPressureSystolic, .bloodPressureDiastolic] {
            if let single = latest[part], single.sample.start <= newest.sample.start { latest[part] = nil }
        }
    }

    /// Whether both values of a blood pressure count.
    private func counts(_ pressure: Sample, person: String) throws(StoreError) -> Bool {
        let types = [SampleType.bloodPressureSystolic, .bloodPressureDiastolic]
        guard types.contains(where: { figures.conditions[$0] != nil }) else { return true }
        let end = Instant(microseconds: pressure.start.microseconds + 1)
        return try !BloodPressure.readings(
            of: person, from: pressure.start, to: end, in: store, where: figures.conditions
        ).isEmpty
    }

    private func today(of stored: StoredSample, person: String, at now: Instant) throws(StoreError) -> TypeToday {
        let type = stored.sample.origin.type
        if type.id == BloodPressure.type { return try pressure(of: stored, person: person, at: now) }
        let isSum = type.aggregation == .cumulative
        let comparesBody = type.kind == .quantity && !isSum && HealthGroup(of: type) == .body
        let isCompared = comparesBody || type.id == "restingHeartRate"
        let rows = try figures.daily(of: type, person: person, count: Self.shown, through: now)
        let daily = rows.map { row in row.flatMap { isSum ? $0.sum : $0.average } }
        let day = rows.last.flatMap { $0 }
        let nights = type.id == "sleepAnalysis" ? NightReader(store, priority: priority) : nil
        let alike = isCompared ? try figures.figures(alike: stored.sample, count: ValueChange.reach, through: now) : []
        let history = try nights?.history(of: person, days: TypicalRange.reach + 1, through: now, zone: zone) ?? []
        let night = try nights?.lastNight(of: person, before: now, zone: zone)
        return TypeToday(
            type: type, latest: stored, week: daily, diastolicWeek: [],
            total: try figures.total(of: stored.sample, known: daily, through: now),
            soFar: isSum && day != nil
                ? try figures.soFar(of: type, person: person, until: stored.sample.end, at: now) : nil,
            day: isSum ? nil : day, alike: alike.suffix(TypicalRange.reach),
            typical: nights == nil
                ? TypicalRange(alike.suffix(TypicalRange.reach + 1).dropLast().compactMap { $0 })
                : TypicalRange(asleepIn: history, before: night),
            changes: comparesBody ? ValueChange.changes(in: alike) : [],
            glucose: type == .bloodGlucose ? try glucose(of: person, at: now) : nil, night: night,
            naps: history.last.flatMap { $0.date == figures.midnight(of: now) ? $0.naps : nil } ?? [], pressure: nil)
    }

    private func glucose(of person: String, at now: Instant) throws(StoreError) -> GlucoseTimes? {
        let midnight = figures.midnight(of: now)
        let readings = try GlucoseTimes.readings(
            of: person, from: midnight, to: now, in: store, where: figures.conditions[.bloodGlucose])
        return GlucoseTimes(readings, from: midnight, until: now)
    }

    private func pressure(of stored: StoredSample, person: String, at now: Instant) throws(StoreError) -> TypeToday {
        let (upper, lower) = (SampleType.bloodPressureSystolic, SampleType.bloodPressureDiastolic)
        return TypeToday(
            type: stored.sample.origin.type, latest: stored,
            week: try figures.figures(of: upper, person: person, count: Self.shown, through: now),
            diastolicWeek: try figures.figures(of: lower, person: person, count: Self.shown, through: now), total: nil,
            soFar: nil,
            day: nil, alike: [], typical: nil, changes: [], glucose: nil, night: nil, naps: [],
            pressure: try BloodPressure(stored.sample, in: store))
    }
}

import HealthModel

/// The days that samples change, and their longest durations (``DayRows``).
struct DayMarks {
    /// In the order in which they are marked.
    let days: [DayRows.Day]
    /// The longest duration of each person and type, in microseconds, in the order in which they are noted.
    let durations: [(person: String, type: String, duration: Int64)]

    private struct Series: Hashable {
        let person: String
        let type: String
    }

    init(_ samples: [Sample]) {
        var days: Set<DayRows.Day> = []
        var maximumDuration: [Series: Int64] = [:]
        // Neighbors are usually of one series and day.
        var latest: (origin: Origin, isCounted: Bool, days: ClosedRange<Int64>?)?
        for sample in samples {
            let origin = sample.origin
            if latest?.origin !== origin { latest = (origin, DayRows.has(origin.type), nil) }
            guard latest?.isCounted == true else { continue }
            let (start, duration) = (sample.start.microseconds, sample.end.microseconds - sample.start.microseconds)
            let local = start + Int64(sample.zone?.seconds ?? 0) * 1_000_000
            let first = DayRows.day(local - DayRows.margin)
            let last = min(DayRows.day(local + duration + DayRows.margin), first + DayRows.maximumDays)
            let touched = first...max(first, last)
            if latest?.days != touched {
                for day in touched { days.insert(DayRows.Day(origin.person, origin.type.id, day)) }
                latest?.days = touched
            }
            guard duration > 0 else { continue }
            let series = Series(person: origin.person, type: origin.type.id)
            maximumDuration[series] = max(duration, maximumDuration[series] ?? 0)
        }
        self.days = days.sorted()
        durations = maximumDuration.map { ($0.key.person, $0.key.type, $0.value) }
            .sorted { ($0.person, $0.type) < ($1.person, $1.type) }
    }
}

import HealthModel

/// Computes the duration of each value of a category, such as the stages of a night's sleep.
///
/// Each moment counts once, for the best source with data. If one source reports several sleep stages for one moment, the first in
/// ``stages`` counts, because a specific stage is preferred to unspecified sleep. Time in bed counts in addition to the stages. For other
/// types, all values that one source reports for a moment count.
struct CategoryGatherer {
    let connection: Connection
    let plan: StatisticsPlan
    let window: StatisticsWindow
    let zones: ContextZones?
    /// The conditions for the samples, by series id.
    let conditions: [Int64: StatisticsCondition]

    /// The exclusive values of sleep analysis in the order of preference, from HealthKit's `HKCategoryValueSleepAnalysis`.
    private static let stages = ["awake", "asleepREM", "asleepCore", "asleepDeep", "asleepUnspecified"]

    private struct Entry {
        var rank: Int
        var value: Int
        var start: Int64
        var end: Int64
        var shift: Int64
        var counted: StatisticsGrid.Cell?
    }

    /// The start or end of an entry. Ends are ordered first, so that adjacent entries do not overlap.
    private struct Event {
        var time: Int64
        var isStart: Bool
        var entry: Int
    }

    /// - Parameter own: The series of one person that count together, best first.
    func gather(
        _ own: [SeriesDescription], source: String?, into gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) -> Int {
        guard let first = own.first else { return 0 }
        var entries: [Entry] = []
        var read = 0
        for (rank, series) in own.enumerated() { read += try self.read(series, rank: rank, into: &entries) }
        let order = first.type.id == "sleepAnalysis" ? Self.stages.compactMap { first.type.categoryValues?.value(of: $0) } : []
        var sweep = CategorySweep(order: order)
        var events: [Event] = []
        events.reserveCapacity(2 * entries.count)
        for (index, entry) in entries.enumerated() {
            events.append(Event(time: entry.start, isStart: true, entry: index))
            if entry.end > entry.start { events.append(Event(time: entry.end, isStart: false, entry: index)) }
        }
        events.sort { ($0.time, $0.isStart ? 1 : 0, $0.entry) < ($1.time, $1.isStart ? 1 : 0, $1.entry) }
        var time = Int64.min
        for event in events {
            if event.time > time {
                for index in sweep.counting {
                    share(&entries[index], from: time, to: event.time, first.person, source, into: &gathered)
                }
                time = event.time
            }
            let entry = entries[event.entry]
            if entry.end == entry.start {
                if !sweep.hasBetter(than: entry.rank) {
                    count(&entries[event.entry], first.person, source, into: &gathered)
                }
            } else if event.isStart {
                sweep.begin(event.entry, rank: entry.rank, value: entry.value)
            } else {
                sweep.end(event.entry, rank: entry.rank, value: entry.value)
            }
        }
        return read
    }

    private func read(_ series: SeriesDescription, rank: Int, into entries: inout [Entry]) throws(StoreError) -> Int {
        let condition = conditions[series.id]
        let fields: SampleFields = [.start, .value, .duration, .context]
        let margin = zones == nil ? 0 : StatisticsWindow.zones
        let begin = window.from.shifted(by: -(series.maximumDuration + margin))
        let end = window.to.shifted(by: margin).shifted(by: -1)
        let rows = try connection.samples.scan(
            condition.map { fields.union($0.fields) } ?? fields, of: series.id, from: begin, through: end)
        var read = 0
        while try rows.next() {
            read += 1
            let start = rows.start
            if let condition, try !condition.counts(rows) { continue }
            let shift = try zones?.shift(rows.context, at: start) ?? 0
            entries.append(
                Entry(
                    rank: rank, value: Int(rows.value), start: start, end: start + rows.duration,
                    shift: shift))
        }
        return read
    }

    /// Adds the time of an entry to each interval that it overlaps.
    private func share(
        _ entry: inout Entry, from start: Int64, to end: Int64, _ person: String, _ source: String?,
        into gathered: inout [StatisticsKey: Accumulator]
    ) {
        var position = max(start + entry.shift, window.from)
        let end = min(end + entry.shift, window.to)
        while position < end {
            let (cell, _, high) = plan.grid.cell(at: position)
            let length = min(end, high) - position
            add(length, of: &entry, in: cell, person, source, &gathered)
            position += length
        }
    }

    /// Counts an entry without a duration.
    private func count(
        _ entry: inout Entry, _ person: String, _ source: String?, into gathered: inout [StatisticsKey: Accumulator]
    ) {
        let time = entry.start + entry.shift
        guard time >= window.from, time < window.to else { return }
        add(0, of: &entry, in: plan.grid.cell(at: time).cell, person, source, &gathered)
    }

    private func add(
        _ duration: Int64, of entry: inout Entry, in cell: StatisticsGrid.Cell, _ person: String, _ source: String?,
        _ gathered: inout [StatisticsKey: Accumulator]
    ) {
        let key = StatisticsKey(cell: cell, person: person, source: source, value: entry.value)
        let counts = entry.counted != cell
        gathered[key, default: Accumulator(plan)].add(part: 0, of: 0, at: entry.start, duration: duration, counts: counts)
        entry.counted = cell
    }
}

/// The entries that are active at one moment during a walk over time, and the ones among them that count.
private struct CategorySweep {
    /// The exclusive values, of which only the first active one counts. Other values count in addition.
    let order: [Int]
    /// The active entries, by rank and value.
    private var lasting: [Int: [Int: [Int]]] = [:]

    init(order: [Int]) { self.order = order }

    mutating func begin(_ entry: Int, rank: Int, value: Int) { lasting[rank, default: [:]][value, default: []].append(entry) }

    mutating func end(_ entry: Int, rank: Int, value: Int) {
        lasting[rank]?[value]?.removeAll { $0 == entry }
        if lasting[rank]?[value]?.isEmpty == true { lasting[rank]?[value] = nil }
        if lasting[rank]?.isEmpty == true { lasting[rank] = nil }
    }

    func hasBetter(than rank: Int) -> Bool { lasting.keys.contains { $0 < rank } }

    /// One entry for each value that counts.
    var counting: [Int] {
        guard !order.isEmpty else {
            guard let best = lasting.keys.min() else { return [] }
            return lasting[best, default: [:]].values.compactMap(\.first)
        }
        var entries: [Int] = []
        // The best source with an exclusive value counts. Other values, such as time in bed, count from any source.
        for rank in lasting.keys.sorted() {
            guard let value = order.first(where: { lasting[rank]?[$0] != nil }) else { continue }
            if let entry = lasting[rank]?[value]?.first { entries.append(entry) }
            break
        }
        var concurrent: Set<Int> = []
        for rank in lasting.keys.sorted() {
            for (value, list) in lasting[rank, default: [:]] where !order.contains(value) {
                if concurrent.insert(value).inserted, let entry = list.first { entries.append(entry) }
            }
        }
        return entries
    }
}

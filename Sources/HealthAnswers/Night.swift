import HealthModel

/// A night's sleep, combined from all sources so that each moment counts once.
///
/// If several sources cover a moment, the one with the highest priority counts, as in statistics. If one source reports several
/// stages, the first of ``Stage`` counts, since a stage is more specific than just asleep. Time in bed is separate and may overlap
/// the stages.
package struct Night: Sendable {
    /// HealthKit's cases (`HKCategoryValueSleepAnalysis`) except `inBed`, in the order of a hypnogram.
    package enum Stage: Int, CaseIterable, Sendable {
        case awake
        case rem
        /// Core (light) sleep.
        case core
        case deep
        case asleep

        /// The stage for the name of a case, or `nil` for time in bed and for other cases.
        package init?(case name: String?) {
            switch name {
            case "awake": self = .awake
            case "asleepREM": self = .rem
            case "asleepCore": self = .core
            case "asleepDeep": self = .deep
            case "asleepUnspecified": self = .asleep
            default: return nil
            }
        }

        /// The name in English, such as `REM`.
        package var name: String { self == .rem ? "REM" : "\(self)" }
    }

    /// An interval in microseconds since 1970.
    package struct Interval: Hashable, Sendable {
        package var start: Int64
        /// The end, after the start.
        package var end: Int64
        /// The duration in microseconds.
        package var length: Int64 { end - start }
    }

    struct Entry: Sendable {
        var interval: Interval
        /// The stage, or `nil` for time in bed.
        var stage: Stage?
        /// The rank of the source, 0 for the best.
        var rank: Int
        var source: String
    }

    /// The start in microseconds since 1970.
    package private(set) var start: Int64
    /// The end in microseconds since 1970.
    package private(set) var end: Int64
    private var entries: [Entry]
    package let person: String
    /// The zone of the first sample.
    package let zone: ZoneOffset?

    /// A longer gap, in microseconds, separates two nights or a nap.
    static let gap: Int64 = 3 * 3_600_000_000

    init(_ first: Entry, person: String, zone: ZoneOffset?) {
        (start, end, entries) = (first.interval.start, first.interval.end, [first])
        (self.person, self.zone) = (person, zone)
    }

    /// Adds a sample that does not begin before the previous one. Returns false if it belongs to another night.
    mutating func take(_ next: Entry) -> Bool {
        guard next.interval.start <= end &+ Self.gap else { return false }
        entries.append(next)
        end = max(end, next.interval.end)
        return true
    }

    var count: Int { entries.count }

    /// The time asleep in microseconds, in any stage but awake.
    package var asleep: Int64 { intervals().stages.filter { $0.key != .awake }.values.joined().reduce(0) { $0 + $1.length } }

    /// The sources, sorted by priority.
    package var sources: [String] {
        var seen: [String] = []
        for each in entries.sorted(by: { $0.rank < $1.rank }) where !seen.contains(each.source) { seen.append(each.source) }
        return seen
    }

    /// The intervals of each stage and of the time in bed, in order and without overlaps.
    package func intervals() -> (stages: [Stage: [Interval]], inBed: [Interval]) {
        // The starts and ends of samples. A `nil` place is time in bed.
        var events: [(time: Int64, place: Int?, step: Int)] = []
        let count = Stage.allCases.count
        for each in entries where each.interval.end > each.interval.start {
            let place = each.stage.map { each.rank * count + $0.rawValue }
            events.append((each.interval.start, place, 1))
            events.append((each.interval.end, place, -1))
        }
        events.sort { $0.time < $1.time }
        var active: [Int: Int] = [:]
        var inBed = 0
        var (stages, bed): ([Stage: [Interval]], [Interval]) = ([:], [])
        var last = start
        func add(_ interval: Interval, to list: inout [Interval]) {
            if let end = list.last?.end, end == interval.start {
                list[list.count - 1].end = interval.end
            } else {
                list.append(interval)
            }
        }
        for event in events {
            if event.time > last {
                let interval = Interval(start: last, end: event.time)
                if let best = active.keys.min(), let stage = Stage(rawValue: best % count) {
                    add(interval, to: &stages[stage, default: []])
                }
                if inBed > 0 { add(interval, to: &bed) }
                last = event.time
            }
            if let place = event.place {
                let left = (active[place] ?? 0) + event.step
                active[place] = left > 0 ? left : nil
            } else {
                inBed += event.step
            }
        }
        return (stages, bed)
    }
}

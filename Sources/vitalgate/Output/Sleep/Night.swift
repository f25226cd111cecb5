import HealthModel

/// A night's sleep, combined from all sources so that each moment counts once.
///
/// If several sources cover a moment, the one with the highest priority counts, as in statistics. If one source reports several
/// stages, the first of ``Stage`` counts, since a stage is more specific than just asleep. Time in bed is separate and may overlap
/// the stages.
struct Night {
    /// HealthKit's cases (`HKCategoryValueSleepAnalysis`) except `inBed`, in the order of a hypnogram.
    enum Stage: Int, CaseIterable {
        case awake, rem, core, deep, asleep

        init?(case name: String?) {
            switch name {
            case "awake": self = .awake
            case "asleepREM": self = .rem
            case "asleepCore": self = .core
            case "asleepDeep": self = .deep
            case "asleepUnspecified": self = .asleep
            default: return nil
            }
        }

        var name: String { self == .rem ? "REM" : "\(self)" }
    }

    /// An interval in microseconds since 1970.
    struct Stretch: Hashable {
        var start: Int64
        var end: Int64
    }

    /// One sample.
    struct StageSample {
        var stretch: Stretch
        /// The stage, or `nil` for time in bed.
        var stage: Stage?
        /// The rank of the source, 0 for the best.
        var rank: Int
        var source: String
    }

    private(set) var start: Int64
    private(set) var end: Int64
    private(set) var told: [StageSample]
    /// The person's UUID.
    let subject: String
    /// The zone of the first sample.
    let zone: ZoneOffset?

    /// A longer gap, in microseconds, separates two nights or a nap.
    static let gap: Int64 = 3 * 3_600_000_000

    init(_ first: StageSample, subject: String, zone: ZoneOffset?) {
        (start, end, told) = (first.stretch.start, first.stretch.end, [first])
        (self.subject, self.zone) = (subject, zone)
    }

    /// Adds a sample that does not begin before the previous one. Returns false if it belongs to another night.
    mutating func take(_ next: StageSample) -> Bool {
        guard next.stretch.start <= end &+ Self.gap else { return false }
        told.append(next)
        end = max(end, next.stretch.end)
        return true
    }

    /// The sources, sorted by priority.
    var sources: [String] {
        var seen: [String] = []
        for each in told.sorted(by: { $0.rank < $1.rank }) where !seen.contains(each.source) { seen.append(each.source) }
        return seen
    }

    /// The intervals of each stage and of the time in bed, in order and without overlaps.
    func stretches() -> (stages: [Stage: [Stretch]], inBed: [Stretch]) {
        // The starts and ends of samples. A `nil` place is time in bed.
        var events: [(time: Int64, place: Int?, step: Int)] = []
        let count = Stage.allCases.count
        for each in told where each.stretch.end > each.stretch.start {
            let place = each.stage.map { each.rank * count + $0.rawValue }
            events.append((each.stretch.start, place, 1))
            events.append((each.stretch.end, place, -1))
        }
        events.sort { $0.time < $1.time }
        var active: [Int: Int] = [:]
        var inBed = 0
        var (stages, bed): ([Stage: [Stretch]], [Stretch]) = ([:], [])
        var last = start
        func add(_ stretch: Stretch, to list: inout [Stretch]) {
            if let end = list.last?.end, end == stretch.start {
                list[list.count - 1].end = stretch.end
            } else {
                list.append(stretch)
            }
        }
        for event in events {
            if event.time > last {
                let stretch = Stretch(start: last, end: event.time)
                if let best = active.keys.min(), let stage = Stage(rawValue: best % count) {
                    add(stretch, to: &stages[stage, default: []])
                }
                if inBed > 0 { add(stretch, to: &bed) }
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

import HealthModel

/// What a night's sleep was, each moment once, whoever told of it.
///
/// Where several sources tell of a moment, the one counts that statistics would count; where one source tells several stages of it, the first
/// of ``Stage``: a stage says more than that somebody was asleep. Being in bed is apart: it lasts beside the stages.
struct Night {
    /// HealthKit's cases (`HKCategoryValueSleepAnalysis`) but for `inBed`, in the order of an hypnogram.
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

    /// A stretch of it, in microseconds since 1970.
    struct Stretch: Hashable {
        var start: Int64
        var end: Int64
    }

    /// One sample.
    struct Told {
        var stretch: Stretch
        /// `nil` for being in bed.
        var stage: Stage?
        /// How far the source stands from the first one.
        var rank: Int
        var source: String
    }

    private(set) var start: Int64
    private(set) var end: Int64
    private(set) var told: [Told]
    /// Whose it is.
    let subject: String
    /// Of the first sample.
    let zone: ZoneOffset?

    /// What lies farther apart is another night, or a nap.
    static let gap: Int64 = 3 * 3_600_000_000

    init(_ first: Told, subject: String, zone: ZoneOffset?) {
        (start, end, told) = (first.stretch.start, first.stretch.end, [first])
        (self.subject, self.zone) = (subject, zone)
    }

    /// Takes a sample in that begins no earlier than the last one; false where it belongs to another night.
    mutating func take(_ next: Told) -> Bool {
        guard next.stretch.start <= end &+ Self.gap else { return false }
        told.append(next)
        end = max(end, next.stretch.end)
        return true
    }

    /// The sources that tell of it, the first one first.
    var sources: [String] {
        var seen: [String] = []
        for each in told.sorted(by: { $0.rank < $1.rank }) where !seen.contains(each.source) { seen.append(each.source) }
        return seen
    }

    /// The stretches of each stage, and of being in bed, in order and apart from one another.
    func stretches() -> (stages: [Stage: [Stretch]], inBed: [Stretch]) {
        // Where what begins or ends: a rank of nil is being in bed.
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

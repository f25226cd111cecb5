import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The sleep stages of a night, drawn as a hypnogram.
struct SleepNight {
    private let night: Night
    /// The drawn intervals, each with its row from the top: awake, REM, core (or unspecified), deep.
    private let stages: [(stretch: Night.Stretch, level: Int)]
    /// The total time asleep in microseconds. If only time in bed is known, the time in bed.
    let length: Int64

    private static let (width, row) = (300, 12)

    /// Reads the person's last night. Returns `nil` if no sleep was recorded.
    init?(_ reader: Reader, _ call: PageCall) throws {
        let nights = NightReader(reader.store, priority: call.core.settings.priority)
        guard let night = try nights.lastNight(of: call.person().subject, before: call.now) else { return nil }
        self.init(night)
    }

    init(_ night: Night) {
        self.night = night
        let (stages, inBed) = night.stretches()
        self.stages = stages.flatMap { stage, stretches in stretches.map { ($0, Self.level(of: stage)) } }
            .sorted { ($0.stretch.start, $0.level) < ($1.stretch.start, $1.level) }
        let asleep = night.asleep
        length = asleep > 0 ? asleep : inBed.reduce(0) { $0 + $1.length }
    }

    private static func level(of stage: Night.Stage) -> Int {
        switch stage {
        case .awake: 0
        case .rem: 1
        case .core, .asleep: 2
        case .deep: 3
        }
    }

    /// The duration of each level in microseconds.
    private var lengths: [Int64] {
        (0..<4).map { level in stages.filter { $0.level == level }.reduce(0) { $0 + $1.stretch.length } }
    }

    /// The drawing, with a text alternative.
    func html(_ call: PageCall) -> HTML {
        let (values, texts) = (call.values, call.texts)
        let names = ["sleep.awake", "sleep.rem", "sleep.core", "sleep.deep"].map { texts($0) }
        let said = zip(names, lengths).filter { $0.1 >= 60_000_000 }.map { "\($0.0) \(Self.text($0.1, values))" }
        let (start, end) = (night.start, night.end)
        let whole = max(1, end - start)
        let bars: [HTML] = stages.map { stage in
            let x = Int((stage.stretch.start - start) * Int64(Self.width) / whole)
            let width = max(1, Int(stage.stretch.length * Int64(Self.width) / whole))
            return
                "<rect class=\"level\(stage.level)\" x=\"\(x)\" y=\"\(stage.level * Self.row)\" width=\"\(width)\" height=\"\(Self.row - 2)\"/>"
        }
        let ends = [start, end].map { call.times.text(Instant(microseconds: $0)) }
        let label = texts("sleep.label", ends[0], ends[1]) + ": " + said.joined(separator: ", ")
        return """
            <svg class="night" viewBox="0 0 \(Self.width) \(4 * Self.row)" preserveAspectRatio="none" role="img" aria-label="\(label)">\(bars)</svg>
            <p class="note">\(ends[0]) – \(ends[1])</p>
            <p class="note">\(said.joined(separator: " · "))</p>
            """
    }

    static func text(_ microseconds: Int64, _ values: PageValues) -> String {
        values.duration(from: Instant(microseconds: 0), to: Instant(microseconds: microseconds))
    }
}

import HealthModel
import SampleStore

/// The sleep stages of a night, drawn as a hypnogram.
struct SleepNight {
    struct Stage {
        var (start, end): (Instant, Instant)
        /// The level from the top: awake, REM, core (or unspecified), deep.
        var level: Int
    }

    private(set) var stages: [Stage] = []
    private static let levels = ["awake": 0, "asleepREM": 1, "asleepCore": 2, "asleepUnspecified": 2, "asleepDeep": 3]
    private static let (width, row) = (300, 12)

    /// Whether a sample is an asleep stage, not time in bed or awake.
    static func isAsleep(_ sample: Sample) -> Bool {
        sample.origin.type.caseName(of: sample.value)?.hasPrefix("asleep") ?? false
    }

    /// Reads the latest night with data, from one source. Returns `nil` if there is none.
    init?(_ reader: Reader) throws {
        guard let type = SampleType("sleepAnalysis") else { return nil }
        let newest = try reader.store.latestSamples(of: [type]).max { $0.sample.end < $1.sample.end }
        guard let last = newest?.sample else { return nil }
        let from = Instant(microseconds: last.end.microseconds - 16 * 3_600_000_000)
        let cursor = try reader.store.samples(matching: SampleQuery(types: [type], from: from, limit: 2000))
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            guard sample.origin.source.id == last.origin.source.id, let name = type.caseName(of: sample.value),
                let level = Self.levels[name]
            else { continue }
            stages.append(Stage(start: sample.start, end: sample.end, level: level))
        }
        // A nap on the evening before is not part of the night.
        if let pause = stages.indices.dropFirst().last(where: {
            stages[$0].start.microseconds - stages[$0 - 1].end.microseconds > 3 * 3_600_000_000
        }) {
            stages.removeFirst(pause)
        }
        if stages.isEmpty { return nil }
    }

    var start: Instant { stages.map(\.start).min() ?? Instant(microseconds: 0) }
    var end: Instant { stages.map(\.end).max() ?? Instant(microseconds: 0) }

    /// The duration of each level in microseconds.
    var lengths: [Int64] {
        (0..<4).map { level in stages.filter { $0.level == level }.reduce(0) { $0 + $1.end.microseconds - $1.start.microseconds }
        }
    }

    /// The total time asleep in microseconds.
    var asleep: Int64 { lengths.dropFirst().reduce(0, +) }

    /// The drawing, with a text alternative.
    func html(_ call: PageCall) -> HTML {
        let (values, texts) = (call.values, call.texts)
        let names = ["sleep.awake", "sleep.rem", "sleep.core", "sleep.deep"].map { texts($0) }
        let said = zip(names, lengths).filter { $0.1 >= 60_000_000 }.map { "\($0.0) \(Self.text($0.1, values))" }
        let whole = max(1, end.microseconds - start.microseconds)
        let bars: [HTML] = stages.map { stage in
            let x = Int((stage.start.microseconds - start.microseconds) * Int64(Self.width) / whole)
            let width = max(1, Int((stage.end.microseconds - stage.start.microseconds) * Int64(Self.width) / whole))
            return
                "<rect class=\"level\(stage.level)\" x=\"\(x)\" y=\"\(stage.level * Self.row)\" width=\"\(width)\" height=\"\(Self.row - 2)\"/>"
        }
        let label = texts("sleep.label", call.times.text(start), call.times.text(end)) + ": " + said.joined(separator: ", ")
        return """
            <svg class="night" viewBox="0 0 \(Self.width) \(4 * Self.row)" preserveAspectRatio="none" role="img" aria-label="\(label)">\(bars)</svg>
            <p class="note">\(said.joined(separator: " · "))</p>
            """
    }

    static func text(_ microseconds: Int64, _ values: PageValues) -> String {
        values.duration(from: Instant(microseconds: 0), to: Instant(microseconds: microseconds))
    }
}

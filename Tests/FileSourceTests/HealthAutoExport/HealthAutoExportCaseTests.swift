import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// Walks all cases in `Files/health-auto-export`.
@Suite struct HealthAutoExportCaseTests {
    static let names = [
        "01-days", "02-unsummarised", "03-v1-no-source", "04-sleep-summarised", "05-sleep-phases", "07-sleep-no-in-bed",
        "08-special",
        "11-workout-v2", "13-workout-heart-rate-misplaced", "17-empty", "19-imperial", "20-workout-two-exports",
        "21-unit-by-grouping",
    ]

    @Test(arguments: names) func readsACase(name: String) throws {
        let (read, expected) = (try ReadExport(case: name), try ExpectedExport(case: name))
        #expect(read.error == nil)
        #expect(read.refused.isEmpty)
        var rest = read.readings
        // The file of a case repeats a workout in two versions.
        for sample in expected.samples ?? [] {
            guard !Self.seriesOfWorkouts(name).contains(sample.type) else { continue }
            try take(sample, from: &rest)
        }
        for category in expected.categories ?? [] { try take(category, from: &rest) }
        for recovery in expected.recovery ?? [] {
            let index = rest.firstIndex {
                $0.origin.type == .heartRate && Self.start($0) == recovery.time && $0.numeral.doubleValue == recovery.bpm
            }
            #expect(index != nil, "no heart rate at \(recovery.time)")
            if let index { rest.remove(at: index) }
        }
        if let night = expected.night { try take(night, from: &rest) }
        for workout in expected.workouts ?? [] { try take(workout, from: &rest) }
        #expect(rest.isEmpty, "\(rest.map { "\($0.origin.type.id) \(Self.start($0)) \($0.numeral.text)" })")
        for (name, count) in expected.skipped ?? [:] { #expect(read.skipped[name] == count) }
    }

    /// Sums during a workout are also in the metrics, so they are only counted.
    private static func seriesOfWorkouts(_ name: String) -> Set<String> {
        name == "11-workout-v2" ? ["stepCount", "activeEnergyBurned"] : []
    }

    private func take(_ sample: ExpectedExport.Sample, from rest: inout [Reading]) throws {
        let type =
            sample.type == "heartRate"
            ? ["min": "heartRateMinimum", "average": "heartRateAverage", "max": "heartRateMaximum"][sample.statistic]
                ?? "heartRate"
            : sample.type
        let index = rest.firstIndex {
            $0.origin.type.id == type && Self.start($0) == sample.start && $0.numeral.doubleValue == sample.value
                && $0.record.map { !$0.id.hasPrefix("workout") } ?? true
        }
        guard let index else {
            Issue.record("no \(type) of \(sample.value) at \(sample.start)")
            return
        }
        let reading = rest.remove(at: index)
        let metadata = reading.metadata
        #expect(
            reading.unit == (try Unit(ucum: sample.unit)) || reading.unit.code == sample.unit || sample.unit == "{count}",
            "\(type)")
        if let also = sample.also {
            let value = try reading.unit.conversion(to: try Unit(ucum: also.unit)).convert(reading.numeral)
            #expect(abs(value - also.value) < 1e-6 * max(1, abs(also.value)), "\(type)")
        }
        let (start, end) = try Self.times(reading)
        switch sample.statistic {
        case "none" where sample.end != nil, "sum", "average", "min", "max":
            #expect(end.description == Self.written(sample.end ?? ""), "\(type)")
            #expect(metadata?["period"] == nil, "\(type)")
        default:
            // Its end is missing, so it is quarantined.
            #expect(end == start)
            #expect(metadata?["period"] == .string("unknown"), "\(type)")
        }
        if ["sum", "average"].contains(sample.statistic) {
            let reported = metadata?["statistic"]
            #expect(reported == .string(sample.statistic), "\(type)")
            #expect(reading.record?.isOpen == true)
            #expect(metadata?["sources"] == (sample.sources.isEmpty ? nil : .string(Self.names(sample.sources))))
            #expect(reading.origin.source.id == "health-auto-export")
        } else if sample.statistic == "none" {
            let names = Self.names(sample.sources)
            #expect(reading.origin.source.id == "health-auto-export" + (names.isEmpty ? "" : "/\(names)"))
        }
        for (key, value) in sample.metadata ?? [:] { #expect(metadata?[key] == .string(value)) }
    }

    private static func names(_ sources: [String]) -> String {
        sources.map { $0.replacing("\u{A0}", with: " ") }.sorted().joined(separator: "|")
    }

    private func take(_ category: ExpectedExport.Category, from rest: inout [Reading]) throws {
        let index = rest.firstIndex {
            let value = category.case.flatMap { SampleType(category.type)?.categoryValues?.value(of: $0) } ?? 0
            return $0.origin.type.id == category.type && Self.start($0) == category.start && $0.numeral.coefficient == value
        }
        guard let index else {
            Issue.record("no \(category.type) at \(category.start)")
            return
        }
        let reading = rest.remove(at: index)
        #expect(try Self.times(reading).end.description == Self.written(category.end))
    }

    /// A night of totals is time in bed, with the totals as its metadata.
    private func take(_ night: ExpectedExport.Night, from rest: inout [Reading]) throws {
        let reading = try #require(rest.first)
        rest.removeFirst()
        #expect(reading.origin.type.id == "sleepAnalysis" && reading.numeral.coefficient == 0)
        let (start, end) = try Self.times(reading)
        #expect(start.description == Self.written(night.inBedStart ?? night.start))
        #expect(end.description == Self.written(night.inBedEnd ?? night.end))
        let minute = try Unit(ucum: "min")
        for (name, minutes) in night.minutes where minutes > 0 && name != "asleepTotal" {
            guard case .quantity(let numeral, let unit)? = reading.metadata?[name] else {
                Issue.record("no \(name)")
                continue
            }
            #expect(abs(try unit.conversion(to: minute).convert(numeral) - minutes) < 1e-6, "\(name)")
        }
    }

    private func take(_ expected: ExpectedExport.Workout, from rest: inout [Reading]) throws {
        let all = rest.filter { $0.origin.type.id == "workout" }
        rest.removeAll { $0.origin.type.id == "workout" }
        // The version with the most figures is kept.
        let reading = try #require(all.max { ($0.record?.version ?? 0) < ($1.record?.version ?? 0) })
        #expect(Set(all.map { $0.record?.id }).count == 1)
        #expect(SampleType("workout")?.categoryValues?.name(of: Int(reading.numeral.coefficient)) == expected.activity)
        let (start, end) = try Self.times(reading)
        #expect(start.description == Self.written(expected.start) && end.description == Self.written(expected.end))
        let body = try #require(reading.body)
        let workout = try body.decoded(as: Workout.self)
        #expect(workout.duration?.numeral.doubleValue == expected.duration)
        for (type, figures) in expected.statistics where type != "swimmingStrokeCount" {
            let reported = workout.statistics.first { $0.type == type }
            let code: String = if case .text(let code)? = figures["unit"] { code } else { "1" }
            let unit = try Unit(ucum: code)
            for (name, amount) in [
                ("sum", reported?.sum), ("average", reported?.average), ("min", reported?.minimum), ("max", reported?.maximum),
            ] {
                guard case .number(let value)? = figures[name] else { continue }
                // The version with the most figures lacks some of the other version's.
                if amount == nil, all.count > 1 { continue }
                let found = try #require(amount?.value(in: unit), "\(type) \(name)")
                #expect(abs(found - value) < 1e-6 * max(1, value), "\(type) \(name)")
            }
        }
        let routes = rest.filter { $0.origin.type.id == "workoutRoute" }
        rest.removeAll { $0.origin.type.id == "workoutRoute" }
        #expect(routes.count == (expected.route == nil ? 0 : 1))
        #expect(workout.routes.count == routes.count)
        // The heart rates of its minutes.
        rest.removeAll { ["heartRateMinimum", "heartRateMaximum"].contains($0.origin.type.id) }
    }

    private static func times(_ reading: Reading) throws -> (start: Instant, end: Instant) {
        guard case .instants(let start, let end, _) = reading.time else { throw SourceError(.malformed, "no instants") }
        return (start, end)
    }

    private static func start(_ reading: Reading) -> String {
        ((try? times(reading).start.description) ?? "").replacing(".000000Z", with: "Z")
    }

    private static func written(_ text: String) -> String { text.replacing("Z", with: ".000000Z") }
}

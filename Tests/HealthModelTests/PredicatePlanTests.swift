import Testing

@testable import HealthModel

/// The ranges that a store reads for a condition: never less than the matching samples, and as little more as the properties and starts of
/// a series allow.
@Suite struct PredicatePlanTests {
    private static func at(_ microseconds: Int64) -> Instant { Instant(microseconds: microseconds) }

    private static func series(
        _ type: SampleType = .heartRate, person: String = "me", source: String = "a", device: String = "",
        maximumDuration: Int64 = 0
    ) -> SamplePredicate.SeriesFacts {
        SamplePredicate.SeriesFacts(type: type, person: person, source: source, device: device, maximumDuration: maximumDuration)
    }

    /// Whether a store that follows the plan finds a sample.
    static func finds(_ sample: Sample, by predicate: SamplePredicate) -> Bool {
        let facts = SamplePredicate.SeriesFacts(
            type: sample.origin.type, person: sample.origin.person, source: sample.origin.source.id,
            device: sample.origin.device?.key ?? "", maximumDuration: sample.end.microseconds - sample.start.microseconds)
        guard let plan = predicate.plan(for: facts), plan.starts.contains(sample.start.microseconds) else { return false }
        return plan.rest?.matches(sample) ?? true
    }

    @Test func rangeOfOneTypeHasNoRemainder() {
        let predicate = SamplePredicate.and([
            .types([.heartRate, .bodyMass]), .starts(from: Self.at(10), before: Self.at(20)), .person("me"),
            .and([.types([.heartRate])]),
        ])
        let plan = predicate.plan(for: Self.series())
        #expect(plan?.starts == TimeIntervalSet([10...19]))
        #expect(plan != nil && plan?.rest == nil)
        #expect(predicate.plan(for: Self.series(.bodyMass)) == nil)
        #expect(predicate.plan(for: Self.series(person: "you")) == nil)
    }

    @Test func evaluatesRemainderPerSample() {
        let predicate = SamplePredicate.and([.types([.heartRate]), .source("a"), .comparison(.zone, .equal, .text("Z"))])
        let plan = predicate.plan(for: Self.series())
        #expect(plan?.starts == .all)
        // The source's id belongs to the series, its name to each sample.
        #expect(plan?.rest?.description == "zone = Z")
        #expect(
            predicate.plan(for: Self.series(source: "b"))?.rest?.description == "(source.id = a or source.name = a) and zone = Z")
    }

    @Test func readsSeveralIntervals() throws {
        let either = try SamplePredicate(
            "start > 2026-11-20T06:30:00Z and start <= 2026-11-20T06:31:00Z or start = 2026-11-20T06:40:00Z")
        let plan = try #require(either.plan(for: Self.series()))
        let texts = plan.starts.intervals.map { "\(Self.at($0.lowerBound)) \(Self.at($0.upperBound))" }
        #expect(
            texts == [
                "2026-11-20T06:30:00.000001Z 2026-11-20T06:31:00.000000Z",
                "2026-11-20T06:40:00.000000Z 2026-11-20T06:40:00.000000Z",
            ])
        #expect(plan.rest == nil)
        #expect(SamplePredicate.or([]).plan(for: Self.series()) == nil)
        #expect(SamplePredicate.everything.plan(for: Self.series())?.rest == nil)
    }

    /// The range that one type's condition leaves of another type's.
    @Test func eachTypeHasOwnInterval() throws {
        let predicate = try SamplePredicate(
            "type = heartRate and start < 2026-11-20T06:30:00Z or type = bodyMass and not start < 2026-11-20T06:30:00Z")
        let time = try #require(SamplePredicate.instant("2026-11-20T06:30:00Z")).microseconds
        #expect(predicate.plan(for: Self.series())?.starts == .before(time))
        #expect(predicate.plan(for: Self.series(.bodyMass))?.starts == .from(time))
        #expect(predicate.plan(for: Self.series(.stepCount)) == nil)
        #expect(predicate.plan(for: Self.series())?.rest == nil)
    }

    @Test func overlapStartsAtMaximumDurationBefore() {
        let predicate = SamplePredicate.predicateForSamples(withStart: Self.at(100), end: Self.at(200))
        let plan = predicate.plan(for: Self.series(maximumDuration: 30))
        #expect(plan?.starts == TimeIntervalSet([70...199]))
        #expect(plan?.rest?.description == "end >= 1970-01-01T00:00:00.000100Z")
        // Of moments the end is the start.
        let moments = predicate.plan(for: Self.series())
        #expect(moments?.starts == TimeIntervalSet([100...199]))
        #expect(moments != nil && moments?.rest == nil)
        let strict = SamplePredicate.predicateForSamples(withStart: Self.at(100), end: Self.at(200), options: .strictEndDate)
        #expect(strict.plan(for: Self.series(maximumDuration: 30))?.starts == TimeIntervalSet([70...199]))
    }

    @Test func placesOfUUIDs() throws {
        let uuid = try #require(SampleIdentity("01a1f7a6-b4a0-8f29-adfe-bb0975c93095"))
        for predicate in [SamplePredicate.uuids([uuid]), try SamplePredicate("uuid = \(uuid)")] {
            #expect(predicate.plan(for: Self.series()) { _ in TimeIntervalSet([7...7]) }?.starts == TimeIntervalSet([7...7]))
            #expect(predicate.plan(for: Self.series()) { _ in .none } == nil)
            #expect(SamplePredicate.not(predicate).plan(for: Self.series()) { _ in .none }?.starts == .all)
        }
    }

    @Test func theEndsOfTime() {
        let (first, last) = (Self.at(.min), Self.at(.max))
        #expect(SamplePredicate.comparison(.start, .above, .instant(last)).plan(for: Self.series()) == nil)
        #expect(SamplePredicate.comparison(.start, .below, .instant(first)).plan(for: Self.series()) == nil)
        #expect(SamplePredicate.starts(from: first, before: nil).plan(for: Self.series())?.starts == .all)
        let ends = SamplePredicate.comparison(.end, .above, .instant(first)).plan(for: Self.series(maximumDuration: .max))
        #expect(ends?.starts.contains(.min + 1) == true)
    }

    /// Sets of times against sets of numbers.
    @Test func intervalsEqualSetsOfNumbers() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<2000 {
            func some() -> (TimeIntervalSet, Set<Int64>) {
                let intervals = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                    let low = Int64.random(in: 0..<12, using: &random)
                    return low...(low + Int64.random(in: 0..<4, using: &random))
                }
                return (TimeIntervalSet(intervals), Set(intervals.flatMap { Array($0) }))
            }
            let (one, two) = (some(), some())
            for time in Int64(-1)..<17 {
                #expect(one.0.contains(time) == one.1.contains(time))
                #expect(one.0.union(two.0).contains(time) == one.1.union(two.1).contains(time))
                #expect(one.0.intersection(two.0).contains(time) == one.1.intersection(two.1).contains(time))
            }
            // In order, and apart from one another.
            let bounds = one.0.union(two.0).intervals
            #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
        }
        let many = TimeIntervalSet((0..<200).map { Int64($0) * 10...Int64($0) * 10 })
        #expect(many.intervals == [0...1990])
    }

    /// Random trees over a coarse grid: every match is within the plan's range, and there the rest matches the same samples as the whole
    /// condition. A condition read back from its own text is the same.
    @Test func planAndTextAreTheWhole() throws {
        var random = SeededGenerator(seed: 11)
        let types: [SampleType] = [.heartRate, .bodyMass, .stepCount]
        func comparison() -> SamplePredicate.Comparison {
            SamplePredicate.Comparison.allCases.filter { ![.contains, .beginsWith].contains($0) }
                .randomElement(using: &random) ?? .equal
        }
        func leaf() -> SamplePredicate {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return .types(Set(types.filter { _ in Bool.random(using: &random) }))
            case 1: return .person(["me", "you"][Int.random(in: 0..<2, using: &random)])
            case 2, 3: return .comparison(.start, comparison(), .instant(Self.at(Int64.random(in: 0..<5, using: &random))))
            case 4: return .comparison(.end, comparison(), .instant(Self.at(Int64.random(in: 0..<5, using: &random))))
            case 5:
                return .comparison(
                    .value, comparison(), .number(Numeral(coefficient: Int64.random(in: 0..<3, using: &random)), nil))
            // Of a unit that no heart rate has.
            case 6: return .comparison(.value, .below, .number(Numeral(coefficient: 2), types[1].canonicalUnit))
            case 7:
                let sign: SamplePredicate.Comparison =
                    [.equal, .notEqual, .contains, .beginsWith].randomElement(using: &random) ?? .equal
                return .comparison(.source(.id), sign, .text(["a", "a b", "", "it's"].randomElement(using: &random) ?? ""))
            case 8: return .comparison(.device(.key), [.equal, .notEqual].randomElement(using: &random) ?? .equal, .text("k"))
            default:
                let fields: [SamplePredicate.Field] = [.device(.model), .zone, .group, .metadata("a key"), .source(.version)]
                return .comparison(
                    fields.randomElement(using: &random) ?? .zone, Bool.random(using: &random) ? .equal : .notEqual, .present)
            }
        }
        func tree(_ depth: Int) -> SamplePredicate {
            guard depth > 0 else { return leaf() }
            let parts = (0..<Int.random(in: 0..<4, using: &random)).map { _ in tree(depth - 1) }
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: return .and(parts)
            case 2: return .or(parts)
            case 3: return .not(tree(depth - 1))
            default: return leaf()
            }
        }
        var all: [(SamplePredicate.SeriesFacts, [Sample])] = []
        for type in types {
            for (person, device) in [("me", nil), ("you", Device(key: "k", model: "m"))] {
                let source = SourceRevision(id: person == "me" ? "a" : "a b", name: "it's", version: device == nil ? nil : "1")
                let origin = Origin(person: person, type: type, source: source, device: device)
                let maximumDuration: Int64 = type == .stepCount ? 2 : 0
                var samples: [Sample] = []
                for start in Int64(0)..<4 {
                    for value in Int64(0)..<3 {
                        let numeral = Numeral(coefficient: value)
                        let end = start + min(value, maximumDuration)
                        samples.append(
                            Sample(
                                origin: origin,
                                identity: SampleIdentity(
                                    series: origin.seriesKey, start: start, end: end, numeral: numeral, unit: type.canonicalUnit,
                                    ordinal: 0),
                                nominalStart: start, start: Self.at(start), end: Self.at(end), value: Double(value),
                                numeral: numeral, unit: type.canonicalUnit, zone: value == 1 ? .utc : nil, timeOrigin: .device,
                                received: Self.at(start), group: value == 2 ? 7 : nil,
                                metadata: start == 1 ? Metadata([("a key", .string("x"))]) : nil))
                    }
                }
                all.append(
                    (
                        Self.series(
                            type, person: person, source: source.id, device: device?.key ?? "", maximumDuration: maximumDuration),
                        samples
                    ))
            }
        }
        var (matched, left, passed) = (0, 0, 0)
        for _ in 0..<1000 {
            let predicate = tree(3)
            let again = try SamplePredicate("\(predicate)")
            #expect("\(again)" == "\(predicate)")
            for (facts, samples) in all {
                let plan = predicate.plan(for: facts)
                if plan == nil { passed += samples.count }
                for sample in samples {
                    let isLooked = plan?.starts.contains(sample.start.microseconds) ?? false
                    let meets = predicate.matches(sample)
                    let found = isLooked && plan?.rest?.matches(sample) ?? true
                    if found != meets { Issue.record("by its plan: \(predicate)") }
                    if again.matches(sample) != meets { Issue.record("read again: \(predicate)") }
                    if meets { matched += 1 }
                    if isLooked, plan?.rest != nil { left += 1 }
                }
            }
        }
        #expect(matched > 10_000 && left > 3000 && passed > 10_000, "\(matched) \(left) \(passed)")
    }
}

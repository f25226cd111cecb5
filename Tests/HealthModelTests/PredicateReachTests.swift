import Testing

@testable import HealthModel

/// What a store reads for a condition: never less than what meets it.
@Suite struct PredicateReachTests {
    private static func at(_ microseconds: Int64) -> Instant { Instant(microseconds: microseconds) }

    @Test func aRangeOfOneTypeIsReadAndNothingMoreIsAsked() throws {
        let (reach, rest) = SamplePredicate.and([
            .types([.heartRate, .bodyMass]), .starts(from: Self.at(10), before: Self.at(20)), .subject("me"),
            .and([.types([.heartRate])]),
        ]).plan()
        #expect(reach == .init(types: [.heartRate], subjects: ["me"], from: Self.at(10), through: Self.at(19)))
        #expect(rest == nil)
        #expect(reach.contains(type: .heartRate, subject: "me"))
        #expect(!reach.contains(type: .bodyMass, subject: "me") && !reach.contains(type: .heartRate, subject: "you"))
    }

    @Test func whatIsLeftIsAskedOfEachSample() throws {
        let (reach, rest) = SamplePredicate.and([.types([.heartRate]), .source("a"), .uuids([])]).plan()
        #expect(reach == .init(types: [.heartRate]))
        guard case .and(let parts)? = rest else {
            Issue.record("nothing is left")
            return
        }
        #expect(parts.count == 2)
    }

    @Test func eitherReachesBoth() throws {
        let either = try SamplePredicate(
            "start > 2026-11-20T06:30:00Z and start <= 2026-11-20T06:31:00Z or start = 2026-11-20T06:40:00Z")
        let (reach, rest) = either.plan()
        #expect(reach.from.description == "2026-11-20T06:30:00.000001Z")
        #expect(reach.through.description == "2026-11-20T06:40:00.000000Z")
        #expect(rest != nil)
        #expect(SamplePredicate.or([]).plan().reach.contains(type: .heartRate, subject: "me") == false)
        #expect(SamplePredicate.everything.plan().rest == nil)
    }

    @Test func theEndsOfTime() {
        let (first, last) = (Self.at(.min), Self.at(.max))
        #expect(
            !SamplePredicate.comparison(.start, .above, .instant(last)).plan().reach.contains(type: .heartRate, subject: "me"))
        #expect(
            !SamplePredicate.comparison(.start, .below, .instant(first)).plan().reach.contains(type: .heartRate, subject: "me"))
        #expect(SamplePredicate.starts(from: first, before: nil).plan().reach == .init())
    }

    /// Random trees over a coarse grid: what meets the whole lies within the reach, and there the rest is the same as the whole.
    @Test func reachAndRestAreTheWhole() throws {
        var random = SeededGenerator(seed: 11)
        let types: [SampleType] = [.heartRate, .bodyMass, .stepCount]
        func leaf() -> SamplePredicate {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .types(Set(types.filter { _ in Bool.random(using: &random) }))
            case 1: return .subject(["me", "you"][Int.random(in: 0..<2, using: &random)])
            case 2:
                let comparison = SamplePredicate.Comparison.allCases[Int.random(in: 0..<6, using: &random)]
                return .comparison(.start, comparison, .instant(Self.at(Int64.random(in: 0..<4, using: &random))))
            case 3:
                return .comparison(.value, .above, .number(Numeral(coefficient: Int64.random(in: 0..<3, using: &random)), nil))
            // Of a unit that no heart rate has.
            default: return .comparison(.value, .below, .number(Numeral(coefficient: 2), types[1].canonicalUnit))
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
        var samples: [Sample] = []
        for type in types {
            for subject in ["me", "you"] {
                let origin = Origin(subject: subject, type: type, source: SourceRevision(id: "a", name: "a"))
                for start in Int64(0)..<4 {
                    for value in Int64(0)..<3 {
                        let numeral = Numeral(coefficient: value)
                        samples.append(
                            Sample(
                                origin: origin,
                                identity: SampleIdentity(
                                    series: origin.seriesKey, start: start, end: start, numeral: numeral,
                                    unit: type.canonicalUnit,
                                    ordinal: 0), nominalStart: start, start: Self.at(start), end: Self.at(start),
                                value: Double(value),
                                numeral: numeral, unit: type.canonicalUnit, zone: nil, timeOrigin: .device,
                                received: Self.at(start)))
                    }
                }
            }
        }
        var met = 0
        for _ in 0..<2000 {
            let predicate = tree(3)
            let (reach, rest) = predicate.plan()
            for sample in samples {
                let isReached =
                    reach.contains(type: sample.origin.type, subject: sample.origin.subject) && reach.from <= sample.start
                    && sample.start <= reach.through
                let meets = predicate.matches(sample)
                #expect(meets == (isReached && rest?.matches(sample) ?? true))
                if meets { met += 1 }
            }
        }
        #expect(met > 10_000)
    }
}

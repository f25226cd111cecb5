import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct SuspicionTests {
    /// The number of readings examined together is bounded, but a found interval continues across windows. (If a window has only one or two
    /// of its readings, the interval ends a little earlier.)
    @Test(arguments: [17, 40, 1000]) func rangeContinuesAcrossWindows(window: Int) throws {
        try TestStore.with { test in
            let own = try SampleMaker(.bodyTemperature, source: "own")
            let other = try SampleMaker(.bodyTemperature, source: "other")
            let right = try (0..<30).map { try own("36.\($0 % 9)", at: Double($0) * 86_400) }
            let wrong = try (30..<90).map { try own("98.\($0 % 7)", at: Double($0) * 86_400) }
            let later = try (90..<120).map { try own("36.\($0 % 9)", at: Double($0) * 86_400) }
            let others = try (0..<120).map { try other("36.\($0 % 8)", at: Double($0) * 86_400 + 7200) }
            try test.keep(right + wrong + later + others)
            let found = try test.store.repairs.suspicions(window: window)
            #expect(found.map(\.range.count) == [60])
            let range = try #require(found.first?.range)
            #expect((range.from, range.to) == (wrong[0].sample.start, wrong[59].sample.start))
            #expect((range.taken.code, range.fits.code) == ("Cel", "[degF]"))
            #expect(found.first?.series.source == "own")
        }
    }

    /// An export with many sources, each with one implausible reading. The search after it grows with their number, not with its square.
    @Test func searchesManySeriesOnce() throws {
        func work(_ sources: Int) throws -> Int {
            try TestStore.with { test in
                let samples = try (0..<sources).map { try SampleMaker(.bodyMass, source: "s\($0)")("300", at: Double($0) * 60) }
                let account = try test.keep(samples).account
                return try test.store.connection.work {
                    let found = try test.store.repairs.suspicions(ingestedBy: account.id)
                    #expect(found.isEmpty)
                }
            }
        }
        let (few, many) = (try work(40), try work(160))
        #expect(many < few * 6, "\(few) \(many)")
    }

    /// 200 readings of a glucose meter, five minutes apart.
    private func glucose(_ source: String, _ unit: String) throws -> [GatedSample] {
        let maker = try SampleMaker(.bloodGlucose, source: source, sourceName: source, unit: unit)
        return try (0..<200).map { try maker("\(95 + $0 * 7 % 13)", at: Double($0) * 300) }
    }

    /// The right readings of the same minutes may come before the wrong ones or after them, from the same source or another one.
    @Test(arguments: ["meter", "other"], [false, true])
    func aSuspicionStaysUntilItIsAnswered(source: String, isRightFirst: Bool) throws {
        try TestStore.with { test in
            let (wrong, right) = (try glucose("meter", "mmol/L"), try glucose(source, "mg/dL"))
            let accounts = try (isRightFirst ? [right, wrong] : [wrong, right]).map { try test.keep($0).account }
            let found = try test.store.repairs.suspicions()
            #expect(found.map(\.range.count) == [200])
            #expect(found.map(\.range.taken.code) == ["mmol/L"])
            #expect(found.map(\.range.fits.code) == ["mg/dL"])
            #expect(found.map(\.explanations) == [[.unit]])
            #expect(try test.store.repairs.suspicions(ingestedBy: accounts[isRightFirst ? 1 : 0].id).map(\.range.count) == [200])

            let suspicion = try #require(found.first)
            var conditions = SampleConditions(types: [.bloodGlucose])
            (conditions.source, conditions.from, conditions.to) = ("meter", suspicion.range.from, suspicion.end)
            conditions.condition = try suspicion.condition.map { try SamplePredicate($0) }
            let request = RepairRequest(
                .unit(suspicion.range.fits), of: conditions, takesAmbiguous: true, now: TestStore.received)
            let plan = try test.store.repairs.plan(request)
            #expect(plan.repaired + plan.merged == 200)
            var merging = request
            merging.merging = .atMost(plan.merged)
            _ = try test.store.repairs.apply(merging)
            #expect(try test.store.repairs.suspicions().isEmpty)
        }
    }

    /// Two people explain a scale's weights better if it never sent pounds.
    @Test(arguments: [false, true]) func twoPeopleOrPounds(hasSentPounds: Bool) throws {
        try TestStore.with { test in
            let scale = try SampleMaker(.bodyMass, source: "scale", sourceName: "Scale")
            try test.keep(try (0..<40).map { try scale($0 % 2 == 0 ? "77.\($0 % 5)" : "170.\($0 % 7)", at: Double($0) * 86_400) })
            if hasSentPounds {
                let lean = try #require(SampleType("leanBodyMass"))
                try test.keep([try SampleMaker(lean, source: "scale", sourceName: "Scale", unit: "[lb_av]")("120.1", at: 0)])
            }
            let found = try test.store.repairs.suspicions()
            #expect(found.map(\.explanations) == [hasSentPounds ? [.unit, .anotherPerson] : [.anotherPerson, .unit]])
            #expect(found.map(\.range.count) == [20])
            #expect(found.first?.condition == "value > 124 kg")
        }
    }

    /// Wrong readings among right ones are one finding, however many windows they are checked in.
    @Test(arguments: [20, 50, 1000]) func mixtureContinuesAcrossWindows(window: Int) throws {
        try TestStore.with { test in
            let own = try SampleMaker(.bodyTemperature)
            try test.keep(try (0..<100).map { try own($0 % 2 == 0 ? "36.\($0 % 9)" : "98.\($0 % 7)", at: Double($0) * 86_400) })
            let found = try test.store.repairs.suspicions(window: window)
            #expect(found.map(\.range.count) == [50])
            #expect(found.map(\.explanations) == [[.unit]])
        }
    }

    /// Known suspicions that are brought up to date after changes anywhere equal those of a search of everything.
    @Test(arguments: 1...12) func knownSuspicionsFollowChanges(seed: UInt64) throws {
        try TestStore.with { test in
            var random = SeededGenerator(seed: seed)
            let makers = try ["own", "other"].map { try SampleMaker(.bodyTemperature, source: $0) }
            let weights = try SampleMaker(.bodyMass, source: "scale")
            var (known, retained, end) = (KnownSuspicions(), [GatedSample](), 0)
            for _ in 0..<25 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<6:
                    // Mostly at the end. The grid is coarse, so that starts are equal.
                    let start = Bool.random(using: &random) ? end : Int.random(in: 0...end, using: &random)
                    let (isWrong, maker) = (Bool.random(using: &random), makers.randomElement(using: &random) ?? weights)
                    let count = Int.random(in: 1...25, using: &random)
                    let batch = try (start..<start + count).map {
                        try maker(isWrong ? "98.\($0 % 7)" : "36.\($0 % 9)", at: Double($0) * 86_400)
                    }
                    try test.keep(batch)
                    retained += batch
                    end = max(end, start + count)
                case 6: try test.keep([try weights("7\(end % 10)", at: Double(end) * 86_400)])
                case 7: try test.reopen()
                default:
                    let live = Set(try test.identities())
                    let chosen = retained.filter { live.contains($0.sample.identity) }.randomElement(using: &random)
                    if let chosen { _ = try test.delete(chosen) }
                }
                try test.store.repairs.update(&known, of: TestStore.person, window: 20)
                let all = try test.store.repairs.suspicions(window: 20)
                #expect(known.all.map(Self.text) == all.map(Self.text))
            }
        }
    }

    private static func text(_ suspicion: Suspicion) -> String {
        let range = suspicion.range
        return """
            \(suspicion.series.id) \(range.from) \(range.to) \(range.count) \(range.taken.code) \(range.fits.code) \
            \(suspicion.explanations) \(suspicion.condition ?? "")
            """
    }
}

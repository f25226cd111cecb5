import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct IngestTests {
    @Test func theSameReadingTwice() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let batch = try (0..<50).map { try maker("\(60 + $0 % 7)", at: Double($0)) }
            #expect(try test.keep(batch).outcomes == [[SampleOutcome](repeating: .stored, count: 50)])
            #expect(try test.keep(batch).outcomes == [[SampleOutcome](repeating: .duplicate, count: 50)])
            try test.reopen()
            let (outcomes, account) = try test.keep(batch.reversed())
            #expect(outcomes == [[SampleOutcome](repeating: .duplicate, count: 50)])
            #expect((account.read, account.stored, account.duplicate) == (50, 0, 50))
            #expect(try test.samples().count == 50)
        }
    }

    @Test func twiceWithinOneBatch() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let one = try maker("72", at: 10)
            let other = try maker("71", at: 5)
            #expect(
                try test.keep([one, other, one, try maker("72.0", at: 10), other]).outcomes == [
                    [.stored, .stored, .duplicate, .duplicate, .duplicate]
                ])
            #expect(try test.identities() == [other.sample.identity, one.sample.identity])
        }
    }

    /// Story 28: different readings close together stay two. Story 27: the same one sent endlessly is one.
    @Test func closeReadingsStayTwo() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bloodGlucose)
            let pair = [
                try maker("100", at: 0), try maker("101", at: 0), try maker("100", at: 0.000001),
                try maker("100", at: 0, ordinal: 1),
            ]
            #expect(try test.keep(pair).outcomes == [[.stored, .stored, .stored, .stored]])
            for _ in 0..<20 { try test.keep(pair) }
            #expect(try test.samples().count == 4)
        }
    }

    /// Story 23: read again under another assumption about the zone: the same readings, in both directions of time.
    @Test func anotherZoneAssumption() throws {
        for (first, second) in [(1, -5), (-5, 1), (0, 2), (2, 0)] {
            try TestStore.with { test in
                let maker = try SampleMaker()
                let values = (0..<200).map { ("\(60 + $0 % 3)", Double($0 * 600)) }
                try test.keep(try values.map { try maker.local(first)($0.0, at: $0.1) })
                let (outcomes, account) = try test.keep(try values.map { try maker.local(second)($0.0, at: $0.1) })
                #expect(outcomes[0].allSatisfy { $0 == .duplicate }, "\(first) and \(second)")
                #expect(account.duplicate == 200)
                try test.reopen()
                #expect(try test.keep(try values.reversed().map { try maker.local(0)($0.0, at: $0.1) }).account.duplicate == 200)
                // Within one batch too.
                let twice = try test.keep([try maker.local(first)("99", at: 7), try maker.local(second)("99", at: 7)])
                #expect(twice.outcomes == [[.stored, .duplicate]])
            }
        }
    }

    /// Samples that start at the same instant, more of them than the search looks at before it seeks.
    @Test func manySamplesAtOneInstant() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let readings = try (0..<300).map { try maker("\(20 + $0)", at: 100) }
            let around = [try maker("1", at: 99), try maker("1", at: 101), try maker("1", at: 5000)]
            try test.keep(readings.filter { Int($0.sample.value) % 2 == 0 } + around)
            let (outcomes, _) = try test.keep(readings.shuffledBy(seed: 4) + around)
            #expect(outcomes[0].count { $0 == .stored } == 150)
            #expect(outcomes[0].suffix(3) == [.duplicate, .duplicate, .duplicate])
            #expect(try test.samples().count == 303)
        }
    }

    /// A few rows into a store that holds many, and many into a store that holds a few, at random.
    @Test func sparseAndDense() throws {
        var random = SeededGenerator(seed: 77)
        try TestStore.with { test in
            let maker = try SampleMaker()
            var retained: Set<SampleIdentity> = []
            for _ in 0..<30 {
                let size = [1, 3, 20, 1000].randomElement(using: &random) ?? 1
                let step = [1, 60, 5000].randomElement(using: &random) ?? 1
                let first = Int.random(in: 0..<3000, using: &random)
                let batch = try (0..<size).map { try maker("60", at: Double(first + ($0 * step) % 6000)) }.shuffledBy(
                    seed: random.next())
                let outcomes = try test.keep(batch).outcomes[0]
                for (gated, outcome) in zip(batch, outcomes) {
                    #expect((outcome == .stored) == retained.insert(gated.sample.identity).inserted)
                }
            }
            #expect(Set(try test.identities()) == retained)
        }
    }

    // MARK: ledger

    @Test func accountsAddUp() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let ingest = try test.store.beginIngest(
                IngestDescription(
                    kind: .import, name: "a.csv", profile: "generic", zone: "Europe/Berlin", received: 5, notes: ["one", "two"]))
            ingest.refuse(Refusal("no number", at: Place(.line, 2)))
            ingest.skip(SkipKind("workout"), count: 3)
            _ = try ingest.store([try maker("72", at: 0), try maker("72", at: 0), try maker("999", at: 1, rule: .impossible)])
            ingest.refuse(Refusal("no number", at: Place(.line, 9)))
            ingest.skip(SkipKind("workout"))
            _ = try ingest.store([try maker("72", at: 0, repeats: SkipKind("repeated"))])
            #expect(ingest.waiting == 0)
            try ingest.note(["three"])
            let account = try ingest.finish(at: 9)
            #expect((account.stored, account.duplicate, account.quarantined, account.refused, account.read) == (1, 1, 1, 2, 5))
            #expect(account.skipped == ["workout": 4, "repeated": 1])
            #expect((account.received, account.finished, account.state, account.zone) == (5, 9, "done", "Europe/Berlin"))
            #expect(account.notes == ["three"])
            #expect(try test.store.ledger.account(of: ingest.id) == account)
            #expect(try test.store.ledger.account(of: 99) == nil)
            #expect(
                try test.store.ledger.refusals(of: ingest.id) == [
                    RefusalEntry(reason: "no number", placeKind: "line", place: 2, count: 1),
                    RefusalEntry(reason: "no number", placeKind: "line", place: 9, count: 1),
                ])
            #expect(try test.store.ledger.accounts().map(\.id) == [ingest.id])
        }
    }

    @Test func refusalsBeyondAThousand() throws {
        try TestStore.with { test in
            let ingest = try test.store.beginIngest(TestStore.description())
            for line in 1...2500 {
                ingest.refuse(Refusal(line % 5 == 0 ? "five" : "other", at: Place(.line, line)))
                if line % 700 == 0 { _ = try ingest.store([]) }
            }
            let account = try ingest.finish(at: 0)
            #expect(account.refused == 2500)
            let entries = try test.store.ledger.refusals(of: ingest.id)
            #expect(entries.reduce(0) { $0 + $1.count } == 2500)
            #expect(entries.count == 1002)
            #expect(entries.prefix(1000).map(\.place) == Array(1...1000))
            #expect(entries.suffix(2).map(\.placeKind) == ["more", "more"])
            #expect(entries.suffix(2).map(\.count) == [300, 1200])
        }
    }

    /// Two refusals of one line, with one reason, are two.
    @Test func refusalsOfOnePlace() throws {
        try TestStore.with { test in
            let ingest = try test.store.beginIngest(TestStore.description())
            for _ in 0..<3 { ingest.refuse(Refusal("twice", at: Place(.byte, 0))) }
            #expect(try ingest.finish(at: 0).refused == 3)
            #expect(try test.store.ledger.refusals(of: ingest.id).map(\.count) == [3])
        }
    }

    /// A batch that fails is kept again later, with everything that was noted before it: the account adds up all the same.
    @Test func aFailedBatchLosesNoRefusals() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let ingest = try test.store.beginIngest(TestStore.description())
            ingest.refuse(Refusal("no number", at: Place(.line, 1)))
            ingest.skip(SkipKind("blank"), count: 2)
            try test.execute(
                "CREATE TEMP TRIGGER full BEFORE UPDATE OF stored ON ingest BEGIN SELECT RAISE(ABORT, 'no space'); END")
            let batch = [try maker("72", at: 0), try maker("72", at: 0, repeats: SkipKind("repeated"))]
            #expect(throws: StoreError.self) { try ingest.store(batch) }
            try test.execute("DROP TRIGGER full")
            #expect(try test.samples().isEmpty)
            // The refusals were written before this statement failed.
            try test.execute("CREATE TEMP TRIGGER full BEFORE INSERT ON skipped BEGIN SELECT RAISE(ABORT, 'no space'); END")
            #expect(throws: StoreError.self) { try ingest.store(batch) }
            try test.execute("DROP TRIGGER full")
            #expect(try ingest.store(batch) == [.stored, .duplicate])
            let account = try ingest.finish(at: 0)
            #expect((account.stored, account.refused) == (1, 1))
            #expect(account.skipped == ["blank": 2, "repeated": 1])
        }
    }

    /// Rows that were interned in a transaction that came to nothing are made again, not remembered.
    @Test func interningAfterRollback() throws {
        try TestStore.with { test in
            let one = try SampleMaker(source: "one", device: Device(key: "d1", name: "First"))
            let other = try SampleMaker(
                .bodyTemperature, source: "other", device: Device(key: "d2", name: "Second"), unit: "[degF]")
            let recorded = Metadata([("a", .string("b"))])
            let ingest = try test.store.beginIngest(TestStore.description())
            try test.execute(
                "CREATE TEMP TRIGGER full BEFORE UPDATE OF stored ON ingest BEGIN SELECT RAISE(ABORT, 'no space'); END")
            #expect(throws: StoreError.self) { try ingest.store([try one("72", at: 0, metadata: recorded)]) }
            try test.execute("DROP TRIGGER full")
            // Takes the numbers that the first ones had.
            let second = try other("98.60", at: 1, metadata: Metadata([("c", .boolean(true))]))
            let first = try one("72", at: 0, metadata: recorded)
            #expect(try ingest.store([second]) == [.stored])
            #expect(try ingest.store([first]) == [.stored])
            _ = try ingest.finish(at: 0)
            #expect(try test.lines() == [TestStore.line(first.sample), TestStore.line(second.sample)])
        }
    }

    // MARK: Stored data

    /// Digit for digit, in the type's unit and in another.
    @Test(arguments: [
        "98.60", "98.6", "+5", "1e3", "1E3", ".5", "-.5", "-0", "0", "0.0", "00.10", "7", "007", "-40", "1234567890123456789",
        "0.1234567890123456789",
        "123456789012345", "1234567890123456", "999999999999999.9", "0.30000000000000004", "36.6000000000000001", "1e-7",
        "0.0000001", "0.1", "100",
        "12345678901234567890123", "5e-10", "33.333333333333336", "4503599627370497.5", "1.", "123456.7890", "-0.0001",
    ])
    func numeralsComeBack(text: String) throws {
        try TestStore.with { test in
            for (index, maker) in [
                try SampleMaker(.bodyTemperature), try SampleMaker(.bodyTemperature, source: "f", unit: "[degF]"),
                try SampleMaker(.stepCount),
                try SampleMaker(.bloodGlucose, unit: "mmol/L"),
            ].enumerated() {
                // Far apart: -40 is one temperature in both units.
                let sample = try maker(text, at: Double(index) * 3600)
                try test.keep([sample])
                guard case .live(let found) = try test.store.samples.lookup(sample.sample.identity) else {
                    Issue.record("\(text) is not found")
                    continue
                }
                #expect(found.sample.numeral.text == sample.sample.numeral.text)
                #expect(found.sample.value == sample.sample.value)
                #expect(found.sample.unit == sample.sample.unit)
                #expect(TestStore.line(found.sample) == TestStore.line(sample.sample))
            }
        }
    }

    @Test func randomNumeralsComeBack() throws {
        var random = SeededGenerator(seed: 98)
        try TestStore.with { test in
            let makers = [try SampleMaker(.bodyTemperature), try SampleMaker(.bodyTemperature, source: "f", unit: "[degF]")]
            var batch: [GatedSample] = []
            for index in 0..<3000 {
                let digits = Int.random(in: 1...20, using: &random)
                var text = (0..<digits).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
                if Bool.random(using: &random) {
                    text.insert(".", at: text.index(text.startIndex, offsetBy: Int.random(in: 0..<digits, using: &random)))
                }
                if Int.random(in: 0..<4, using: &random) == 0 { text = "-" + text }
                if Int.random(in: 0..<9, using: &random) == 0 { text += "e\(Int.random(in: -30...30, using: &random))" }
                batch.append(try makers[index % 2](text, at: Double(index)))
            }
            try test.keep(batch)
            #expect(try test.lines() == Set(batch.map { TestStore.line($0.sample) }))
        }
    }

    @Test func everythingSurvives() throws {
        try TestStore.with { test in
            let device = Device(
                key: "k", name: "n", manufacturer: "m", model: "o", serial: "s", hardware: "h", firmware: "f", software: "w",
                udi: "u")
            let metadata = Metadata([
                ("text", .string("a\"\\\n\u{0}é")), ("number", .number(try Numeral("1.50"))), ("flag", .boolean(false)),
                ("quantity", .quantity(try Numeral("54"), try Unit(ucum: "[degF]"))),
            ])
            var full = try SampleMaker(
                .bloodGlucose, source: "src", sourceName: "Source ☃", version: "2.1", device: device, unit: "mmol/L"
            ).local(-3)
            full.unit = full.unit.with(molarMass: 180.156)
            full.timeOrigin = .deviceCorrected
            full.received = Instant(microseconds: TestStore.received.microseconds - 123_456_789)
            var receipt = try SampleMaker(.bodyMass, person: "unassigned")
            receipt.timeOrigin = .receipt
            receipt.received = Instant(microseconds: TestStore.received.microseconds + 17)
            let samples = [
                try full("5.50", at: 1, lasting: 2.5, group: 0x3FFF_FFFF_FFFF_FFFF, metadata: metadata),
                try receipt("80.20", at: 0, group: 1),
                try SampleMaker(source: "s", sourceName: "")("1", at: 1e9),
                try SampleMaker(device: Device(key: "only key"))("60", at: 2),
            ]
            try test.keep(samples)
            try test.reopen()
            #expect(try test.lines() == Set(samples.map { TestStore.line($0.sample) }))
            for sample in try test.samples() { #expect(sample.ingest == 1) }
        }
    }

    @Test func groupNumbers() throws {
        try TestStore.with { test in
            try test.keep([
                try SampleMaker()("72", at: 0, group: 1), try SampleMaker()("72", at: 1, group: .max),
                try SampleMaker()("72", at: 2),
            ])
            #expect(try test.samples().map(\.sample.group) == [1, .max, nil])
        }
    }

    /// Story 29: one phone with ever new names stays one series by its key, and a thousand origins are distinguished.
    @Test func manyOrigins() throws {
        try TestStore.with { test in
            var batch: [GatedSample] = []
            for index in 0..<1500 {
                let maker = try SampleMaker(device: Device(key: "phone", name: "0x\(index * 4096)"))
                batch.append(try maker("72", at: Double(index)))
            }
            try test.keep(batch)
            #expect(try test.store.samples.series(matching: SampleQuery()).count == 1)
            #expect(try test.lines() == Set(batch.map { TestStore.line($0.sample) }))
            var others: [GatedSample] = []
            for index in 0..<1500 {
                // Thirty of a person: all of one person's are compared with one another.
                let person = "00000000-0000-4000-8000-0000000000\(10 + index / 30)"
                others.append(try SampleMaker(source: "s\(index)", person: person)("72", at: 0))
            }
            let ingest = try test.store.beginIngest(TestStore.description())
            #expect(try ingest.store(others).allSatisfy { $0 == .stored })
            #expect(try ingest.store(others).allSatisfy { $0 == .duplicate })
            _ = try ingest.finish(at: 0)
            #expect(try test.store.samples.series(matching: SampleQuery()).count == 1501)
        }
    }
}

extension Array {
    /// The elements in an order that the seed decides.
    func shuffledBy(seed: UInt64) -> [Element] {
        var random = SeededGenerator(seed: seed)
        return shuffled(using: &random)
    }
}

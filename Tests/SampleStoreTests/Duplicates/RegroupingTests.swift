import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Several readings could be one measurement. Which ones are does not depend on the order in which they arrive.
@Suite struct RegroupingTests {
    private static func diary() throws -> SampleMaker { try SampleMaker(.bodyMass, source: "diary", sourceName: "Diary") }

    private static func site() throws -> SampleMaker {
        var maker = try SampleMaker(.bodyMass, source: "site", device: Device(key: "Acme", manufacturer: "Acme"))
        maker.timeResolution = 60
        return maker
    }

    private static func orders<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let one = rest.remove(at: index)
            return orders(rest).map { [one] + $0 }
        }
    }

    /// The live samples with their duplicates.
    private static func content(_ test: TestStore) throws -> [String] {
        let connection = try test.store.connection
        let reader = MeasurementReader(connection: connection)
        return try test.samples().map { stored in
            let key = try #require(try connection.samples.keys(of: stored.uuid).first)
            let history = try reader.measurement(of: key).history
            var others: [String] = []
            for report in history.reports where history.state(of: report.key) == .duplicate(of: key) {
                let rows = try SampleTable.Rows.allCases.first { try connection.samples.contains(report.key, among: $0) }
                let sample = try connection.samples.sample(at: report.key, among: try #require(rows))
                others.append(name(try #require(sample)))
            }
            return "\(name(stored.sample)): \(others.sorted().joined(separator: ", "))"
        }.sorted()
    }

    private static func expectSound(_ test: TestStore, _ comment: Comment) throws {
        let problems = try test.store.check(deep: true)
        #expect(problems == [], comment)
    }

    private static func name(_ sample: Sample) -> String {
        "\(sample.origin.source.id) \(sample.start.microseconds / 1_000_000 % 600) \(sample.numeral.text)"
    }

    /// Imports readings one by one and together, in all orders, and expects the same samples and duplicates.
    private static func expect(_ expected: [String], of readings: [GatedSample]) throws {
        for order in orders(readings) {
            for isOneImport in [false, true] {
                try TestStore.with { test in
                    for batch in isOneImport ? [order] : order.map({ [$0] }) { try test.keep(batch) }
                    #expect(try content(test) == expected, "\(order.map { name($0.sample) }), \(isOneImport)")
                    try Self.expectSound(test, "")
                    // Each one is known when it arrives again.
                    for reading in readings { #expect(try test.keep([reading]).outcomes == [[.duplicate]]) }
                    #expect(try content(test) == expected)
                }
            }
        }
    }

    /// Two rows of the app could be the weighing. The row that is more alike is.
    @Test func twoRowsOfOnePath() throws {
        try Self.expect(
            ["ble 24 80.15: file.Acme 0 80.2", "file.Acme 0 80.1: "],
            of: [
                try NearDuplicateTests.ble()("80.15", at: 24), try NearDuplicateTests.file()("80.1", at: 0),
                try NearDuplicateTests.file()("80.2", at: 0),
            ])
    }

    /// The row of the app could be two weighings. It is the one that is more alike.
    @Test func twoPossibleOriginals() throws {
        try Self.expect(
            ["ble 10 80.12: file.Acme 0 80.1", "ble 40 80.14: "],
            of: [
                try NearDuplicateTests.ble()("80.14", at: 40), try NearDuplicateTests.ble()("80.12", at: 10),
                try NearDuplicateTests.file()("80.1", at: 0),
            ])
    }

    /// A row that another one displaces is the other weighing.
    @Test func displacedReportJoinsAnother() throws {
        try Self.expect(
            ["ble 10 80.12: file.Acme 0 80.1", "ble 40 80.15: file.Acme 0 80.2, site 0 80.2"],
            of: [
                try NearDuplicateTests.ble()("80.15", at: 40), try NearDuplicateTests.ble()("80.12", at: 10),
                try NearDuplicateTests.file()("80.1", at: 0), try NearDuplicateTests.file()("80.2", at: 0),
                try Self.site()("80.2", at: 0),
            ])
    }

    /// A third source agrees with both, and they do not agree with each other.
    @Test func preciseReportAgreesWithTwo() throws {
        try Self.expect(
            ["ble 24 80.15: diary 23 80.2, file.Acme 0 80.1"],
            of: [
                try NearDuplicateTests.ble()("80.15", at: 24), try NearDuplicateTests.file()("80.1", at: 0),
                try Self.diary()("80.2", at: 23),
            ])
    }

    /// Equally precise readings of two sources: the sample is of the first name, whichever arrived first.
    @Test func equallyPreciseReports() throws {
        let other = try SampleMaker(.bodyMass, source: "notes", sourceName: "Notes")
        try Self.expect(
            ["diary 24 80.15: notes 24 80.15"], of: [try Self.diary()("80.15", at: 24), try other("80.15", at: 24)])
    }

    /// A reading that is read back from Vitalgate's own table does not replace its original.
    @Test func generalTableDoesNotReplace() throws {
        let table = try SampleMaker(.bodyMass, source: "file.generic-csv.Notes", sourceName: "Notes")
        let notes = try SampleMaker(.bodyMass, source: "notes", sourceName: "Notes")
        try Self.expect(
            ["notes 24 80.15: file.generic-csv.Notes 24 80.15"], of: [try notes("80.15", at: 24), try table("80.15", at: 24)])
    }

    /// Readings of up to four sources on a coarse grid.
    private static func random(_ seed: UInt64) throws -> [GatedSample] {
        var random = SeededGenerator(seed: seed)
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: elements.indices, using: &random)] }
        let makers = [try NearDuplicateTests.ble(), try NearDuplicateTests.file(), try diary(), try site()]
        var readings: [GatedSample] = []
        for _ in 0..<4 {
            let path = pick([0, 1, 2, 3])
            let reading = try makers[path](pick(["80.15", "80.12", "80.1", "80.2"]), at: path % 2 == 1 ? 0 : pick([10, 40]))
            if !readings.contains(where: { $0.sample.identity == reading.sample.identity }) { readings.append(reading) }
        }
        return readings
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func everyOrderGivesTheSame(seed: UInt64) throws {
        for seed in (seed * 100)..<(seed * 100 + 12) {
            var expected: [String]?
            for order in Self.orders(try Self.random(seed)) {
                try TestStore.with { test in
                    for reading in order { try test.keep([reading]) }
                    let content = try Self.content(test)
                    #expect(content == expected ?? content, "seed \(seed): \(order.map { Self.name($0.sample) })")
                    expected = expected ?? content
                    try Self.expectSound(test, "")
                }
            }
        }
    }

    // MARK: Other changes

    /// A store in which an import is undone equals one in which it never was, and one in which the undo is undone equals the first.
    @Test(arguments: 1...3 as ClosedRange<UInt64>) func anUndoneImportHasNoEffect(seed: UInt64) throws {
        for seed in (seed * 1000)..<(seed * 1000 + 20) {
            let readings = try Self.random(seed)
            for undone in readings.indices {
                let others = readings.indices.filter { $0 != undone }.map { readings[$0] }
                let expected = try TestStore.with { test in
                    for reading in others { try test.keep([reading]) }
                    return try Self.content(test)
                }
                let comment: Comment = "seed \(seed), \(undone) of \(readings.map { Self.name($0.sample) })"
                try TestStore.with { test in
                    let entries = try readings.map { try test.keep([$0]).account.id }
                    let all = try Self.content(test)
                    let undo = try test.store.ledger.undo(
                        entries[undone], forget: false, description: TestStore.description(.undo))
                    #expect(try Self.content(test) == expected, comment)
                    try test.store.ledger.undo(undo.ingest, forget: false, description: TestStore.description(.undo))
                    #expect(try Self.content(test) == all, comment)
                    try Self.expectSound(test, comment)
                    try test.store.ledger.undo(entries[undone], forget: true, description: TestStore.description(.undo))
                    #expect(try Self.content(test) == expected, comment)
                }
            }
        }
    }

    /// A quarantined reading that a user accepts is compared as if it had arrived then.
    @Test func acceptedReadingIsCompared() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("80.15", at: 24)])
            try test.keep([try NearDuplicateTests.file()("80.2", at: 0, rule: .impossible)])
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try Self.content(test) == ["ble 24 80.15: file.Acme 0 80.2"])
            try Self.expectSound(test, "")
        }
    }

    /// A reading of a device whose clock was not known is compared when the clock becomes known, whichever arrived first.
    @Test func readingOfUncomparedClockIsCompared() throws {
        for isFirst in [false, true] {
            try TestStore.with { test in
                let file = try NearDuplicateTests.file()("80.2", at: 0)
                if !isFirst { try test.keep([file]) }
                try test.keep([try NearDuplicateTests.ble()("80.15", at: 24, rule: .clockUnknown)])
                if isFirst { try test.keep([file]) }
                let clock = ClockComparison(device: NearDuplicateTests.scale.key, shown: 0, received: 0, ahead: nil)
                let entry = try test.store.devices.save(clock, description: TestStore.description(.release)).ingest
                #expect(try Self.content(test) == ["ble 24 80.15: file.Acme 0 80.2"])
                try test.store.ledger.undo(entry, forget: false, description: TestStore.description(.undo))
                #expect(try Self.content(test) == ["file.Acme 0 80.2: "])
                try Self.expectSound(test, "")
            }
        }
    }

    /// `import --exact` stores a reading that matches, and later imports and undos do not merge the two.
    @Test func exactImportsStayApart() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("80.15", at: 24)])
            try test.keepExactly([try NearDuplicateTests.file()("80.2", at: 0)])
            let other = try test.keep([try Self.diary()("80.15", at: 24)]).account.id
            #expect(try test.samples().count == 2)
            try test.store.ledger.undo(other, forget: false, description: TestStore.description(.undo))
            #expect(try Self.content(test) == ["ble 24 80.15: ", "file.Acme 0 80.2: "])
        }
    }
}

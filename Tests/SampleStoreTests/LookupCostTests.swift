import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Commands that look samples up by UUID cost the same, whatever else the store contains.
@Suite struct LookupCostTests {
    enum Command: CaseIterable {
        case show, explain, query, delete, deleteWithObjects, deleteMatching, restore, restoreWithObjects, undoDeletion
        case undoImport, importAgain

        fileprivate func run(_ store: SampleStore, _ target: Target) throws {
            switch self {
            case .show: #expect(try store.samples.lookup(target.whole) != nil)
            case .explain: #expect(try store.duplicates.explain(target.parts[0]) != nil)
            case .query:
                let cursor = try store.samples.cursor(matching: SampleQuery(types: [target.type]))
                defer { cursor.close() }
                var count = 0
                while try cursor.next() != nil { count += 1 }
                #expect(count == 1)
            case .delete: #expect(try store.samples.delete(target.parts, description: TestStore.description(.delete)).count == 2)
            case .deleteWithObjects:
                let count = try store.samples.delete(
                    [target.whole], withObjects: true, description: TestStore.description(.delete)
                ).count
                #expect(count == 3)
            case .deleteMatching:
                let query = SampleQuery(types: [target.type])
                let count = try store.samples.delete(
                    matching: query, withObjects: true, description: TestStore.description(.delete)
                )
                .count
                #expect(count == 3)
            case .restore:
                #expect(try store.samples.restore(target.parts, description: TestStore.description(.restore)).count == 2)
            case .restoreWithObjects:
                let description = TestStore.description(.restore)
                let count = try store.samples.restore([target.whole], withObjects: true, description: description).count
                #expect(count == 3)
            case .undoDeletion:
                _ = try store.ledger.undo(target.deletion, forget: false, description: TestStore.description(.undo))
                #expect(try store.samples.lookup(target.whole)?.isLive == true)
            case .undoImport:
                _ = try store.ledger.undo(target.entry, forget: false, description: TestStore.description(.undo))
                #expect(try store.samples.lookup(target.whole)?.isLive == false)
            case .importAgain:
                let ingest = try store.beginIngest(TestStore.description())
                #expect(try ingest.store(target.samples) == [.duplicate, .duplicate, .duplicate])
                _ = try ingest.finish(at: TestStore.received.microseconds)
            }
        }

        /// The limit of instructions for each row of another sample.
        fileprivate var maximumForARow: Int {
            switch self {
            case .undoDeletion, .undoImport: 3
            default: 1
            }
        }

        /// Whether the objects are deleted before.
        fileprivate var needsDeletion: Bool {
            switch self {
            case .restore, .restoreWithObjects, .undoDeletion: true
            default: false
            }
        }
    }

    /// A correlation with two objects.
    fileprivate struct Target {
        let samples: [GatedSample]
        let entry: Int64
        var deletion: Int64 = 0
        var type: SampleType { samples[2].sample.origin.type }
        var parts: [SampleIdentity] { samples[..<2].map(\.sample.identity) }
        var whole: SampleIdentity { samples[2].sample.identity }
    }

    /// Rows of every table that a look-up may read, none of them about the target.
    private static func fill(_ test: TestStore, _ count: Int) throws {
        let (beats, records) = (try SampleMaker(), try SampleMaker(.heartRate, source: "app"))
        let (steps, local) = (try SampleMaker(.stepCount), try SampleMaker(.heartRate, source: "watch").local(2))
        let device = Device(key: "Acme/Scale/17", manufacturer: "Acme", model: "Scale")
        let scale = try SampleMaker(.bodyMass, source: "ble", sourceName: "Scale", device: device)
        var file = try SampleMaker(.bodyMass, source: "file", device: Device(key: "Acme", manufacturer: "Acme"))
        file.timeResolution = 60
        func each(_ make: (Int) throws -> GatedSample) throws -> [GatedSample] { try (0..<count).map(make) }
        try test.keep(try each { try beats("6\($0 % 9)", at: Double($0)) }, try each { try local("7\($0 % 9)", at: Double($0)) })
        try test.keep(try each { try steps("1\($0 % 7)", at: Double($0) * 60, lasting: 60) })
        _ = try test.migrate(TestStore.request(.shift(3_600_000_000), .stepCount))
        for version in 1...2 as ClosedRange<Int64> {
            try test.keep(
                try each {
                    try records("8\(version)", at: Double($0) * 30, record: RecordIdentifier(id: "r\($0)", version: version))
                })
        }
        try test.keep(try each { try scale("8\($0 % 9).15", at: Double($0 * 3600 + 24)) })
        try test.keep(try each { try file("8\($0 % 9).2", at: Double($0 * 3600)) })
        try test.keep(try each { try beats("9\($0 % 9)", at: 900_000 + Double($0)) })
        let late = SampleQuery(types: [.heartRate], from: Instant(microseconds: 1_767_225_600_000_000 + 900_000_000_000))
        _ = try test.store.samples.delete(matching: late, description: TestStore.description(.delete))
    }

    private static func keepTarget(_ test: TestStore, at second: Double = 7200) throws -> Target {
        let maker = try SampleMaker(try #require(SampleType("dietaryProtein")), source: "s")
        let parts = [try maker("12.5", at: second), try maker("14.5", at: second + 60)]
        let samples = parts + [try OwnedObjectsTests.correlation(parts, at: second)]
        return Target(samples: samples, entry: try test.keep(samples).account.id)
    }

    private static func cost(of command: Command, others count: Int) throws -> Int {
        try TestStore.with { test in
            try fill(test, count)
            var target = try keepTarget(test)
            if command.needsDeletion {
                target.deletion = try test.store.samples.delete(
                    [target.whole], withObjects: true, description: TestStore.description(.delete)
                ).ingest
            }
            return try test.store.connection.work { try command.run(test.store, target) }
        }
    }

    /// Less than one instruction of SQLite's machine for each row of another sample. An undo reads a small table once, with two
    /// instructions for each row.
    @Test(arguments: Command.allCases) func otherRowsCostNothing(command: Command) throws {
        let (few, many) = (60, 1200)
        let costs = [try Self.cost(of: command, others: few), try Self.cost(of: command, others: many)]
        #expect(costs[0] > 0)
        #expect(costs[1] - costs[0] < (many - few) * command.maximumForARow, "\(command): \(costs)")
    }

    /// The deep check reads every row once. A correlation adds the same cost to it, whatever else there is.
    @Test func aCheckLooksObjectsUp() throws {
        var costs: [Int] = []
        for count in [60, 1200] {
            try TestStore.with { test in
                try Self.fill(test, count)
                func check() throws -> Int {
                    try test.store.connection.work {
                        let problems = try test.store.check(deep: true)
                        #expect(problems == [])
                    }
                }
                // With the first correlation the check also reads the samples that correlations may contain, once.
                for index in 0..<5 { _ = try Self.keepTarget(test, at: Double(index) * 3600) }
                let before = try check()
                for index in 5..<10 { _ = try Self.keepTarget(test, at: Double(index) * 3600) }
                costs += [before, try check() - before]
            }
        }
        #expect(costs[3] - costs[1] < 1140, "\(costs)")
        // Twenty times as many rows cost at most twenty times as much.
        #expect(costs[2] < costs[0] * 20, "\(costs)")
    }
}

extension Lookup {
    fileprivate var isLive: Bool {
        if case .live = self { true } else { false }
    }
}

import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Deletions and undos of many samples are written in several transactions: a reader sees all of one or nothing, also after a kill.
@Suite struct PendingChangesTests {
    /// Changes to a store with an import from one source (1), the same readings from another source (2), and a deletion of some (3).
    enum Change: CaseIterable {
        case delete, undoImport, forgetImport, undoDeletion, undoUndo

        func run(_ store: SampleStore) throws -> Int {
            switch self {
            case .delete:
                try store.samples.delete(
                    matching: SampleQuery(types: [.bodyMass]), description: TestStore.description(.delete)
                ).count
            case .undoImport: try store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).count
            case .forgetImport: try store.ledger.undo(1, forget: true, description: TestStore.description(.undo)).count
            case .undoDeletion: try store.ledger.undo(3, forget: false, description: TestStore.description(.undo)).count
            case .undoUndo: try store.ledger.undo(4, forget: false, description: TestStore.description(.undo)).count
            }
        }
    }

    private static let rows = 5

    private static func weights() throws -> [GatedSample] {
        let device = Device(key: "Acme/Scale/17", manufacturer: "Acme", model: "Scale")
        let scale = try SampleMaker(.bodyMass, source: "ble", sourceName: "Scale", device: device)
        return try (0..<24).map { try scale("8\($0 % 10).15", at: Double($0 * 3600 + 24)) }
    }

    private static func fill(_ test: TestStore, for change: Change) throws {
        var file = try SampleMaker(.bodyMass, source: "file", device: Device(key: "Acme", manufacturer: "Acme"))
        file.timeResolution = 60
        let weights = try weights()
        try test.keep(weights, try (0..<12).map { try SampleMaker()("6\($0 % 10)", at: Double($0)) })
        try test.keep(try (0..<24).map { try file("8\($0 % 10).2", at: Double($0 * 3600)) })
        _ = try test.store.samples.delete(
            weights[4..<16].map(\.sample.identity), description: TestStore.description(.delete))
        if change == .undoUndo { _ = try Change.undoImport.run(test.store) }
    }

    private static func lines(_ store: SampleStore) throws -> [String] {
        let cursor = try store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        var lines: [String] = []
        while let next = try cursor.next() { lines.append(TestStore.line(next.sample)) }
        return lines.sorted()
    }

    /// The final content of a reader of the change log.
    private static func replayed(_ store: SampleStore) throws -> [String] {
        var known: [SampleIdentity: String] = [:]
        try store.changes.read(after: .beginning, types: nil) { change, _ in
            switch change {
            case .added(let stored): known[stored.uuid] = TestStore.line(stored.sample)
            case .deleted(let deletion): known[deletion.sample.identity] = nil
            }
        }
        return known.values.sorted()
    }

    /// The result of one transaction.
    private static func result(of change: Change) throws -> (before: [String], after: [String], count: Int) {
        try TestStore.with { test in
            try fill(test, for: change)
            let before = try lines(test.store)
            let count = try change.run(test.store)
            return (before, try lines(test.store), count)
        }
    }

    @Test(arguments: Change.allCases) func readersSeeAllOrNothing(change: Change) throws {
        let expected = try Self.result(of: change)
        try TestStore.with { test in
            try Self.fill(test, for: change)
            let store = try test.store
            store.stepRows = Self.rows
            let (reader, person) = (try test.another(.read), try test.another(.read))
            try person.restrict(toPerson: TestStore.person)
            var seen: [[String]] = []
            store.connection.onChange = { () throws(StoreError) in
                for each in [reader, person] {
                    seen.append((try? Self.lines(each)) ?? [])
                    #expect(try each.summary().samples == seen[seen.count - 1].count)
                }
            }
            #expect(try change.run(store) == expected.count)
            store.connection.onChange = nil
            #expect(seen.count > 10)
            let flip = try #require(seen.firstIndex { $0 != expected.before })
            // Both see it at the same time.
            #expect(flip % 2 == 0 && seen[flip...].allSatisfy { $0 == expected.after })
            for each in [reader, person] { #expect(try Self.lines(each) == expected.after) }
            #expect(try Self.replayed(store) == expected.after)
            #expect(try store.check(deep: true) == [])
        }
    }

    /// An error at the beginning of a transaction, and of each later one, has the effect of a kill.
    @Test(arguments: Change.allCases) func aKillLeavesAllOrNothing(change: Change) throws {
        let expected = try Self.result(of: change)
        var outcomes: Set<Bool> = []
        for transaction in 1..<1000 {
            var isDone = false
            let folder = try TemporaryFolder()
            do {
                let test = try TestStore(folder: folder)
                try Self.fill(test, for: change)
                let store = try test.store
                store.stepRows = Self.rows
                var count = 0
                store.connection.onChange = { () throws(StoreError) in
                    count += 1
                    guard count < transaction else { throw StoreError(.inputOutput, "killed") }
                }
                isDone = (try? change.run(store)) != nil
            }
            let reader = try SampleStore(path: folder.file("store.db"), access: .read)
            let lines = try Self.lines(reader)
            #expect(lines == expected.before || lines == expected.after, "transaction \(transaction)")
            #expect(try Self.replayed(reader) == lines && reader.check(deep: true) == [], "transaction \(transaction)")
            #expect(try reader.connection.integer("SELECT count(*) FROM pending") == 0)
            if isDone { break }
            outcomes.insert(lines == expected.after)
            guard lines == expected.before else { continue }
            let writer = try SampleStore(path: folder.file("store.db"), access: .write)
            _ = try change.run(writer)
            #expect(try Self.lines(writer) == expected.after)
        }
        #expect(outcomes == [false, true])
    }

    /// A kill while the samples of an import are forgotten leaves an undone import. Forgetting again forgets the rest, and the file can be
    /// imported again.
    @Test func resumesForgettingAfterKill() throws {
        func again(_ store: SampleStore) throws -> [String] {
            _ = try Change.forgetImport.run(store)
            let ingest = try store.beginIngest(TestStore.description())
            _ = try ingest.store(try Self.weights())
            _ = try ingest.finish(at: 0)
            #expect(try store.check(deep: true) == [])
            return try Self.lines(store)
        }
        let expected = try TestStore.with { test in
            try Self.fill(test, for: .forgetImport)
            return try again(test.store)
        }
        var isDone = false
        for transaction in 1..<1000 where !isDone {
            try TestStore.with { test in
                try Self.fill(test, for: .forgetImport)
                let store = try test.store
                store.stepRows = Self.rows
                var count = 0
                store.connection.onChange = { () throws(StoreError) in
                    count += 1
                    guard count < transaction else { throw StoreError(.inputOutput, "killed") }
                }
                isDone = (try? Change.forgetImport.run(store)) != nil
                store.connection.onChange = nil
                #expect(try again(try test.another()) == expected, "transaction \(transaction)")
            }
        }
        #expect(isDone)
    }

    /// Other commands that delete or repair many samples wait. A hub writes in between, and its samples are not deleted.
    @Test func othersWriteInBetween() throws {
        try TestStore.with { test in
            try Self.fill(test, for: .delete)
            let store = try test.store
            store.stepRows = Self.rows
            let other = try test.another()
            other.stepRows = Self.rows
            let scale = try SampleMaker(.bodyMass, source: "ble", sourceName: "Scale")
            var (number, refused) = (0, 0)
            _ = try store.changeInSteps(
                TestStore.description(.delete),
                list: { pending, _ in
                    #expect(thrown(StoreError.self) { _ = try Change.undoImport.run(other) }?.kind == .busy)
                    #expect(
                        thrown(StoreError.self) {
                            _ = try other.prune(
                                [.heartRate: Instant(microseconds: 0)], description: TestStore.description(.prune))
                        } == nil)
                    refused += 1
                    try pending.add(
                        going: try other.samples.series(matching: SampleQuery(types: [.bodyMass])).flatMap { series in
                            try test.samples(SampleQuery(types: [.bodyMass])).map {
                                SampleKey(series: series.id, start: $0.sample.start.microseconds, of: $0.uuid)
                            }
                        })
                },
                decide: { _, _ in number += 1 })
            #expect(refused == 1 && number == 1)
            let ingest = try other.beginIngest(TestStore.description())
            _ = try ingest.store([try scale("90", at: 90_000)])
            _ = try ingest.finish(at: 0)
            #expect(try test.samples(SampleQuery(types: [.bodyMass])).map(\.sample.value) == [90])
        }
    }

    /// Another writer gets the store after each transaction of listing, restoring, and settling.
    @Test(arguments: Change.allCases) func othersWriteAfterEachTransaction(change: Change) throws {
        let expected = try Self.result(of: change)
        try TestStore.with { test in
            try Self.fill(test, for: change)
            let store = try test.store
            store.stepRows = Self.rows
            let other = try test.another()
            other.connection.wait(atMost: .zero)
            var (pauses, transactions) = (0, 0)
            store.connection.onChange = { () throws(StoreError) in transactions += 1 }
            store.connection.writerPause.work = .zero
            store.connection.writerPause.pause = {
                pauses += 1
                #expect(throws: Never.self) { try other.connection.transaction {} }
            }
            #expect(try change.run(store) == expected.count)
            store.connection.onChange = nil
            // All but the first transaction and the last one.
            #expect(pauses == transactions - 2 && pauses > 5, "\(pauses) of \(transactions)")
        }
    }

    /// A pruning pauses as well, and a step may remove both samples and tombstones.
    @Test func aPruningPauses() throws {
        try TestStore.with { test in
            try Self.fill(test, for: .delete)
            let store = try test.store
            store.stepRows = Self.rows
            var pauses = 0
            store.connection.writerPause.work = .zero
            store.connection.writerPause.pause = { pauses += 1 }
            let result = try store.prune(
                [.bodyMass: Instant(microseconds: .max)], description: TestStore.description(.prune))
            #expect(result.samples + result.tombstones == 24)
            #expect(pauses >= 24 / Self.rows)
        }
    }

    /// No transaction writes more samples than a step has, whatever the size.
    @Test func stepsAreBounded() throws {
        try TestStore.with { test in
            try test.keep(try (0..<200).map { try SampleMaker()("\(60 + $0 % 9)", at: Double($0)) })
            let store = try test.store
            store.stepRows = 10
            var (last, maximum) = (Int64(0), Int64(0))
            store.connection.onChange = { () throws(StoreError) in
                let now = try store.lastChange()
                (last, maximum) = (now, max(maximum, last == 0 ? 0 : now - last))
            }
            _ = try store.samples.delete(matching: SampleQuery(), description: TestStore.description(.delete))
            _ = try store.ledger.undo(2, forget: false, description: TestStore.description(.undo))
            store.connection.onChange = nil
            #expect(maximum == 10)
            #expect(try test.samples().count == 200)
            var (forgotten, maximumForgotten) = (0, 0)
            store.connection.onChange = { () throws(StoreError) in
                let now = Int(try store.connection.integer("SELECT count(*) FROM deleted WHERE forgotten") ?? 0)
                (forgotten, maximumForgotten) = (now, max(maximumForgotten, now - forgotten))
            }
            _ = try store.ledger.undo(1, forget: true, description: TestStore.description(.undo))
            store.connection.onChange = nil
            #expect(maximumForgotten == 10 && forgotten == 200)
        }
    }
}

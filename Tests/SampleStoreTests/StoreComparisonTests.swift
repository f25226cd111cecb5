import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A comparison with a target costs so much a sample, however many series and records there are.
@Suite struct StoreComparisonTests {
    /// Steps of SQLite's virtual machine on a store's connection, in tens.
    private final class Steps {
        private(set) var count = 0
        private let connection: Connection

        init(_ store: SampleStore) {
            connection = store.connection
            connection.onProgress(every: 10) { [unowned self] in
                count += 1
                return false
            }
        }

        func end() { connection.onProgress(every: 0, nil) }
    }

    private enum Case: CaseIterable {
        /// The target has nothing.
        case missing
        /// The target has everything and lists its content.
        case asked
        /// The target has everything, and the store has deleted it.
        case deleted
        /// The target has everything, and none of it passes the filter.
        case filtered
    }

    /// Samples with record ids, spread over some series.
    private func records(_ count: Int, series: Int) throws -> [GatedSample] {
        let makers = try (0..<series).map { try SampleMaker(source: "source \($0)") }
        return try (0..<count).map {
            try makers[$0 % series]("60", at: Double($0), record: RecordIdentifier(id: "r\($0)", version: 1))
        }
    }

    private func steps(_ kind: Case, _ count: Int, series: Int) throws -> Int {
        try TestStore.with { test in
            let samples = try records(count, series: series)
            try test.keep(samples)
            if kind == .deleted {
                try test.store.samples.delete(samples.map(\.sample.identity), description: TestStore.description(.delete))
            }
            let known = kind == .missing ? [] : samples.map { TargetSample($0.sample.identity) }
            let steps = try Steps(test.store)
            defer { steps.end() }
            let comparison = try StoreComparison(test.store)
            var records = 0
            let differences = try comparison.compare(
                contents: { try $0(known) },
                differing: kind == .asked
                    ? { asked in
                        records += asked.count { $0.record != nil }
                        return []
                    } : nil
            ) { _ in kind != .filtered }
            var changes = 0
            while true {
                let portion = try comparison.next(limit: 100).changes
                if portion.isEmpty { break }
                changes += portion.count
                records += portion.count { if case .added(let stored) = $0 { stored.sample.record != nil } else { false } }
            }
            switch kind {
            case .missing: #expect(differences == TargetDifferences(missing: count) && changes == count && records == count)
            case .asked: #expect(differences == TargetDifferences(equal: count) && changes == 0 && records == count)
            case .deleted, .filtered: #expect(differences == TargetDifferences(surplus: count) && changes == count)
            }
            return steps.count
        }
    }

    @Test(arguments: Case.allCases) private func manySeriesCostNoMore(_ kind: Case) throws {
        let (few, many) = (try steps(kind, 800, series: 4), try steps(kind, 800, series: 100))
        #expect(many < 2 * few, "\(kind): \(few) and \(many) tens of steps")
    }

    @Test(arguments: Case.allCases) private func fourTimesTheRecordsCostFourTimesAsMuch(_ kind: Case) throws {
        let (few, many) = (try steps(kind, 200, series: 2), try steps(kind, 800, series: 2))
        #expect(many < 5 * few, "\(kind): \(few) and \(many) tens of steps")
    }

    /// Deleting, checking and pruning look for records by their place, too.
    @Test(arguments: ["delete", "check", "prune"]) func fourTimesTheRecordsElsewhere(_ change: String) throws {
        func steps(_ count: Int) throws -> Int {
            try TestStore.with { test in
                let samples = try records(count, series: 1)
                try test.keep(samples)
                let steps = try Steps(test.store)
                defer { steps.end() }
                switch change {
                case "delete":
                    try test.store.samples.delete(samples.map(\.sample.identity), description: TestStore.description(.delete))
                case "check": #expect(try test.store.check() == [])
                default:
                    _ = try test.store.prune(
                        [.heartRate: TestStore.received], description: TestStore.description(.prune))
                }
                return steps.count
            }
        }
        let (few, many) = (try steps(200), try steps(800))
        #expect(many < 5 * few, "\(few) and \(many) tens of steps")
    }

    /// Samples that the store never had, such as another hub's, are counted and not changed.
    @Test func foreignSamplesAreLeftAlone() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let (own, deleted, foreign) = (try maker("60", at: 1), try maker("61", at: 2), try maker("62", at: 3))
            let local = try SampleMaker(source: "file").local(2)
            let deletedLocal = try local("70", at: 4)
            try test.keep([own, deleted, deletedLocal])
            try test.delete(deleted, deletedLocal)
            let comparison = try StoreComparison(test.store)
            let known = [own, deleted, deletedLocal, foreign].map { TargetSample($0.sample.identity) }
            let differences = try comparison.compare(contents: { try $0(known) }) { _ in true }
            #expect(differences == TargetDifferences(equal: 1, surplus: 2, foreign: 1))
            #expect(
                Set(try comparison.next(limit: 10).changes.map(\.uuid))
                    == Set([deleted, deletedLocal].map(\.sample.identity)))
        }
    }
}

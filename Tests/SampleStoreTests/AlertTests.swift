import HealthModel
import PipelineTesting
import Testing

@testable import SampleStore

/// What people note, aim at, and want to be told of.
@Suite struct AlertTests {
    private static let base: Int64 = 1_767_225_600

    private func keep(_ values: [Int], at second: Double, in test: TestStore) throws {
        try test.keep(try values.enumerated().map { try SampleMaker()("\($0.element)", at: second + Double($0.offset)) })
    }

    private func check(_ test: TestStore, at second: Int64) throws -> [Int64] {
        try test.store.checkAlerts(at: Instant(seconds: Self.base + second)).events.map {
            $0.time.microseconds / 1_000_000 - Self.base
        }
    }

    private func add(_ condition: Alert.Condition, _ bound: Double, _ test: TestStore) throws {
        try test.store.addAlert(
            of: TestStore.subject, type: .heartRate, condition, bound: bound, at: Instant(seconds: Self.base))
    }

    @Test func oneCrossingIsOneEvent() throws {
        try TestStore.with { test in
            try add(.above, 100, test)
            #expect(try check(test, at: 0) == [])
            try keep([90, 120, 130], at: 10, in: test)
            #expect(try check(test, at: 20) == [11])
            #expect(try check(test, at: 20) == [])
            #expect(try test.store.alerts().first?.raised == Instant(seconds: Self.base + 11))
            try keep([140], at: 30, in: test)
            #expect(try check(test, at: 40) == [])
            // It ends and is met again within one batch.
            try keep([80, 150], at: 50, in: test)
            #expect(try check(test, at: 60) == [51])
            try keep([80], at: 70, in: test)
            #expect(try check(test, at: 80) == [])
            #expect(try test.store.alerts().first?.raised == nil)
        }
    }

    @Test func oldReadingsAndOtherPeopleRaiseNone() throws {
        try TestStore.with { test in
            try add(.below, 50, test)
            try keep([40], at: -100, in: test)
            try test.keep([try SampleMaker(subject: "99999999-2222-4333-8444-555555555555")("40", at: 5)])
            #expect(try check(test, at: 10) == [])
            try keep([40], at: 10, in: test)
            #expect(try check(test, at: 10 + 2 * 86_400) == [])
        }
    }

    @Test func aMissingReadingIsDueOnce() throws {
        try TestStore.with { test in
            try add(.missing, 2, test)
            let first = try test.store.checkAlerts(at: Instant(seconds: Self.base + 10))
            #expect(first.events.isEmpty && first.next == Instant(seconds: Self.base + 7200))
            try keep([60], at: 100, in: test)
            #expect(try test.store.checkAlerts(at: Instant(seconds: Self.base + 110)).next == Instant(seconds: Self.base + 7300))
            #expect(try check(test, at: 7300) == [7300])
            #expect(try check(test, at: 9000) == [])
            try keep([60], at: 9000, in: test)
            #expect(try check(test, at: 9001) == [])
            #expect(try test.store.alerts().first?.raised == nil)
        }
    }

    @Test func boundsAreChecked() throws {
        try TestStore.with { test in
            let (store, subject) = (try test.store, TestStore.subject)
            #expect(throws: StoreError.self) {
                try store.addAlert(of: subject, type: .heartRate, .missing, bound: 0, at: TestStore.received)
            }
            #expect(throws: StoreError.self) {
                try store.addAlert(of: subject, type: .heartRate, .above, bound: .nan, at: TestStore.received)
            }
            #expect(throws: StoreError.self) { try store.save(Goal(type: .heartRate, span: .day, value: 0), of: subject) }
            for (day, tags, note) in [
                ("2026-01-01", [], ""), ("noon", [], "x"), ("2026-01-01", ["a\nb"], ""),
                ("2026-01-01", [], String(repeating: "a", count: 2001)),
                ("2026-01-01", (0..<11).map { "\($0)" }, ""),
            ] as [(String, [String], String)] {
                #expect(throws: StoreError.self) { try store.annotate(subject, day: day, tags: tags, note: note) }
            }
        }
    }

    @Test func erasureRemovesWhatAPersonNoted() throws {
        try TestStore.with { test in
            let (store, anna) = (try test.store, "99999999-2222-4333-8444-555555555555")
            for subject in [anna, TestStore.subject] {
                try store.annotate(subject, day: "2026-01-01", tags: ["flu"], note: "in bed")
                try store.save(Goal(type: .heartRate, span: .day, value: 1), of: subject)
                try store.addAlert(of: subject, type: .heartRate, .above, bound: 2, at: TestStore.received)
            }
            let counts = try store.erasable(of: anna)
            #expect(counts.annotations == 1 && counts.goals == 1 && counts.alerts == 1 && !counts.isEmpty)
            _ = try store.erase(anna, at: TestStore.received)
            #expect(try store.erasable(of: anna).isEmpty)
            #expect(
                try store.annotations(of: TestStore.subject, from: "2026-01-01", through: "2026-01-01").map(\.tags) == [["flu"]])
            #expect(try store.goals(of: TestStore.subject).count == 1 && store.alerts(of: TestStore.subject).count == 1)
        }
    }
}

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

    /// The times at which conditions began to be met.
    private func check(_ test: TestStore, at second: Int64) throws -> [Int64] {
        try test.store.alerts.check(at: Instant(seconds: Self.base + second)).events.filter { $0.kind == .began }
            .map(Self.second)
    }

    private static func second(_ event: AlertEvent) -> Int64 { event.time.microseconds / 1_000_000 - base }

    /// The events of a check, such as `began 11`.
    private func events(
        _ store: SampleStore, at second: Int64, missing rule: SampleStore.Alerts.MissingRule = .init()
    ) throws -> [String] {
        try store.alerts.check(at: Instant(seconds: Self.base + second), missing: rule).events.map {
            "\($0.kind) \(Self.second($0))"
        }
    }

    private func add(_ condition: Alert.Condition, _ bound: Double, _ test: TestStore) throws {
        try test.store.alerts.add(
            of: TestStore.subject, type: .heartRate, condition, bound: bound, at: Instant(seconds: Self.base))
    }

    @Test func oneCrossingIsOneEvent() throws {
        try TestStore.with { test in
            try add(.above, 100, test)
            #expect(try check(test, at: 0) == [])
            try keep([90, 120, 130], at: 10, in: test)
            #expect(try check(test, at: 20) == [11])
            #expect(try check(test, at: 20) == [])
            #expect(try test.store.alerts.all().first?.raised == Instant(seconds: Self.base + 11))
            try keep([140], at: 30, in: test)
            #expect(try check(test, at: 40) == [])
            // It ends and is met again within one batch.
            try keep([80, 150], at: 50, in: test)
            #expect(try check(test, at: 60) == [51])
            try keep([80], at: 70, in: test)
            #expect(try check(test, at: 80) == [])
            #expect(try test.store.alerts.all().first?.raised == nil)
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
            let first = try test.store.alerts.check(at: Instant(seconds: Self.base + 10))
            #expect(first.events.isEmpty && first.next == Instant(seconds: Self.base + 7200))
            try keep([60], at: 100, in: test)
            #expect(try test.store.alerts.check(at: Instant(seconds: Self.base + 110)).next == Instant(seconds: Self.base + 7300))
            #expect(try check(test, at: 7300) == [7300])
            #expect(try check(test, at: 9000) == [])
            try keep([60], at: 9000, in: test)
            #expect(try check(test, at: 9001) == [])
            #expect(try test.store.alerts.all().first?.raised == nil)
        }
    }

    @Test func anEpisodeBeginsAndEndsOnce() throws {
        try TestStore.with { test in
            try add(.above, 100, test)
            try keep([120, 130], at: 10, in: test)
            // Two processes check at the same time. One of them records the event.
            let other = try test.another()
            #expect(try events(test.store, at: 20) == ["began 10"])
            #expect(try events(other, at: 20) == [])
            try keep([80], at: 30, in: test)
            #expect(try events(other, at: 40) == ["ended 30"])
            #expect(try events(test.store, at: 40) == [])
            // An episode within one batch, and many in one batch: the last one.
            try keep([120, 80], at: 50, in: test)
            #expect(try events(test.store, at: 60) == ["began 50", "ended 51"])
            try keep([120, 80, 120, 80, 120], at: 70, in: test)
            #expect(try events(test.store, at: 80) == ["began 74"])
            try keep([80, 120, 80, 120], at: 90, in: test)
            #expect(try events(test.store, at: 100) == ["ended 90", "began 93"])
            #expect(try test.store.alerts.events(after: 0).map(Self.second) == [10, 30, 50, 51, 74, 90, 93])
        }
    }

    @Test func aCheckRecordsOnlyWhatChanged() throws {
        try TestStore.with { test in
            try add(.above, 100, test)
            try keep([90], at: 10, in: test)
            #expect(try events(test.store, at: 20) == [])
            let version = try test.store.alerts.all()
            // Readings within ten minutes make no commit of their own.
            try keep([91], at: 500, in: test)
            #expect(try events(test.store, at: 510) == [])
            #expect(try test.store.alerts.all() == version)
            try keep([92], at: 700, in: test)
            #expect(try events(test.store, at: 710) == [])
            #expect(try test.store.alerts.all().first?.checked == Instant(seconds: Self.base + 700))
        }
    }

    /// Readings that arrive late, for a time before the latest one, raise no alert, and neither does a clock that was set back.
    @Test func lateReadingsAndStepsOfTheClockRaiseNone() throws {
        try TestStore.with { test in
            try add(.missing, 2, test)
            try keep([60], at: 3600, in: test)
            #expect(try events(test.store, at: 4000) == [])
            // An import for an earlier time.
            try keep([60], at: 600, in: test)
            #expect(try events(test.store, at: 10_000) == [])
            // It is due at 3600 + 7200. Then the import brings a reading of before that.
            #expect(try events(test.store, at: 10_800) == ["began 10800"])
            try keep([60], at: 3700, in: test)
            #expect(try events(test.store, at: 12_000) == [])
            // One that is recent enough ends it.
            try keep([60], at: 11_000, in: test)
            #expect(try events(test.store, at: 12_500) == ["ended 11000"])
            // The clock was ahead, and is set back by an hour: the reading has a time in the future.
            #expect(try events(test.store, at: 9000) == [])
            #expect(try events(test.store, at: 18_199) == [])
            #expect(try events(test.store, at: 18_200) == ["began 18200"])
        }
    }

    @Test func readingsOnTheirWayRaiseNone() throws {
        try TestStore.with { test in
            try add(.missing, 1, test)
            let settling = SampleStore.Alerts.MissingRule(settling: 90_000_000)
            let result = try test.store.alerts.check(at: Instant(seconds: Self.base + 3600), missing: settling)
            #expect(result.events.isEmpty && result.next == Instant(seconds: Self.base + 3690))
            // The hub had it already, and commits it now.
            try keep([60], at: 3590, in: test)
            #expect(try events(test.store, at: 3690, missing: settling) == [])
            // After a start, the stored readings of a sensor may arrive.
            #expect(try events(test.store, at: 9000, missing: .init(isRaised: false)) == [])
            #expect(try events(test.store, at: 9300, missing: settling) == ["began 7190"])
            // An alert that is raised stays so.
            #expect(try events(test.store, at: 9400, missing: .init(isRaised: false)) == [])
            #expect(try test.store.alerts.all().first?.raised != nil)
        }
    }

    @Test func aReceiverGetsEventsFromItsBeginning() throws {
        try TestStore.with { test in
            let store = try test.store
            try add(.above, 100, test)
            try keep([120], at: 10, in: test)
            #expect(try events(store, at: 20) == ["began 10"])
            var phone = try store.alerts.receiver(named: "phone")
            #expect(try store.alerts.eventsWaiting(for: phone) == 0)
            try keep([80], at: 30, in: test)
            #expect(try events(store, at: 40) == ["ended 30"])
            let waiting = try store.alerts.events(after: phone.delivered)
            #expect(waiting.map(\.kind) == [.ended])
            phone.delivered = try #require(waiting.last?.id)
            (phone.failing, phone.words) = (Instant(seconds: 5), "HTTP 500")
            try store.alerts.save(phone)
            #expect(try store.alerts.receivers() == [phone])
            #expect(try store.alerts.receiver(named: "phone") == phone)
            try store.alerts.forgetReceivers(except: ["other"])
            #expect(try store.alerts.receivers().isEmpty)
            // Events are stored for a week, and as long as their alert.
            try keep([120], at: 8 * 86_400, in: test)
            #expect(try events(store, at: 8 * 86_400).count == 1)
            #expect(try store.alerts.events(after: 0).count == 1)
            #expect(try store.alerts.remove(1))
            #expect(try store.alerts.events(after: 0).isEmpty)
            #expect(try store.alerts.receiver(named: "new").delivered == 3)
        }
    }

    @Test func boundsAreChecked() throws {
        try TestStore.with { test in
            let (store, subject) = (try test.store, TestStore.subject)
            #expect(throws: StoreError.self) {
                try store.alerts.add(of: subject, type: .heartRate, .missing, bound: 0, at: TestStore.received)
            }
            #expect(throws: StoreError.self) {
                try store.alerts.add(of: subject, type: .heartRate, .above, bound: .nan, at: TestStore.received)
            }
            #expect(throws: StoreError.self) { try store.people.save(Goal(type: .heartRate, span: .day, value: 0), of: subject) }
            for (day, tags, note) in [
                ("2026-01-01", [], ""), ("noon", [], "x"), ("2026-01-01", ["a\nb"], ""),
                ("2026-01-01", [], String(repeating: "a", count: 2001)),
                ("2026-01-01", (0..<11).map { "\($0)" }, ""),
            ] as [(String, [String], String)] {
                #expect(throws: StoreError.self) { try store.people.annotate(subject, day: day, tags: tags, note: note) }
            }
        }
    }

    @Test func erasureRemovesWhatAPersonNoted() throws {
        try TestStore.with { test in
            let (store, anna) = (try test.store, "99999999-2222-4333-8444-555555555555")
            for subject in [anna, TestStore.subject] {
                try store.people.annotate(subject, day: "2026-01-01", tags: ["flu"], note: "in bed")
                try store.people.save(Goal(type: .heartRate, span: .day, value: 1), of: subject)
                try store.alerts.add(of: subject, type: .heartRate, .above, bound: 2, at: Instant(seconds: Self.base))
            }
            try keep([60], at: 1, in: test)
            try test.keep([try SampleMaker(subject: anna)("60", at: 1)])
            #expect(try events(store, at: 2) == ["began 1", "began 1"])
            let counts = try store.erasure.counts(of: anna)
            #expect(counts.annotations == 1 && counts.goals == 1 && counts.alerts == 1 && !counts.isEmpty)
            _ = try store.erasure.erase(anna, at: TestStore.received)
            #expect(try store.erasure.counts(of: anna).isEmpty)
            #expect(
                try store.people.annotations(of: TestStore.subject, from: "2026-01-01", through: "2026-01-01").map(\.tags) == [
                    ["flu"]
                ])
            #expect(try store.alerts.events(after: 0).map(\.alert.subject) == [TestStore.subject])
            #expect(
                try store.people.goals(of: TestStore.subject).count == 1 && store.alerts.all(of: TestStore.subject).count == 1)
        }
    }
}

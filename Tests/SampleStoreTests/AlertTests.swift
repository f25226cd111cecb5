import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Alerts, and their events for receivers.
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
            of: TestStore.person, type: .heartRate, condition, bound: bound, at: Instant(seconds: Self.base))
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
            try test.keep([try SampleMaker(person: "99999999-2222-4333-8444-555555555555")("40", at: 5)])
            #expect(try check(test, at: 10) == [])
            try keep([40], at: 10, in: test)
            #expect(try check(test, at: 10 + 2 * 86_400) == [])
            // An import after two days.
            try keep([40], at: 20, in: test)
            #expect(try check(test, at: 20 + 2 * 86_400) == [])
        }
    }

    /// A value that may be right is quarantined and raises its alert as doubtful, once. One that cannot be right does not.
    @Test func implausibleReadingsRaiseDoubtfulAlerts() throws {
        try TestStore.with { test in
            for (condition, bound) in [(Alert.Condition.below, 90.0), (.above, 40)] {
                try test.store.alerts.add(
                    of: TestStore.person, type: .oxygenSaturation, condition, bound: bound, at: Instant(seconds: Self.base))
            }
            let maker = try SampleMaker(.oxygenSaturation)
            func hold(_ percent: String, at second: Double, by rule: GateRule) throws -> SampleIdentity {
                var gated = try maker(percent, at: second)
                gated.rule = rule
                try test.keep([gated])
                return gated.sample.identity
            }
            _ = try hold("3", at: 5, by: .impossible)
            _ = try hold("48", at: 6, by: .clockUnknown)
            #expect(try test.store.alerts.check(at: Instant(seconds: Self.base + 7)).events.isEmpty)
            let low = try hold("48", at: 10, by: .implausible)
            let found = try test.store.alerts.check(at: Instant(seconds: Self.base + 11)).events
            #expect(found.map { "\($0.alert.id) \($0.kind) \(Self.second($0))" } == ["1 began 10", "2 began 10"])
            #expect(try found.allSatisfy(\.isDoubtful) && test.store.alerts.history().allSatisfy { $0.began.isDoubtful })
            let doubtful = try test.store.quarantine.doubtful(
                at: Instant(seconds: Self.base + 10), type: .oxygenSaturation, of: TestStore.person)
            #expect(doubtful?.stored.uuid == low)
            // A doubtful reading ends nothing, and its acceptance is not another reading.
            _ = try hold("30", at: 20, by: .implausible)
            #expect(try test.store.alerts.check(at: Instant(seconds: Self.base + 21)).events.isEmpty)
            try test.keep([try maker("97", at: 30)])
            #expect(try events(test.store, at: 31) == ["ended 30"])
            let number = try #require(try test.store.quarantine.all().first { $0.stored.uuid == low }?.id)
            try test.store.quarantine.accept([number], description: TestStore.description(.accept))
            #expect(try events(test.store, at: 40) == [])
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

    // MARK: A silent device

    /// Adopts a device with an alert after an hour without its readings.
    private func adopt(_ key: String, address: String, of person: String = TestStore.person, _ test: TestStore) throws {
        try test.store.devices.save(
            AdoptedDevice(address: address, key: key, profiles: ["p"], name: key, person: person, adopted: 0))
        try test.store.alerts.add(
            of: TestStore.person, type: .heartRate, .missing, bound: 1, device: address, at: Instant(seconds: Self.base))
    }

    private func keep(_ value: Int, at second: Double, by key: String, in test: TestStore) throws {
        try test.keep([try SampleMaker(device: Device(key: key))("\(value)", at: second)])
    }

    /// One of two devices is silent, while the other one and the person's own entries go on.
    @Test func oneSilentDeviceOfSeveralIsNoticed() throws {
        try TestStore.with { test in
            try adopt("bedroom", address: "bluetooth:01", test)
            try adopt("kitchen", address: "bluetooth:02", test)
            try add(.missing, 1, test)
            for second in stride(from: 600.0, through: 7200, by: 600) {
                if second <= 1800 { try keep(60, at: second, by: "bedroom", in: test) }
                try keep(61, at: second + 1, by: "kitchen", in: test)
                try keep([62], at: second + 2, in: test)
            }
            let found = try test.store.alerts.check(at: Instant(seconds: Self.base + 7200)).events
            #expect(found.map { "\($0.alert.id) \($0.kind) \(Self.second($0))" } == ["1 began 5400"])
            try keep(60, at: 7300, by: "bedroom", in: test)
            #expect(try events(test.store, at: 7310) == ["ended 7300"])
        }
    }

    /// A device is known by its address until it has identified itself, and its key may be merged into another one.
    @Test func findsADeviceByAnyKey() throws {
        try TestStore.with { test in
            try adopt("bluetooth:01", address: "bluetooth:01", test)
            try keep(60, at: 3000, by: "bluetooth:01", in: test)
            #expect(try events(test.store, at: 4000) == [])
            var device = try #require(try test.store.devices.adopted().first)
            (device.key, device.device) = ("acme", Device(key: "acme"))
            try test.store.devices.remember(device)
            try keep(60, at: 6000, by: "acme", in: test)
            #expect(try events(test.store, at: 7000) == [])
            try test.store.devices.merge(device: "acme", into: "old")
            try keep(60, at: 9000, by: "old", in: test)
            #expect(try events(test.store, at: 10_000) == [])
            #expect(try events(test.store, at: 12_600) == ["began 12600"])
        }
    }

    @Test func anAlertOfADeviceEndsWithTheDevice() throws {
        try TestStore.with { test in
            let (store, anna) = (try test.store, "99999999-2222-4333-8444-555555555555")
            #expect(throws: StoreError.self) {
                try store.alerts.add(
                    of: TestStore.person, type: .heartRate, .missing, bound: 1, device: "bluetooth:09",
                    at: Instant(seconds: Self.base))
            }
            try adopt("mine", address: "bluetooth:01", test)
            try adopt("hers", address: "bluetooth:02", of: anna, test)
            #expect(throws: StoreError.self) {
                try store.alerts.add(
                    of: TestStore.person, type: .heartRate, .above, bound: 1, device: "bluetooth:01",
                    at: Instant(seconds: Self.base))
            }
            #expect(try events(store, at: 3600) == ["began 3600", "began 3600"])
            try store.devices.forget(device: "bluetooth:01")
            #expect(try store.alerts.all().map(\.device) == ["bluetooth:02"])
            try store.people.save(Person(id: anna, name: "Anna"))
            _ = try store.erasure.erase(anna, at: Instant(seconds: Self.base + 4000))
            #expect(try store.alerts.all().isEmpty && store.alerts.events(after: 0).isEmpty)
        }
    }

    // MARK: Events

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

    @Test func recordsOnlyChanges() throws {
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
            // The clock was ahead, and is set back by an hour: the reading has a time in the future. The hours count from now.
            #expect(try events(test.store, at: 9000) == [])
            #expect(try events(test.store, at: 16_199) == [])
            #expect(try events(test.store, at: 16_200) == ["began 16200"])
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

    @Test func receiverGetsEventsSinceCreation() throws {
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
            // Events are stored as long as their alert.
            try keep([120], at: 8 * 86_400, in: test)
            #expect(try events(store, at: 8 * 86_400).count == 1)
            #expect(try store.alerts.events(after: 0).count == 3)
            #expect(try store.alerts.remove(1))
            #expect(try store.alerts.events(after: 0).isEmpty)
            #expect(try store.alerts.receiver(named: "new").delivered == 3)
        }
    }

    // MARK: The order of arrival

    /// A reading that is stamped ahead of the hub's clock does not hide those that follow it.
    @Test func aTimeAheadHidesNoReading() throws {
        try TestStore.with { test in
            try add(.below, 70, test)
            try keep([120], at: 72_000, in: test)
            #expect(try events(test.store, at: 10) == [])
            try keep([61], at: 11, in: test)
            #expect(try events(test.store, at: 12) == ["began 11"])
            try keep([90], at: 13, in: test)
            #expect(try events(test.store, at: 14) == ["ended 13"])
        }
    }

    /// The hub's clock was ahead and is set back: the next reading decides, and an alert from before goes on until then.
    @Test func clockSetBackEndsNoAlert() throws {
        try TestStore.with { test in
            try add(.below, 70, test)
            try keep([52], at: 10_800, in: test)
            #expect(try events(test.store, at: 10_801) == ["began 10800"])
            #expect(try events(test.store, at: 10) == [])
            #expect(try test.store.alerts.all().first?.raised != nil)
            try keep([95], at: 20, in: test)
            #expect(try events(test.store, at: 21) == ["ended 20"])
            try keep([60], at: 30, in: test)
            #expect(try events(test.store, at: 31) == ["began 30"])
        }
    }

    /// An alert that was added while the clock was ahead works.
    @Test func alertAddedWithFastClockWorks() throws {
        try TestStore.with { test in
            let ahead = Instant(seconds: TestStore.received.microseconds / 1_000_000 + 86_400)
            try test.store.alerts.add(of: TestStore.person, type: .heartRate, .below, bound: 70, at: ahead)
            try test.store.alerts.add(of: TestStore.person, type: .heartRate, .missing, bound: 1, at: ahead)
            #expect(try events(test.store, at: 0) == [])
            try keep([60], at: 10, in: test)
            #expect(try events(test.store, at: 11) == ["began 10"])
            #expect(try events(test.store, at: 3610) == ["began 3610"])
        }
    }

    /// A reading for a time before the latest one gives a beginning and an end, once for neighboring readings.
    @Test func aLateReadingIsReportedOnce() throws {
        try TestStore.with { test in
            try add(.below, 70, test)
            try keep([100], at: 1000, in: test)
            #expect(try events(test.store, at: 1000) == [])
            try keep([55], at: 985, in: test)
            #expect(try events(test.store, at: 1001) == ["began 985", "ended 1000"])
            #expect(try test.store.alerts.events(after: 0).allSatisfy(\.isLate))
            for second in [984.0, 986, 983] {
                try keep([56], at: second, in: test)
                #expect(try events(test.store, at: 1002) == [])
            }
            // Another one, with a reading within the limit in between.
            try keep([90], at: 900, in: test)
            try keep([50], at: 800, in: test)
            #expect(try events(test.store, at: 1003) == ["began 800", "ended 1000"])
            // During an alert, nothing is added.
            try keep([60], at: 1010, in: test)
            #expect(try events(test.store, at: 1011) == ["began 1010"])
            try keep([95], at: 700, in: test)
            try keep([50], at: 690, in: test)
            #expect(try events(test.store, at: 1012) == [])
        }
    }

    /// A value around the limit gives one message.
    @Test func aValueAroundTheLimitIsOneAlert() throws {
        try TestStore.with { test in
            try test.store.alerts.add(
                of: TestStore.person, type: .heartRate, .above, bound: 100, timing: .defaultTiming,
                at: Instant(seconds: Self.base))
            var all: [String] = []
            for second in Int64(10)..<190 {
                try keep([second % 2 == 0 ? 101 : 99], at: Double(second), in: test)
                all += try events(test.store, at: second)
            }
            #expect(all == ["began 10"])
            // It ends three minutes after the last one, even without a further reading.
            let result = try test.store.alerts.check(at: Instant(seconds: Self.base + 190))
            #expect(result.events.isEmpty && result.next == Instant(seconds: Self.base + 188 + 180))
            #expect(try events(test.store, at: 368) == ["ended 189"])
        }
    }

    @Test func anAlertMayNeedADurationAndAMargin() throws {
        try TestStore.with { test in
            try test.store.alerts.add(
                of: TestStore.person, type: .heartRate, .above, bound: 100,
                timing: AlertTiming(margin: 5, lasting: 60_000_000), at: Instant(seconds: Self.base))
            try keep([120], at: 10, in: test)
            #expect(try events(test.store, at: 11) == [])
            try keep([90], at: 20, in: test)
            try keep([120], at: 30, in: test)
            #expect(try events(test.store, at: 89) == [])
            // No further reading contradicts it.
            #expect(try events(test.store, at: 90) == ["began 30"])
            try keep([97], at: 100, in: test)
            #expect(try events(test.store, at: 101) == [])
            try keep([95], at: 110, in: test)
            #expect(try events(test.store, at: 111) == ["ended 110"])
        }
    }

    /// Many events of one person remove none of another.
    @Test func boundsArePerPerson() throws {
        try TestStore.with { test in
            let (store, anna) = (try test.store, "99999999-2222-4333-8444-555555555555")
            try add(.above, 100, test)
            try keep([120], at: 10, in: test)
            #expect(try events(store, at: 10) == ["began 10"])
            let other = try #require(
                try store.alerts.all(of: anna).first
                    ?? {
                        try store.alerts.add(of: anna, type: .heartRate, .above, bound: 1, at: Instant(seconds: Self.base))
                        return try store.alerts.all(of: anna).first
                    }())
            try store.connection.transaction {
                for second in 0..<(SampleStore.Alerts.maximumAlertEvents + 10) {
                    let time = Instant(seconds: Self.base + second)
                    _ = try store.alerts.add(second % 2 == 0 ? .began : .ended, of: other, time: time, isLate: false, at: time)
                }
            }
            #expect(try store.alerts.events(after: 0, limit: 1).map(\.alert.person) == [TestStore.person])
            #expect(try store.alerts.events(after: 0, limit: 100_000).count == Int(SampleStore.Alerts.maximumAlertEvents) + 1)
        }
    }

    @Test func theHistoryNamesReceiversAndAcknowledgements() throws {
        try TestStore.with { test in
            let store = try test.store
            try add(.above, 100, test)
            #expect(try !store.alerts.acknowledge(1, at: Instant(seconds: Self.base)))
            var phone = try store.alerts.receiver(named: "phone")
            try keep([120], at: 10, in: test)
            #expect(try events(store, at: 10) == ["began 10"])
            let event = try #require(try store.alerts.events(after: 0).first)
            phone.delivered = event.id
            try store.alerts.save(phone, acknowledged: [event], at: Instant(seconds: Self.base + 11))
            #expect(try store.alerts.acknowledge(1, at: Instant(seconds: Self.base + 20)))
            #expect(try store.alerts.all().first?.acknowledged == Instant(seconds: Self.base + 20))
            try keep([80], at: 30, in: test)
            #expect(try events(store, at: 30) == ["ended 30"])
            let episode = try #require(try store.alerts.history(of: TestStore.person).first)
            #expect(episode.began.acknowledged == Instant(seconds: Self.base + 20))
            #expect(episode.receipts == [AlertReceipt(receiver: "phone", time: Instant(seconds: Self.base + 11))])
            #expect(episode.ended?.time == Instant(seconds: Self.base + 30))
            // The next alert is not acknowledged.
            try keep([120], at: 40, in: test)
            #expect(try events(store, at: 40) == ["began 40"])
            #expect(try store.alerts.all().first?.acknowledged == nil)
            #expect(try store.alerts.history(alert: 1).count == 2)
        }
    }

    /// A step of the clock by a correction makes no reading missing.
    @Test func aStepOfTheClockMakesNothingMissing() throws {
        try TestStore.with { test in
            let store = try test.store
            try add(.missing, 2, test)
            try keep([60], at: 100, in: test)
            #expect(try events(store, at: 110) == [])
            var rule = SampleStore.Alerts.MissingRule()
            rule.steps = [.init(after: try store.alerts.lastChange(), by: 36_000_000_000)]
            #expect(try events(store, at: 36_120, missing: rule) == [])
            #expect(try events(store, at: 36_100 + 7200, missing: rule) == ["began 43300"])
        }
    }

    @Test func boundsAreChecked() throws {
        try TestStore.with { test in
            let (store, person) = (try test.store, TestStore.person)
            #expect(throws: StoreError.self) {
                try store.alerts.add(of: person, type: .heartRate, .missing, bound: 0, at: TestStore.received)
            }
            #expect(throws: StoreError.self) {
                try store.alerts.add(of: person, type: .heartRate, .above, bound: .nan, at: TestStore.received)
            }
            #expect(throws: StoreError.self) { try store.people.save(Goal(type: .heartRate, span: .day, value: 0), of: person) }
            for (day, tags, note) in [
                ("2026-01-01", [], ""), ("noon", [], "x"), ("2026-01-01", ["a\nb"], ""),
                ("2026-01-01", [], String(repeating: "a", count: 2001)),
                ("2026-01-01", (0..<11).map { "\($0)" }, ""),
            ] as [(String, [String], String)] {
                #expect(throws: StoreError.self) { try store.people.annotate(person, day: day, tags: tags, note: note) }
            }
        }
    }

    @Test func erasureRemovesAnnotations() throws {
        try TestStore.with { test in
            let (store, anna) = (try test.store, "99999999-2222-4333-8444-555555555555")
            for person in [anna, TestStore.person] {
                try store.people.annotate(person, day: "2026-01-01", tags: ["flu"], note: "in bed")
                try store.people.save(Goal(type: .heartRate, span: .day, value: 1), of: person)
                try store.alerts.add(of: person, type: .heartRate, .above, bound: 2, at: Instant(seconds: Self.base))
            }
            try keep([60], at: 1, in: test)
            try test.keep([try SampleMaker(person: anna)("60", at: 1)])
            #expect(try events(store, at: 2) == ["began 1", "began 1"])
            let counts = try store.erasure.counts(of: anna)
            #expect(counts.annotations == 1 && counts.goals == 1 && counts.alerts == 1 && !counts.isEmpty)
            _ = try store.erasure.erase(anna, at: TestStore.received)
            #expect(try store.erasure.counts(of: anna).isEmpty)
            #expect(
                try store.people.annotations(of: TestStore.person, from: "2026-01-01", through: "2026-01-01").map(\.tags) == [
                    ["flu"]
                ])
            #expect(try store.alerts.events(after: 0).map(\.alert.person) == [TestStore.person])
            #expect(
                try store.people.goals(of: TestStore.person).count == 1 && store.alerts.all(of: TestStore.person).count == 1)
        }
    }

    /// The reading was judged when it arrived.
    @Test func aCorrectedTimeRaisesNothing() throws {
        try TestStore.with { test in
            try add(.above, 100, test)
            try keep([120], at: 10, in: test)
            #expect(try events(test.store, at: 20) == ["began 10"])
            try keep([80], at: 300, in: test)
            var conditions = SampleConditions(types: [.heartRate])
            conditions.to = Instant(seconds: Self.base + 100)
            let request = RepairRequest(
                .shift(5_000_000), of: conditions, takesAmbiguous: true, now: Instant(seconds: Self.base + 305))
            #expect(try test.store.repairs.apply(request).plan.repaired == 1)
            #expect(try events(test.store, at: 310) == ["ended 300"])
        }
    }
}

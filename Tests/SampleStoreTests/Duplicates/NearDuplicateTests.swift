import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The same measurement from two sources is one sample. Two measurements stay two.
@Suite struct NearDuplicateTests {
    static let scale = Device(key: "acme-1", manufacturer: "Acme", model: "S1", serial: "1")

    static func ble(_ type: SampleType = .bodyMass, unit: String? = nil) throws -> SampleMaker {
        try SampleMaker(type, source: "ble", sourceName: "Scale", device: scale, unit: unit)
    }

    /// The maker's file, in minutes.
    static func file(_ type: SampleType = .bodyMass, unit: String? = nil, maker: String = "Acme") throws -> SampleMaker {
        var maker = try SampleMaker(
            type, source: "file.\(maker)", sourceName: "\(maker) app", device: Device(key: maker, manufacturer: maker), unit: unit
        )
        maker.timeResolution = 60
        return maker
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func labelledPairs(seed: UInt64) throws {
        let pairs = try LabelledPairs.made(2500, seed: seed)
        try TestStore.with { test in
            try test.keep(pairs.map(\.first))
            try test.keep(pairs.map(\.second))
            var (truePositives, falsePositives, falseNegatives) = (0, 0, 0)
            var wrong: [String] = []
            for pair in pairs {
                let found = try test.store.duplicates.explain(pair.second.sample.identity)
                switch (pair.isOne, found?.first != nil || found?.duplicates.isEmpty == false) {
                case (true, true): truePositives += 1
                case (false, true):
                    falsePositives += 1
                    wrong.append("taken for one: \(pair.kind)")
                case (true, false):
                    falseNegatives += 1
                    wrong.append("taken for two: \(pair.kind)")
                case (false, false): break
                }
            }
            let precision = Double(truePositives) / Double(truePositives + falsePositives)
            let recall = Double(truePositives) / Double(truePositives + falseNegatives)
            let comment: Comment = "seed \(seed): \(wrong.joined(separator: "; "))"
            #expect(precision >= 0.995, comment)
            #expect(recall >= 0.995, comment)
            #expect(truePositives > 1000)
        }
    }

    @Test func preciseReportStaysOriginal() throws {
        try TestStore.with { test in
            let first = try Self.ble()("80.15", at: 24)
            let second = try Self.file(unit: "[lb_av]").local(1)("176.7", at: 3600)
            try test.keep([first])
            let (outcomes, account) = try test.keep([second])
            #expect(outcomes == [[.duplicate]])
            #expect(account.duplicate == 1)
            #expect(account.nearDuplicates == 1)
            #expect(try test.identities() == [first.sample.identity])
            // Again, and under another zone: still the one.
            #expect(try test.keep([second]).account.duplicate == 1)
            #expect(try test.keep([second]).account.nearDuplicates == 0)
            let explanation = try #require(try test.store.duplicates.explain(second.sample.identity))
            #expect(explanation.first?.other.uuid == first.sample.identity)
            #expect(explanation.first?.rule == .spot)
            #expect(TestStore.line(explanation.stored.sample) == TestStore.line(second.sample))
            #expect(explanation.stored.sample.timeResolution == 60)
            let own = try #require(try test.store.duplicates.explain(first.sample.identity))
            #expect(own.duplicates.map(\.other.uuid) == [second.sample.identity])
            #expect(
                try test.store.duplicates.nearDuplicates(of: 2, limit: 9).map { [$0.duplicateID, $0.first] } == [
                    [second.sample.identity, first.sample.identity]
                ])
        }
    }

    /// The maker's file first, the sensor's memory later: the more precise report becomes the sample, as in the other order.
    @Test func preciseReportReplacesEarlier() throws {
        try TestStore.with { test in
            let file = try Self.file()("80.2", at: 0)
            try test.keep([file])
            let sensed = try Self.ble()("80.15", at: 24)
            let (outcomes, account) = try test.keep([sensed])
            #expect(outcomes == [[.stored]])
            #expect((account.stored, account.duplicate) == (1, 0))
            #expect(try test.identities() == [sensed.sample.identity])
            #expect(
                try test.store.duplicates.explain(sensed.sample.identity)?.duplicates.map(\.other.uuid) == [file.sample.identity])
            // A follower removes the one and adds the other.
            #expect(try test.store.changedUUIDs() == [sensed.sample.identity])
            #expect(try test.keep([file], [sensed]).account.duplicate == 2)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func anotherDeviceIsLinked() throws {
        try TestStore.with { test in
            let first = try Self.ble()("80.15", at: 24)
            let other = try Self.file(maker: "Rival")("80.2", at: 0)
            try test.keep([first])
            let (outcomes, account) = try test.keep([other])
            #expect(outcomes == [[.stored]])
            #expect(account.linked == 1)
            #expect(try test.store.duplicates.explain(other.sample.identity)?.linked.map(\.other.uuid) == [first.sample.identity])
            #expect(try test.store.duplicates.explain(first.sample.identity)?.linked.map(\.other.uuid) == [other.sample.identity])
        }
    }

    /// Each source reports both weighings, and each matches its own, in any order, also within one batch.
    @Test func storyTwentyEight() throws {
        for isOneBatch in [false, true] {
            try TestStore.with { test in
                let sensed = try [Self.ble()("80.10", at: 10), Self.ble()("80.10", at: 50), Self.ble()("80.10", at: 70)]
                let reported = try [Self.file()("80.1", at: 0), Self.file()("80.1", at: 60)]
                if isOneBatch {
                    #expect(
                        try test.keep(sensed + reported).outcomes == [[.stored, .stored, .stored, .duplicate, .duplicate]])
                } else {
                    try test.keep(reported)
                    #expect(try test.keep(sensed).outcomes == [[.stored, .stored, .stored]])
                }
                #expect(try test.samples().count == 3)
            }
        }
    }

    @Test("story 28: two doses within a minute stay two") func twoDoses() throws {
        let insulin = try #require(SampleType("insulinDelivery"))
        try TestStore.with { test in
            try test.keep([try Self.ble(insulin)("1.5", at: 0)])
            var file = try Self.file(insulin)
            file.timeResolution = 1
            #expect(try test.keep([try file("1.5", at: 30)]).outcomes == [[.stored]])
        }
    }

    @Test func equalHeartRatesInConsecutiveSecondsStayTwo() throws {
        try TestStore.with { test in
            var file = try Self.file(.heartRate)
            file.timeResolution = 1
            try test.keep((0..<10).map { try Self.ble(.heartRate)("72", at: Double($0)) } as [GatedSample])
            let reported = try (0..<12).map { try file("72", at: Double($0)) } as [GatedSample]
            #expect(try test.keep(reported).account.duplicate == 10)
            #expect(try test.samples().count == 12)
        }
    }

    /// A sample takes one witness of a series, in whichever batch it comes.
    @Test func oneDuplicatePerSeries() throws {
        try TestStore.with { test in
            var file = try Self.file(.heartRate)
            file.timeResolution = 1
            try test.keep([try Self.ble(.heartRate)("72", at: 0), Self.ble(.heartRate)("72", at: 70)])
            #expect(try test.keep([try file("72", at: 0)]).outcomes == [[.duplicate]])
            #expect(try test.keep([try file("72", at: 1)]).outcomes == [[.stored]], "the one at 0 s has its witness")
            #expect(try test.keep([try file("72", at: 71)]).outcomes == [[.duplicate]])
            #expect(try test.keep([try file("72", at: 69)]).outcomes == [[.stored]])
            // Seconds away, and found by the index.
            try test.keep([try Self.ble()("80.15", at: 24)])
            #expect(try test.keep([try Self.file()("80.2", at: 0)]).outcomes == [[.duplicate]])
            #expect(try test.keep([try Self.file()("80.1", at: 0)]).outcomes == [[.stored]])
            #expect(try test.store.check() == [])
        }
    }

    /// Equal steps of one unit, whichever it is: other digits are another measurement.
    @Test func twoWeighingsInPounds() throws {
        try TestStore.with { test in
            let scale = try SampleMaker(.bodyMass, source: "ble", sourceName: "Scale", device: Self.scale, unit: "[lb_av]")
            let file = try Self.file(unit: "[lb_av]")
            for (index, whole) in (150..<170).enumerated() {
                let day = Double(index) * 86_400
                try test.keep([try scale("\(whole).0", at: day + 24)])
                #expect(try test.keep([try file("\(whole).1", at: day)]).outcomes == [[.stored]])
                #expect(try test.keep([try file("\(whole).0", at: day)]).outcomes == [[.duplicate]])
                #expect(try test.keep([try file("\(whole + 1)", at: day + 3600)]).outcomes == [[.stored]])
                #expect(try test.keep([try scale("\(whole + 1).4", at: day + 3610)]).outcomes == [[.stored]])
                #expect(try test.samples().count == 3 * (index + 1))
            }
        }
    }

    /// An interval that was held, and became a sample by a person's decision or when the clock was known, is compared with its end.
    @Test(arguments: [GateRule.impossible, .clockUnknown]) func comparesAcceptedIntervalByEnd(rule: GateRule) throws {
        try TestStore.with { test in
            let quarantined = try Self.ble(.stepCount)("120", at: 24, lasting: 300, rule: rule)
            try test.keep([quarantined])
            if rule == .clockUnknown {
                let clock = ClockComparison(device: Self.scale.key, shown: 0, received: 0, ahead: nil)
                #expect(try test.store.devices.save(clock, description: TestStore.description(.release)).count == 1)
            } else {
                try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            }
            #expect(try test.identities() == [quarantined.sample.identity])
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.keep([try Self.file(.stepCount)("120", at: 0)]).outcomes == [[.stored]], "of a moment")
            #expect(try test.keep([try Self.file(.stepCount)("120", at: 0, lasting: 300)]).outcomes == [[.duplicate]])
            try test.delete(quarantined)
            var third = try SampleMaker(.stepCount, source: "export", device: Device(key: "Acme", manufacturer: "Acme"))
            third.timeResolution = 60
            #expect(try test.keep([try third("120", at: 0, lasting: 300)]).outcomes == [[.duplicate]])
        }
    }

    /// A minute's average among a strap's seconds is not one of them.
    @Test func aMinuteOfAStreamIsNoCopy() throws {
        try TestStore.with { test in
            try test.keep((0..<120).map { try Self.ble(.heartRate)("72", at: Double($0)) } as [GatedSample])
            #expect(try test.keep([try Self.file(.heartRate)("72", at: 60)]).outcomes == [[.stored]])
        }
    }

    /// A typed value next to a continuous sensor's is not a copy of one of its readings, in either order.
    @Test(arguments: [false, true], [60, 1] as [Int32]) func typedValueIsNoDuplicateOfStream(
        isTypedFirst: Bool, resolution: Int32
    )
        throws
    {
        try TestStore.with { test in
            let sensor = try (0..<60).map { try Self.ble(.bloodGlucose)("11\($0 % 4)", at: Double($0) * 300 + 24) }
            var app = try Self.file(.bloodGlucose, maker: "Notebook")
            app.origin = try SampleMaker(.bloodGlucose, source: "file.notebook", sourceName: "Notebook").origin
            app.timeResolution = resolution
            let typed = [try app("112", at: 30 * 300)]
            for batch in isTypedFirst ? [typed, sensor] : [sensor, typed] {
                #expect(try test.keep(batch).account.duplicate == 0)
            }
            #expect(try test.samples().count == 61)
        }
    }

    /// The sensor's file has each of its readings, by the minute.
    @Test func theFileOfAStream() throws {
        try TestStore.with { test in
            try test.keep(try (0..<60).map { try Self.ble(.bloodGlucose)("11\($0 % 4)", at: Double($0) * 300 + 24) })
            let file = try Self.file(.bloodGlucose)
            #expect(try test.keep(try (0..<60).map { try file("11\($0 % 4)", at: Double($0) * 300) }).account.duplicate == 60)
            #expect(try test.samples().count == 60)
        }
    }

    /// Every source of an Apple Health export has Apple's name in its id. The maker is in the source's own name.
    @Test(arguments: [("Scale app", true), ("Jane\u{2019}s iPhone", false)])
    func anAppInAnAppleHealthExport(name: String, isOne: Bool) throws {
        try TestStore.with { test in
            try test.keep([try Self.ble()("80.15", at: 24)])
            let app = try SampleMaker(.bodyMass, source: "apple-health/\(name)", sourceName: name)
            #expect(try test.keep([try app("80.15", at: 24)]).outcomes == [[isOne ? .duplicate : .stored]])
        }
    }

    // MARK: taking back

    @Test("undoing the first lets its witness stand in, and gives it back") func undoingTheFirst() throws {
        for forget in [false, true] {
            try TestStore.with { test in
                let first = try Self.ble()("80.15", at: 24)
                let second = try Self.file().local(2)("80.2", at: 7200)
                let one = try test.keep([first]).account.id
                let other = try test.keep([second]).account.id
                let undoing = try test.store.ledger.undo(one, forget: forget, description: TestStore.description(.undo)).ingest
                #expect(try test.lines() == [TestStore.line(second.sample)])
                #expect(try test.store.ledger.account(of: other)?.stored == 1)
                #expect(try test.store.ledger.account(of: other)?.duplicate == 0)
                #expect(try test.store.check() == [])
                #expect(try test.keep([second]).outcomes == [[.duplicate]])
                #expect(try test.store.changedUUIDs() == [second.sample.identity])
                if forget {
                    // The first arrives again, and is the more precise one.
                    #expect(try test.keep([first]).outcomes == [[.stored]])
                    #expect(try test.identities() == [first.sample.identity])
                    #expect(try test.store.check() == [])
                    return
                }
                try test.store.ledger.undo(undoing, forget: false, description: TestStore.description(.undo))
                #expect(try test.lines() == [TestStore.line(first.sample)])
                #expect(try test.store.check() == [])
                #expect(try test.keep([first, second]).outcomes == [[.duplicate, .duplicate]])
                // And once more.
                try test.store.ledger.undo(one, forget: false, description: TestStore.description(.undo))
                #expect(try test.lines() == [TestStore.line(second.sample)])
                try test.store.ledger.undo(other, forget: false, description: TestStore.description(.undo))
                #expect(try test.lines() == [])
                #expect(try test.store.check() == [])
            }
        }
    }

    @Test func undoingDuplicate() throws {
        try TestStore.with { test in
            let first = try Self.ble()("80.15", at: 24)
            let second = try Self.file()("80.2", at: 0)
            let one = try test.keep([first]).account.id
            let other = try test.keep([second]).account.id
            let undoing = try test.store.ledger.undo(other, forget: false, description: TestStore.description(.undo)).ingest
            #expect(undoing > 0)
            #expect(try test.identities() == [first.sample.identity])
            // An undone report does not replace it. After the undo is undone, it does.
            try test.store.ledger.undo(one, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().isEmpty)
            #expect(try test.keep([second]).outcomes == [[.duplicate]])
            try test.store.ledger.undo(undoing, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == [second.sample.identity])
            #expect(try test.store.check() == [])
        }
    }

    /// One of two duplicates from one import replaces the original. Both are undone, and both are restored.
    @Test func undoingPromotedDuplicates() throws {
        try TestStore.with { test in
            let originals = try [Self.ble()("80.15", at: 24), Self.ble()("79.35", at: 86_424)]
            let seconds = try [Self.file()("80.2", at: 0), Self.file()("79.4", at: 86_400)]
            let one = try test.keep([originals[0]]).account.id
            try test.keep([originals[1]])
            let other = try test.keep(seconds).account.id
            #expect(try test.store.ledger.account(of: other)?.nearDuplicates == 2)

            let undoing = try test.store.ledger.undo(one, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try test.identities() == [seconds[0].sample.identity, originals[1].sample.identity])
            #expect(try test.store.duplicates.explain(seconds[0].sample.identity)?.first == nil)
            #expect(
                try test.store.duplicates.nearDuplicates(of: other, limit: 9).map(\.duplicateID) == [seconds[1].sample.identity])
            #expect(try test.store.check() == [])

            let taken = try test.store.ledger.undo(other, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try test.identities() == [originals[1].sample.identity])
            #expect(try test.store.duplicates.explain(originals[1].sample.identity)?.duplicates.isEmpty == true)
            #expect(try test.store.check() == [])

            try test.store.ledger.undo(taken, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == [seconds[0].sample.identity, originals[1].sample.identity])
            #expect(
                try test.store.duplicates.explain(originals[1].sample.identity)?.duplicates.map(\.other.uuid) == [
                    seconds[1].sample.identity
                ])
            #expect(try test.store.check() == [])

            try test.store.ledger.undo(undoing, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == originals.map(\.sample.identity))
            for (first, second) in zip(originals, seconds) {
                #expect(
                    try test.store.duplicates.explain(first.sample.identity)?.duplicates.map(\.other.uuid) == [
                        second.sample.identity
                    ])
            }
            #expect(try test.store.check() == [])
            #expect(try test.keep(seconds).outcomes == [[.duplicate, .duplicate]])

            // Forgotten, nothing of them is left, and they come again as on the first day.
            try test.store.ledger.undo(other, forget: true, description: TestStore.description(.undo))
            #expect(try test.store.connection.integer("SELECT count(*) FROM decision") == 0)
            #expect(try test.keep(seconds).account.nearDuplicates == 2)
            #expect(try test.store.check() == [])
        }
    }

    @Test func forgettingDuplicate() throws {
        try TestStore.with { test in
            let second = try Self.file().local(1)("80.2", at: 3600)
            try test.keep([try Self.ble()("80.15", at: 24)])
            let other = try test.keep([second]).account.id
            try test.store.ledger.undo(other, forget: true, description: TestStore.description(.undo))
            #expect(try test.store.check() == [])
            #expect(try test.keep([second]).account.nearDuplicates == 1)
        }
    }

    @Test("deleted stays deleted, whichever way it comes") func deletion() throws {
        try TestStore.with { test in
            let first = try Self.ble()("80.15", at: 24)
            let second = try Self.file()("80.2", at: 0)
            try test.keep([first])
            try test.delete(first)
            #expect(try test.keep([second]).account.nearDuplicates == 1)
            #expect(try test.samples().isEmpty)
            try test.restore(first)
            #expect(try test.identities() == [first.sample.identity])
            #expect(try test.store.check() == [])
        }
    }
}

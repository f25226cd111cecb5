import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// One source reports a reading again in another unit, like an export after the phone's unit was changed.
@Suite struct UnitRepeatTests {
    static func maker(_ id: String, _ unit: String) throws -> SampleMaker {
        try SampleMaker(try #require(SampleType(id)), source: "com.apple.health", sourceName: "Phone", unit: unit)
    }

    /// Of two units, the one whose last digit is worth less is more precise. It becomes the sample, whichever arrived first.
    @Test(arguments: [
        ("distanceWalkingRunning", "[mi_i]", "0.777", "km", "1.25"), ("activeEnergyBurned", "kJ", "439.3", "kcal", "105"),
        ("bodyMass", "kg", "80.15", "[lb_av]", "176.7"), ("bloodGlucose", "mg/dL", "99", "mmol/L", "5.5"),
        ("bodyTemperature", "[degF]", "98.6", "Cel", "37.0"),
    ])
    func isADuplicate(type: String, unit: String, value: String, other: String, converted: String) throws {
        let precise = try Self.maker(type, unit)(value, at: 60, lasting: 300)
        let rounded = try Self.maker(type, other)(converted, at: 60, lasting: 300)
        for (isFirst, (first, again)) in [(true, (precise, rounded)), (false, (rounded, precise))] {
            try TestStore.with { test in
                try test.keep([first])
                let (outcomes, account) = try test.keep([again])
                #expect(outcomes == [[isFirst ? .duplicate : .stored]])
                #expect(account.nearDuplicates == (isFirst ? 1 : 0))
                #expect(try test.identities() == [precise.sample.identity])
                #expect(try test.keep([again]).account.nearDuplicates == 0)
                let explanation = try #require(try test.store.duplicates.explain(rounded.sample.identity))
                #expect(explanation.first?.other.uuid == precise.sample.identity)
                #expect(explanation.first?.rule.rawValue == "unit")
                #expect(try test.store.duplicates.nearDuplicates(of: 2, limit: 9).map(\.first) == [precise.sample.identity])
                #expect(try test.store.check(deep: true) == [])
            }
        }
    }

    @Test func otherTimesValuesAndOneUnitStayTwo() throws {
        try TestStore.with { test in
            let (metric, imperial) = try (Self.maker("bodyMass", "kg"), Self.maker("bodyMass", "[lb_av]"))
            try test.keep([try metric("80.15", at: 60, lasting: 30)])
            let others = try [
                imperial("176.9", at: 60, lasting: 30), imperial("176.7", at: 61, lasting: 30),
                imperial("176.7", at: 60, lasting: 31), metric("80.1", at: 60, lasting: 30),
            ]
            #expect(try test.keep(others).outcomes == [[.stored, .stored, .stored, .stored]])
        }
    }

    /// In batches of one file, in one batch, and over three units. The meters are the most precise.
    @Test func mixedUnitsInOneFile() throws {
        try TestStore.with { test in
            let one = try Self.maker("distanceWalkingRunning", "km")("5.00", at: 0)
            let two = try Self.maker("distanceWalkingRunning", "[mi_i]")("3.11", at: 0)
            let three = try Self.maker("distanceWalkingRunning", "m")("5000", at: 0)
            let far = try Self.maker("distanceWalkingRunning", "m")("5020", at: 0)
            #expect(
                try test.keep([two, one, three, far]).outcomes == [[.stored, .stored, .stored, .stored]])
            #expect(
                try test.samples().map { "\($0.sample.numeral.text) \($0.sample.unit.code)" }.sorted() == ["5000 m", "5020 m"])
            #expect(try test.keep([far], [three], [one], [two]).account.duplicate == 4)
        }
        try TestStore.with { test in
            let one = try Self.maker("distanceWalkingRunning", "km")("5.00", at: 0)
            let two = try Self.maker("distanceWalkingRunning", "[mi_i]")("3.11", at: 0)
            #expect(try test.keep([two], [one]).outcomes == [[.stored], [.stored]])
            #expect(try test.identities() == [one.sample.identity])
        }
    }

    /// Each matches its own, the closest first. A sample has one report in each unit.
    @Test func severalAtOneInstant() throws {
        try TestStore.with { test in
            let (metric, imperial) = try (Self.maker("bodyMass", "kg"), Self.maker("bodyMass", "[lb_av]"))
            try test.keep([
                try metric("80.0", at: 0), try metric("80.1", at: 0), try metric("80.1", at: 0, ordinal: 1),
            ])
            let reported = try [
                imperial("176.6", at: 0), imperial("176.4", at: 0), imperial("176.6", at: 0, ordinal: 1),
                imperial("176.5", at: 0),
            ]
            // A tenth of a pound is more precise than a tenth of a kilogram.
            #expect(try test.keep(reported).outcomes == [[.stored, .stored, .stored, .stored]])
            #expect(try test.keep(reported).account.duplicate == 4)
            #expect(try test.samples().count == 4)
            // 5.00 km and 5.01 km both round to 3.11 miles. Only one of them was reported so.
            let (km, mile) = try (Self.maker("distanceCycling", "km"), Self.maker("distanceCycling", "[mi_i]"))
            try test.keep([try mile("3.11", at: 0)])
            #expect(try test.keep([try km("5.00", at: 0)]).outcomes == [[.stored]])
            #expect(try test.samples().count == 5)
            #expect(try test.keep([try km("5.01", at: 0)]).outcomes == [[.stored]])
            #expect(try test.samples().count == 6)
        }
    }

    @Test func undoingOriginalRestoresRepeat() throws {
        try TestStore.with { test in
            let first = try Self.maker("bodyMass", "kg")("80.15", at: 60)
            let again = try Self.maker("bodyMass", "[lb_av]")("176.7", at: 60)
            try test.keep([first])
            try test.keep([again])
            let undone = try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try test.identities() == [again.sample.identity])
            #expect(try test.store.check(deep: true) == [])
            try test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == [first.sample.identity])
            try test.store.ledger.undo(2, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == [first.sample.identity])
        }
    }

    /// An undone reading may be reported again in another unit. If the first is restored, it is still one reading.
    @Test func repeatAfterUndo() throws {
        try TestStore.with { test in
            let first = try Self.maker("bodyMass", "kg")("80.15", at: 60)
            let again = try Self.maker("bodyMass", "[lb_av]")("176.7", at: 60)
            try test.keep([first])
            let undone = try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).ingest
            let account = try test.keep([again]).account
            #expect((account.stored, account.duplicate, account.nearDuplicates) == (1, 0, 0))
            #expect(try test.identities() == [again.sample.identity])
            try test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == [first.sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func deletedStaysDeleted() throws {
        try TestStore.with { test in
            let first = try Self.maker("bodyMass", "kg")("80.15", at: 60)
            let again = try Self.maker("bodyMass", "[lb_av]")("176.7", at: 60)
            try test.keep([first])
            try test.delete(first)
            #expect(try test.keep([again]).outcomes == [[.duplicate]])
            #expect(try test.identities() == [])
            try test.restore(first)
            #expect(try test.identities() == [first.sample.identity])
        }
    }

    /// A local time read in two zones is one reading, also in another unit.
    @Test func underAnotherZone() throws {
        try TestStore.with { test in
            try test.keep([try Self.maker("bodyMass", "kg").local(1)("80.15", at: 60)])
            let again = try Self.maker("bodyMass", "[lb_av]").local(2)("176.7", at: 60)
            #expect(try test.keep([again]).outcomes == [[.duplicate]])
        }
    }

    /// A second source's file, in miles, then in kilometers: both are duplicates of the sensor's sample.
    @Test func duplicateInTwoUnits() throws {
        try TestStore.with { test in
            let sensed = try NearDuplicateTests.ble()("80.15", at: 24)
            try test.keep([sensed])
            try test.keep([try NearDuplicateTests.file(unit: "[lb_av]")("176.7", at: 0)])
            let again = try NearDuplicateTests.file()("80.2", at: 0)
            #expect(try test.keep([again]).outcomes == [[.duplicate]])
            #expect(try test.store.duplicates.explain(again.sample.identity)?.first?.other.uuid == sensed.sample.identity)
            try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities().count == 1)
        }
    }

    @Test func recordIdentifiersDistinguishReadings() throws {
        try TestStore.with { test in
            try test.keep([try Self.maker("bodyMass", "kg")("80.15", at: 60, record: RecordIdentifier(id: "a", version: 1))])
            let other = try Self.maker("bodyMass", "[lb_av]")("176.7", at: 60, record: RecordIdentifier(id: "b", version: 1))
            #expect(try test.keep([other]).outcomes == [[.stored]])
        }
    }

    /// However imports and their undos are undone, a measurement is stored at most once, in one unit.
    @Test(arguments: [[1, 3, 2, 4], [1, 3, 2, 1, 6, 4], [2, 3, 1, 4], [1, 2, 3, 4, 5, 6]] as [[Int64]])
    func undoingsOfUndoings(order: [Int64]) throws {
        try TestStore.with { test in
            let app = try SampleMaker(.bodyTemperature, source: "app")
            let english = try SampleMaker(.bodyTemperature, source: "app", unit: "[degF]")
            try test.keep([try app("37.0", at: 0), try app("37.5", at: 60)])
            #expect(try test.keep([try english("98.6", at: 0), try english("99.5", at: 60)]).account.stored == 2)
            #expect(try test.samples().count == 2)
            for undone in order {
                _ = try? test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
                #expect(try test.samples().count <= 2, "\(order), \(undone)")
                #expect(try test.store.check() == [])
            }
        }
    }

    /// In kilometers, in miles with all digits, and in miles truncated to three digits: three exports of one walk, in any order.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1], [0, 1, 2, 3]])
    func repeatWithOtherDigits(order: [Int]) throws {
        try TestStore.with { test in
            let (km, mile) = try (Self.maker("distanceWalkingRunning", "km"), Self.maker("distanceWalkingRunning", "[mi_i]"))
            let repeats = try [
                km("1.25", at: 60, lasting: 900), mile("0.7767139902970651", at: 60, lasting: 900),
                mile("0.777", at: 60, lasting: 900), km("1.250000000000001", at: 60, lasting: 900),
            ]
            // A number with more digits than anything measures comes from a conversion, so it is not more precise.
            let ranks = [1, 2, 0, 3]
            var best: Int?
            for index in order {
                let isBetter = best.map { ranks[index] < ranks[$0] } ?? true
                #expect(try test.keep([repeats[index]]).outcomes == [[isBetter ? .stored : .duplicate]])
                if isBetter { best = index }
                #expect(try test.identities() == best.map { [repeats[$0].sample.identity] })
            }
            for index in order { #expect(try test.keep([repeats[index]]).account.duplicate == 1) }
            // Each becomes live when the earlier ones are undone.
            for ingest in order.indices {
                try test.store.ledger.undo(Int64(ingest) + 1, forget: false, description: TestStore.description(.undo))
                #expect(try test.samples().count == (ingest == order.count - 1 ? 0 : 1))
                #expect(try test.store.check(deep: true) == [])
            }
        }
    }

    /// Of two readings in miles, the one that is more alike is the reading in kilometers, whichever arrived first.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]) func mostAlikeInAnyOrder(order: [Int])
        throws
    {
        try TestStore.with { test in
            let (km, mile) = try (Self.maker("distanceWalkingRunning", "km"), Self.maker("distanceWalkingRunning", "[mi_i]"))
            let readings = try [km("1.25", at: 60), mile("0.7767", at: 60), mile("0.7768", at: 60)]
            for index in order { try test.keep([readings[index]]) }
            #expect(Set(try test.identities()) == Set([readings[1], readings[2]].map(\.sample.identity)))
            let explanation = try test.store.duplicates.explain(readings[0].sample.identity)
            #expect(explanation?.first?.other.uuid == readings[1].sample.identity)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// One export contains a reading once. Two in one unit are two, although an earlier export contained one in another unit. So are two
    /// that differ with as many digits, and equal ones.
    @Test(arguments: [false, true]) func twoOfOneUnitInOneFileStayTwo(inOneBatch: Bool) throws {
        try TestStore.with { test in
            let (km, mile) = try (Self.maker("distanceWalkingRunning", "km"), Self.maker("distanceWalkingRunning", "[mi_i]"))
            try test.keep([try km("1.25", at: 60)])
            let (one, two) = try (mile("0.7767", at: 60), mile("0.777", at: 60))
            if inOneBatch {
                #expect(try test.keep([one, two]).outcomes == [[.stored, .stored]])
            } else {
                #expect(try test.keep([one], [two]).outcomes == [[.stored], [.stored]])
            }
            #expect(try test.identities().count == 2)
            #expect(try test.keep([try mile("0.7768", at: 60)]).outcomes == [[.stored]])
            #expect(try test.keep([try mile("0.7767", at: 60, ordinal: 1)]).outcomes == [[.stored]])
        }
    }
}

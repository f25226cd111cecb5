import Testing

/// Sequences that once had another result than `docs/explanation/readings.md` describes (``LawTests``).
@Suite struct LawSequenceTests {
    private static let kilograms = LawValue(numeral: "80.15", unit: "kg")
    private static let rounded = LawValue(numeral: "80.2", unit: "kg")
    private static let other = LawValue(numeral: "75.3", unit: "kg")
    private static let misread = LawValue(numeral: "176.7", unit: "kg")
    private static let pounds = LawValue(numeral: "176.7", unit: LawValue.pound)
    private static let implausible = LawValue(numeral: "700", unit: "kg")

    /// A reading of a source at a minute after 06:30 of a day.
    private static func reading(
        _ source: String, _ minute: Int, _ second: Int, _ value: LawValue, day: Int = 0, _ record: String? = nil,
        version: Int = 1, of person: LawPerson = .me
    ) throws -> LawReading {
        let series = try #require(LawSeries.all.firstIndex { $0.source == source })
        return LawReading(
            series: series, person: person, start: day * 86_400 + 23_400 + minute * 60 + second, value: value, record: record,
            version: version)
    }

    private static func repair(_ change: LawChange, _ source: String, merges: Bool = true) -> LawOperation {
        .repair(LawRepair(change: change, source: source, day: nil, isOfHeavy: false, merges: merges))
    }

    private static func expectLaw(_ operations: [LawOperation]) throws {
        let steps = operations.enumerated().map { LawStep(id: $0.offset + 1, operation: $0.element) }
        let mismatch = try LawTests.mismatch(steps)
        #expect(mismatch == nil)
    }

    /// The sample of an accepted reading was added by the acceptance, and belongs to the import.
    @Test(arguments: [LawChange.shift(-60), .halve, .assign(.anna)]) func importOfRepairedAcceptance(_ change: LawChange) throws {
        let reading = try Self.reading("app", 1, 0, Self.implausible)
        for forget in [false, true] {
            try Self.expectLaw(
                [.ingest([reading], exact: false), .accept(reading), Self.repair(change, "app"), .undo(1, forget: forget)])
        }
    }

    @Test func acceptanceThatIsActiveAgainBeforeRejection() throws {
        let reading = try Self.reading("diary", 2, 0, Self.implausible)
        let undoing: [LawOperation] = [.undo(2, forget: false), .reject(reading), .undo(3, forget: false)]
        try Self.expectLaw([.ingest([reading], exact: false), .accept(reading)] + undoing)
        try Self.expectLaw([.ingest([reading], exact: false), .accept(reading)] + undoing + [.undo(4, forget: false)])
    }

    @Test func reportedTimeBeforeRepairedTime() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("app", 1, 0, Self.misread), try Self.reading("app", 2, 0, Self.misread)], exact: false),
            Self.repair(.shift(-60), "app"), .ingest([try Self.reading("scale", 1, 10, Self.misread)], exact: false),
        ])
    }

    @Test func acceptanceAfterDeletion() throws {
        let reading = try Self.reading("diary", 1, 0, Self.implausible)
        try Self.expectLaw([
            .ingest([reading], exact: false), .accept(reading), .delete(reading), .undo(2, forget: false), .accept(reading),
        ])
    }

    /// The sample is another report of the repaired measurement.
    @Test func pruneKeepsRepairedMeasurement() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("diary", 2, 0, Self.misread)], exact: false), Self.repair(.readAsPounds, "diary"),
            .ingest([try Self.reading("scale", 2, 10, Self.kilograms)], exact: false), .prune(1),
        ])
    }

    @Test func pruneKeepsMergedMeasurement() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("diary", 1, 0, Self.pounds)], exact: false),
            .ingest([try Self.reading("app", 2, 0, Self.kilograms, "r2", version: 3)], exact: true),
            Self.repair(.shift(60), "diary", merges: false), .prune(1),
        ])
    }

    /// The second of two readings of a path is not one with a record, and it was the most precise report for a moment.
    @Test func secondReadingNextToRecord() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("diary", 2, 0, Self.kilograms, "r2", version: 2)], exact: false),
            .ingest(
                [
                    try Self.reading("spare", 2, 40, Self.kilograms, "r1"), try Self.reading("spare", 2, 40, Self.rounded, "r2"),
                ], exact: false),
        ])
    }

    /// The higher version was not the sample, because another report is more precise.
    @Test func lowerVersionReplacesUndoneVersion() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("diary", 1, 0, Self.pounds, "r1", version: 3)], exact: true),
            .ingest([try Self.reading("diary", 2, 0, Self.rounded, "r1", version: 1)], exact: false),
            .ingest([try Self.reading("bolt", 1, 40, Self.kilograms)], exact: false), .undo(1, forget: false),
        ])
    }

    @Test func deletionOfForgottenVersion() throws {
        let newer = try Self.reading("app", 2, 0, Self.other, day: 1, "r2", version: 2)
        try Self.expectLaw([
            .ingest([newer], exact: false),
            .ingest([try Self.reading("app", 1, 0, Self.kilograms, "r2", version: 1)], exact: false), .delete(newer),
            .undo(1, forget: true),
        ])
    }

    @Test func versionAfterRepair() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("scale", 1, 10, Self.kilograms, "r1", version: 1)], exact: false),
            Self.repair(.halve, "scale"),
            .ingest([try Self.reading("scale", 2, 10, Self.other, "r1", version: 2)], exact: false),
        ])
    }

    /// The other person's record has the same id and version, and another value.
    @Test func assignmentNextToOtherRecord() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("spare", 1, 40, Self.other, "r1", of: .anna)], exact: true),
            .ingest([try Self.reading("spare", 1, 40, Self.kilograms, "r1")], exact: false),
            Self.repair(.assign(.me), "spare", merges: false),
        ])
    }

    /// Two versions of a record are never live together, also if one was assigned from another person.
    @Test(arguments: [1, 3]) func assignmentNextToOtherVersion(_ version: Int) throws {
        let assigned = LawOperation.ingest(
            [try Self.reading("scale", 1, 10, Self.kilograms, "r1", version: 2, of: .anna)], exact: false)
        let other = LawOperation.ingest([try Self.reading("scale", 2, 10, Self.other, "r1", version: version)], exact: false)
        let repair = Self.repair(.assign(.me), "scale")
        try Self.expectLaw([assigned, repair, other])
        try Self.expectLaw([assigned, other, repair])
        for order in [[assigned, repair, other], [assigned, other, repair]] {
            let undone = order.firstIndex(of: repair).map { $0 + 1 } ?? 0
            try Self.expectLaw(order + [.undoRepair(undone)])
            try Self.expectLaw(order + [.undo((order.firstIndex(of: other) ?? 0) + 1, forget: false)])
            try Self.expectLaw(
                order + [
                    .ingest([try Self.reading("scale", 1, 40, Self.rounded, "r1", version: 4, of: .anna)], exact: false),
                    .undo(4, forget: false),
                ])
        }
    }

    @Test func undoneAssignmentNextToOtherVersion() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("spare", 1, 40, Self.kilograms, "r1", version: 2)], exact: false),
            Self.repair(.assign(.anna), "spare"), Self.repair(.assign(.me), "spare"),
            .ingest([try Self.reading("spare", 2, 10, Self.other, day: 1, "r1", version: 3, of: .anna)], exact: false),
            .undoRepair(3),
        ])
    }

    /// The source replaced the assigned version, so that it is not the other person's any more.
    @Test func replacedVersionLeavesOtherPerson() throws {
        let assigned = try Self.reading("spare", 1, 40, Self.kilograms, "r1", version: 2, of: .anna)
        try Self.expectLaw([
            .ingest([try Self.reading("spare", 1, 10, Self.rounded, "r1")], exact: false), .ingest([assigned], exact: false),
            Self.repair(.assign(.me), "spare"),
            .ingest([try Self.reading("spare", 2, 10, Self.other, "r1", version: 3, of: .anna)], exact: false),
        ])
    }

    @Test func deletionOfTwiceAssignedReadingOutlivesErasure() throws {
        let reading = try Self.reading("diary", 2, 0, Self.kilograms, day: 1)
        try Self.expectLaw([
            .ingest([reading], exact: false), Self.repair(.assign(.anna), "diary"), Self.repair(.assign(.me), "diary"),
            .delete(reading), .undoRepair(3), .undoRepair(2), .erase,
        ])
    }

    /// The second report agrees with the result of the first repair.
    @Test func repairOfReportThatAgreesWithRepairedOne() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("bolt", 1, 10, Self.misread)], exact: false),
            .repair(LawRepair(change: .readAsPounds, source: "bolt", day: nil, isOfHeavy: true, merges: false)),
            .ingest([try Self.reading("bolt", 1, 10, LawValue(numeral: "80.1", unit: "kg"))], exact: false),
            Self.repair(.halve, "bolt"),
        ])
    }

    /// A repair gave the record the time of this report, and the value differs.
    @Test func conflictWithRepairedVersion() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("app", 2, 0, Self.misread, "r1")], exact: false), Self.repair(.shift(-60), "app"),
            .ingest([try Self.reading("app", 1, 0, Self.rounded, "r1")], exact: true),
        ])
    }

    @Test func conflictAtAnotherTime() throws {
        let other = try Self.reading("scale", 2, 40, Self.rounded, "r2", version: 2)
        try Self.expectLaw([
            .ingest([try Self.reading("scale", 2, 10, Self.rounded, "r2", version: 2)], exact: false),
            .ingest([other], exact: false), .accept(other),
        ])
    }

    /// The restored sample was repaired.
    @Test func forgettingOfRepairedImport() throws {
        let reading = try Self.reading("diary", 1, 0, Self.kilograms)
        try Self.expectLaw([
            .ingest([reading], exact: false), .undo(1, forget: false), .restore(reading), Self.repair(.readAsPounds, "diary"),
            .undo(1, forget: true), .ingest([reading], exact: true),
        ])
    }

    /// The deleted sample was made by a repair that is undone. The repair before it is applied.
    @Test func deletionOfUndoneFormOutlivesPruning() throws {
        let reading = try Self.reading("spare", 2, 10, Self.misread, of: .anna)
        try Self.expectLaw([
            .ingest([reading], exact: true), Self.repair(.readAsPounds, "spare"), Self.repair(.assign(.me), "spare"),
            .delete(reading), .undoRepair(3), .prune(1),
        ])
    }

    /// The deletion is about a reading of another person since the repair is undone.
    @Test func deletionOfUndoneAssignmentOutlivesErasure() throws {
        let reading = try Self.reading("diary", 2, 0, Self.kilograms, day: 1)
        try Self.expectLaw([
            .ingest([reading], exact: false), Self.repair(.assign(.anna), "diary"), .delete(reading), .undoRepair(2), .erase,
        ])
    }

    /// The higher version is the duplicate of another source's report.
    @Test func lowerVersionOfDuplicate() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("bolt", 1, 10, Self.kilograms)], exact: false),
            .ingest([try Self.reading("diary", 1, 0, Self.kilograms, "r1", version: 3)], exact: false),
            .ingest([try Self.reading("diary", 2, 0, Self.kilograms, "r1", version: 2)], exact: false),
        ])
    }

    /// The lower version was repaired, and does not come forward.
    @Test func pruningOfAcceptedVersion() throws {
        let other = try Self.reading("app", 1, 0, Self.pounds, "r1", version: 2)
        try Self.expectLaw([
            .ingest([try Self.reading("app", 1, 0, Self.rounded, day: 1, "r1", version: 2)], exact: false),
            .ingest([other], exact: false), Self.repair(.halve, "app", merges: false), .accept(other), .prune(1),
        ])
    }

    @Test func acceptedConflictAfterRepair() throws {
        let other = try Self.reading("scale", 1, 10, Self.kilograms, "r1", version: 3)
        try Self.expectLaw([
            .ingest([try Self.reading("scale", 1, 10, Self.pounds, "r1", version: 3)], exact: false),
            Self.repair(.shift(60), "scale"), .ingest([other], exact: false), .accept(other),
        ])
    }

    /// The restored sample was repaired twice before another path reported it.
    @Test func pathOfRestoredAndRepairedReading() throws {
        let reading = try Self.reading("scale", 2, 10, LawValue(numeral: "166", unit: LawValue.pound), of: .unassigned)
        try Self.expectLaw([
            .ingest([reading], exact: true), .undo(1, forget: false), .restore(reading),
            Self.repair(.assign(.me), "scale", merges: false), Self.repair(.shift(-60), "scale"),
            .ingest([try Self.reading("app", 1, 0, Self.other, "r1")], exact: false),
        ])
    }

    /// The higher version became the sample when the earlier report was deleted, and the lower one of another day is kept.
    @Test func pruningOfHigherVersion() throws {
        let deleted = try Self.reading("app", 1, 0, Self.rounded)
        try Self.expectLaw([
            .ingest([deleted], exact: false), .delete(deleted),
            .ingest([try Self.reading("diary", 1, 0, Self.pounds, "r1", version: 3)], exact: false),
            .ingest(
                [try Self.reading("diary", 1, 0, LawValue(numeral: "80.1", unit: "kg"), day: 1, "r1", version: 2)], exact: true),
            .prune(1),
        ])
    }

    /// An accepted version with another value replaces the stored one while its import is active, whichever rule quarantined it.
    @Test(arguments: ["75.3", "700"]) func importOfAcceptedConflict(_ numeral: String) throws {
        let value = LawValue(numeral: numeral, unit: "kg")
        for (minute, second) in [(1, 10), (1, 40)] {
            let other = try Self.reading("scale", minute, second, value, "r1", version: 2)
            let accepting: [LawOperation] = [
                .ingest([try Self.reading("scale", 1, 10, Self.kilograms, "r1", version: 2)], exact: false),
                .ingest([other], exact: false), .accept(other),
            ]
            for undone in [2, 3] { try Self.expectLaw(accepting + [.undo(undone, forget: false)]) }
            try Self.expectLaw(accepting + [.undo(3, forget: false), .accept(other), .undo(2, forget: false)])
            try Self.expectLaw(accepting + [.undo(2, forget: false), .undo(4, forget: false)])
        }
    }

    @Test func acceptedConflictOfLowerVersion() throws {
        let other = try Self.reading("scale", 1, 40, Self.other, "r1")
        let lower = LawOperation.ingest([try Self.reading("scale", 1, 10, Self.kilograms, "r1")], exact: false)
        let higher = LawOperation.ingest([try Self.reading("scale", 1, 10, Self.rounded, "r1", version: 2)], exact: false)
        let conflict = LawOperation.ingest([other], exact: false)
        try Self.expectLaw([lower, higher, conflict, .accept(other), .undo(2, forget: false)])
        try Self.expectLaw([lower, conflict, .accept(other), higher, .undo(4, forget: false)])
    }

    /// No other source is compared with the readings of `import --exact`, also if they were quarantined.
    @Test func acceptedReadingOfExactImport() throws {
        let reading = try Self.reading("scale", 1, 10, Self.implausible)
        try Self.expectLaw([
            .ingest([try Self.reading("app", 1, 0, Self.implausible)], exact: false),
            .accept(try Self.reading("app", 1, 0, Self.implausible)), .ingest([reading], exact: true), .accept(reading),
        ])
    }

    /// A correct report arrives after the repair, which is then undone.
    @Test func reportOfRepairedTimeAfterUndo() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("app", 1, 0, Self.rounded)], exact: false), Self.repair(.shift(60), "app"),
            .ingest([try Self.reading("app", 2, 0, Self.rounded)], exact: false), .undoRepair(2),
        ])
    }

    /// The correct reading is there, and a more precise report of another source represents it.
    @Test func repairBesideRepresentedReport() throws {
        try Self.expectLaw([
            .ingest([try Self.reading("app", 2, 0, Self.misread), try Self.reading("app", 2, 0, Self.pounds)], exact: false),
            .ingest([try Self.reading("spare", 2, 40, Self.rounded)], exact: false),
            .repair(LawRepair(change: .readAsPounds, source: "app", day: nil, isOfHeavy: true, merges: false)),
            .undo(2, forget: false),
        ])
    }

    /// Two records have the same time and value.
    @Test func restorationNextToOtherRecord() throws {
        let reading = try Self.reading("app", 2, 0, Self.misread, "r1")
        try Self.expectLaw([
            .ingest([try Self.reading("app", 2, 0, Self.misread, "r2", version: 3), reading], exact: false), .delete(reading),
            .restore(reading),
        ])
    }
}

import HealthModel
import Testing

/// The table of states in `docs/explanation/readings.md`, row by row.
@Suite struct MeasurementHistoryTests {
    private typealias History = MeasurementHistory<String>

    /// A reading "a" of entry 1, and optionally the same reading from another source, "b" of entry 2.
    private static func reported(_ count: Int = 2, undone: [Int64: Int64] = [:]) -> History {
        var history = History()
        for (index, key) in ["a", "b", "c"].prefix(count).enumerated() {
            let entry = Int64(index + 1)
            history.reports.append(
                .init(
                    key: key, group: 0, agreement: index == 0 ? nil : "a", entry: entry, isActive: undone[entry] == nil,
                    changed: undone[entry]))
        }
        return history
    }

    /// The drawing in `docs/explanation/readings.md`, arrow by arrow, for the duplicate "b" of "a".
    @Test func aDuplicateHasOneStateAtATime() {
        var history = Self.reported()
        #expect(history.state(of: "a") == .live("a") && history.state(of: "b") == .duplicate(of: "a"))
        // Its own import is undone, and the undo is undone.
        history.reports[1].isActive = false
        #expect(history.state(of: "b") == .withdrawn)
        history.reports[1].isActive = true
        #expect(history.state(of: "b") == .duplicate(of: "a"))
        // The import of the original is undone, and the undo is undone.
        history.reports[0].isActive = false
        #expect(history.state(of: "a") == .withdrawn && history.state(of: "b") == .live("b"))
        history.reports[0].isActive = true
        #expect(history.state(of: "b") == .duplicate(of: "a"))
        // The measurement is deleted and restored.
        history.decisions = [.init(.deleted, key: "a", entry: 3)]
        #expect(history.state(of: "a") == .deleted && history.state(of: "b") == .deleted)
        history.decisions.append(.init(.restored, key: "a", entry: 4))
        #expect(history.state(of: "b") == .duplicate(of: "a"))
        // A repair of the original changes its sample, and both forms are one report.
        history.repaired = [.init(old: "a", new: "a2")]
        #expect(history.state(of: "a") == .live("a2") && history.state(of: "a2") == .live("a2"))
        #expect(history.state(of: "b") == .duplicate(of: "a"))
        #expect(history.state(of: "z") == nil)
    }

    @Test func aLowerVersionIsSuperseded() {
        var history = Self.reported(1)
        history.reports.append(.init(key: "a2", group: 1, entry: 2))
        history.versions = [
            .init(key: "a", record: 0, number: 1, scope: 0), .init(key: "a2", record: 0, number: 2, scope: 0),
        ]
        #expect(history.state(of: "a") == .superseded && history.state(of: "a2") == .live("a2"))
        history.reports[1].isActive = false
        #expect(history.state(of: "a") == .live("a") && history.state(of: "a2") == .withdrawn)
    }

    @Test func noLiveSampleWithoutActiveReport() {
        #expect(History().live == [])
        #expect(Self.reported(1).live == ["a"])
        #expect(Self.reported(1, undone: [1: 2]).live == [])
        #expect(Self.reported(undone: [1: 3, 2: 4]).live == [])
        // A deletion that is undone brings nothing back that no import reports.
        var history = Self.reported(1, undone: [1: 3])
        history.decisions = [.init(.deleted, key: "a", entry: 2, isActive: false)]
        #expect(history.live == [])
    }

    @Test func theMostPreciseActiveReportRepresentsTheMeasurement() {
        #expect(Self.reported().live == ["a"])
        #expect(Self.reported(undone: [1: 3]).live == ["b"])
        #expect(Self.reported(undone: [2: 3]).live == ["a"])
        func precision(
            _ seconds: Int32, _ step: Double, start: Int64 = 1, isArrival: Bool = false, namesDevice: Bool = false,
            isGrouped: Bool = false
        ) -> ReportPrecision {
            ReportPrecision(
                isGrouped: isGrouped,
                .init(start: start, timeResolution: seconds, isArrival: isArrival, value: 80.15, valueResolution: step),
                path: ReportPath(source: "scale", device: namesDevice ? "1" : ""),
                identity: SampleIdentity(milliseconds: 0, high: 0, low: 0))
        }
        // Each pair in both orders of arrival: the first one is the more precise.
        let pairs = [
            (precision(1, 0.1), precision(60, 0.01)), (precision(1, 0.1), precision(1, 0.01, isArrival: true)),
            (precision(1, 0.01), precision(1, 0.1)), (precision(1, 0.1), precision(1, 1e-10)),
            (precision(1, 0.1, namesDevice: true), precision(1, 0.1)), (precision(60, 0.1, isGrouped: true), precision(1, 0.01)),
            // 06:31:00 may be any second of the minute.
            (precision(60, 0.01, start: 60_000_000), precision(1, 0.1, start: 60_000_000)),
        ]
        for (better, worse) in pairs {
            for isFirst in [true, false] {
                var history = Self.reported()
                history.reports[0].precision = isFirst ? better : worse
                history.reports[1].precision = isFirst ? worse : better
                #expect(history.live == [isFirst ? "a" : "b"])
            }
        }
        // Of copies that nothing distinguishes, the first to arrive.
        var equal = Self.reported()
        for index in equal.reports.indices { equal.reports[index].precision = precision(1, 0.1) }
        #expect(equal.live == ["a"])
        // One that counts only because it was restored comes after one with an active entry.
        var history = Self.reported(undone: [1: 3])
        history.decisions = [.init(.restored, key: "a", entry: 4)]
        history.reports[0].precision = precision(1, 0.1)
        history.reports[1].precision = precision(60, 0.1)
        #expect(history.live == ["b"])
    }

    @Test func repairsFollowTheMeasurement() {
        // "a" was repaired, and then the less precise "b" represents the measurement.
        var history = Self.reported(undone: [1: 4])
        history.repaired = [.init(old: "a", new: "a2", repair: 7)]
        #expect(history.live == ["b"])
        #expect(history.outstanding == [.init(key: "b", repair: 7)])
        history.repaired.append(.init(old: "b", new: "b2", repair: 7))
        #expect(history.live == ["b2"] && history.outstanding == [])
        // "b" agrees with the result of the repair, so the repair does not apply to it.
        history.repaired.removeLast()
        history.reports[1].agreement = "a2"
        #expect(history.live == ["b"] && history.outstanding == [])
        history.repaired.append(.init(old: "a2", new: "a3", repair: 8))
        #expect(history.outstanding == [.init(key: "b", repair: 8)])
        history.repaired[1].isActive = false
        #expect(history.outstanding == [])
    }

    @Test func mergedReadingReturnsWithoutCorrectOne() {
        var history = Self.reported()
        history.reports[1].agreement = nil
        history.repaired = [.init(old: "a", new: "b", isMerged: true, repair: 7)]
        #expect(history.live == ["b"] && history.outstanding == [])
        history.reports[1].isActive = false
        #expect(history.outstanding == [.init(key: "a", repair: 7)])
        history.repaired.append(.init(old: "a", new: "a2", repair: 7))
        #expect(history.live == ["a2"] && history.outstanding == [])
        history.reports[1].isActive = true
        #expect(history.live == ["b"])
    }

    @Test func theLastActiveDecisionOfAPersonWins() {
        var history = Self.reported()
        history.decisions = [.init(.deleted, key: "a", entry: 3)]
        #expect(history.live == [])
        history.decisions.append(.init(.restored, key: "a", entry: 4))
        #expect(history.live == ["a"])
        history.decisions[1].isActive = false
        #expect(history.live == [])
        history.decisions[0].isActive = false
        #expect(history.live == ["a"])
        // It is about every report of the measurement.
        history = Self.reported(undone: [1: 4])
        history.decisions = [.init(.deleted, key: "a", entry: 3)]
        #expect(history.live == [])
    }

    @Test func restoresReadingOfUndoneImport() {
        var history = Self.reported(1, undone: [1: 2])
        history.decisions = [.init(.restored, key: "a", entry: 3)]
        #expect(history.live == ["a"])
        // Undone since once more: that was the later word.
        history.reports[0].changed = 4
        #expect(history.live == [])
    }

    @Test func appliedRepairsMakeTheSample() {
        var history = Self.reported(1)
        history.repaired = [.init(old: "a", new: "a1"), .init(old: "a1", new: "a2")]
        #expect(history.live == ["a2"])
        history.repaired[1].isActive = false
        #expect(history.live == ["a1"])
        history.repaired[0].isActive = false
        #expect(history.live == ["a"])
        // A decision about the repaired sample is about the reading, whatever becomes of the repair.
        history.decisions = [.init(.deleted, key: "a1", entry: 3)]
        #expect(history.live == [])
    }

    @Test func aHigherVersionReplacesTheLower() {
        func versions(undone: [Int64: Int64] = [:]) -> History {
            var history = Self.reported(3, undone: undone)
            for index in history.reports.indices {
                history.reports[index].group = index
                history.reports[index].agreement = nil
                history.versions.append(
                    .init(key: history.reports[index].key, record: 0, number: Int64(index + 1), scope: 1))
            }
            return history
        }
        #expect(versions().live == ["c"])
        #expect(versions(undone: [3: 4]).live == ["b"])
        #expect(versions(undone: [1: 4]).live == ["c"])
        #expect(versions(undone: [1: 4, 3: 5]).live == ["b"])
        // The record stays deleted if the import of the deleted version is undone. A later version is new.
        var history = versions(undone: [3: 5])
        history.decisions = [.init(.deleted, key: "c", entry: 4)]
        #expect(history.live == [])
        history = versions()
        history.decisions = [.init(.deleted, key: "b", entry: 4)]
        #expect(history.live == ["c"])
        // Devices with independent numbering do not replace each other, unless the saving client declares it.
        history = versions()
        history.versions[2].scope = 2
        #expect(history.live == ["b", "c"])
        history.versions[2].replacesAll = true
        #expect(history.live == ["c"])
    }

    /// A duplicate of a replaced version is replaced as well. With versions of two records, no measurement is lost.
    @Test func versionsAndOtherPaths() {
        var history = Self.reported(3)
        history.reports[2].group = 2
        history.reports[2].agreement = nil
        history.versions = [
            .init(key: "a", record: 0, number: 1, scope: 1), .init(key: "c", record: 0, number: 2, scope: 1),
        ]
        #expect(history.live == ["c"])
        history.versions += [
            .init(key: "c", record: 1, number: 1, scope: 2), .init(key: "b", record: 1, number: 2, scope: 2),
        ]
        #expect(history.live == ["a", "c"])
    }
}

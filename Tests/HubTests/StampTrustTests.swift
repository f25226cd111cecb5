import HealthModel
import Testing

@testable import Ingestion

/// When the timestamps of an unreadable clock are trusted, and when the order of a memory contradicts them.
@Suite struct StampTrustTests {
    private static let now: Int64 = 1_795_683_000_000_000
    private static let hour: Int64 = 3_600_000_000

    /// Judges a timestamp that is this late and arrives this long after the start.
    private func judge(_ trust: inout StampTrust, late: Int64, at passed: Int64, content: UInt64 = 1) -> StampTrust.Verdict {
        let received = Instant(microseconds: Self.now + passed)
        return trust.judge(
            WallTime(microseconds: received.microseconds - late), late: late, isCorrected: false, content: content,
            received: received)
    }

    @Test func aTimestampThatDoesNotMoveOn() {
        var trust = StampTrust()
        // 100 days old: a memory may have it.
        let late = 100 * Calendar.day
        #expect(judge(&trust, late: late, at: 0) == .believed(isFresh: false))
        // Sent again at once: the same measurement.
        #expect(judge(&trust, late: late + 60_000_000, at: 60_000_000) == .believed(isFresh: false))
        // A day later, the same timestamp.
        let next = Instant(microseconds: Self.now + Calendar.day)
        #expect(judge(&trust, late: late + Calendar.day, at: Calendar.day) == .doubted(.unproven, receipt: next))
        // And again half a minute after that: the same measurement.
        #expect(
            judge(&trust, late: late + Calendar.day + 30_000_000, at: Calendar.day + 30_000_000)
                == .doubted(.unproven, receipt: next))
        // Trust ended for what follows, until a timestamp is right.
        #expect(judge(&trust, late: Self.hour, at: 2 * Calendar.day) != .believed(isFresh: false))
        #expect(judge(&trust, late: 1_000_000, at: 3 * Calendar.day) == .believed(isFresh: true))
        #expect(judge(&trust, late: Self.hour, at: 3 * Calendar.day + 2 * Self.hour) == .believed(isFresh: false))
    }

    @Test func aClockThatRunsBackwards() {
        var trust = StampTrust()
        #expect(judge(&trust, late: Calendar.day, at: 0) == .believed(isFresh: false))
        #expect(judge(&trust, late: 90 * Calendar.day, at: 1_000_000) == .believed(isFresh: false), "one transfer, newest first")
        #expect(judge(&trust, late: 90 * Calendar.day, at: Calendar.day) != .believed(isFresh: false))
    }

    /// Sent when it was taken, and sent again much later: it is the same.
    @Test func aProvenTimestampComesAgain() {
        var trust = StampTrust()
        #expect(judge(&trust, late: 1_000_000, at: 0) == .believed(isFresh: true))
        #expect(judge(&trust, late: 1_000_000, at: Calendar.day) == .believed(isFresh: true))
        #expect(judge(&trust, late: 2 * Calendar.day + 1_000_000, at: 2 * Calendar.day) == .believed(isFresh: false))
    }

    /// Readings that differ only in their measuring method stay two if the receipt replaces their time.
    @Test func aSubstitutedIdentityContainsTheMethod() throws {
        let (numeral, unit) = (try Numeral("5.6"), try Unit(ucum: "mmol/L"))
        let origin = Origin(subject: "me", type: .bloodGlucose, source: SourceRevision(id: "meter", name: "Meter"))
        let time = Instant(microseconds: Self.now)
        let renamed = ["strip", "sensorScan"].map { method in
            let metadata = Metadata([("glucoseMethod", .string(method))])
            let identity = SampleIdentity(
                series: origin.seriesKey, start: Self.now, end: Self.now, numeral: numeral, unit: unit, ordinal: 0,
                method: metadata.method)
            let sample = Sample(
                origin: origin, identity: identity, nominalStart: Self.now, start: time, end: time, value: 5.6, numeral: numeral,
                unit: unit, zone: nil, timeOrigin: .receipt, received: time, metadata: metadata, ordinal: 0)
            return MeasurementIdentity.renamed(sample, .receipt(time))
        }
        #expect(renamed[0].identity != renamed[1].identity)
        for sample in renamed { #expect(sample.identityOrdinal() == sample.ordinal) }
    }

    @Test func anOrderOfRecords() {
        let day = Calendar.day
        func outsiders(_ days: [Int64]) -> [Int] { MemoryOrder.outsiders(of: days.map { $0 * day * 10 }).sorted() }
        #expect(outsiders([1, 2, 2, 3]).isEmpty)
        #expect(outsiders([9, 7, 7, 3]).isEmpty, "newest first")
        #expect(outsiders([5, 6, 1, 2, 3]).isEmpty, "a ring")
        #expect(outsiders([3, 2, 1, 6, 5]).isEmpty, "a ring, newest first")
        #expect(outsiders([20, 21, 3, 22, 23]) == [2])
        #expect(outsiders([20, 21, 90, 22, 23]) == [2])
        #expect(outsiders([23, 22, 3, 21, 20]) == [2])
        #expect(outsiders([]).isEmpty)
    }
}

import FoundationEssentials
import HealthModel
import Testing

@testable import Ingestion

/// When the timestamps of an unreadable clock are trusted, and when the order of a memory contradicts them.
@Suite struct StampTrustTests {
    private static let now: Int64 = 1_795_683_000_000_000
    private static let hour: Int64 = 3_600_000_000

    /// Judges a timestamp that is this late and arrives this long after the start.
    private func evaluate(
        _ trust: inout StampTrust, late: Int64, at passed: Int64, content: UInt64 = 1, user: Int64? = nil
    ) -> StampTrust.Verdict {
        let received = Instant(microseconds: Self.now + passed)
        return trust.evaluate(
            WallTime(microseconds: received.microseconds - late), late: late, content: content, user: user, received: received)
    }

    /// A device that sends its memory again has not lost its time, however late that is.
    @Test func repetitionIsNoReset() {
        var trust = StampTrust()
        let late = 100 * Calendar.day
        for day in 0..<10 as Range<Int64> {
            for record in 0..<5 as Range<Int64> {
                let passed = day * Calendar.day + record * 300_000
                let verdict = evaluate(
                    &trust, late: late + passed - record * Self.hour, at: passed, content: UInt64(record))
                #expect(verdict == .trusted(isFresh: false), "day \(day), record \(record)")
            }
        }
    }

    /// A device that shows its default date whenever it is switched on measured the same values twice in the same minute. A memory that is
    /// sent again has the later measurements, too.
    @Test(arguments: [false, true]) func theSameDefaultDateAgain(isMemory: Bool) {
        var trust = StampTrust()
        let date = Int64(Calendar.days(year: 2021, month: 1, day: 1)) * Calendar.day
        func evaluate(_ minute: Int64, content: UInt64, at passed: Int64) -> StampTrust.Verdict {
            let (shown, received) = (date + minute * 60_000_000, Self.now + passed)
            return trust.evaluate(
                WallTime(microseconds: shown), late: received - shown, content: content, user: nil,
                received: Instant(microseconds: received))
        }
        func receipt(_ passed: Int64) -> StampTrust.Verdict {
            .untrusted(.defaultDate, receipt: Instant(microseconds: Self.now + passed))
        }
        #expect(evaluate(2, content: 1, at: 0) == receipt(0))
        // Only that one was sent so far.
        #expect(evaluate(2, content: 1, at: Calendar.day) == receipt(0))
        let second = 2 * Calendar.day
        if isMemory { #expect(evaluate(2, content: 1, at: second) == receipt(0)) }
        #expect(evaluate(3, content: 2, at: second + 1_000_000) == receipt(second + 1_000_000))
        let third = 3 * Calendar.day
        #expect(evaluate(2, content: 1, at: third) == receipt(isMemory ? 0 : third))
        #expect(evaluate(3, content: 2, at: third + 1_000_000) == receipt(second + 1_000_000), "in the same transfer")
        #expect(evaluate(2, content: 1, at: third + Self.hour) == receipt(isMemory ? 0 : third))
    }

    /// Another measurement with the same timestamp: the clock began again.
    @Test func repeatedTimestampMeansReset() {
        var trust = StampTrust()
        let late = 100 * Calendar.day
        #expect(evaluate(&trust, late: late, at: 0) == .trusted(isFresh: false))
        let next = Instant(microseconds: Self.now + Calendar.day)
        #expect(evaluate(&trust, late: late + Calendar.day, at: Calendar.day, content: 2) == .untrusted(.unproven, receipt: next))
        // And again later: the same measurement, with the receipt of the first time. The one before it stays believed.
        #expect(
            evaluate(&trust, late: late + 3 * Calendar.day, at: 3 * Calendar.day, content: 2)
                == .untrusted(.unproven, receipt: next))
        #expect(evaluate(&trust, late: late + 3 * Calendar.day + 1, at: 3 * Calendar.day + 1) == .trusted(isFresh: false))
        // Trust ended for new ones, until a timestamp is right.
        #expect(evaluate(&trust, late: Self.hour, at: 4 * Calendar.day, content: 3) != .trusted(isFresh: false))
        #expect(evaluate(&trust, late: 1_000_000, at: 5 * Calendar.day, content: 4) == .trusted(isFresh: true))
        #expect(evaluate(&trust, late: Self.hour, at: 5 * Calendar.day + 2 * Self.hour, content: 5) == .trusted(isFresh: false))
    }

    @Test func clockRunningBackwards() {
        var trust = StampTrust()
        #expect(evaluate(&trust, late: Calendar.day, at: 0) == .trusted(isFresh: false))
        #expect(
            evaluate(&trust, late: 90 * Calendar.day, at: 1_000_000) == .trusted(isFresh: false), "one transfer, newest first")
        #expect(evaluate(&trust, late: 90 * Calendar.day, at: Calendar.day, content: 2) != .trusted(isFresh: false))
    }

    /// A cuff sends its memory from the oldest record on, and its clock was reset before the last one.
    @Test func aResetWithinAMemory() {
        var trust = StampTrust()
        for day in 0...1 as ClosedRange<Int64> {
            for record in 1...3 as ClosedRange<Int64> {
                let verdict = evaluate(
                    &trust, late: (day + 4 - record) * Calendar.day, at: day * Calendar.day + record * 300_000,
                    content: UInt64(record))
                #expect(verdict == .trusted(isFresh: false))
            }
        }
        let passed = Calendar.day + 1_200_000
        #expect(
            evaluate(&trust, late: 100 * Calendar.day, at: passed, content: 4)
                == .untrusted(.unproven, receipt: Instant(microseconds: Self.now + passed)))
    }

    /// A transfer from the newest record on breaks off. When it is repeated, the rest is older than all that came before.
    @Test func aBrokenTransferIsRepeated() {
        var trust = StampTrust()
        for (passed, count) in [(0, 5), (Self.hour, 10)] as [(Int64, Int64)] {
            for record in 0..<count {
                let verdict = evaluate(
                    &trust, late: record * Calendar.day + Self.hour + passed + record * 200_000, at: passed + record * 200_000,
                    content: UInt64(record))
                #expect(verdict == .trusted(isFresh: false), "record \(record) after \(passed)")
            }
        }
    }

    /// The other user's measurement of the morning, sent in the evening, is not a sign.
    @Test func usersHaveTheirOwnOrder() {
        var trust = StampTrust()
        for day in 0..<6 as Range<Int64> {
            let (morning, evening) = (day * Calendar.day, day * Calendar.day + 12 * Self.hour)
            #expect(evaluate(&trust, late: 40_000_000, at: morning, content: UInt64(day), user: 1) == .trusted(isFresh: true))
            #expect(
                evaluate(&trust, late: 12 * Self.hour + 600_000_000, at: evening, content: UInt64(day), user: 2)
                    == .trusted(isFresh: false))
        }
    }

    /// The timestamp was right, and the hub's clock three days behind.
    @Test func theHubsClockWasWrong() {
        var trust = StampTrust()
        #expect(evaluate(&trust, late: -3 * Calendar.day, at: 0) != .trusted(isFresh: true))
        trust.clockWasSet(by: 3 * Calendar.day)
        #expect(evaluate(&trust, late: Self.hour, at: 3 * Calendar.day + Self.hour) == .trusted(isFresh: false))
    }

    @Test func stateSurvivesCoding() throws {
        var trust = StampTrust()
        for record in 0..<400 as Range<Int64> {
            let late = (record - 3) * Self.hour
            _ = evaluate(&trust, late: late, at: record * 300_000, content: UInt64.max - UInt64(record), user: record % 3)
        }
        let data = try JSONEncoder().encode(trust)
        #expect(data.count < 40_000)
        #expect(try JSONDecoder().decode(StampTrust.self, from: data) == trust)
    }

    /// Two live measurements with the same error, slow or fast.
    @Test(arguments: [Self.hour, -Self.hour, 960_000_000]) func agreeingArrivals(late: Int64) {
        func arrivals(every apart: Int64, drift: Int64 = 0, isNew: Bool = true, together: Bool = false) -> Bool {
            var agreement = ArrivalAgreement()
            for day in 0..<2 as Range<Int64> {
                let received = Self.now + day * apart
                func arrival(_ late: Int64) -> ArrivalAgreement.Arrival {
                    ArrivalAgreement.Arrival(shown: received - late, received: received, late: late)
                }
                if together { _ = agreement.add(arrival(late * 12 + Calendar.day), isNew: false) }
                if agreement.add(arrival(late + day * drift), isNew: isNew) != nil { return true }
            }
            return false
        }
        #expect(arrivals(every: Calendar.day))
        #expect(!arrivals(every: Calendar.day, drift: 11_000_000), "the owner's habit, not the clock")
        #expect(!arrivals(every: Calendar.day, isNew: false), "a memory that is sent again")
        #expect(!arrivals(every: 1_000_000), "one transfer")
        #expect(arrivals(every: Calendar.day, together: true) == (late.magnitude == UInt64(Self.hour)))
    }

    /// Readings that differ only in their measuring method stay two if the receipt replaces their time.
    @Test func aSubstitutedIdentityContainsTheMethod() throws {
        let (numeral, unit) = (try Numeral("5.6"), try Unit(ucum: "mmol/L"))
        let origin = Origin(person: "me", type: .bloodGlucose, source: SourceRevision(id: "meter", name: "Meter"))
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

import HealthModel
import Pipeline
import Testing

@Suite struct LeftOutTests {
    @Test func namesHaveBounds() {
        var names = SkipNames()
        #expect(names.kind("record.temperature").name == "record.temperature")
        #expect(names.kind("a\nb\u{1B}<\"").name == "a_b___")
        #expect(names.kind("体温").name == "体温")
        #expect(names.kind("") == SkipNames.other && names.kind("\u{0}\u{1}") == SkipNames.other)
        #expect(names.kind(String(repeating: "ä", count: 1000)).name.utf8.count == SkipNames.maximumLength)
        var kinds: Set<SkipKind> = []
        for number in 0..<1000 { kinds.insert(names.kind("n\(number)")) }
        #expect(kinds.count <= SkipNames.maximum && kinds.contains(SkipNames.other))
        // A named kind keeps its name.
        #expect(names.kind("record.temperature").name == "record.temperature")
    }

    @Test func isTakenOnce() {
        var leftOut = LeftOut()
        #expect(leftOut.take() == nil)
        leftOut.skipped[SkipKind("hr")] = 2
        leftOut.refusals.append(Refusal("a location has no latitude", at: Place(.line, 7)))
        let taken = leftOut.take()
        #expect(taken?.skipped == [SkipKind("hr"): 2] && taken?.refusals.count == 1)
        #expect(leftOut.take() == nil)
    }

    @Test func timesHaveTheSameBoundsAsSamples() {
        let received = Instant(seconds: 1_800_000_000)
        let bounds = TimeBounds(received: received)
        #expect(bounds.fault(of: Normaliser.earliest.microseconds) == nil)
        #expect(bounds.fault(of: Normaliser.earliest.microseconds - 1) == TimeBounds.tooEarly)
        #expect(bounds.fault(of: received.microseconds + Calendar.day) == nil)
        #expect(bounds.fault(of: received.microseconds + Calendar.day + 1) == TimeBounds.tooLate)
    }
}

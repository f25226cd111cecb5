import Testing

@testable import MQTTExport

@Suite struct RepetitionTests {
    private let start = ContinuousClock.now
    private func time(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func manyBirthMessagesLeadToOneRepetition() {
        var repetition = Repetition()
        #expect(repetition.request(at: time(0)) == .publish)
        // Even while the messages are being published, from another thread.
        repetition.acknowledge(1)
        repetition.hasPublished([1, 2])
        #expect(repetition.request(at: time(1)) == .wait)
        for _ in 0..<1000 { #expect(repetition.request(at: time(1)) == .none) }
        // The broker has not acknowledged all of them yet.
        #expect(repetition.resume(at: time(6)) == .wait)
        repetition.acknowledge(2)
        #expect(repetition.request(at: time(7)) == .none)
        #expect(repetition.resume(at: time(11)) == .publish)
        repetition.hasPublished([])
        #expect(repetition.request(at: time(20)) == .publish)
    }
}

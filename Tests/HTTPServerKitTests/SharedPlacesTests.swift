import Dispatch
import Synchronization
import Testing

@testable import HTTPServerKit

@Suite struct SharedPlacesTests {
    @Test func payersHaveAShareEach() {
        let places = SharedPlaces(total: 8, own: 4)
        var taken: [SharedPlaces.Place] = []
        func take(_ payer: Payer) -> Bool {
            guard let place = places.take(for: payer) else { return false }
            taken.append(place)
            return true
        }
        for _ in 0..<4 { #expect(take(.client("a"))) }
        #expect(!take(.client("a")))
        for _ in 0..<2 { #expect(take(.client("b"))) }
        // The last quarter is for payers that have none yet.
        #expect(!take(.client("b")) && take(.person("c")) && take(.unauthenticated) && !take(.person("d")))
        taken.removeAll()
        #expect(take(.client("a")))
    }

    /// One payer with a hundred works does not delay the only work of another by more than one of them.
    @Test func worksRunInTurn() {
        let queue = FairQueue("test", lanes: 1)
        let (gate, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = Mutex<[String]>([])
        queue.async(for: .client("a")) { gate.wait() }
        for index in 0..<100 {
            queue.async(for: .client("a")) {
                order.withLock { $0.append("a\(index)") }
                if index == 99 { end.signal() }
            }
        }
        queue.async(for: .client("b")) { order.withLock { $0.append("b") } }
        gate.signal()
        end.wait()
        let all = order.withLock { $0 }
        #expect(all.count == 101 && all.firstIndex(of: "b") == 1)
        #expect(all.filter { $0 != "b" } == (0..<100).map { "a\($0)" })
    }

    /// While one payer's works take their time, another lane is free for others.
    @Test func aPayerHasOneWorkAtOnce() {
        let queue = FairQueue("test", lanes: 2)
        let (gate, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<5 { queue.async(for: .client("a")) { gate.wait() } }
        queue.async(for: .client("b")) { end.signal() }
        #expect(end.wait(timeout: .now() + .seconds(20)) == .success)
        for _ in 0..<5 { gate.signal() }
    }
}

import Dispatch
import Synchronization

/// Runs the work of several payers in turn. Each payer has a queue of its own and at most a number of works at once, so the many requests of
/// one payer do not delay the single request of another.
///
///     let queue = FairQueue("vitalgate.looks", lanes: 2, own: 1)
///     queue.async(for: .client("a")) { … }
package final class FairQueue: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        /// The waiting works, and the order in which payers have their next turn. Only payers with waiting work are in it.
        var waiting: [Payer: [Work]] = [:]
        var turns: [Payer] = []
        var running: [Payer: Int] = [:]
        var freeLanes: [Int]

        /// Takes the next work whose payer may run another one, and a lane for it.
        mutating func next(own: Int) -> (lane: Int, payer: Payer, work: Work)? {
            guard !freeLanes.isEmpty, let turn = turns.firstIndex(where: { running[$0, default: 0] < own }) else { return nil }
            let payer = turns.remove(at: turn)
            guard var works = waiting[payer], !works.isEmpty else { return nil }
            let work = works.removeFirst()
            waiting[payer] = works.isEmpty ? nil : works
            if !works.isEmpty { turns.append(payer) }
            running[payer, default: 0] += 1
            return (freeLanes.removeLast(), payer, work)
        }
    }

    /// Serial queues always have a thread, whereas a concurrent one shares as many threads as the machine has cores.
    private let lanes: [DispatchQueue]
    private let own: Int
    private let state: Mutex<State>

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - lanes: The maximum number of works at once.
    ///   - own: The maximum number of works of one payer at once.
    package convenience init(_ label: String, lanes: Int, own: Int = 1) {
        self.init((0..<max(1, lanes)).map { DispatchQueue(label: "\(label).\($0)") }, own: own)
    }

    /// Creates a queue of one lane, for works that must run on a serial queue.
    package convenience init(on lane: DispatchQueue) { self.init([lane], own: 1) }

    private init(_ lanes: [DispatchQueue], own: Int) {
        (self.lanes, self.own) = (lanes, own)
        state = Mutex(State(freeLanes: Array(lanes.indices)))
    }

    /// Runs work in the payer's turn.
    package func async(for payer: Payer, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting[payer, default: []].append(work)
            if !state.turns.contains(payer) { state.turns.append(payer) }
        }
        start()
    }

    private func start() {
        while let (lane, payer, work) = state.withLock({ $0.next(own: own) }) {
            lanes[lane].async { [self] in
                work()
                state.withLock { state in
                    let rest = state.running[payer, default: 0] - 1
                    state.running[payer] = rest > 0 ? rest : nil
                    state.freeLanes.append(lane)
                }
                start()
            }
        }
    }
}

import Synchronization

/// Memory that requests share. Strangers have an eighth of it, the people on the page a quarter, and clients the rest. One person or client
/// has at most half of the group's memory. The last quarter of a group's memory is for payers that have none yet.
final class MemoryBudget: Sendable {
    private let maximum: Int
    private let taken = Mutex<[Payer: Int]>([:])

    /// - Parameter maximum: bytes for all payers together.
    init(maximum: Int) { self.maximum = maximum }

    /// Reserved memory. It is released with this object.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let count: Int
        private let payer: Payer

        fileprivate init(_ budget: MemoryBudget, _ count: Int, _ payer: Payer) {
            (self.budget, self.count, self.payer) = (budget, count, payer)
        }

        deinit { budget.release(count, payer) }
    }

    /// Reserves bytes. Returns `nil` if the payer or its group has no room for them.
    func reserve(_ count: Int, for payer: Payer) -> Share? {
        let isTaken = taken.withLock { taken in
            let own = taken[payer, default: 0]
            let all = taken.filter { $0.key.group == payer.group }.values.reduce(0, +)
            let (room, ownRoom) = rooms(of: payer)
            let reserve = own == 0 ? 0 : room / 4
            guard count <= room - reserve - all, count <= ownRoom - own else { return false }
            taken[payer] = own + count
            return true
        }
        return isTaken ? Share(self, count, payer) : nil
    }

    private func release(_ count: Int, _ payer: Payer) {
        taken.withLock { taken in
            let rest = taken[payer, default: 0] - count
            taken[payer] = rest > 0 ? rest : nil
        }
    }

    /// The bytes for the payer's group and for the payer.
    private func rooms(of payer: Payer) -> (group: Int, own: Int) {
        switch payer {
        case .unauthenticated: (maximum / 8, maximum / 8)
        case .person: (maximum / 4, maximum / 8)
        case .client: (maximum - maximum / 8 - maximum / 4, (maximum - maximum / 8 - maximum / 4) / 2)
        }
    }
}

extension Payer {
    fileprivate enum Group { case strangers, clients, people }

    fileprivate var group: Group {
        switch self {
        case .unauthenticated: .strangers
        case .client: .clients
        case .person: .people
        }
    }
}

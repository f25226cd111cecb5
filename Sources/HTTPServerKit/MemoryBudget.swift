import Synchronization

/// The client or group whose share of the server's memory is used. Each group has its own budget, so no group can exhaust another's.
public enum Payer: Hashable, Sendable {
    /// An unauthenticated client.
    case stranger
    /// A client, identified by a unique name.
    case client(String)
    /// A session of the web page.
    case page
}

/// Memory that requests share. Strangers have an eighth of it, the page a quarter, and clients the rest. One client has at most half of
/// that.
final class MemoryBudget: Sendable {
    private let most: Int
    private let taken = Mutex<[Payer: Int]>([:])

    /// - Parameter most: bytes for all payers together.
    init(most: Int) { self.most = most }

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
            guard count <= room - all, count <= ownRoom - own else { return false }
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
        case .stranger: (most / 8, most / 8)
        case .page: (most / 4, most / 4)
        case .client: (most - most / 8 - most / 4, (most - most / 8 - most / 4) / 2)
        }
    }
}

extension Payer {
    fileprivate enum Group { case strangers, clients, page }

    fileprivate var group: Group {
        switch self {
        case .stranger: .strangers
        case .client: .clients
        case .page: .page
        }
    }
}

import Synchronization

/// Places that payers share, such as for open streams. One payer has at most a number of them, and the last quarter is for payers that have
/// none yet.
public final class SharedPlaces: Sendable {
    private let total: Int
    private let own: Int
    private let taken = Mutex<[Payer: Int]>([:])

    /// - Parameters:
    ///   - total: The places for all payers together.
    ///   - own: The maximum number of places of one payer.
    public init(total: Int, own: Int) { (self.total, self.own) = (total, own) }

    /// A place, which is free again when this object ends.
    public final class Place: Sendable {
        private let places: SharedPlaces
        private let payer: Payer

        fileprivate init(_ places: SharedPlaces, _ payer: Payer) { (self.places, self.payer) = (places, payer) }

        deinit { places.release(payer) }
    }

    /// Takes a place. Returns `nil` if the payer has its share already, or if too few are left.
    public func take(for payer: Payer) -> Place? {
        let isTaken = taken.withLock { taken in
            let count = taken[payer, default: 0]
            let reserve = count == 0 ? 0 : total / 4
            guard count < own, taken.values.reduce(0, +) < total - reserve else { return false }
            taken[payer] = count + 1
            return true
        }
        return isTaken ? Place(self, payer) : nil
    }

    /// Whether a payer has all places of its share.
    public func isShareUsed(by payer: Payer) -> Bool { taken.withLock { $0[payer, default: 0] >= own } }

    private func release(_ payer: Payer) {
        taken.withLock { taken in
            let rest = taken[payer, default: 0] - 1
            taken[payer] = rest > 0 ? rest : nil
        }
    }
}

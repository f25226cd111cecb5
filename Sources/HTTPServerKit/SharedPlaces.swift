import Synchronization

/// Places that payers share, such as for open streams. One payer has at most a number of them, and the last quarter is for payers that have
/// none yet.
package final class SharedPlaces: Sendable {
    private let total: Int
    private let own: Int
    /// The taken places of each payer. Each has a check whether its client has left.
    private let taken = Mutex<(places: [Payer: [UInt64: @Sendable () -> Bool]], next: UInt64)>(([:], 0))

    /// - Parameters:
    ///   - total: The places for all payers together.
    ///   - own: The maximum number of places of one payer.
    package init(total: Int, own: Int) { (self.total, self.own) = (total, own) }

    /// A place, which is free again when this object ends.
    package final class Place: Sendable {
        private let places: SharedPlaces
        private let payer: Payer
        private let number: UInt64

        fileprivate init(_ places: SharedPlaces, _ payer: Payer, _ number: UInt64) {
            (self.places, self.payer, self.number) = (places, payer, number)
        }

        deinit { places.release(number, of: payer) }
    }

    /// Takes a place. Returns `nil` if the payer has its share already, or if too few are left.
    ///
    /// - Parameter hasLeft: Whether the client has left without releasing the place. It is called if no place is free, and the places of
    ///   clients that have left are then given to others.
    package func take(for payer: Payer, hasLeft: @escaping @Sendable () -> Bool = { false }) -> Place? {
        let number = taken.withLock { taken -> UInt64? in
            if !hasRoom(for: payer, in: taken.places) {
                for (payer, places) in taken.places { taken.places[payer] = places.filter { !$0.value() } }
                guard hasRoom(for: payer, in: taken.places) else { return nil }
            }
            taken.next += 1
            taken.places[payer, default: [:]][taken.next] = hasLeft
            return taken.next
        }
        return number.map { Place(self, payer, $0) }
    }

    private func hasRoom(for payer: Payer, in taken: [Payer: [UInt64: @Sendable () -> Bool]]) -> Bool {
        let count = taken[payer]?.count ?? 0
        let reserve = count == 0 ? 0 : total / 4
        return count < own && taken.values.reduce(0) { $0 + $1.count } < total - reserve
    }

    package func isShareUsed(by payer: Payer) -> Bool { taken.withLock { $0.places[payer]?.count ?? 0 >= own } }

    private func release(_ number: UInt64, of payer: Payer) {
        taken.withLock { taken in
            taken.places[payer]?[number] = nil
            if taken.places[payer]?.isEmpty == true { taken.places[payer] = nil }
        }
    }
}

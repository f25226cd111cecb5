import HealthModel

/// Follows the chain of repairs of a sample.
extension RepairTable {
    /// The maximum number of repairs of one reading. A longer chain is a cycle.
    static let longestChain = 1000

    /// Whether this repair made the sample or one it was made from.
    func wasRepaired(_ place: SampleKey, by repair: String) throws(StoreError) -> Bool {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let origin = try origin(of: place) else { return false }
            if try text(of: origin.migration) == repair { return true }
            place = origin.place
        }
        return false
    }

    /// Returns the reading as it was stored first.
    func root(of place: SampleKey) throws(StoreError) -> SampleKey {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let origin = try origin(of: place) else { break }
            place = origin.place
        }
        return place
    }

    /// Returns the final result of applied repairs, live or not, or the sample itself if there were none.
    func last(from place: SampleKey) throws(StoreError) -> SampleKey {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let next = try successor(of: place) else { break }
            place = next
        }
        return place
    }
}

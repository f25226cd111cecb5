import HealthModel

/// Follows the chain of repairs of a sample.
extension RepairTable {
    /// The maximum number of repairs of one reading. A longer chain is a cycle.
    static let maximumChainLength = 1000

    /// Whether this repair made the sample or one it was made from.
    func wasRepaired(_ key: SampleKey, by repair: String) throws(StoreError) -> Bool {
        var key = key
        for _ in 0..<Self.maximumChainLength {
            guard let origin = try origin(of: key) else { return false }
            if try text(of: origin.repairID) == repair { return true }
            key = origin.key
        }
        return false
    }

    /// Returns a sample and those it was made from, the reading as it was stored first at the end.
    func origins(of key: SampleKey) throws(StoreError) -> [SampleKey] {
        var keys = [key]
        while keys.count <= Self.maximumChainLength, let origin = try origin(of: keys[keys.count - 1]) { keys.append(origin.key) }
        return keys
    }

    /// Returns the reading as it was stored first.
    func root(of key: SampleKey) throws(StoreError) -> SampleKey { try origins(of: key).last ?? key }

    /// Returns the final result of applied repairs, live or not, or the sample itself if there were none.
    func last(from key: SampleKey) throws(StoreError) -> SampleKey {
        var key = key
        for _ in 0..<Self.maximumChainLength {
            guard let next = try successor(of: key) else { break }
            key = next
        }
        return key
    }
}

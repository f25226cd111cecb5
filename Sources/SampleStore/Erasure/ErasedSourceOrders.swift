import HealthModel

/// The source orders when a person is erased. The person's own orders are removed, and names that no longer exist are
/// removed from other orders.
struct ErasedSourceOrders {
    private let connection: Connection
    private let person: String
    private let words: [String]
    /// The names of all sources and devices before the erasure.
    private let known: Set<String>

    init(_ connection: Connection, person: String, words: [String]) throws(StoreError) {
        (self.connection, self.person, self.words) = (connection, person, words)
        known = try connection.series.allNames()
    }

    /// Updates the orders. Call this after all other data is removed.
    func finish() throws(StoreError) {
        let removed = known.subtracting(try connection.series.allNames())
        let words = words.map { $0.lowercased() }
        let prefix = SampleStore.Sources.sourceOrderPrefix
        for order in try connection.settings.values(withPrefix: prefix) {
            let names = order.text.split(separator: "\n").map(String.init)
            let remaining = names.filter { name in
                let name = name.lowercased()
                return !removed.contains(name) && !words.contains { name.contains($0) }
            }
            if remaining.isEmpty || order.name.hasPrefix("\(prefix)\(person)/") {
                try connection.settings.remove(order.name)
            } else if remaining != names {
                try connection.settings.set(order.name, to: .text(remaining.joined(separator: "\n")))
            }
        }
    }
}

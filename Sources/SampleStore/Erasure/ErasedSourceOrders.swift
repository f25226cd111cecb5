import HealthModel

/// The source orders when a person is erased. The person's own orders are removed, and names that no longer exist are
/// removed from other orders.
struct ErasedSourceOrders {
    private let connection: Connection
    private let subject: String
    private let words: [String]
    /// The names of all sources and devices before the erasure.
    private let known: Set<String>

    init(_ connection: Connection, subject: String, words: [String]) throws(StoreError) {
        (self.connection, self.subject, self.words) = (connection, subject, words)
        known = try connection.series.allNames()
    }

    /// Updates the orders. Call this after all other data is removed.
    func finish() throws(StoreError) {
        let gone = known.subtracting(try connection.series.allNames())
        let words = words.map { $0.lowercased() }
        let prefix = SampleStore.Sources.sourceOrderPrefix
        for order in try connection.settings.values(withPrefix: prefix) {
            let names = order.text.split(separator: "\n").map(String.init)
            let kept = names.filter { name in
                let name = name.lowercased()
                return !gone.contains(name) && !words.contains { name.contains($0) }
            }
            if kept.isEmpty || order.name.hasPrefix("\(prefix)\(subject)/") {
                try connection.settings.remove(order.name)
            } else if kept != names {
                try connection.settings.set(order.name, to: .text(kept.joined(separator: "\n")))
            }
        }
    }
}

import HealthModel

/// Finds the order of day, month and year in a file's dates. One day above 12 decides it for the whole file.
struct DateOrders: Sendable {
    /// The orders that fit every date so far.
    private(set) var possible = Set(DateOrder.allCases)
    private var seen = false

    /// Notes the orders in which one date can be read. An empty set is ignored.
    mutating func note(_ orders: Set<DateOrder>) {
        guard !orders.isEmpty else { return }
        seen = true
        possible.formIntersection(orders)
    }

    var decided: DateOrder? { seen && possible.count == 1 ? possible.first : nil }
    /// Whether two dates exclude each other, for example because another program rewrote some of them.
    var isContradictory: Bool { possible.isEmpty }
}

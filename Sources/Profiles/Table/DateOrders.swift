import HealthModel

/// Finds out in which order a file writes the numbers of its dates: one day above 12 settles it for all.
struct DateOrders: Sendable {
    /// Orders that fit every date seen so far.
    private(set) var possible = Set(DateOrder.allCases)
    private var seen = false

    /// Notes the orders that one date can be read in; a text that is no date says nothing.
    mutating func note(_ orders: Set<DateOrder>) {
        guard !orders.isEmpty else { return }
        seen = true
        possible.formIntersection(orders)
    }

    /// The one order that is left.
    var decided: DateOrder? { seen && possible.count == 1 ? possible.first : nil }
    /// Two dates exclude one another: some program rewrote a part of them.
    var isContradictory: Bool { possible.isEmpty }
}

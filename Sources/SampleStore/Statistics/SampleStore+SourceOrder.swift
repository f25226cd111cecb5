import HealthModel

extension SampleStore.Sources {
    /// The prefix of the settings that contain orders.
    static let sourceOrderPrefix = "sources/"

    /// Returns the setting's name. Type ids and subjects contain no slash.
    private static func setting(_ person: String?, _ type: SampleType?) -> String {
        "\(sourceOrderPrefix)\(person ?? "*")/\(type?.id ?? "*")"
    }

    /// Sets an order, or removes it if it has no names.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if there are too many names, or a name is too long or contains a line break.
    public func set(_ order: SourceOrder) throws {
        guard order.isValid else {
            throw StoreError(.invalid, "an order of sources has at most 64 names, each at most 400 bytes in one line")
        }
        let setting = Self.setting(order.person, order.type)
        try connection.transaction {
            guard !order.names.isEmpty else { return try connection.settings.remove(setting) }
            try connection.settings.set(setting, to: .text(order.names.joined(separator: "\n")))
        }
    }

    /// Returns all orders, with some names after those for all people and types.
    public func orders(before named: [String]) throws(StoreError) -> [SourceOrder] {
        var orders = try orders()
        guard !named.isEmpty else { return orders }
        let general = orders.last { $0.person == nil && $0.type == nil }?.names ?? []
        orders.removeAll { $0.person == nil && $0.type == nil }
        return orders + [SourceOrder(names: Array((general + named).prefix(SourceOrder.maximumNames)))]
    }

    /// Returns all orders, most specific first. Orders for a person come before those for everybody, and orders for a type before those for
    /// all types.
    public func orders() throws(StoreError) -> [SourceOrder] {
        var orders: [SourceOrder] = []
        for setting in try connection.settings.values(withPrefix: Self.sourceOrderPrefix) {
            let parts = setting.name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let type = SampleType(String(parts[2]))
            // Orders for unknown types are ignored.
            guard type != nil || parts[2] == "*" else { continue }
            orders.append(
                SourceOrder(
                    person: parts[1] == "*" ? nil : String(parts[1]), type: type,
                    names: setting.text.split(separator: "\n").map(String.init)))
        }
        return orders.sorted { Self.closeness($0) > Self.closeness($1) }
    }

    private static func closeness(_ order: SourceOrder) -> Int { (order.person == nil ? 0 : 2) + (order.type == nil ? 0 : 1) }

    /// Sorts series by priority, best first. The orders for their type and person come first, then `named`, then the default priority.
    ///
    /// - Parameter named: Sources and devices by id or name.
    func sorted(_ series: [SeriesDescription], by named: [String]) throws(StoreError) -> [SeriesDescription] {
        let orders = try orders()
        var ranked: [(rank: Int, series: SeriesDescription)] = []
        for series in series {
            ranked.append((Self.priority(of: series, orders, named).rank(of: try names(of: series)), series))
        }
        // The order in which sources were first seen must not matter.
        return ranked.sorted { one, other in
            guard one.rank == other.rank else { return one.rank < other.rank }
            return (one.series.source, one.series.device, one.series.id) < (
                other.series.source, other.series.device, other.series.id
            )
        }.map(\.series)
    }

    /// Returns the position of each series in the user's order. Those that no order names share the next position, and
    /// clients the last one.
    ///
    /// - Parameters:
    ///   - series: Series of one type and person.
    ///   - named: Sources and devices by id or name, after the orders.
    func positions(_ series: [SeriesDescription], by named: [String]) throws(StoreError) -> [Int] {
        let orders = try orders()
        var positions: [Int] = []
        for series in series {
            positions.append(Self.priority(of: series, orders, named).position(of: try names(of: series)))
        }
        return positions
    }

    private static func priority(of series: SeriesDescription, _ orders: [SourceOrder], _ named: [String]) -> SourcePriority {
        let own = orders.filter { ($0.person ?? series.person) == series.person && ($0.type ?? series.type) == series.type }
        return SourcePriority(own.flatMap(\.names) + named)
    }

    /// Returns the series of a query by priority, as in statistics.
    ///
    /// - Parameter named: Additional sources and devices in order of priority.
    public func seriesByPriority(matching query: SampleQuery, _ named: [String]) throws(StoreError) -> [SeriesDescription] {
        try sorted(try store.samples.series(matching: query), by: named)
    }
}

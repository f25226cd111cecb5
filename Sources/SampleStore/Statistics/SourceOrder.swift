import HealthModel

/// An order of sources that a person chose: which counts where several tell of the same time.
public struct SourceOrder: Hashable, Sendable {
    /// Whose samples it is for; `nil` for everybody's.
    public var subject: String?
    /// For which type's samples; `nil` for all types'.
    public var type: SampleType?
    /// Sources and devices by id or name, the best first.
    public var names: [String]

    /// Puts it together.
    public init(subject: String? = nil, type: SampleType? = nil, names: [String]) {
        (self.subject, self.type, self.names) = (subject, type, names)
    }
}

extension SampleStore {
    /// The longest order, and the longest name in it, in octets.
    public static let longestSourceOrder = (names: 64, name: 400)

    /// What settings begin with that have an order.
    static let sourceOrderPrefix = "sources/"

    /// The setting that has an order; types' ids and subjects have no stroke.
    private static func setting(_ subject: String?, _ type: SampleType?) -> String {
        "\(sourceOrderPrefix)\(subject ?? "*")/\(type?.id ?? "*")"
    }

    /// Sets which of several sources counts, or forgets it where no names are given.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` for too many names, too long ones, and such as have a line break in them.
    public func set(_ order: SourceOrder) throws {
        guard order.names.count <= Self.longestSourceOrder.names,
            order.names.allSatisfy({ name in
                !name.isEmpty && name.utf8.count <= Self.longestSourceOrder.name
                    && !name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
            })
        else { throw StoreError(.invalid, "an order of sources has at most 64 names of at most 400 octets, each in one line") }
        let setting = Self.setting(order.subject, order.type)
        try connection.transaction {
            try connection.run("DELETE FROM setting WHERE name = ?", .text(setting))
            guard !order.names.isEmpty else { return }
            try connection.run(
                "INSERT INTO setting VALUES(?, ?)", .text(setting), .text(order.names.joined(separator: "\n")))
        }
    }

    /// The orders that were set, the closest first: a type's and a person's before those of all types or of everybody.
    public func sourceOrders() throws(StoreError) -> [SourceOrder] {
        let statement = try connection.statement(
            "SELECT name, value FROM setting WHERE name > '\(Self.sourceOrderPrefix)' AND name < 'sources0' ORDER BY name")
        defer { statement.reset() }
        var orders: [SourceOrder] = []
        while try statement.step() {
            let parts = statement.text(0).split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let type = SampleType(String(parts[2]))
            // A type that this version does not know orders nothing.
            guard type != nil || parts[2] == "*" else { continue }
            orders.append(
                SourceOrder(
                    subject: parts[1] == "*" ? nil : String(parts[1]), type: type,
                    names: statement.text(1).split(separator: "\n").map(String.init)))
        }
        return orders.sorted { Self.closeness($0) > Self.closeness($1) }
    }

    private static func closeness(_ order: SourceOrder) -> Int { (order.subject == nil ? 0 : 2) + (order.type == nil ? 0 : 1) }

    /// Series in the order in which they count, the best first: by what was set for their type and person, then by `named`, then by what
    /// they are.
    ///
    /// - Parameter named: sources and devices by id or name.
    func sorted(_ series: [SeriesDescription], by named: [String]) throws(StoreError) -> [SeriesDescription] {
        let orders = try sourceOrders()
        var ranked: [(rank: Int, series: SeriesDescription)] = []
        for series in series {
            let own = orders.filter {
                ($0.subject ?? series.subject) == series.subject && ($0.type ?? series.type) == series.type
            }
            let priority = SourcePriority(own.flatMap(\.names) + named)
            ranked.append((priority.rank(of: try names(of: series)), series))
        }
        return ranked.sorted { ($0.rank, $0.series.id) < ($1.rank, $1.series.id) }.map(\.series)
    }

    /// The series of a query, those first that count where several tell of the same time, as in statistics.
    ///
    /// - Parameter named: sources and devices that a person put in an order of their own.
    public func seriesByPriority(matching query: SampleQuery, _ named: [String]) throws(StoreError) -> [SeriesDescription] {
        try sorted(try series(matching: query), by: named)
    }
}

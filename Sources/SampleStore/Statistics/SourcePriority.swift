import HealthModel

/// Which of several sources counts where they tell of the same time.
///
/// The order that a person configured goes first; what it does not name follows: what is worn (a watch, a band, a ring) before anything
/// else, a phone after them, what a client saved last, and among equals the one that was there first.
struct SourcePriority {
    private let named: [String]

    init(_ named: [String]) { self.named = named.map { $0.lowercased() } }

    /// The place of a series that goes by these names; the lowest is the best.
    func rank(of names: [String]) -> Int {
        let names = names.map { $0.lowercased() }
        if let place = named.firstIndex(where: names.contains) { return place }
        if names.contains(where: Client.isSource) { return named.count + 3 }
        let words = names.flatMap { $0.split { !$0.isLetter } }
        if words.contains(where: { ["watch", "band", "ring", "wrist", "whoop", "fitbit"].contains($0) }) { return named.count }
        if words.contains(where: { ["phone", "iphone", "pixel", "galaxy", "ipad"].contains($0) }) { return named.count + 2 }
        return named.count + 1
    }
}

extension SampleStore {
    /// Names by which a person may mean a series: source, device, model.
    func names(of series: SeriesDescription) throws(StoreError) -> [String] {
        let statement = try connection.statement(
            """
            SELECT source_name, device_name, model FROM origin WHERE id = (SELECT origin FROM context WHERE id =
                (SELECT context FROM sample WHERE series = ? LIMIT 1))
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series.id)])
        guard try statement.step() else { return [series.source] }
        return [series.source, series.device, statement.text(0), statement.text(1), statement.text(2)].filter { !$0.isEmpty }
    }
}

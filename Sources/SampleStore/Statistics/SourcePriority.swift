import HealthModel

/// The priority of sources that cover the same time.
///
/// The user's order comes first. For other sources, wearables (a watch, a band, a ring) come first, phones after the rest, and sources of
/// clients last. Among equals the older series is preferred.
struct SourcePriority {
    private let named: [String]

    init(_ named: [String]) { self.named = named.map { $0.lowercased() } }

    /// Returns the rank of a series with these names. The lowest is the best.
    func rank(of names: [String]) -> Int {
        let position = position(of: names)
        guard position >= named.count else { return position }
        guard position == named.count else { return named.count + 3 }
        let names = names.map { $0.lowercased() }
        let words = names.flatMap { $0.split { !$0.isLetter } }
        if words.contains(where: { ["watch", "band", "ring", "wrist", "whoop", "fitbit"].contains($0) }) { return named.count }
        if words.contains(where: { ["phone", "iphone", "pixel", "galaxy", "ipad"].contains($0) }) { return named.count + 2 }
        return named.count + 1
    }

    /// Returns the position of a series with these names in the user's order. All others share the next position, and clients the last one.
    func position(of names: [String]) -> Int {
        let names = names.map { $0.lowercased() }
        return named.firstIndex(where: names.contains) ?? named.count + (names.contains(where: ClientSource.contains) ? 1 : 0)
    }
}

extension SampleStore.Sources {
    /// Returns the names that a user may use for a series: source, device, and model.
    func names(of series: SeriesDescription) throws(StoreError) -> [String] {
        guard let names = try connection.series.names(ofSeries: series.id) else { return [series.source] }
        return [series.source, series.device, names.source, names.device, names.model].compactMap(\.self).filter { !$0.isEmpty }
    }
}

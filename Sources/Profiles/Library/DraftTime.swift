import HealthModel

/// The columns and the format of a file's times, guessed from its cells.
struct DraftTime {
    /// One column, or one with the date and one with the time of day. Empty if no column looks like a time.
    let columns: [Int]
    /// All patterns that fit every cell. There are several if day and month are ambiguous.
    let patterns: [String]

    /// - Parameter columns: each column's cells, without the empty ones.
    init(columns: [[String]]) {
        for (index, cells) in columns.enumerated() {
            if let patterns = Self.patterns(of: cells) {
                (self.columns, self.patterns) = ([index], patterns)
                return
            }
        }
        // A date or a time of day alone is not enough, but both together are a time.
        let dates = columns.indices.filter { Self.patterns(of: columns[$0].map { "\($0) 00:00" }) != nil }
        let hours = columns.indices.filter { Self.patterns(of: columns[$0].map { "2000-01-01 \($0)" }) != nil }
        if let date = dates.first, let hour = hours.first(where: { $0 > date }) ?? hours.first,
            let days = Self.patterns(of: columns[date].map { "\($0) 00:00" }),
            let times = Self.patterns(of: columns[hour].map { "2000-01-01 \($0)" })
        {
            self.columns = [date, hour]
            patterns = days.flatMap { day in times.map { "\(day.dropLast(6)) \($0.dropFirst(11))" } }
            return
        }
        self.columns = []
        patterns = [ProfileSuggestion.open]
    }

    private static let days = [
        "yyyy-MM-dd", "dd-MM-yyyy", "MM-dd-yyyy", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy/MM/dd", "dd.MM.yy", "dd/MM/yy",
        "MM/dd/yy", "MMM d, yyyy", "d MMM yyyy",
    ]
    /// Patterns without leading zeros, used only if the others do not fit.
    private static let shortDays = ["yyyy-M-d", "d-M-yyyy", "M-d-yyyy", "d.M.yyyy", "d/M/yyyy", "M/d/yyyy", "yyyy/M/d", "d.M.yy"]
    private static let hours = ["HH:mm", "HH:mm:ss", "h:mm a", "h:mm:ss a"]

    private static func patterns(of cells: [String]) -> [String]? {
        guard !cells.isEmpty else { return nil }
        for days in [days, shortDays] {
            let candidates = days.flatMap { day in hours.map { "\(day) \($0)" } }
            let fitting = candidates.filter { fits($0, cells) }
            if !fitting.isEmpty { return fitting }
        }
        return fits("iso8601", cells) ? ["iso8601"] : nil
    }

    private static func fits(_ text: String, _ cells: [String]) -> Bool {
        guard let pattern = try? TimePattern(text) else { return false }
        return cells.allSatisfy { cell in Array(cell.utf8).withUnsafeBytes { pattern.parse($0) } != nil }
    }
}

import HealthModel

/// Where a file's times stand and how they are written, as far as its cells show.
struct DraftTime {
    /// One column, or a date's and an hour's; none where nothing looks like a time.
    let columns: [Int]
    /// All that every cell fits: several where day and month may be either way round.
    let patterns: [String]

    /// - Parameter columns: each column's cells, without the empty ones.
    init(columns: [[String]]) {
        for (index, cells) in columns.enumerated() {
            if let patterns = Self.patterns(of: cells) {
                (self.columns, self.patterns) = ([index], patterns)
                return
            }
        }
        // A date alone and an hour alone are no times; together they are.
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
    /// Without leading noughts; only where the others do not fit.
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

/// The positions of a channel's columns in one file.
struct HeaderBinding: Sendable {
    /// The index of each column's cell, or -1 if the file has no such column.
    let cells: [Int]
    /// The spelling of the unit in each column's name.
    let units: [String?]
    /// The column names in the file.
    let names: [String?]
    /// The names of all columns in the file.
    let header: [String]
    let width: Int
    /// The number of columns that were found.
    let score: Int
    /// The name of a column that occurs twice, which makes it ambiguous.
    let doubled: String?

    /// Finds the columns in a header. Returns nil if a required column is missing.
    init?(_ columns: [ColumnRule], header: [String], spellings: [String]) {
        // Longer spellings come first, so that `mmol/L` is not taken for `mm…`.
        let spellings = spellings.sorted { $0.count > $1.count || ($0.count == $1.count && $0 < $1) }
        var cells: [Int] = []
        var units: [String?] = []
        var names: [String?] = []
        for column in columns {
            var found = -1
            var unit: String?
            let candidates = column.position.map { [$0] } ?? Array(header.indices)
            var before = (column.nth ?? 1) - 1
            search: for index in candidates where header.indices.contains(index) {
                if column.patterns.isEmpty {
                    found = index
                    break
                }
                for pattern in column.patterns {
                    if case .found(let spelling) = pattern.match(header[index], spellings: spellings) {
                        if before > 0 {
                            before -= 1
                            continue search
                        }
                        (found, unit) = (index, spelling)
                        break search
                    }
                }
            }
            if found < 0, column.isRequired { return nil }
            cells.append(found)
            units.append(unit)
            names.append(found < 0 ? nil : HeaderPattern.trimmed(header[found]))
        }
        self.cells = cells
        self.units = units
        self.names = names
        self.header = header.map(HeaderPattern.trimmed)
        width = header.count
        doubled = Self.doubled(columns, cells, header)
        score = cells.count { $0 >= 0 }
        if score == 0 { return nil }
    }

    /// Creates the binding of a JSON channel. Its cells have the order of the columns.
    init(paths columns: [ColumnRule]) {
        cells = Array(columns.indices)
        units = columns.map { _ in nil }
        names = columns.map(\.path)
        header = columns.map { $0.path ?? "" }
        width = columns.count
        doubled = nil
        score = columns.count
    }

    private static func doubled(_ columns: [ColumnRule], _ cells: [Int], _ header: [String]) -> String? {
        let names = header.map { HeaderPattern.trimmed($0).lowercased() }
        for (column, cell) in zip(columns, cells) where cell >= 0 && column.position == nil && column.nth == nil {
            if names.indices.contains(where: { $0 != cell && names[$0] == names[cell] }) {
                return HeaderPattern.trimmed(header[cell])
            }
        }
        return nil
    }

    func has(_ column: Int) -> Bool { cells[column] >= 0 }

    /// Whether a time can be read from this file's columns.
    func has(_ time: TimeRule) -> Bool {
        time.columns.allSatisfy(has) && (time.elapsed.map(has) ?? true)
    }
}

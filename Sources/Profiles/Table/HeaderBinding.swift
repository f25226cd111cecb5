/// Where a channel's columns stand in one file.
struct HeaderBinding: Sendable {
    /// Index of each column's cell; -1 where the file has no such column.
    let cells: [Int]
    /// The spelling of the unit in each column's name.
    let units: [String?]
    /// Names as they stand in the file.
    let names: [String?]
    /// Every column's name as it stands in the file.
    let header: [String]
    /// Cells of the header.
    let width: Int
    /// Columns that were found.
    let score: Int
    /// The name of a column that stands there twice: which of both is meant, nobody can say.
    let doubled: String?

    /// Finds the columns in a header; nothing where one that is required is missing.
    init?(_ columns: [ColumnRule], header: [String], spellings: [String]) {
        // Longer spellings first, so that `mmol/L` is not taken for `mm…`.
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

    /// The binding of a JSON channel: cells come in the order of the columns.
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

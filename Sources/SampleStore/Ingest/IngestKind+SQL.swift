import HealthModel

extension IngestKind {
    /// As a literal of SQL.
    var literal: String { "'\(rawValue)'" }

    /// Those that bring readings, as a list of SQL.
    static let bringing = "(\(IngestKind.import.literal), \(IngestKind.live.literal))"
}

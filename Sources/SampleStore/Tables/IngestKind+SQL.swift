import HealthModel

extension IngestKind {
    /// The kind as an SQL literal.
    var literal: String { "'\(rawValue)'" }

    /// The kinds that add readings, as an SQL list.
    static let bringing = "(\(IngestKind.import.literal), \(IngestKind.live.literal))"
}

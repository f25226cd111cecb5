import Formats
import HealthModel
import SampleStore

/// A field of a report: a field of its lines of NDJSON, and a column of its table and CSV.
struct Field<Row> {
    /// The name in NDJSON, or `nil` if the field is only a column.
    private(set) var name: String?
    /// The header of the column, or `nil` if the field is only in NDJSON.
    private(set) var header: String?
    private(set) var value: (Row) -> (any JSONRepresentable)?
    /// The text in the column, or `nil` for the text of the value.
    private(set) var cell: ((Row) -> String)?

    /// A field of both forms.
    ///
    /// - Parameters:
    ///   - header: The header of the column, or `nil` if it is the name.
    ///   - cell: The text in the column, or `nil` for the text of the value.
    init(
        _ name: String, _ header: String? = nil, cell: ((Row) -> String)? = nil,
        value: @escaping (Row) -> (any JSONRepresentable)?
    ) {
        (self.name, self.header, self.value, self.cell) = (name, header ?? name, value, cell)
    }

    static func json(_ name: String, _ value: @escaping (Row) -> (any JSONRepresentable)?) -> Field {
        var field = Field(name, value: value)
        field.header = nil
        return field
    }

    static func column(_ header: String, _ cell: @escaping (Row) -> String) -> Field {
        var field = Field(header, cell: cell) { _ in nil }
        field.name = nil
        return field
    }

    static func person(_ names: [String: String], _ store: SampleStore, _ person: @escaping (Row) -> String) -> Field {
        Field("subject", "person", cell: { names[person($0)] ?? person($0) }, value: { store.subject(person($0)) })
    }

    func text(of row: Row, _ local: (Instant) throws -> String) rethrows -> String {
        if let cell { return cell(row) }
        return switch value(row) {
        case let instant as Instant: try local(instant)
        case let isTrue as Bool: isTrue ? "yes" : ""
        case let list as [String]: list.joined(separator: ", ")
        case let other: other?.text ?? ""
        }
    }
}

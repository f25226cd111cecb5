import Formats
import HealthModel
import Pipeline

/// CSV with a row for each moment of a source and device, and a column for each quantity type: for spreadsheets and statistics.
///
/// Two readings of one type at one moment are two rows: nothing is averaged, nothing is lost.
final class WideText: SampleText {
    private let context: ExportContext
    private let columns: [SampleType: Int]
    private let names: [String]
    private let csv = CSVWriter()
    /// The rows of the current moment.
    private var rows: [Row] = []
    private var start: Instant?

    private struct Row {
        var origin: Origin
        var end: Instant
        var zone: ZoneOffset?
        var cells: [String?]
    }

    private static let head = ["start", "end", "zone", "subject", "source.name", "device.name"]

    init(_ context: ExportContext, _ types: [SampleType]) {
        self.context = context
        let sorted = Set(types).filter { $0.kind == .quantity }.sorted { $0.id < $1.id }
        columns = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
        names = sorted.map { "\($0.id) [\(context.unit(of: $0).code)]" }
    }

    func begin(_ bytes: inout [UInt8]) { csv.append(row: Self.head + names, to: &bytes) }

    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) -> WriteOutcome {
        let sample = stored.sample
        guard let column = columns[sample.origin.type] else { return .leftOut("a table has columns only for quantities") }
        if start != sample.start { flush(to: &bytes) }
        start = sample.start
        let row = rows.firstIndex {
            $0.end == sample.end && $0.cells[column] == nil && $0.origin.person == sample.origin.person
                && $0.origin.source.id == sample.origin.source.id && $0.origin.device?.key == sample.origin.device?.key
        }
        if row == nil {
            rows.append(
                Row(origin: sample.origin, end: sample.end, zone: sample.zone, cells: Array(repeating: nil, count: names.count)))
        }
        rows[row ?? rows.count - 1].cells[column] = context.quantity(of: sample).value.description
        return .written
    }

    func end(_ bytes: inout [UInt8]) { flush(to: &bytes) }

    private func flush(to bytes: inout [UInt8]) {
        guard let start else { return }
        for row in rows {
            let person = row.origin.person == context.me ? "me" : row.origin.person
            let head = [
                start.description, row.end.description, row.zone?.description ?? "", person, row.origin.source.name,
                row.origin.device?.name ?? "",
            ]
            csv.append(row: head + row.cells.map { $0 ?? "" }, to: &bytes)
        }
        rows.removeAll(keepingCapacity: true)
    }
}

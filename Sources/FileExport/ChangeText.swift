import Formats
import HealthModel
import Pipeline

/// Changes as text: NDJSON lines, CSV rows with the kind of change in the first cell, or Open mHealth data points.
final class ChangeText {
    private let form: FileExporter.Form
    private let context: ExportContext
    private let line: ChangeLine
    private let point = DataPointLine()
    private let csv = CSVWriter()

    init(_ form: FileExporter.Form, _ context: ExportContext) {
        (self.form, self.context) = (form, context)
        line = ChangeLine(me: context.me, withContent: true)
    }

    /// The text at the start of a file.
    var head: [UInt8] {
        guard form == .csv else { return [] }
        var bytes: [UInt8] = []
        csv.append(row: ["change"] + SampleCells.columns + ["replacedBy", "anchor"], to: &bytes)
        return bytes
    }

    /// - Returns: false if the format cannot represent the change. Nothing is appended then.
    func append(_ change: SampleChange, anchor: String, to bytes: inout [UInt8]) -> Bool {
        switch form {
        case .ndjson: line.append(change, anchor: anchor, in: context.wantedQuantity, to: &bytes)
        case .openMHealth: return point.append(change, to: &bytes)
        case .csv: append(row: change, anchor: anchor, to: &bytes)
        }
        return true
    }

    private func append(row change: SampleChange, anchor: String, to bytes: inout [UInt8]) {
        switch change {
        case .added(let stored): csv.append(row: ["added"] + cells(stored) + ["", anchor], to: &bytes)
        case .deleted(let deletion):
            let stored = StoredSample(sample: deletion.sample, ingest: deletion.ingest, seq: deletion.seq)
            csv.append(row: ["deleted"] + cells(stored) + [deletion.replacedBy ?? "", anchor], to: &bytes)
        }
    }

    private func cells(_ stored: StoredSample) -> [String] {
        let (value, unit) = context.quantity(of: stored.sample)
        return SampleCells.cells(stored, value: value, unit: unit, me: context.me)
    }
}

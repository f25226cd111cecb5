import Formats
import HealthModel
import Pipeline

/// Writes samples into one file, once:
///
///     let writer = try SampleFileWriter(path: "me.csv.zst", form: .csv, context: context, types: types)
///     while let stored = try cursor.next() { try writer.append(stored) }
///     let counts = try writer.finish()
///
/// An existing file is not overwritten, and an unfinished file is removed.
package final class SampleFileWriter {
    package enum Form: String, Sendable, CaseIterable {
        /// A line of JSON each, as `query` prints it, and with all that its object carries: points, resources, documents.
        case ndjson
        /// A row each, as `query --format csv` prints it.
        case csv
        /// A row each moment, with a column for each type.
        case wide
        /// A ``ReadingTable``, for a doctor.
        case report
        /// What Apple's Health app makes under “Export All Health Data”: its `export.xml`, or the ZIP around it.
        case appleHealth = "apple-health"
    }

    package struct Counts: Hashable, Sendable {
        package var written = 0
        /// The number of samples that the format cannot represent, by reason.
        package var reasons: [String: Int] = [:]
        /// The total of these numbers.
        package var leftOut: Int { reasons.values.reduce(0, +) }
    }

    /// Returns a sample, or `nil` if it does not exist.
    package typealias Lookup = (SampleIdentity) throws -> StoredSample?
    /// Returns the value of an object that has no number of its own, such as `124/79`, with its unit. `nil` for other samples.
    package typealias Value = (Sample) throws -> (text: String, unit: Unit)?

    private let file: OutputFile
    private let text: any SampleText
    private var counts = Counts()

    /// - Parameters:
    ///   - path: `.zst` at its end has it packed, and `.zip` for ``Form/appleHealth``.
    ///   - types: all that come, for the columns of ``Form/wide``.
    ///   - characteristics: what is so of the person, which only ``Form/appleHealth`` has a place for.
    ///   - value: the values of objects, for ``Form/csv``.
    ///   - member: finds what belongs to a correlation or workout, which ``Form/appleHealth`` writes into it.
    /// - Throws: ``ExportFileError``.
    package init(
        path: String, form: Form, context: ExportContext, types: [SampleType], characteristics: [Characteristic] = [],
        value: @escaping Value = { _ in nil }, member: @escaping Lookup = { _ in nil }
    ) throws(ExportFileError) {
        text =
            switch form {
            case .ndjson: LineText(context)
            case .csv: RowText(context, value)
            case .wide: WideText(context, types)
            case .report: ReportText(context)
            case .appleHealth: AppleHealthText(context, characteristics, member, isArchive: path.hasSuffix(".zip"))
            }
        let packing: OutputFile.Packing
        if path.hasSuffix(".zst") {
            packing = .zstandard
        } else if path.hasSuffix(".zip") {
            guard form == .appleHealth else { throw ExportFileError("\(path): only apple-health writes ZIP files: use .zst") }
            packing = .zip(member: AppleHealthText.folder + "export.xml")
        } else {
            packing = .none
        }
        file = try OutputFile(path: path, packing: packing, time: context.now().microseconds / 1_000_000)
        try file.write { text.begin(&$0) }
    }

    /// Returns the format that a file's name suggests, or `nil`.
    package static func form(of path: String) -> Form? {
        let name = path.hasSuffix(".zst") ? path.dropLast(4) : path[...]
        if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") { return .ndjson }
        if name.hasSuffix(".csv") { return .csv }
        return name.hasSuffix(".xml") || name.hasSuffix(".zip") ? .appleHealth : nil
    }

    /// Adds a sample. Samples come in the order of their start.
    ///
    /// - Throws: ``ExportFileError``, or an error of the member lookup.
    package func append(_ stored: StoredSample) throws {
        var outcome = Result<WriteOutcome, any Error>.success(.written)
        try file.write { bytes in outcome = Result { try text.append(stored, to: &bytes, spill: file.spill) } }
        count(try outcome.get(), 1)
    }

    private func count(_ outcome: WriteOutcome, _ number: Int) {
        switch outcome {
        case .written: counts.written += number
        case .leftOut(let reason): counts.reasons[reason, default: 0] += number
        case .later: break
        }
    }

    /// Gives the file its name once it is complete and on the disk.
    ///
    /// - Throws: ``ExportFileError``, or an error of the member lookup.
    package func finish() throws -> Counts {
        try file.write { text.end(&$0) }
        for (outcome, number) in text.late { count(outcome, number) }
        try text.writeMembers(into: file)
        try file.finish()
        return counts
    }
}

enum WriteOutcome: Hashable {
    case written
    /// Written with another sample, or separately at the end (``SampleText/late``).
    case later
    case leftOut(String)
}

protocol SampleText: AnyObject {
    func begin(_ bytes: inout [UInt8])
    /// - Parameter spill: writes the text so far if it is large, because an object may be larger than the memory should be.
    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws -> WriteOutcome
    func end(_ bytes: inout [UInt8])
    /// The results of samples that were postponed, and their numbers. Valid after ``end(_:)``.
    var late: [(outcome: WriteOutcome, count: Int)] { get }
    /// Further members of an archive.
    func writeMembers(into file: OutputFile) throws
}

extension SampleText {
    var late: [(outcome: WriteOutcome, count: Int)] { [] }
    func writeMembers(into file: OutputFile) throws {}
}

private final class LineText: SampleText {
    private let context: ExportContext
    private let line: SampleLine

    init(_ context: ExportContext) { (self.context, line) = (context, SampleLine(me: context.me, withContent: true)) }

    func begin(_ bytes: inout [UInt8]) {}
    func end(_ bytes: inout [UInt8]) {}

    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) -> WriteOutcome {
        let wanted = context.wantedQuantity(of: stored.sample)
        line.append(
            stored.sample, ingest: stored.ingest, seq: stored.seq, value: wanted?.value, unit: wanted?.unit, to: &bytes)
        return .written
    }
}

/// Rows of a table for people.
private final class ReportText: SampleText {
    private var table: ReadingTable

    init(_ context: ExportContext) { table = ReadingTable(zone: context.zone) }

    func begin(_ bytes: inout [UInt8]) { table.begin(&bytes) }
    func end(_ bytes: inout [UInt8]) {}

    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) -> WriteOutcome {
        guard stored.sample.origin.kind == .quantity else { return .leftOut("a report has rows only for quantities") }
        table.append(stored.sample, to: &bytes)
        return .written
    }
}

private final class RowText: SampleText {
    private let context: ExportContext
    private let value: SampleFileWriter.Value
    private let csv = CSVWriter()

    init(_ context: ExportContext, _ value: @escaping SampleFileWriter.Value) { (self.context, self.value) = (context, value) }

    func begin(_ bytes: inout [UInt8]) { csv.append(row: SampleCells.columns, to: &bytes) }
    func end(_ bytes: inout [UInt8]) {}

    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws -> WriteOutcome {
        let (number, unit) = context.quantity(of: stored.sample)
        let own = try value(stored.sample)
        csv.append(
            row: SampleCells.cells(stored, value: number, text: own?.text, unit: own?.unit ?? unit, me: context.me), to: &bytes)
        return .written
    }
}

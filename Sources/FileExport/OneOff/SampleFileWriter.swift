import Formats
import HealthModel
import Pipeline

/// Writes samples into one file, once:
///
///     let writer = try SampleFileWriter(path: "me.csv.zst", form: .csv, context: context, types: types)
///     while let stored = try cursor.next() { try writer.append(stored) }
///     let counts = try writer.finish()
///
/// What is there already is not overwritten, and a file that is not finished leaves nothing.
public final class SampleFileWriter {
    /// What the file is.
    public enum Form: String, Sendable, CaseIterable {
        /// A line of JSON each, as `query` prints it.
        case ndjson
        /// A row each, as `query --format csv` prints it.
        case csv
        /// A row each moment, with a column for each type.
        case wide
        /// What Apple's Health app makes under “Export All Health Data”: its `export.xml`, or the ZIP around it.
        case appleHealth = "apple-health"
    }

    /// What became of the samples.
    public struct Counts: Hashable, Sendable {
        /// In the file.
        public var written = 0
        /// Of types that the form has no place for.
        public var leftOut = 0
    }

    /// Finds a sample; `nil` where there is none, or no more.
    public typealias Lookup = (SampleIdentity) throws -> StoredSample?

    private let file: OutputFile
    private let text: any SampleText
    private var counts = Counts()

    /// - Parameters:
    ///   - path: `.zst` at its end has it packed, and `.zip` for ``Form/appleHealth``.
    ///   - types: all that come, for the columns of ``Form/wide``.
    ///   - member: finds what belongs to a correlation, which ``Form/appleHealth`` writes into it.
    /// - Throws: ``ExportFileError``.
    public init(
        path: String, form: Form, context: ExportContext, types: [SampleType], member: @escaping Lookup = { _ in nil }
    ) throws(ExportFileError) {
        text =
            switch form {
            case .ndjson: LineText(context)
            case .csv: RowText(context)
            case .wide: WideText(context, types)
            case .appleHealth: AppleHealthText(context, member)
            }
        let packing: OutputFile.Packing
        if path.hasSuffix(".zst") {
            packing = .zstandard
        } else if path.hasSuffix(".zip") {
            guard form == .appleHealth else { throw ExportFileError("\(path): only apple-health makes a ZIP; take .zst") }
            packing = .zip(member: "apple_health_export/export.xml")
        } else {
            packing = .none
        }
        file = try OutputFile(path: path, packing: packing, time: context.now().microseconds / 1_000_000)
        try file.write { text.begin(&$0) }
    }

    /// The form that a file's name speaks of; `nil` where it speaks of none.
    public static func form(of path: String) -> Form? {
        let name = path.hasSuffix(".zst") ? path.dropLast(4) : path[...]
        if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") { return .ndjson }
        if name.hasSuffix(".csv") { return .csv }
        return name.hasSuffix(".xml") || name.hasSuffix(".zip") ? .appleHealth : nil
    }

    /// Adds a sample; they come in the order of their start.
    ///
    /// - Throws: ``ExportFileError``; what the lookup of members throws.
    public func append(_ stored: StoredSample) throws {
        var taken = Result<Bool, any Error>.success(false)
        try file.write { octets in taken = Result { try text.append(stored, to: &octets) } }
        let isTaken = try taken.get()
        if isTaken { counts.written += 1 } else { counts.leftOut += 1 }
    }

    /// The file gets its name, once it is whole and on the disk.
    public func finish() throws(ExportFileError) -> Counts {
        try file.write { text.end(&$0) }
        try file.finish()
        return counts
    }
}

/// Samples as text of one form.
protocol SampleText: AnyObject {
    func begin(_ octets: inout [UInt8])
    /// - Returns: false where the form has no place for it.
    func append(_ stored: StoredSample, to octets: inout [UInt8]) throws -> Bool
    func end(_ octets: inout [UInt8])
}

/// Lines of NDJSON.
private final class LineText: SampleText {
    private let context: ExportContext
    private let line: SampleLine

    init(_ context: ExportContext) { (self.context, line) = (context, SampleLine(me: context.me)) }

    func begin(_ octets: inout [UInt8]) {}
    func end(_ octets: inout [UInt8]) {}

    func append(_ stored: StoredSample, to octets: inout [UInt8]) -> Bool {
        let wanted = context.wantedQuantity(of: stored.sample)
        line.append(
            stored.sample, ingest: stored.ingest, seq: stored.seq, value: wanted?.value, unit: wanted?.unit, to: &octets)
        return true
    }
}

/// Rows of CSV.
private final class RowText: SampleText {
    private let context: ExportContext
    private let csv = CSVWriter()

    init(_ context: ExportContext) { self.context = context }

    func begin(_ octets: inout [UInt8]) { csv.append(row: SampleCells.columns, to: &octets) }
    func end(_ octets: inout [UInt8]) {}

    func append(_ stored: StoredSample, to octets: inout [UInt8]) -> Bool {
        let (value, unit) = context.quantity(of: stored.sample)
        csv.append(row: SampleCells.cells(stored, value: value, unit: unit, me: context.me), to: &octets)
        return true
    }
}

import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// Writes samples in the requested format as they are read.
struct SampleWriter {
    private let format: Format
    private let output: OutputBuffer
    private let terminal: Terminal
    private let unit: HealthModel.Unit?
    private let times: ShownTimes
    private let me: String
    private let store: SampleStore
    private let line: SampleLine
    private var bytes: [UInt8] = []
    private var rows: [[String]] = []
    private var conversions: [SampleType: UnitConversion?] = [:]
    private var started = false
    private let csv: CSVWriter
    private let names: RecordNames
    /// Whether tables have a column for the own dates of health records.
    var showsDates = false
    /// Names by person for tables, or `nil` if all rows are of one person and need no column.
    var persons: [String: String]?

    /// The number of table rows that are laid out together.
    private static let tableRows = 1000

    /// Creates a writer.
    ///
    /// - Parameter withContent: Whether NDJSON lines include points, resources and documents.
    init(context: CommandContext, unit: HealthModel.Unit?, times: ShownTimes, store: SampleStore, withContent: Bool = false) {
        format = context.format
        output = context.streams.output
        terminal = context.streams.outputTerminal
        self.unit = unit
        self.times = times
        self.store = store
        me = store.owner
        line = SampleLine(me: me, withContent: withContent)
        csv = context.csv
        names = RecordNames(store)
    }

    mutating func write(_ stored: StoredSample) throws {
        // Copying each sample would take longer than writing it.
        guard stored.sample.origin.kind == .clinicalRecord else { return try writeNamed(stored) }
        try writeNamed(names.named(stored))
    }

    private mutating func writeNamed(_ stored: StoredSample) throws {
        let sample = stored.sample
        var value = sample.value
        let conversion = conversion(of: sample.origin.type)
        // In the unit of the measurement, the original digits are kept. A round trip could change the last one.
        if let conversion { value = sample.unit.code == unit?.code ? sample.numeral.doubleValue : conversion(value) }
        let unit = conversion == nil ? nil : unit
        switch format {
        case .ndjson:
            line.append(
                sample, ingest: stored.ingest, seq: stored.seq, value: value, unit: unit, to: &bytes)
            if bytes.count > 32_768 { try flush() }
        case .csv:
            if !started { csv.append(row: SampleCells.columns, to: &bytes) }
            started = true
            let shown = unit ?? sample.origin.type.canonicalUnit
            let pressure = try pressure(of: sample)
            csv.append(
                row: SampleCells.cells(stored, value: value, text: pressure?.text, unit: pressure?.unit ?? shown, me: me),
                to: &bytes)
            if bytes.count > 32_768 { try flush() }
        case .table:
            rows.append(try row(sample, value, unit))
            if rows.count >= Self.tableRows { try flush() }
        }
    }

    mutating func finish() throws {
        if format == .csv, !started { csv.append(row: SampleCells.columns, to: &bytes) }
        try flush()
    }

    private mutating func flush() throws {
        if format == .table, !rows.isEmpty {
            var columns: [TextTable.Column] = [
                .init("start", .left, minimumWidth: 25), .init("type"), .init("value", .decimal), .init("unit"), .init("source"),
                .init("device"),
            ]
            if showsDates { columns.insert(.init("date"), at: 1) }
            if persons != nil { columns.append(.init("person")) }
            var table = TextTable(columns: columns)
            for row in rows { table.append(row) }
            rows.removeAll()
            // On a terminal the header is repeated. In a pipe it would be taken for a row.
            bytes +=
                table.rendered(width: terminal.width, unicode: terminal.isUnicode, header: !started || terminal.width != nil).utf8
            started = true
        }
        try output.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// The conversion to the requested unit, or `nil` if none was requested or the type is not compatible.
    private mutating func conversion(of type: SampleType) -> UnitConversion? {
        guard let unit else { return nil }
        if let known = conversions[type] { return known }
        let conversion = try? type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        conversions[type] = .some(conversion)
        return conversion
    }

    /// The text and the unit of a blood pressure. `nil` for other samples.
    private mutating func pressure(of sample: Sample) throws -> (text: String, unit: HealthModel.Unit)? {
        guard let pressure = try BloodPressure(sample, in: store) else { return nil }
        let type = SampleType.bloodPressureSystolic
        guard let unit, let conversion = conversion(of: type) else { return (pressure.text(), type.canonicalUnit) }
        return (pressure.text(conversion), unit)
    }

    private mutating func row(_ sample: Sample, _ value: Double, _ unit: HealthModel.Unit?) throws -> [String] {
        let device = sample.origin.device
        let pressure = try pressure(of: sample)
        let shownUnit = pressure?.unit ?? (sample.origin.kind == .quantity ? unit ?? sample.origin.type.canonicalUnit : nil)
        let record = sample.origin.kind == .clinicalRecord ? try? sample.body?.decoded(as: ClinicalRecord.self) : nil
        let text: String = pressure?.text ?? sample.shown ?? Readable.number(value)
        let unitText: String = shownUnit.map(Readable.unit) ?? record?.result?.quantity?.unit ?? ""
        let deviceName: String = device?.name ?? device?.model ?? device?.key ?? ""
        var row = [
            times.start(of: sample), sample.origin.type.id, text, unitText, sample.origin.source.displayName, deviceName,
        ]
        if showsDates { row.insert(record?.date ?? "", at: 1) }
        if let persons { row.append(persons[sample.origin.person] ?? sample.origin.person) }
        return row
    }
}

extension Readable {
    /// A local time such as `2026-11-20 07:31:00 +01:00`.
    static func local(_ instant: Instant, at offset: ZoneOffset) -> String { local(instant, at: offset, fraction: "") }

    /// A local time with its milliseconds if they are not zero.
    static func precise(_ instant: Instant, at offset: ZoneOffset) -> String {
        let milliseconds = instant.wallTime(at: offset).description.dropFirst(20).prefix(3)
        return local(instant, at: offset, fraction: milliseconds.allSatisfy { $0 == "0" } ? "" : ".\(milliseconds)")
    }

    private static func local(_ instant: Instant, at offset: ZoneOffset, fraction: String) -> String {
        let text = instant.wallTime(at: offset).description
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8) + fraction + " " + offset.description
    }

    /// The unit's code. For counts, the name of the counted thing: `steps` for `1{steps}`.
    static func unit(_ unit: HealthModel.Unit) -> String { unit.writtenText }

    /// A number with at most six decimals and no trailing zeros.
    static func number(_ value: Double) -> String {
        guard value.magnitude < 1e15 else { return value.description }
        if value.rounded() == value { return "\(Int(value))" }
        let rounded = (value * 1e6).rounded() / 1e6
        let text = rounded.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

import Formats
import HealthModel

/// Writes samples in the requested format: lines of JSON, CSV rows, or one JSON object with a list.
struct ObjectWriter {
    private let form: AnswerForm
    private let me: String
    private let unit: Unit?
    private let line: SampleLine
    private let csv = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
    private var bytes: [UInt8] = []
    private var isFirst = true
    private var conversions: [SampleType: UnitConversion?] = [:]

    /// Creates a writer.
    ///
    /// - Parameter unit: The unit for values of types that can be converted to it.
    init(form: AnswerForm, me: String, unit: Unit?) {
        (self.form, self.me, self.unit) = (form, me, unit)
        line = SampleLine(me: me)
    }

    /// The number of bytes that are not taken yet.
    var count: Int { bytes.count }

    mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    mutating func write(_ stored: StoredSample) {
        begin()
        let (sample, type) = (stored.sample, stored.sample.origin.type)
        var (value, shown) = (sample.value, Unit?.none)
        if let unit, let conversion = conversion(of: type, to: unit) {
            // In the unit of the measurement, the original digits are kept.
            value = sample.unit.code == unit.code ? sample.numeral.doubleValue : conversion(value)
            shown = unit
        }
        guard form == .csv else {
            // `ingest` and `seq` are left out because they would reveal how much hidden data there is.
            line.append(sample, ingest: nil, seq: nil, value: value, unit: shown, to: &bytes)
            if form == .json { bytes.removeLast() }
            return
        }
        let cells = SampleCells.cells(stored, value: value, unit: shown ?? type.canonicalUnit, me: me)
        csv.append(row: cells.dropLast(Self.places), to: &bytes)
    }

    /// The number of columns at the end that are left out: `ingest` and `seq`.
    private static let places = 2

    private mutating func begin() {
        defer { isFirst = false }
        switch form {
        case .json: bytes += (isFirst ? "{\"samples\":[" : ",\n").utf8
        case .csv where isFirst: csv.append(row: SampleCells.columns.dropLast(Self.places), to: &bytes)
        default: return
        }
    }

    mutating func finish() {
        if isFirst { begin() }
        if form == .json { bytes += "]}\n".utf8 }
    }

    private mutating func conversion(of type: SampleType, to unit: Unit) -> UnitConversion? {
        if let known = conversions[type] { return known }
        let conversion = type.kind == .quantity ? try? type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass) : nil
        conversions[type] = .some(conversion)
        return conversion
    }
}

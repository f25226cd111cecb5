import Formats
import HealthModel

/// Writes samples in the form that was asked for: lines, rows, or one object with a list.
struct ObjectWriter {
    private let form: AnswerForm
    private let me: String
    private let unit: Unit?
    private let line: SampleLine
    private let csv = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
    private var bytes: [UInt8] = []
    private var isFirst = true
    private var conversions: [SampleType: UnitConversion?] = [:]

    /// - Parameter unit: for the values of types that have a conversion to it.
    init(form: AnswerForm, me: String, unit: Unit?) {
        (self.form, self.me, self.unit) = (form, me, unit)
        line = SampleLine(me: me)
    }

    /// Octets that wait to be taken.
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
            // In the unit that was measured in, the digits that were measured.
            value = sample.unit.code == unit.code ? sample.numeral.doubleValue : conversion(value)
            shown = unit
        }
        guard form == .csv else {
            // Without its numbers: these tell how much there is beside it.
            line.append(sample, ingest: nil, seq: nil, value: value, unit: shown, to: &bytes)
            if form == .json { bytes.removeLast() }
            return
        }
        let cells = SampleCells.cells(stored, value: value, unit: shown ?? type.canonicalUnit, me: me)
        csv.append(row: cells.dropLast(Self.places), to: &bytes)
    }

    /// `ingest` and `seq`, the last columns.
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

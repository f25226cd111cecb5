import HealthModel
import Pipeline

/// One reading of a channel, resolved against the columns of one file.
final class BoundReading {
    struct Limit {
        let text: [UInt8]
        let side: LimitText.Side
        let limits: [(unit: Unit, numeral: Numeral)]
    }

    let cell: Int
    let name: String
    private let knownUnit: Unit?
    let unitCell: Int
    private let headerCell: Int
    /// Spellings of the unit that follows the number in its cell, or nil if the unit comes from elsewhere.
    private let spellings: [String: Unit]?
    let conditions: [(cell: Int, values: [[UInt8]])]
    private let isConditional: Bool
    let limits: [Limit]
    /// Whether a number can mean "beyond the device's limit".
    private let hasMarkedNumbers: Bool
    /// Texts that mean that there is no value.
    let empties: [[UInt8]]
    private let hasEmpties: Bool
    let isMoment: Bool
    let group: UInt8?
    let decimal: DecimalRule
    let origins: OriginFinder
    let metadata: MetadataFinder
    let units: ByteMemo<Unit>

    init?(
        _ rule: ReadingRule, channel: TableChannel, binding: HeaderBinding, options: InterpreterOptions, origins: OriginFinder
    ) {
        guard binding.has(rule.column), rule.conditions.allSatisfy({ binding.has($0.column) }) else { return nil }
        cell = binding.cells[rule.column]
        name = binding.names[rule.column] ?? channel.columns[rule.column].name
        var (unitCell, headerCell) = (-1, -1)
        switch rule.unit {
        case .fixed(let unit): knownUnit = unit
        case .assumed(let unit, _): knownUnit = Self.override(rule.column, channel, binding, options) ?? unit
        case .cell(let column):
            knownUnit = nil
            unitCell = binding.cells[column]
        case .trailing: knownUnit = nil
        case .header(let column):
            guard let spelling = binding.units[column], let unit = channel.units[spelling] else { return nil }
            knownUnit = unit
            headerCell = binding.cells[column]
        }
        self.unitCell = unitCell
        self.headerCell = headerCell
        if case .trailing = rule.unit { spellings = channel.units } else { spellings = nil }
        conditions = rule.conditions.map { (binding.cells[$0.column], $0.values) }
        isConditional = !conditions.isEmpty
        limits = rule.texts.map { Limit(text: $0.text, side: $0.side, limits: $0.limits) }
        hasMarkedNumbers = rule.texts.contains { $0.limits.isEmpty }
        empties = channel.empties + channel.columns[rule.column].empties
        hasEmpties = !empties.isEmpty
        isMoment = rule.isMoment
        group = channel.columns[rule.column].group
        decimal =
            group == UInt8(ascii: ",")
            ? .point
            : group == UInt8(ascii: ".") ? .comma : channel.kind == .json ? .point : channel.decimal.chosen(options.decimal)
        self.origins = origins
        // This comes after every early exit, because a failing initializer runs no deinit.
        units = ByteMemo()
        metadata = MetadataFinder(channel.metadata + rule.metadata, binding)
    }

    deinit { units.deallocate() }

    var cells: [Int] { [cell, unitCell, headerCell] + conditions.map(\.cell) + origins.cells + metadata.cells }

    /// Whether the reading is one number in one cell, without conditions or metadata.
    var isPlain: Bool {
        !isConditional && decimal == .point && group == nil && metadata.isEmpty && knownUnit == nil && !hasEmpties
    }

    @inline(__always) func isEmpty(_ cell: UnsafeRawBufferPointer) -> Bool {
        cell.isEmpty || (hasEmpties && isOne(cell, of: empties))
    }

    /// Returns the unit that the user gave for a column, by its name in the file or in the profile.
    static func override(_ column: Int, _ channel: TableChannel, _ binding: HeaderBinding, _ options: InterpreterOptions) -> Unit?
    {
        let names = [channel.columns[column].name, binding.names[column] ?? ""].map { $0.lowercased() }
        return options.units.first { names.contains($0.key.lowercased()) }?.value
    }

    @inline(__always) func applies(_ cells: Cells) -> Bool { !isConditional || meetsConditions(cells) }

    private func meetsConditions(_ cells: Cells) -> Bool {
        for condition in conditions where !isOne(trimmed(cells[condition.cell]), of: condition.values) { return false }
        return true
    }

    @inline(__always) func unit(_ cells: Cells) throws(BoundTable.Failure) -> Unit {
        if let knownUnit { return knownUnit }
        if let spellings { return try writtenUnit(trimmed(cells[cell]), spellings) }
        let text = trimmed(cells[unitCell])
        if let unit = units.find(text) { return unit }
        return try newUnit(text)
    }

    /// The cell without the unit after its number.
    @inline(__always) func number(_ cell: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        spellings == nil ? cell : trimmed(UnsafeRawBufferPointer(rebasing: cell[..<Self.numberEnd(cell)]))
    }

    private static func numberEnd(_ cell: UnsafeRawBufferPointer) -> Int {
        cell.firstIndex { $0 == 0x20 || $0 == UInt8(ascii: "%") || $0 > 0x7F || ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
            ?? cell.endIndex
    }

    private func writtenUnit(_ cell: UnsafeRawBufferPointer, _ spellings: [String: Unit]) throws(BoundTable.Failure) -> Unit {
        let text = trimmed(UnsafeRawBufferPointer(rebasing: cell[Self.numberEnd(cell)...]))
        for (spelling, unit) in spellings where isOne(text, of: [Array(spelling.utf8)]) { return unit }
        throw .init(
            text.isEmpty ? "\(name): there is no unit after the number" : "\(name): the unit after the number is unknown")
    }

    private func newUnit(_ text: UnsafeRawBufferPointer) throws(BoundTable.Failure) -> Unit {
        guard !text.isEmpty else { throw .init("the unit is empty") }
        guard text.count <= 128 else { throw .init("the unit is too long") }
        let code = String(decoding: text, as: UTF8.self)
        // UCUM comes first. HealthKit's strings are used only if UCUM has no such code, so `%` is always UCUM's.
        let unit: Unit
        if let known = (try? Unit(ucum: code)) ?? (try? Unit(healthKit: code)) {
            unit = known
        } else {
            do throws(UnitError) {
                unit = try Unit(written: code)
            } catch {
                let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
                throw .init("the unit is neither a UCUM code nor a unit of HealthKit" + hint)
            }
        }
        units.store(unit, for: text)
        return unit
    }

    /// Returns the number in a cell that is not empty, or nil if the text means the device's limit.
    @inline(__always) func numeral(_ bytes: UnsafeRawBufferPointer, signs: DecimalSigns) throws(BoundTable.Failure) -> Numeral? {
        if hasMarkedNumbers, limits.contains(where: { isOne(bytes, of: [$0.text]) }) { return nil }
        if decimal == .point, let numeral = try? Numeral(parsing: bytes, groupSeparator: group) { return numeral }
        return try unusualNumeral(bytes, signs)
    }

    private func unusualNumeral(_ bytes: UnsafeRawBufferPointer, _ signs: DecimalSigns) throws(BoundTable.Failure) -> Numeral? {
        if decimal != .point, let numeral = try unusual(bytes, signs) { return numeral }
        if limits.contains(where: { isOne(bytes, of: [$0.text]) }) { return nil }
        let hint =
            decimal == .point && group == nil && Self.mayBeComma(bytes) ? "; --decimal comma, if that is its decimal sign" : ""
        let isPointed = decimal == .comma && group != UInt8(ascii: ".") && bytes.contains(UInt8(ascii: "."))
        let reason = isPointed ? "not a number with a decimal comma: it has a point" : Self.reason(bytes, group)
        throw .init("\(name): \(reason)\(hint)")
    }

    private static func mayBeComma(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.contains(UInt8(ascii: ",")) && (try? Numeral(parsing: bytes, decimalSeparator: UInt8(ascii: ","))) != nil
    }

    private static func reason(_ bytes: UnsafeRawBufferPointer, _ group: UInt8?) -> String {
        do throws(NumeralError) {
            _ = try Numeral(parsing: bytes, groupSeparator: group)
            return "not a number"
        } catch {
            return "\(error)"
        }
    }

    private func unusual(_ bytes: UnsafeRawBufferPointer, _ signs: DecimalSigns) throws(BoundTable.Failure) -> Numeral? {
        switch decimal {
        case .point, .comma: return try? Numeral(parsing: bytes, decimalSeparator: UInt8(ascii: ","), groupSeparator: group)
        case .auto:
            guard bytes.first.map({ $0 &- UInt8(ascii: "0") < 10 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }) == true
            else {
                return nil
            }
            switch signs.separator(of: bytes) {
            case .success(let separator): return try? Numeral(parsing: bytes, decimalSeparator: separator)
            case .failure(let undecided): throw .init("\(name): \(undecided.reason)")
            }
        }
    }

    /// Returns the limit that a text means, in the reading's unit.
    func limit(_ bytes: UnsafeRawBufferPointer, in unit: Unit) throws(BoundTable.Failure) -> (
        numeral: Numeral, side: LimitText.Side
    ) {
        for limit in limits where isOne(bytes, of: [limit.text]) {
            if let value = limit.limits.first(where: { $0.unit == unit }) { return (value.numeral, limit.side) }
            if limit.limits.isEmpty, let numeral = try? Numeral(parsing: bytes) { return (numeral, limit.side) }
        }
        throw .init("\(name) is beyond the device's limit, and the profile knows no limit in this unit")
    }
}

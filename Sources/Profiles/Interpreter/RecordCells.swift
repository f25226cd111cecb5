import HealthModel
import Pipeline

/// Finds the record that a row is a version of, and the version.
final class RecordCells {
    private let rule: RecordRule
    private let ids: [Int]
    private let versions: [Int]
    private let growing: [Int]
    /// The cell that distinguishes rows with the same period, such as the meal of a day.
    private let apart: Int?
    private let same: [Int]
    /// The ids of the records that were found first, by the values that they have in common with later ones.
    private var firstValues: [[String]: String] = [:]
    /// The id and the version of the previous row, and the number of its last part.
    private var last: (id: String, version: Int64, parts: Int) = ("", 0, 0)

    /// The maximum length of an id. A row with a longer id is identified by its content.
    private static let maximumLength = 256
    /// More records than this keep their own ids.
    private static let maximumFirstValues = 100_000
    /// Numbers that only grow count with three decimals.
    private static let growthScale = 1000.0

    /// Whether the record is a statistic of the row's period, so that readings at a moment of the row do not belong to it.
    var isPeriod: Bool { rule.isPeriod }

    /// Returns nil if the file has no column with an id.
    init?(_ rule: RecordRule, apart: Int?, _ binding: HeaderBinding) {
        self.rule = rule
        self.apart = apart
        ids = rule.ids.filter(binding.has).map { binding.cells[$0] }
        versions = rule.versions.filter(binding.has).map { binding.cells[$0] }
        same = rule.same.first.map(binding.has) ?? false ? rule.same.filter(binding.has).map { binding.cells[$0] } : []
        growing = rule.growing.filter(binding.has).map { binding.cells[$0] }
        if ids.isEmpty, !rule.isPeriod { return nil }
    }

    /// Returns the row's record, or the next part of its record if records have parts. The first part has the record's own id, so it
    /// replaces a record without parts.
    func record(_ cells: Cells, _ time: ReadingTime) -> RecordIdentifier? {
        guard var id = rule.isPeriod ? period(cells, time) : text(ids.lazy.map { cells[$0] }) else { return nil }
        if let cell = same.first, !trimmed(cells[cell]).isEmpty {
            let key = same.map { String(decoding: trimmed(cells[$0]).prefix(Self.maximumLength), as: UTF8.self) }
            if let first = firstValues[key] {
                id = first
            } else if firstValues.count < Self.maximumFirstValues {
                firstValues[key] = id
            }
        }
        let number = number(cells, time)
        if rule.hasParts {
            last = (id, number, (id, number) == (last.id, last.version) ? last.parts + 1 : 0)
            return RecordIdentifier(id: last.parts == 0 ? id : RecordIdentifier.part(last.parts, of: id), version: number)
        }
        return rule.isOpen ? .open(id, number: number) : RecordIdentifier(id: id, version: number)
    }

    /// Returns the first cell with a value.
    private func text(_ cells: some Sequence<UnsafeRawBufferPointer>) -> String? {
        guard let cell = cells.lazy.map({ trimmed($0) }).first(where: { !$0.isEmpty }), cell.count <= Self.maximumLength else {
            return nil
        }
        return String(decoding: cell, as: UTF8.self)
    }

    /// Returns the name of the row's period: its nominal start and its length, in seconds.
    private func period(_ cells: Cells, _ time: ReadingTime) -> String? {
        guard let (start, end) = Self.span(time) else { return nil }
        func seconds(_ microseconds: Int64) -> String {
            let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            return rest == 0 ? "\(whole)" : "\(whole):\(rest)"
        }
        let name = "\(seconds(start))+\(seconds(end - start))"
        guard let apart else { return name }
        let cell = trimmed(cells[apart])
        return cell.count <= Self.maximumLength ? "\(name) \(String(decoding: cell, as: UTF8.self))" : nil
    }

    private func number(_ cells: Cells, _ time: ReadingTime) -> Int64 {
        if rule.isLonger { return Self.span(time).map { max(0, $0.end / 1000) } ?? 0 }
        if !growing.isEmpty {
            let sum = growing.reduce(0.0) { sum, cell in
                sum + max(0, (try? Numeral(parsing: trimmed(cells[cell])))?.doubleValue ?? 0)
            }
            return Int64(exactly: (sum * Self.growthScale).rounded()) ?? 0
        }
        return versions.lazy.compactMap { Int64(String(decoding: trimmed(cells[$0]), as: UTF8.self)) }.first { $0 > 0 } ?? 0
    }

    /// The nominal start and end in microseconds.
    private static func span(_ time: ReadingTime) -> (start: Int64, end: Int64)? {
        switch time {
        case .instants(let start, let end, _): (start.microseconds, end.microseconds)
        case .wall(let start, let end, _): (start.microseconds, end.microseconds)
        case .added, .complete, .receipt: nil
        }
    }
}

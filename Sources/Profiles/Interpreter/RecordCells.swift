import HealthModel
import Pipeline

/// Finds the maker's own id of a row, and its version.
final class RecordCells {
    private let ids: [Int]
    private let versions: [Int]
    private let hasParts: Bool
    /// The id of the previous row, and the number of its last part.
    private var last: (id: String, parts: Int) = ("", 0)

    /// The maximum length of an id. A row with a longer id is identified by its content.
    private static let maximumLength = 256

    /// Returns nil if the file has no column with an id.
    init?(_ rule: RecordRule, _ binding: HeaderBinding) {
        ids = rule.ids.filter(binding.has).map { binding.cells[$0] }
        versions = rule.versions.filter(binding.has).map { binding.cells[$0] }
        hasParts = rule.hasParts
        if ids.isEmpty { return nil }
    }

    /// Returns the row's id, or the next part of its record if records have parts. The first part has the record's own id, so it replaces a
    /// record without parts.
    func record(_ cells: Cells) -> RecordIdentifier? {
        guard let cell = ids.lazy.map({ trimmed(cells[$0]) }).first(where: { !$0.isEmpty }), cell.count <= Self.maximumLength
        else {
            return nil
        }
        let id = String(decoding: cell, as: UTF8.self)
        let version =
            versions.lazy.compactMap { Int64(String(decoding: trimmed(cells[$0]), as: UTF8.self)) }.first { $0 > 0 } ?? 0
        guard hasParts else { return RecordIdentifier(id: id, version: version) }
        last = (id, id == last.id ? last.parts + 1 : 0)
        return RecordIdentifier(id: last.parts == 0 ? id : RecordIdentifier.part(last.parts, of: id), version: version)
    }
}

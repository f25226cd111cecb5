import HealthModel
import Pipeline

/// Finds the maker's own id of a row, and its version.
final class RecordCells {
    private let ids: [Int]
    private let versions: [Int]
    private let hasParts: Bool
    /// The id of the row in front, and how many parts it has had.
    private var last: (id: String, parts: Int) = ("", 0)

    /// Longest id; a row with a longer one is known by what it tells.
    private static let maximumLength = 256

    /// Nothing where the file has no column with an id.
    init?(_ rule: RecordRule, _ binding: HeaderBinding) {
        ids = rule.ids.filter(binding.has).map { binding.cells[$0] }
        versions = rule.versions.filter(binding.has).map { binding.cells[$0] }
        hasParts = rule.hasParts
        if ids.isEmpty { return nil }
    }

    /// The next part of the record where it has parts: the first one has the record's own id, so that it takes the place of a record that was whole.
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

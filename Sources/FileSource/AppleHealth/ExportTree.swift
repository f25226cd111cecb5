import HealthModel
import Pipeline

/// An element of an export that is read as a whole: its attributes and child elements.
///
/// In a row, its cells follow the element's name: alternating names and values of attributes, ``open`` with a name and attributes for
/// each child, and ``close`` after its contents. No text equals one of these marks, because control characters have been replaced with
/// blanks.
struct ExportTree {
    static let open: StaticString = "\u{1}"
    static let close: StaticString = "\u{2}"
    /// The last cell of an element that is larger than ``ExportRows/maximumTree``.
    static let excess: StaticString = "\u{3}"
    /// The attribute of a route whose locations are in the export.
    static let hasLocations: StaticString = "\u{4}"

    var name: String
    private(set) var attributes: [String: String] = [:]
    private(set) var children: [ExportTree] = []

    /// Parses the cells of a row. Returns `nil` if the element was too large.
    init?(_ cells: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        if let last = cells.last, Self.isEqual(last, Self.excess) { return nil }
        var index = 0
        self.init(cells, &index)
    }

    private init(_ cells: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ index: inout Int) {
        name = index < cells.count ? Self.text(cells[index]) : ""
        index += 1
        while index < cells.count {
            if Self.isEqual(cells[index], Self.open) {
                index += 1
                children.append(ExportTree(cells, &index))
            } else if Self.isEqual(cells[index], Self.close) {
                index += 1
                return
            } else {
                if index + 1 < cells.count { attributes[Self.text(cells[index])] = Self.text(cells[index + 1]) }
                index += 2
            }
        }
    }

    /// The value of an attribute, or `nil` if it is missing or empty.
    subscript(name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    func children(named name: String) -> [ExportTree] { children.filter { $0.name == name } }

    mutating func removeChildren(where isUnwanted: (ExportTree) -> Bool) { children.removeAll(where: isUnwanted) }

    /// The metadata in its MetadataEntry elements.
    var metadata: Metadata? {
        let entries = children(named: "MetadataEntry").compactMap { entry in
            entry["key"].map { Metadata.entry(healthKitKey: $0, text: entry.attributes["value"] ?? "") }
        }
        return entries.isEmpty ? nil : Metadata(entries)
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ mark: StaticString) -> Bool {
        bytes.count == 1 && bytes[0] == mark.utf8Start[0]
    }
}

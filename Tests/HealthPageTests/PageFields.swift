import FoundationEssentials
import HealthModel
import Testing

@testable import HealthPage

/// The fields of queries and forms that the page reads, and the things that they refer to.
///
/// The names are compared with the source of the page. A route that reads another field fails the tests until it is declared here.
enum PageFields {
    /// The things that a field can refer to.
    enum Kind: CaseIterable {
        /// A sample, by its UUID.
        case object
        /// A person, by the UUID.
        case person
        /// An alert, a note, a client, an entry of the ledger or a repair, by its number.
        case number
        /// A source or a device, by its id, key or address.
        case source
    }

    /// The fields that refer to something. `*` is the reference.
    static let references: [(name: String, kind: Kind, form: String)] = [
        ("where", .object, "uuid = \"*\""), ("where", .object, "workout = \"*\""), ("where", .object, "correlation = \"*\""),
        ("where", .person, "subject = \"*\""), ("where", .source, "source.id = \"*\""), ("where", .source, "device.key = \"*\""),
        ("object.labResultRecord", .object, "*"), ("shown.labResultRecord", .object, "*"), ("key", .object, "*"),
        ("sample", .object, "*"),
        ("id", .number, "*"), ("before", .number, "*"), ("did", .number, "*"), ("series", .number, "*"),
        ("person", .person, "*"), ("subject", .person, "*"), ("by.subject", .person, "*"),
        ("source", .source, "*"), ("address", .source, "*"), ("name", .source, "*"), ("profile", .source, "*"),
        ("device", .source, "*"),
    ]

    /// The fields that refer to nothing of a person: values, times, types, choices of a fixed list, and the login code, which is a secret.
    static let others: Set<String> = [
        "do", "done", "date", "unit", "repair", "to", "note", "from", "then", "ambiguous", "width", "whole", "span", "sources",
        "range",
        "previous", "parts", "merged", "condition", "back", "at", "type", "types", "asked", "yes", "future", "code", "fits",
    ]

    /// The names of fields that the page's source contains.
    static func read() throws -> Set<String> {
        let folder = PageTests.folder.replacing("/WebPage", with: "/Sources/HealthPage")
        var names: Set<String> = []
        for file in try swiftFiles(in: folder) {
            let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            for match in text.matches(of: #/call\.(?:text|list)\("([A-Za-z]+)/#) { names.insert(String(match.1)) }
        }
        return names
    }

    private static func swiftFiles(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).flatMap { name in
            name.hasSuffix(".swift") ? ["\(folder)/\(name)"] : try swiftFiles(in: "\(folder)/\(name)")
        }
    }
}

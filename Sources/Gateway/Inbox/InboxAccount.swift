import FoundationEssentials

/// What became of a file, for the person who put it into the inbox: the ledger's account as `import --format ndjson` prints it, and what
/// was said.
struct InboxAccount {
    /// The ledger's account; nothing where the file could not be read at all.
    private let object: [UInt8]
    private let counts: Counts?
    private let messages: [String]

    struct Counts: Decodable {
        var ingest: Int
        var stored: Int
        var duplicate: Int
        var quarantined: Int
        var refused: Int
        var cut: Bool?
    }

    private struct Unread: Encodable {
        var file: String
        var error: String
        var messages: [String]
    }

    /// Messages beyond these say the same.
    private static let maximumMessages = 100

    init(_ result: ImportProcess.Result) {
        let line = result.output.split(separator: UInt8(ascii: "\n")).last.map(Array.init) ?? []
        counts = try? JSONDecoder().decode(Counts.self, from: Data(line))
        object = line
        messages = String(decoding: result.errors, as: UTF8.self).split(separator: "\n").prefix(Self.maximumMessages).map(
            String.init)
    }

    /// A file goes to `done` where all of it was taken; what is held in quarantine is taken.
    var outcome: InboxFolder.Outcome { counts.map { $0.refused == 0 } == true ? .done : .refused }

    /// Whether the file ends where more should follow.
    var isCut: Bool { counts?.cut ?? false }

    /// For the log: no names, no values.
    var summary: String {
        guard let counts else { return "a file could not be read; its account in refused/ says why" }
        let parts = [
            (counts.stored, "stored"), (counts.duplicate, "duplicate"), (counts.quarantined, "quarantined"),
            (counts.refused, "refused"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return
            "a file was imported as ingest \(counts.ingest): \(parts.isEmpty ? "nothing in it" : parts.joined(separator: ", "))"
            + (isCut ? "; it seems to be cut, send it again whole" : "")
    }

    /// One line of JSON for a file that is called `name` from now on.
    func text(name: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        guard counts != nil, object.last == UInt8(ascii: "}") else {
            let unread = Unread(file: name, error: messages.first ?? "it could not be read", messages: messages)
            return ((try? encoder.encode(unread)).map(Array.init) ?? []) + "\n".utf8
        }
        let said = (try? encoder.encode(messages)).map(Array.init) ?? Array("[]".utf8)
        return object.dropLast() + Array(",\"messages\":".utf8) + said + Array("}\n".utf8)
    }
}

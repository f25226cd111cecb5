import FoundationEssentials

/// The result of importing a file, for the user who put it into the inbox: the ledger's account as printed by `import --format
/// ndjson`, and the messages.
struct InboxAccount {
    /// The ledger's account, or empty if the file could not be read.
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

    /// The maximum number of messages. Further ones repeat the others.
    private static let maximumMessages = 100

    init(_ result: ImportProcess.Result) {
        let line = result.output.split(separator: UInt8(ascii: "\n")).last.map(Array.init) ?? []
        counts = try? JSONDecoder().decode(Counts.self, from: Data(line))
        object = line
        messages = String(decoding: result.errors, as: UTF8.self).split(separator: "\n").prefix(Self.maximumMessages).map(
            String.init)
    }

    /// The folder for the file. It is `done` if nothing was rejected. Quarantined readings do not count as rejected.
    var outcome: InboxFolder.Outcome { counts.map { $0.refused == 0 } == true ? .done : .refused }

    /// Whether the file ends too early.
    var isCut: Bool { counts?.cut ?? false }

    /// The summary for the log, without names or values.
    var summary: String {
        guard let counts else { return "a file could not be read: see its report in refused/" }
        let parts = [
            (counts.stored, "stored"), (counts.duplicate, "duplicate"), (counts.quarantined, "quarantined"),
            (counts.refused, "refused"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return
            "a file was imported as ledger entry \(counts.ingest): \(parts.isEmpty ? "no readings" : parts.joined(separator: ", "))"
            + (isCut ? " (the file seems to be truncated: send it again)" : "")
    }

    /// Returns the account as one line of JSON, with the file's new name.
    func text(name: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        guard counts != nil, object.last == UInt8(ascii: "}") else {
            // The runtime's own words about a crash come before the program's.
            let error = messages.first { $0.hasPrefix("vitalgate: ") } ?? messages.first ?? "the file could not be read"
            let unread = Unread(file: name, error: error, messages: messages)
            return ((try? encoder.encode(unread)).map(Array.init) ?? []) + "\n".utf8
        }
        let encoded = (try? encoder.encode(messages)).map(Array.init) ?? Array("[]".utf8)
        return object.dropLast() + Array(",\"messages\":".utf8) + encoded + Array("}\n".utf8)
    }
}

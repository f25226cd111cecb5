import FoundationEssentials
import Glibc

/// Notes in `refused` on inbox entries that are not files. The log never contains file names.
extension InboxFolder {
    /// The suffix of a note's name, after the entry's name.
    static let leftSuffix = ".left.json"

    private struct Left: Encodable {
        var file: String
        var error: String
    }

    /// Writes a note on an entry that stays in the inbox, with the reason.
    func writeNote(_ name: String, _ reason: String) {
        let path = note(of: Self.shortened(name))
        guard !isImportedFile(path) else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(Left(file: name, error: "\(reason): left in the inbox")) else { return }
        // A note is only a help, so an error is ignored.
        try? Self.write(Array(text) + "\n".utf8, to: path)
    }

    /// Removes the notes on entries that no longer exist.
    func removeStaleNotes() {
        for name in Self.entries(of: "\(path)/\(Outcome.refused.rawValue)").compactMap(\.text)
        where name.hasSuffix(Self.leftSuffix) {
            let left = String(name.dropLast(Self.leftSuffix.count))
            if names().contains(where: { Self.shortened($0) == left && isOther($0) }) { continue }
            if !isImportedFile(note(of: left)) { unlink(note(of: left)) }
        }
    }

    private func isOther(_ name: String) -> Bool {
        if case .other = content(name) { return true }
        return false
    }

    private func note(of name: String) -> String { "\(path)/\(Outcome.refused.rawValue)/\(name)\(Self.leftSuffix)" }

    /// Whether the name belongs to a moved file, which has an account beside it.
    private func isImportedFile(_ path: String) -> Bool { access("\(path).account.json", F_OK) == 0 }
}

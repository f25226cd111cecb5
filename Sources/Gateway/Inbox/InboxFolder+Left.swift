import FoundationEssentials
import Glibc

/// What is said, in `refused`, of what lies in the inbox and is no file: the log names nobody's files.
extension InboxFolder {
    /// Behind the name of what is left.
    static let leftSuffix = ".left.json"

    private struct Left: Encodable {
        var file: String
        var error: String
    }

    /// Says what is left in the inbox, and why.
    func sayLeft(_ name: String, _ what: String) {
        let path = note(of: name)
        guard !isSomebodysFile(path) else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(Left(file: name, error: "it is \(what); it is left in the inbox")) else { return }
        // A note is a help and no account: nothing is lost with it.
        try? Self.write(Array(text) + "\n".utf8, to: path)
    }

    /// Drops the notes on what is no longer there.
    func forgetWhatWent() {
        for name in Self.entries(of: "\(path)/\(Outcome.refused.rawValue)").compactMap(\.text)
        where name.hasSuffix(Self.leftSuffix) {
            let left = String(name.dropLast(Self.leftSuffix.count))
            if case .other = content(left) { continue }
            if !isSomebodysFile(note(of: left)) { unlink(note(of: left)) }
        }
    }

    private func note(of name: String) -> String { "\(path)/\(Outcome.refused.rawValue)/\(name)\(Self.leftSuffix)" }

    /// A file that was put away under such a name has its account beside it.
    private func isSomebodysFile(_ path: String) -> Bool { access("\(path).account.json", F_OK) == 0 }
}

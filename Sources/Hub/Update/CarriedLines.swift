import EventLoopKit
import FoundationEssentials
import Glibc
import HealthModel
import Ingestion
import Pipeline

/// The files beside a store with lines of readings that an undone update could not store again.
package enum CarriedLines {
    static let suffix = ".ndjson"

    private struct Line: Decodable { var subject: String? }

    /// Removes the lines of a person.
    ///
    /// - Parameter isOwner: Whether the person is the owner of the store.
    package static func removeAll(of person: String, isOwner: Bool, besides store: String) throws(SystemFailure) {
        for path in UpdateStore.retained(besides: store) where path.hasSuffix(suffix) {
            guard let bytes = SmallFile.read(path, limit: .max) else { throw SystemFailure(path, errno) }
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            let others = lines.filter { line in
                let subject = (try? JSONDecoder().decode(Line.self, from: Data(line)))?.subject
                return subject != person && !(isOwner && subject == "me")
            }
            guard others.count < lines.count else { continue }
            guard !others.isEmpty else {
                unlink(path)
                continue
            }
            let text = others.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
            try SmallFile.replace(path, with: text, mode: 0o600)
        }
    }
}

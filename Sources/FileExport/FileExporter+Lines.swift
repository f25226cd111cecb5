import FoundationEssentials
import Glibc
import HealthModel
import Pipeline

/// Reads a folder's lines back, without the samples that were deleted later.
extension FileExporter: ReadableExporter {
    private static let readPortion = 1 << 20
    /// The maximum length of a line in bytes. A document's line is long, but a longer one is not ours.
    private static let maximumLength = 64 << 20

    /// Passes on the target's contents as NDJSON lines. Returns the number of samples that cannot be read back, by reason.
    package func lines(_ body: ([UInt8]) throws -> Void) throws -> [String: Int] {
        guard settings.form == .ndjson else {
            throw DeliveryError(.unfit, "files in the format \(settings.form.rawValue) cannot be read back completely")
        }
        let (paths, deleted) = (try paths(), try deleted())
        var bytes: [UInt8] = []
        for path in paths {
            try Self.forEachLine(of: path) { line in
                guard let uuid = Self.identity(in: line, after: Self.addition), !deleted.contains(uuid) else { return }
                bytes += line
                bytes.append(0x0A)
                guard bytes.count >= Self.readPortion else { return }
                try body(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        if !bytes.isEmpty { try body(bytes) }
        return [:]
    }

    /// The samples that the target has as deleted.
    package func deleted() throws -> Set<SampleIdentity> {
        var deleted: Set<SampleIdentity> = []
        for path in try paths() {
            try Self.forEachLine(of: path) { line in
                if let uuid = Self.identity(in: line, after: Self.deletion) { deleted.insert(uuid) }
                if let uuid = Self.identity(in: line, after: Self.addition) { deleted.remove(uuid) }
            }
        }
        return deleted
    }

    private static let addition = Array(#"{"uuid":""#.utf8)
    private static let deletion = Array(#"{"deleted":""#.utf8)

    private static func identity(in line: ArraySlice<UInt8>, after head: [UInt8]) -> SampleIdentity? {
        guard line.starts(with: head) else { return nil }
        return SampleIdentity(String(decoding: line.dropFirst(head.count).prefix(36), as: UTF8.self))
    }

    /// The files in order: those with a number, and the growing one.
    private func paths() throws -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: settings.folder) else {
            throw ExportFile.error(settings.folder)
        }
        let own = names.filter { $0.hasPrefix("\(context.name)-") || $0 == "\(context.name).ndjson" }
        if let packed = own.first(where: { $0.hasSuffix(".ndjson.zst") }) {
            throw DeliveryError(
                .unfit,
                "\(settings.folder)/\(packed) is compressed: import the files with 'vitalgate import FILE…', the oldest first")
        }
        let numbered = own.filter { $0.hasSuffix(".ndjson") && $0 != "\(context.name).ndjson" }
        let ordered = numbered.sorted { Self.number(of: $0) < Self.number(of: $1) }
        return (ordered + own.filter { $0 == "\(context.name).ndjson" }).map { "\(settings.folder)/\($0)" }
    }

    /// Returns the file's number, after the last `-`.
    private static func number(of name: String) -> Int {
        name.dropLast(7).split(separator: "-").last.flatMap { Int($0) } ?? 0
    }

    private static func forEachLine(of path: String, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw ExportFile.error(path) }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: readPortion)
        var lines = LineBuffer()
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ExportFile.error(path) }
            // A line without a line feed was not acknowledged.
            guard count > 0 else { return }
            lines.append(buffer[..<count])
            while let line = lines.next() { try body(line) }
            guard lines.rest.count <= maximumLength else {
                throw DeliveryError(.unfit, "\(path): a line is longer than any line of Vitalgate")
            }
        }
    }
}

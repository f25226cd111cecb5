import CommandLineKit
import FileExport
import Glibc
import HealthModel
import Hub
import Pipeline
import SampleStore

/// A target's samples as a temporary NDJSON file for `import`. It recovers samples that are newer than the store's backup.
final class TargetLines {
    /// The file, with the target's name for messages.
    let file: FileArgument
    /// The samples that the target has as deleted. Only files have these.
    let deleted: Set<SampleIdentity>
    private let folder: String
    private let path: String

    init(_ context: CommandContext, target name: String) throws {
        let target = try context.target(name)
        let store = try context.openForReading()
        let (_, exporter) = try context.assemble(target, store)
        guard let exporter = exporter as? any ReadableExporter else {
            throw context.invocation.invalid(
                "--from", value: name,
                expected:
                    "a target of the kind postgresql or files (the kind '\(target.kind.rawValue)' cannot be read back)"
            )
        }
        deleted = try (exporter as? FileExporter)?.deleted() ?? []
        guard let folder = Folder.temporary(in: "/var/tmp") else {
            throw StoreError(.inputOutput, "/var/tmp: \(String(cString: strerror(errno)))")
        }
        self.folder = folder
        path = folder + "/lines.ndjson"
        file = FileArgument(name: name, at: path)
        do {
            let left = try write(exporter)
            try? exporter.finish()
            for (kind, count) in left.sorted(by: { $0.key < $1.key }) {
                context.note("\(name): \(Readable.count(count, "sample")) of the kind \(kind) cannot be read back")
            }
        } catch {
            remove()
            throw error
        }
    }

    private func write(_ exporter: any ReadableExporter) throws -> [String: Int] {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(.inputOutput, "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        return try exporter.lines { bytes in
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw StoreError(.inputOutput, "\(self.path): \(String(cString: strerror(errno)))") }
                written += count
            }
        }
    }

    func remove() {
        unlink(path)
        rmdir(folder)
    }
}

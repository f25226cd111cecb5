import Glibc
import HealthModel
import Pipeline

@testable import FileSource

/// The result of reading an export: each frame in order, and how it ended.
struct ImportedExport {
    enum Event {
        case reading(Reading)
        case skipped(String)
        case refused(String)
        case characteristics([Characteristic])
    }

    var events: [(place: Place, event: Event)] = []
    var error: SourceError?
    let registry = OriginRegistry(person: "me")

    /// Reads a file.
    init(path: String, limits: ZipArchive.Limits = ZipArchive.Limits()) {
        let interpreter = AppleHealthInterpreter(registry: registry)
        do {
            let source = AppleHealthExportSource(
                try InputFile(path: path), path: path, received: Instant(seconds: 1_800_000_000), limits: limits)
            try source.forEachFrame { frame in
                var readings: [Reading] = []
                do throws(Refusal) {
                    switch try interpreter.interpret(frame, into: &readings) {
                    case .readings: events += readings.map { ($0.place, .reading($0)) }
                    case .skipped(let kind): events.append((frame.place, .skipped(kind.name)))
                    case .characteristics(let reported): events.append((frame.place, .characteristics(reported)))
                    case .notData: break
                    }
                } catch {
                    events.append((error.place, .refused(error.reason)))
                }
                guard let rest = interpreter.takeLeftOut() else { return }
                events += rest.refusals.map { ($0.place, .refused($0.reason)) }
                for (kind, count) in rest.skipped.sorted(by: { $0.key.name < $1.key.name }) {
                    events += (0..<count).map { _ in (frame.place, .skipped(kind.name)) }
                }
            }
        } catch {
            self.error = error as? SourceError ?? SourceError(.inputOutput, "not a source's error: \(error)")
        }
    }

    /// Reads bytes, by way of a file.
    init(_ bytes: some Collection<UInt8>, limits: ZipArchive.Limits = ZipArchive.Limits()) {
        let file = TemporaryFile(bytes)
        self.init(path: file.path, limits: limits)
    }

    /// Reads these elements in an export of one line before them.
    init(elements: String) { self.init("<HealthData locale=\"en_US\">\n\(elements)\n</HealthData>\n".utf8) }

    var readings: [Reading] { events.compactMap { if case .reading(let reading) = $0.event { reading } else { nil } } }
    var characteristics: [Characteristic] {
        events.flatMap { _, event -> [Characteristic] in
            guard case .characteristics(let reported) = event else { return [] }
            return reported
        }
    }
    var skipped: [String] { events.compactMap { if case .skipped(let kind) = $0.event { kind } else { nil } } }
    var refused: [String] { events.compactMap { if case .refused(let reason) = $0.event { reason } else { nil } } }
    var records: Int { Set(events.filter { $0.place.kind == .record }.map(\.place.number)).count }
}

/// A file in its own folder, which is removed when it is no longer used.
final class TemporaryFile {
    let path: String
    private let folder: String

    init(_ bytes: some Collection<UInt8>) {
        var template = Array("/tmp/vitalgate-test-XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/file"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let content = Array(bytes)
        var written = 0
        while written < content.count {
            let count = content[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            written += count
        }
        close(descriptor)
    }

    deinit {
        unlink(path)
        rmdir(folder)
    }
}

/// A file of `Files/`.
func testFile(_ name: String) throws -> (path: String, bytes: [UInt8]) {
    let path = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Files/" + name
    let input = try FileInput(path: path)
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = try bytes.withUnsafeMutableBytes { try input.fill($0) }
    return (path, Array(bytes[..<count]))
}

/// A Record element. Attributes that are `nil` are left out.
func record(
    type: String? = "HKQuantityTypeIdentifierHeartRate", unit: String? = "count/min", value: String? = "60",
    source: String = "Watch", version: String? = "10.1", device: String? = nil, start: String? = "2025-10-20 06:00:00 -0500",
    end: String? = "2025-10-20 06:00:00 -0500", content: String = ""
) -> String {
    let attributes: [(String, String?)] = [
        ("type", type), ("sourceName", source), ("sourceVersion", version), ("device", device), ("unit", unit),
        ("creationDate", "2025-10-20 06:06:00 -0500"), ("startDate", start), ("endDate", end), ("value", value),
    ]
    let text = attributes.compactMap { name, value in value.map { " \(name)=\"\($0)\"" } }.joined()
    return content.isEmpty ? "<Record\(text)/>" : "<Record\(text)>\(content)</Record>"
}

func entry(_ key: String, _ value: String) -> String { "<MetadataEntry key=\"\(key)\" value=\"\(value)\"/>" }

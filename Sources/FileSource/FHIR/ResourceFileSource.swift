import HealthModel
import Pipeline

/// Reads files of FHIR resources: one resource, a Bundle, or one of these per line (NDJSON, as in bulk exports). The entries of a Bundle
/// are delivered one by one, so that memory does not grow with it.
///
///     let source = ResourceFileSource(try InputFile(path: "bundle.json"), received: now)
///
/// Each resource is a row of ``ResourceRow`` with the unchanged bytes of the file. Its place is its line, or in a Bundle the index of its
/// first byte. An invalid line is rejected, and the next one is read. If a Bundle is malformed, the rest cannot be read.
package final class ResourceFileSource: FrameSource {
    private let open: () -> any ByteInput
    private let received: Instant

    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        open = { FileInput(file, meter: meter) }
        self.received = received
    }

    /// Reads bytes from memory, for tests.
    package init(bytes: [UInt8], received: Instant) {
        open = { MemoryInput(bytes) }
        self.received = received
    }

    /// Reads a stream.
    init(received: Instant, open: @escaping () -> any ByteInput) {
        self.open = open
        self.received = received
    }

    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        try ResourceWalk(ResourceText(open()), received: received).run(handle)
    }
}

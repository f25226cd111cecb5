import HealthModel
import Pipeline

/// Reads files of FHIR resources: one resource, a Bundle, or one of these a line (NDJSON, as bulk exports are). A Bundle's entries come one
/// after the other, so that memory does not grow with it.
///
///     let source = ResourceFileSource(try InputFile(path: "bundle.json"), received: now)
///
/// Each resource is a row of ``ResourceRow`` with the octets as they stand in the file. Its place is its line, or in a Bundle the octet at
/// which it begins. A line that is none is refused and the next one read; where a Bundle breaks, the rest cannot be read.
public final class ResourceFileSource: FrameSource {
    private let open: () -> any ByteInput
    private let received: Instant

    /// Reads a file that is open.
    public init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        open = {
            meter?.bytes = 0
            return FileInput(file, meter: meter)
        }
        self.received = received
    }

    /// Reads octets from memory; for tests.
    public init(bytes: [UInt8], received: Instant) {
        open = { MemoryInput(bytes) }
        self.received = received
    }

    /// Reads what comes in pieces.
    init(received: Instant, open: @escaping () -> any ByteInput) {
        self.open = open
        self.received = received
    }

    public func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        try ResourceWalk(ResourceText(open()), received: received).run(handle)
    }
}

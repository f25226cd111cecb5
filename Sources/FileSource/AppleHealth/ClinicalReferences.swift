import HealthModel
import Pipeline

/// The clinical records that an export names, until their files are read.
struct ClinicalReferences {
    /// The maximum size of all elements in bytes. One element has some hundreds.
    static let maximumLength = 16 << 20

    /// The attributes of an element, in the form of ``ResourceRow``.
    struct Reference {
        var source: [UInt8]
        var sourceURL: [UInt8]
        var version: [UInt8]
        var received: [UInt8]
        var identifier: [UInt8]
        var place: Place

        static func empty(at place: Place) -> Reference {
            Reference(source: [], sourceURL: [], version: [], received: [], identifier: [], place: place)
        }

        /// Reads a row with ``ExportRow/clinicalColumns``. Returns `nil` if the time cannot be read.
        init?(_ row: TextRow, at place: Place) {
            let columns = ExportRow.clinicalColumns
            func cell(_ name: String) -> UnsafeRawBufferPointer { row[1 + (columns.firstIndex(of: name) ?? columns.count)] }
            (source, sourceURL, identifier) = (Array(cell("sourceName")), Array(cell("sourceURL")), Array(cell("identifier")))
            version = Self.release(cell("fhirVersion"))
            received = []
            self.place = place
            let date = cell("receivedDate")
            guard !date.isEmpty else { return }
            // HealthKit's form of a time, or ISO 8601.
            guard let time = try? Timestamp(iso8601: date), time.offset != nil else { return nil }
            let text = String(decoding: date, as: UTF8.self)
            let parts = text.split(separator: " ")
            received = Array((parts.count == 3 ? "\(parts[0])T\(parts[1])\(Self.zone(parts[2]))" : text).utf8)
        }

        private init(
            source: [UInt8], sourceURL: [UInt8], version: [UInt8], received: [UInt8], identifier: [UInt8], place: Place
        ) {
            (self.source, self.sourceURL, self.version) = (source, sourceURL, version)
            (self.received, self.identifier, self.place) = (received, identifier, place)
        }

        /// Converts `+0100` to `+01:00`.
        private static func zone(_ text: Substring) -> String {
            text.utf8.count == 5 ? "\(text.prefix(3)):\(text.suffix(2))" : String(text)
        }

        /// Converts HealthKit's names of releases (`HKFHIRVersion.stringRepresentation`, `HKFHIRRelease`). Other names are unchanged.
        private static func release(_ text: UnsafeRawBufferPointer) -> [UInt8] {
            switch String(decoding: text, as: UTF8.self) {
            case "1.0.2": Array("DSTU2".utf8)
            case "4.0.1": Array("R4".utf8)
            default: Array(text)
            }
        }

        var length: Int { source.count + sourceURL.count + version.count + received.count + identifier.count + 200 }
    }

    private(set) var waiting: [[UInt8]: Reference] = [:]
    private var length = 0

    /// - Returns: whether there was room.
    mutating func add(_ reference: Reference, for key: [UInt8]) -> Bool {
        length += reference.length + key.count
        guard length <= Self.maximumLength else { return false }
        waiting[key] = reference
        return true
    }

    mutating func remove(_ key: [UInt8]) -> Reference? { waiting.removeValue(forKey: key) }

    /// Passes a resource to `handle`, as a frame of the channel ``ResourceRow/fhir``. A resource that is too long becomes a malformed
    /// frame.
    static func deliver(
        _ input: any ByteInput, _ reference: Reference, received: Instant, _ handle: (RawFrame) throws -> Void
    ) throws {
        let bytes = try input.bytes(limit: ResourceRow.maximumLength)
        guard bytes.count <= ResourceRow.maximumLength else {
            let reason = "the clinical record's file is larger than \(ResourceRow.maximumLength >> 20) MiB"
            return try handle(RawFrame(payload: .malformed(reason), place: reference.place, received: received))
        }
        let columns = [
            bytes, reference.source, reference.sourceURL, reference.version, reference.received, reference.identifier,
        ]
        try deliver(columns[...], []) { row in
            try handle(RawFrame(payload: .row(row), place: reference.place, received: received, channel: ResourceRow.fhir))
        }
    }

    /// Adds a cell for each column and calls `body` while their bytes are valid.
    private static func deliver(
        _ columns: ArraySlice<[UInt8]>, _ cells: [UnsafeRawBufferPointer], _ body: (TextRow) throws -> Void
    ) throws {
        guard let column = columns.first else {
            let row = TextRow()
            row.cells = cells
            return try body(row)
        }
        try column.withUnsafeBytes { try deliver(columns.dropFirst(), cells + [$0], body) }
    }
}

import Formats
import HealthModel
import Pipeline

/// Encodes samples that are not quantities as rows of COPY, all kinds in one temporary table: the common columns, the fields of
/// the NDJSON line as JSON, and the contents of bodies. ``ObjectTable`` derives its columns from it.
final class ObjectRows {
    /// The SQL definitions of the columns after a kind's own columns. The person is compared byte by byte, because a language's order would
    /// make the indexes slow.
    static let tail = "zone_offset integer, \(person), \(origin)"

    /// The person.
    static let person = #"subject text COLLATE "C" NOT NULL"#

    /// From the source to the metadata.
    static let origin = """
        source_id text NOT NULL, source_name text NOT NULL, source_version text,
        device_key text, device_name text, device_manufacturer text, device_model text, device_serial text,
        time_origin text NOT NULL, received timestamptz NOT NULL, group_id text,
        metadata jsonb NOT NULL DEFAULT '\(OptionalColumns.noMetadata)'
        """

    /// The manufacturer's record id and version, the other inputs of the UUID, the variant, and the hash of the content.
    static let record = "\(identity), \(hashes)"

    /// The manufacturer's record id and version, and the other inputs of the UUID.
    static let identity = "record_id text, record_version bigint, identity jsonb"

    /// The variant (``ConflictRows``) and the hash of the content.
    static let hashes = "variant bigint NOT NULL DEFAULT 0, print bigint NOT NULL DEFAULT 0"

    /// The temporary table.
    static let temporary = """
        CREATE TEMP TABLE incoming_object(
            start_time timestamptz NOT NULL, uuid uuid NOT NULL, end_time timestamptz NOT NULL, type text NOT NULL,
            kind text NOT NULL, number double precision NOT NULL, name text, fields jsonb NOT NULL, resource jsonb, xml text,
            octets bytea, p1 double precision[], p2 double precision[], p3 double precision[], p4 double precision[],
            p5 double precision[], p6 double precision[], p7 double precision[], p8 double precision[], more jsonb,
            \(tail), \(record)) ON COMMIT DELETE ROWS
        """

    static let columns =
        CopyRows.head + ["kind", "number", "name", "fields", "resource", "xml", "octets"] + (1...arrays).map { "p\($0)" } + [
            "more"
        ]
        + CopyRows.tail

    /// The maximum number of point columns of a kind.
    private static let arrays = 8
    /// The maximum number of values in one row: a week of a route with a point each second.
    static let maximumNumbers = 5_000_000

    private let rows: CopyRows

    init(_ rows: CopyRows) { self.rows = rows }

    /// - Throws: ``DeliveryError`` of the kind `refused` if the sample does not fit into a row.
    func append(_ sample: Sample, to row: inout CopyRow) throws(DeliveryError) {
        row.begin(fields: Self.columns.count)
        rows.appendHead(of: sample, to: &row)
        let type = sample.origin.type
        row.add(type.kind.name)
        row.add(sample.value)
        row.add(type.caseName(of: sample.value))
        row.add(json: ObjectText.json(of: sample))
        do throws(ContentError) {
            try appendContent(of: sample, to: &row)
        } catch {
            throw DeliveryError(.refused, "its content in the store: \(error)")
        }
        rows.appendTail(of: sample, to: &row)
    }

    private func appendContent(of sample: Sample, to row: inout CopyRow) throws(ContentError) {
        guard let content = sample.body?.content else {
            for _ in 0..<(4 + Self.arrays) { row.addNull() }
            return
        }
        guard let points = ContentFields.points(of: sample) else {
            try append(content, of: sample.origin.kind, to: &row)
            for _ in 0...Self.arrays { row.addNull() }
            return
        }
        for _ in 0..<3 { row.addNull() }
        try append(points, content, of: sample.origin.kind, to: &row)
    }

    // MARK: Resources and documents

    /// Appends a resource as JSON for queries and as bytes, or a document as text if PostgreSQL can store it, and otherwise as
    /// bytes.
    private func append(_ content: PackedContent, of kind: SampleKind, to row: inout CopyRow) throws(ContentError) {
        let reported = try content.bytes()
        let isText = !reported.contains(0) && String(validating: reported, as: UTF8.self) != nil
        row.add(json: kind == .clinicalRecord && isText && !Self.hasUnheldCharacter(reported) ? reported : nil)
        let isXML = kind == .document && isText
        if isXML { row.add(bytes: reported) } else { row.addNull() }
        if isXML { row.addNull() } else { row.add(bytes: reported) }
    }

    /// Whether the JSON escapes a character that `jsonb` rejects: U+0000 or a surrogate. All surrogates are treated so because
    /// the resource is stored as bytes too.
    private static func hasUnheldCharacter(_ json: [UInt8]) -> Bool {
        var index = 0
        while index < json.count {
            guard json[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            if index + 5 < json.count, json[index + 1] == UInt8(ascii: "u") {
                let (first, second) = (json[index + 2], json[index + 3] | 0x20)
                let isZero = json[(index + 2)...(index + 5)].allSatisfy { $0 == UInt8(ascii: "0") }
                let isHalf = first | 0x20 == UInt8(ascii: "d") && "89abcdef".utf8.contains(second)
                if isZero || isHalf { return true }
            }
            index += 2
        }
        return false
    }

    // MARK: Points

    /// Appends an array for each point column of the kind's table, and the other columns as JSON.
    private func append(
        _ points: Points, _ content: PackedContent, of kind: SampleKind, to row: inout CopyRow
    ) throws(ContentError) {
        let (numbers, overflow) = points.count.multipliedReportingOverflow(by: max(points.columns.count, 1))
        guard !overflow, numbers <= Self.maximumNumbers else { throw .tooLong }
        var columns = Array(repeating: [Double?](), count: points.columns.count)
        var reader = try PointsReader(points, content)
        while let point = try reader.next() {
            for (index, number) in point.enumerated() {
                let value = number?.doubleValue
                columns[index].append(points.columns[index].name == Points.time ? value.map { $0 / 1e6 } : value)
            }
        }
        let known = ObjectTable.byKind[kind]?.points.map(\.reported) ?? []
        for place in 0..<Self.arrays {
            guard place < known.count, let index = points.columns.firstIndex(where: { $0.name == known[place] }) else {
                row.addNull()
                continue
            }
            row.add(columns[index])
        }
        var others: [[UInt8]] = []
        for (index, column) in points.columns.enumerated() where !known.contains(column.name) {
            var entry: [UInt8] = []
            JSONText.append(string: column.name, to: &entry)
            entry += ":{\"unit\":".utf8
            if let unit = column.unit { JSONText.append(string: unit, to: &entry) } else { entry += "null".utf8 }
            entry += ",\"values\":[".utf8
            entry += columns[index].map { $0?.description ?? "null" }.joined(separator: ",").utf8
            others.append(entry + Array("]}".utf8))
        }
        guard !others.isEmpty else { return row.addNull() }
        row.add(json: Array("{".utf8) + Array(others.joined(separator: Array(",".utf8))) + Array("}".utf8))
    }
}

import Formats
import HealthModel
import Pipeline

/// Encodes samples that are not quantities as rows of COPY, all kinds in one temporary table: the common columns, the fields of
/// the NDJSON line as JSON, and the contents of bodies. ``ObjectTable`` derives its columns from it.
final class ObjectRows {
    /// The SQL definitions of the columns after a kind's own columns. The person is compared byte by byte, because a language's order would
    /// make the indexes slow.
    static let tail = """
        zone_offset integer, subject text COLLATE "C" NOT NULL, source_id text NOT NULL, source_name text NOT NULL, source_version text,
        device_key text, device_name text, device_manufacturer text, device_model text, time_origin text NOT NULL,
        received timestamptz NOT NULL, group_id text, metadata jsonb NOT NULL
        """

    /// The manufacturer's record id and version, and the other inputs of the UUID.
    static let record = "record_id text, record_version bigint, identity jsonb"

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
        CopyText.head + ["kind", "number", "name", "fields", "resource", "xml", "octets"] + (1...arrays).map { "p\($0)" } + [
            "more"
        ]
        + CopyText.tail

    /// The maximum number of point columns of a kind.
    private static let arrays = 8
    /// The maximum number of values in one row: a week of a route with a point each second.
    static let mostNumbers = 5_000_000

    private let text: CopyText

    init(_ text: CopyText) { self.text = text }

    /// - Throws: ``DeliveryError`` of the kind `refused` if the sample does not fit into a row.
    func append(_ sample: Sample, to octets: inout [UInt8]) throws(DeliveryError) {
        text.appendHead(of: sample, to: &octets)
        let type = sample.origin.type
        CopyText.add(type.kind.name, to: &octets)
        CopyText.add(sample.value.description, to: &octets)
        CopyText.add(type.caseName(of: sample.value), to: &octets)
        CopyText.add(octets: ObjectText.json(of: sample), to: &octets)
        do throws(ContentError) {
            try appendContent(of: sample, to: &octets)
        } catch {
            throw DeliveryError(.refused, "its content in the store: \(error)")
        }
        text.appendTail(of: sample, to: &octets)
        octets.append(UInt8(ascii: "\n"))
    }

    private func appendContent(of sample: Sample, to octets: inout [UInt8]) throws(ContentError) {
        guard let content = sample.body?.content else {
            for _ in 0..<(4 + Self.arrays) { CopyText.add(nil, to: &octets) }
            return
        }
        guard let points = ContentFields.points(of: sample) else {
            try append(content, of: sample.origin.kind, to: &octets)
            for _ in 0...Self.arrays { CopyText.add(nil, to: &octets) }
            return
        }
        for _ in 0..<3 { CopyText.add(nil, to: &octets) }
        try append(points, content, of: sample.origin.kind, to: &octets)
    }

    // MARK: Resources and documents

    /// Appends a resource as JSON for queries and as bytes, or a document as text if PostgreSQL can store it, and otherwise as
    /// bytes.
    private func append(_ content: PackedContent, of kind: SampleKind, to octets: inout [UInt8]) throws(ContentError) {
        let told = try content.octets()
        let isText = !told.contains(0) && String(validating: told, as: UTF8.self) != nil
        if kind == .clinicalRecord, isText, !Self.hasUnheldCharacter(told) {
            CopyText.add(octets: told, to: &octets)
        } else {
            CopyText.add(nil, to: &octets)
        }
        let isXML = kind == .document && isText
        if isXML { CopyText.add(octets: told, to: &octets) } else { CopyText.add(nil, to: &octets) }
        guard !isXML else { return CopyText.add(nil, to: &octets) }
        octets.append(UInt8(ascii: "\t"))
        octets += "\\\\x".utf8
        octets.reserveCapacity(octets.count + 2 * told.count)
        for octet in told {
            octets.append(Self.digits[Int(octet >> 4)])
            octets.append(Self.digits[Int(octet & 15)])
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

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
        _ points: Points, _ content: PackedContent, of kind: SampleKind, to octets: inout [UInt8]
    ) throws(ContentError) {
        let (numbers, overflow) = points.count.multipliedReportingOverflow(by: max(points.columns.count, 1))
        guard !overflow, numbers <= Self.mostNumbers else { throw .tooLong }
        var texts = Array(repeating: [UInt8](), count: points.columns.count)
        var reader = try PointsReader(points, content)
        while let point = try reader.next() {
            for (index, number) in point.enumerated() {
                if !texts[index].isEmpty { texts[index].append(UInt8(ascii: ",")) }
                guard let number else {
                    texts[index] += "null".utf8
                    continue
                }
                let value = number.doubleValue
                texts[index] += (points.columns[index].name == Points.time ? value / 1e6 : value).description.utf8
            }
        }
        let known = ObjectTable.byKind[kind]?.points.map(\.told) ?? []
        for place in 0..<Self.arrays {
            guard place < known.count, let index = points.columns.firstIndex(where: { $0.name == known[place] }) else {
                CopyText.add(nil, to: &octets)
                continue
            }
            octets.append(UInt8(ascii: "\t"))
            octets.append(UInt8(ascii: "{"))
            octets += texts[index]
            octets.append(UInt8(ascii: "}"))
        }
        var others: [[UInt8]] = []
        for (index, column) in points.columns.enumerated() where !known.contains(column.name) {
            var entry: [UInt8] = []
            JSONText.append(string: column.name, to: &entry)
            entry += ":{\"unit\":".utf8
            if let unit = column.unit { JSONText.append(string: unit, to: &entry) } else { entry += "null".utf8 }
            entry += ",\"values\":[".utf8
            others.append(entry + texts[index] + Array("]}".utf8))
        }
        guard !others.isEmpty else { return CopyText.add(nil, to: &octets) }
        CopyText.add(octets: Array("{".utf8) + Array(others.joined(separator: Array(",".utf8))) + Array("}".utf8), to: &octets)
    }
}

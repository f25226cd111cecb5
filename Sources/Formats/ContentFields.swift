import FoundationEssentials
import HealthModel

/// The packed content of a body, in a line that contains all of an object:
///
///     ,"data":{"columns":[{"name":"time","unit":null},{"name":"latitude","unit":"deg"},…],"rows":[[0,51.44,…],…]}
///     ,"octets":"{\"resourceType\":\"Immunization\",…}"
///
/// Bytes that are not valid UTF-8 are written as `octetsBase64`.
package enum ContentFields {
    /// Sets the fields, or none if the sample has no packed content or it cannot be read.
    static func set(of sample: Sample, in object: inout JSONObject) {
        guard let content = sample.body?.content else { return }
        if let points = points(of: sample) {
            if let data = try? data(points, content) { object.set("data", raw: data) }
        } else if let bytes = try? content.bytes() {
            if let text = String(validating: bytes, as: UTF8.self) {
                object.set("octets", text)
            } else {
                object.set("octetsBase64", Data(bytes).base64EncodedString())
            }
        }
    }

    /// The points of a sample, or `nil` if it has none.
    package static func points(of sample: Sample) -> Points? {
        struct Series: Decodable { var points: Points }
        switch sample.origin.kind {
        case .workoutRoute, .heartbeatSeries, .electrocardiogram: return (try? sample.body?.decoded(as: Series.self))?.points
        default: return nil
        }
    }

    private static func data(_ points: Points, _ content: PackedContent) throws -> [UInt8] {
        var object = JSONObject([
            "columns": points.columns.map { column in
                JSONObject(["name": column.name, "unit": column.unit])
            }
        ])
        var rows: [UInt8] = [UInt8(ascii: "[")]
        var reader = try PointsReader(points, content)
        while let point = try reader.next() {
            rows += rows.count > 1 ? ",[".utf8 : "[".utf8
            for (index, number) in point.enumerated() {
                if index > 0 { rows.append(UInt8(ascii: ",")) }
                rows += (number?.text ?? "null").utf8
            }
            rows.append(UInt8(ascii: "]"))
        }
        rows.append(UInt8(ascii: "]"))
        object.set("rows", raw: rows)
        return object.closed
    }
}

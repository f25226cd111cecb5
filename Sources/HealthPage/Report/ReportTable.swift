import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The readings of a report as CSV. Times are local, with their offset. The columns are those of the generic table that
/// `vitalgate import` reads.
enum ReportTable {
    private static let columns = ["time", "type", "value", "unit", "end", "source", "device"]
    /// The maximum number of readings.
    private static let most = 200_000

    static func answer(_ request: ReportRequest, _ call: PageCall) throws -> HTTPResponse {
        let store = try call.reader().store
        let writer = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
        var (octets, count) = ([UInt8](), 0)
        writer.append(row: columns, to: &octets)
        var text = ZonedTimeText()
        func local(_ instant: Instant) -> String {
            var octets: [UInt8] = []
            text.append(instant, call.zone.offset(at: instant), to: &octets)
            return String(decoding: octets, as: UTF8.self)
        }
        for type in request.types.flatMap({ ReportRequest.parts(of: $0) }) {
            let cursor = try store.samples(matching: SampleQuery(types: [type], from: request.from, to: request.to))
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample {
                count += 1
                guard count <= most else {
                    throw Problem(413, "The table can have at most \(most) readings. Choose fewer days or types.")
                }
                // The number and unit as received are exact.
                writer.append(
                    row: [
                        local(sample.start), type.id, sample.numeral.text, sample.unit.code,
                        sample.end == sample.start ? "" : local(sample.end), sample.origin.source.name,
                        sample.origin.device?.name ?? "",
                    ], to: &octets)
            }
        }
        var response = HTTPResponse(type: "text/csv; charset=utf-8", octets)
        response.headers += [
            ("Content-Disposition", "attachment; filename=\"readings-\(request.first)-\(request.last).csv\""),
            ("Cache-Control", "no-store"), ("Vary", "Cookie, Accept-Encoding"),
        ]
        return response
    }
}

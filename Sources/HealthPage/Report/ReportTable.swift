import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The readings of a report as a ``ReadingTable``.
enum ReportTable {
    /// The maximum number of readings.
    private static let maximum = 200_000

    static func answer(_ request: ReportRequest, _ call: PageCall) throws -> HTTPResponse {
        let store = try call.reader().store
        var table = ReadingTable(zone: call.zone)
        var (bytes, count) = ([UInt8](), 0)
        table.begin(&bytes)
        for type in request.types.flatMap({ ReportRequest.parts(of: $0) }) {
            let cursor = try store.samples.cursor(matching: SampleQuery(types: [type], from: request.from, to: request.to))
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample {
                count += 1
                guard count <= maximum else {
                    throw PageProblem(413, "table", PageValues.grouped(Int64(maximum)))
                }
                table.append(sample, to: &bytes)
            }
        }
        var response = HTTPResponse(type: "text/csv; charset=utf-8", bytes)
        response.headers += [
            ("Content-Disposition", "attachment; filename=\"readings-\(request.first)-\(request.last).csv\""),
            ("Cache-Control", "no-store"), ("Vary", "Cookie, Accept-Encoding"),
        ]
        return response
    }
}

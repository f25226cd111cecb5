import CompressionKit
import HTTPClientKit
import HealthModel
import Pipeline

/// Writes samples as points to InfluxDB version 1 or 2, in line protocol over HTTP.
///
/// A point that is written twice is stored once. A sample is deleted by its measurement, tags and time.
package final class InfluxExporter: ComparableExporter {
    /// The number of points that InfluxData recommends for one request.
    package let batchLimit = 5000
    let settings: InfluxSettings
    let context: ExportContext
    private let line = LineProtocol()
    /// The policy of the marks in a version 1 database, or `nil` before it was looked up.
    var markPolicy: MarkPolicy?
    private var session: (client: HTTPClient, headers: [(name: String, value: String)])?

    /// Creates an exporter without connecting.
    package init(_ settings: InfluxSettings, context: ExportContext) { (self.settings, self.context) = (settings, context) }

    /// The target's address without credentials. Another address is another target.
    package var address: String {
        switch settings.place {
        case .database(let name, let policy): "\(settings.url)/\(name)/\(policy ?? "")"
        case .bucket(let name, let org): "\(settings.url)/\(org)/\(name)"
        }
    }

    /// Checks that the server answers, accepts our credentials, and accepts a delivery: a point is written, read and deleted.
    package func check() throws(DeliveryError) -> [Finding] {
        let ping = try ask(.get, "/ping")
        var findings = [Finding(.good, settings.url, "InfluxDB \(ping.headers["x-influxdb-version"] ?? "of an unknown version")")]
        // An empty write stores no point, but the server checks permissions and the place.
        try write([])
        if case .database(let name, _) = settings.place { try rehearse(in: name) }
        findings.append(Finding(.good, placeName, "takes points"))
        if settings.url.hasPrefix("http://") {
            findings.append(Finding(.warning, settings.url, "readings are sent unencrypted: use https://"))
        }
        return findings
    }

    private var placeName: String {
        switch settings.place {
        case .database(let name, _): "database \(name)"
        case .bucket(let name, _): "bucket \(name)"
        }
    }

    // MARK: Requests

    private func opened() throws(DeliveryError) -> (client: HTTPClient, headers: [(name: String, value: String)]) {
        if let session { return session }
        let headers: [(name: String, value: String)] =
            switch settings.entry {
            case .anonymous: []
            case .user(let user, let password): [HTTPRequest.basic(user, try password.read())]
            case .token(let token): [("Authorization", "Token \(try token.read())")]
            }
        do throws(HTTPFailure) {
            let opened = (client: try HTTPClient(certificateAuthority: settings.certificateAuthority), headers: headers)
            session = opened
            return opened
        } catch {
            throw DeliveryError(.unreachable, error.description)
        }
    }

    @discardableResult
    func ask(
        _ method: HTTPRequest.Method, _ path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        take: (([UInt8]) -> Bool)? = nil
    ) throws(DeliveryError) -> HTTPResponse {
        let (client, own) = try opened()
        let response: HTTPResponse
        do throws(HTTPFailure) {
            response = try client.send(
                HTTPRequest(method, settings.url + path, headers: own + headers, body: body, isLong: take != nil), take: take)
        } catch {
            throw DeliveryError(error.isForAPerson ? .unfit : .unreachable, error.description)
        }
        guard response.isSuccess else {
            throw DeliveryError(
                status: response.status, retryAfter: response.retryAfter, location: response.headers["location"],
                words: Self.words(of: response.body))
        }
        return response
    }

    /// Returns only known parts of a server's message because a message about a point repeats the point.
    private static func words(of body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(4096), as: UTF8.self)
        let known = [
            "field type conflict", "points beyond retention policy", "max-values-per-tag limit exceeded",
            "max-series-per-database limit exceeded", "database not found", "bucket not found", "unable to parse", "unauthorized",
            "timeout",
            "authorization failed", "not authorized", "retention policy not found", "unable to parse authentication credentials",
        ]
        let found = known.filter { text.lowercased().contains($0) }.joined(separator: ", ")
        guard found.contains(beyondRetention), let dropped = dropped(in: text) else { return found }
        return "\(found) (\(dropped) dropped)"
    }

    static let beyondRetention = "points beyond retention policy"

    /// Returns how many points of an otherwise accepted write the server reports as dropped.
    private static func dropped(in text: String) -> Int? {
        guard let place = text.firstRange(of: "dropped=") else { return nil }
        return Int(text[place.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }

    /// - Parameter policy: the policy in a version 1 database, if it differs from the readings' policy.
    func write(_ lines: [UInt8], policy own: String? = nil) throws(DeliveryError) {
        let path: String
        switch settings.place {
        case .database(let name, let policy):
            let retention = (own ?? policy).map { "&rp=\(HTTPRequest.escaped($0))" } ?? ""
            path = "/write?db=\(HTTPRequest.escaped(name))&precision=n\(retention)"
        case .bucket(let name, let org):
            path = "/api/v2/write?org=\(HTTPRequest.escaped(org))&bucket=\(HTTPRequest.escaped(name))&precision=ns"
        }
        if lines.count > 1024 {
            let packed = BufferCompressor.compress(lines, .gzip)
            try ask(.post, path, headers: [("Content-Encoding", "gzip")], body: packed)
        } else {
            try ask(.post, path, body: lines)
        }
    }

    // MARK: Samples

    /// Deletes the deleted samples and then writes the new ones. For each sample the batch's last change counts.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        if let mark = batch.mark { try expect(before: mark) }
        var last: [SampleIdentity: Int] = [:]
        for (index, change) in batch.changes.enumerated() { last[change.uuid] = index }
        var lines: [UInt8] = []
        var deleted: [Point] = []
        for (index, change) in batch.changes.enumerated() where last[change.uuid] == index {
            switch change {
            case .added(let stored):
                let (value, unit) = context.quantity(of: stored.sample)
                line.append(stored.sample, value: value, unit: unit, to: &lines)
            case .deleted(let deletion): deleted.append(Point(deletion.sample))
            }
        }
        try delete(deleted)
        var tooOld: DeliveryError?
        if !lines.isEmpty {
            do throws(DeliveryError) { try write(lines) } catch { tooOld = try beyondRetention(error, batch, last) }
        }
        if let mark = batch.mark { try put(mark) }
        if let tooOld { throw tooOld }
        return 0
    }

    /// Finds the rejected points of a write. A server drops points older than its retention, stores the rest, and reports how
    /// many it dropped. These are the oldest.
    private func beyondRetention(
        _ error: DeliveryError, _ batch: ExportBatch, _ last: [SampleIdentity: Int]
    ) throws(DeliveryError) -> DeliveryError {
        guard error.kind == .refused, error.reason.contains(Self.beyondRetention),
            let count = error.reason.split(separator: "(").last?.split(separator: " ").first.flatMap({ Int($0) })
        else { throw error }
        var written: [(time: Int64, place: Int)] = []
        for case (let place, .added(let stored)) in batch.changes.enumerated() where last[stored.uuid] == place {
            written.append((Point.nanoseconds(of: stored.sample), place))
        }
        guard (1...written.count).contains(count) else { throw error }
        let oldest = written.sorted { $0.time < $1.time }.prefix(count).map(\.place).sorted()
        return DeliveryError(.refusedSome(oldest), "its retention period is too short for this reading (\(Self.beyondRetention))")
    }

    private func delete(_ points: [Point]) throws(DeliveryError) {
        switch settings.place {
        case .database(let name, _):
            for start in stride(from: 0, to: points.count, by: 100) {
                let some = points[start..<min(start + 100, points.count)]
                try query(some.map(Self.deletion).joined(separator: ";"), in: name)
                // Two simultaneous deletions, such as after a lost answer, may leave points although the server reports success.
                let left = try query(some.map(Self.selection).joined(separator: ";"), in: name)
                guard !left.contains("\"series\"") else { throw DeliveryError(.unreachable, "a deletion had no effect") }
            }
        case .bucket(let name, let org):
            let path = "/api/v2/delete?org=\(HTTPRequest.escaped(org))&bucket=\(HTTPRequest.escaped(name))"
            for point in points {
                try ask(
                    .post, path, headers: [("Content-Type", "application/json")], body: Array(Self.deletionRequest(point).utf8))
            }
        }
    }

    /// The InfluxQL statements for version 1.
    private static func deletion(_ point: Point) -> String { "DELETE FROM \(place(of: point))" }
    private static func selection(_ point: Point) -> String { "SELECT \"uuid\" FROM \(place(of: point))" }

    private static func place(of point: Point) -> String {
        let tags = point.tags.map { " AND \(name($0.key)) = \(text($0.value))" }.joined()
        return "\(name(point.measurement)) WHERE time = \(point.nanoseconds)\(tags)"
    }

    static func name(_ text: String) -> String { "\"\(escaped(text, "\""))\"" }
    static func text(_ text: String) -> String { "'\(escaped(text, "'"))'" }

    private static func escaped(_ text: String, _ quote: Character) -> String {
        String(text.flatMap { $0 == quote || $0 == "\\" ? ["\\", $0] : [$0] })
    }

    /// The JSON request with a predicate for version 2.
    private static func deletionRequest(_ point: Point) -> String {
        func time(_ nanoseconds: Int64) -> String {
            let (micros, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
            let text = Instant(microseconds: rest < 0 ? micros - 1 : micros).description
            let digits = "\(rest < 0 ? rest + 1000 : rest)"
            return text.dropLast() + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
        }
        let conditions = [("_measurement", point.measurement)] + point.tags.map { ($0.key, $0.value) }
        let predicate = conditions.map { "\($0.0)=\\\"\(escaped(escaped($0.1, "\""), "\""))\\\"" }.joined(separator: " AND ")
        let (start, stop) = (time(point.nanoseconds), time(point.nanoseconds + 1))
        return "{\"start\":\"\(start)\",\"stop\":\"\(stop)\",\"predicate\":\"\(predicate)\"}"
    }

    /// Runs InfluxQL statements and returns the answer. An error in any of them is thrown.
    @discardableResult
    func query(_ statements: String, in database: String) throws(DeliveryError) -> String {
        let body = Array("q=\(HTTPRequest.escaped(statements))".utf8)
        let response = try ask(
            .post, "/query?db=\(HTTPRequest.escaped(database))", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: body)
        let text = String(decoding: response.body, as: UTF8.self)
        // An empty database has nothing to delete.
        guard text.contains("\"error\"") else { return text }
        let words = Self.words(of: response.body)
        throw DeliveryError(text.contains("database not found") ? .unfit : .unreachable, "a statement failed: \(words)")
    }

    /// Whether the target's contents are compared by content or by UUID.
    package var contentComparison: ContentComparison {
        if case .database = settings.place { .prints } else { .none }
    }

    /// Returns a fingerprint of the sample's content as the target stores it.
    package func print(of sample: Sample) -> UInt64? {
        guard case .database = settings.place else { return nil }
        let (value, unit) = context.quantity(of: sample)
        return PointScanner.print(value: value, unit: unit.code)
    }

    /// Passes on the UUIDs of all points, with values and units for version 1.
    package func contents(_ body: ([TargetSample]) throws -> Void) throws {
        var (points, uuids) = (PointScanner(), UUIDScanner())
        var failure: (any Error)?
        func take(_ bytes: [UInt8]) -> Bool {
            do {
                let found: [TargetSample]
                if case .database = settings.place {
                    found = try points.scan(bytes)
                } else {
                    found = uuids.scan(bytes).map { TargetSample($0) }
                }
                if !found.isEmpty { try body(found) }
                return true
            } catch {
                failure = error
                return false
            }
        }
        do {
            switch settings.place {
            case .database(let name, let policy):
                let from = policy.map { "\(Self.name($0))./.*/" } ?? "/.*/"
                let query = HTTPRequest.escaped("SELECT \"uuid\", \"value\", \"unit\" FROM \(from)")
                try withoutActuallyEscaping(take) { take throws(DeliveryError) in
                    _ = try ask(
                        .get, "/query?db=\(HTTPRequest.escaped(name))&chunked=true&chunk_size=1000&q=\(query)", take: take)
                }
            case .bucket(let name, let org):
                let flux =
                    "from(bucket: \"\(Self.escaped(name, "\""))\") |> range(start: 0) |> filter(fn: (r) => r._field == \"uuid\") |> keep(columns: [\"_value\"])"
                try withoutActuallyEscaping(take) { take throws(DeliveryError) in
                    _ = try ask(
                        .post, "/api/v2/query?org=\(HTTPRequest.escaped(org))",
                        headers: [("Content-Type", "application/vnd.flux"), ("Accept", "application/csv")],
                        body: Array(flux.utf8), take: take)
                }
            }
        } catch {
            throw failure ?? error
        }
    }

    package func finish() { (session, markPolicy) = (nil, nil) }
}

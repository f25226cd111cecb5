import FoundationEssentials
import HTTPClientKit
import HealthModel
import Pipeline

/// Marks in a version 1 database: one point for each target of each store. They are in our own retention policy, which keeps
/// everything, or beside the readings if our user may not create one. Each mark is read back to detect a server that only accepts
/// writes.
extension InfluxExporter {
    enum MarkPolicy: Equatable {
        /// Our own policy, at one constant time.
        case own
        /// The policy of the readings, at the time of the delivery. The server may delete it.
        case shared
    }

    private static let measurement = "vitalgate"

    /// The mark that the last delivery left at the target; `nil` if the target keeps none.
    package func found() throws(DeliveryError) -> FoundMark? {
        guard case .database(let database, _) = settings.place else {
            return try bucketID().map { FoundMark(identity: $0, mark: nil, mayForget: true) }
        }
        // A database that was dropped and created again has lost the policy.
        markPolicy = nil
        let policy = try policy(in: database)
        let mark = try readMark(in: database, policy)
        return FoundMark(identity: mark?.identity, mark: mark, mayForget: policy == .shared)
    }

    private struct Buckets: Decodable {
        struct Bucket: Decodable { var id: String, name: String }
        var buckets: [Bucket]
    }

    /// Returns the id of a version 2 bucket, which changes if the bucket is deleted and created again. `nil` if our token may not
    /// read it.
    private func bucketID() throws(DeliveryError) -> String? {
        guard case .bucket(let name, let org) = settings.place else { return nil }
        let answer: HTTPResponse
        do throws(DeliveryError) {
            answer = try ask(.get, "/api/v2/buckets?org=\(HTTPRequest.escaped(org))&name=\(HTTPRequest.escaped(name))")
        } catch {
            switch error.kind {
            case .unauthorised, .forbidden, .unfit, .refused: return nil
            default: throw error
            }
        }
        let found = try? JSONDecoder().decode(Buckets.self, from: Data(answer.body))
        return found?.buckets.first { $0.name == name }.map { "bucket-\($0.id)" }
    }

    /// Writes a mark before the first delivery, so that the target belongs to this store.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        guard case .database(let database, _) = settings.place else { return true }
        try put(mark)
        guard try readMark(in: database, try policy(in: database)) == mark else {
            throw DeliveryError(.unfit, "it accepts points but does not return them: it is not InfluxDB 1")
        }
        return true
    }

    /// Checks that the latest mark is that of the previous delivery.
    func expect(before mark: TargetMark) throws(DeliveryError) {
        guard case .database(let database, _) = settings.place else { return }
        let there = try readMark(in: database, try policy(in: database))
        guard let there, there.count == mark.count - 1, mark.holder.id.isEmpty || there.holder.id == mark.holder.id else {
            throw DeliveryError(
                .unreachable, "another program has delivered under this target's name, or the database was restored from a backup"
            )
        }
    }

    func put(_ mark: TargetMark) throws(DeliveryError) {
        guard case .database(let database, _) = settings.place else { return }
        let policy = try policy(in: database)
        var line = Array("\(Self.measurement),store=\(context.store),target=\(context.name) count=\(mark.count)i".utf8)
        if let time = mark.time { line += ",told=\(time.microseconds)i".utf8 }
        for (name, text) in [
            ("identity", mark.identity), ("anchor", mark.anchor), ("holder", mark.holder.id), ("holder_name", mark.holder.name),
        ] {
            line += ",\(name)=\"".utf8
            LineProtocol.append(text.filter { $0 != "\n" }, .text, to: &line)
            line.append(UInt8(ascii: "\""))
        }
        let time = policy == .own ? 0 : context.now().microseconds * 1000
        line += " \(time)\n".utf8
        try write(line, policy: policy == .own ? Self.measurement : nil)
    }

    private struct Answer: Decodable {
        struct Result: Decodable { var series: [Series]? }
        struct Series: Decodable {
            var columns: [String]
            var values: [[Cell]]
        }
        struct Cell: Decodable {
            var text: String?
            var number: Int64?

            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                text = try? value.decode(String.self)
                number = text == nil ? try? value.decode(Int64.self) : nil
            }
        }
        var results: [Result]
    }

    private func rows(_ statement: String, in database: String) throws(DeliveryError) -> [[String: Answer.Cell]] {
        let text = try query(statement, in: database)
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(text.utf8)) else { return [] }
        return answer.results.flatMap { $0.series ?? [] }.flatMap { series in
            series.values.map { Dictionary(zip(series.columns, $0), uniquingKeysWith: { one, _ in one }) }
        }
    }

    private func readMark(in database: String, _ policy: MarkPolicy) throws(DeliveryError) -> TargetMark? {
        let from = policy == .own ? "\(Self.name(Self.measurement)).\(Self.name(Self.measurement))" : Self.name(Self.measurement)
        let row = try rows(
            "SELECT * FROM \(from) WHERE store = \(Self.text(context.store)) AND target = \(Self.text(context.name)) ORDER BY time DESC LIMIT 1",
            in: database
        ).first
        guard let row, let identity = row["identity"]?.text, let count = row["count"]?.number else { return nil }
        return TargetMark(
            identity: identity, count: count, anchor: row["anchor"]?.text ?? "",
            holder: StoreHolder(id: row["holder"]?.text ?? "", name: row["holder_name"]?.text ?? ""),
            time: row["told"]?.number.map { Instant(microseconds: $0) })
    }

    /// Returns our own policy and creates it if it is missing and our user may do so.
    private func policy(in database: String) throws(DeliveryError) -> MarkPolicy {
        if let markPolicy { return markPolicy }
        do throws(DeliveryError) {
            try query(
                "CREATE RETENTION POLICY \(Self.name(Self.measurement)) ON \(Self.name(database)) DURATION INF REPLICATION 1",
                in: database)
            markPolicy = .own
            return .own
        } catch {
            guard error.isAboutAccess || error.reason.contains("denied") else { throw error }
            markPolicy = .shared
            return .shared
        }
    }

    /// Writes, reads and deletes a test point.
    func rehearse(in database: String) throws(DeliveryError) {
        let measurement = "vitalgate_check"
        let time = context.now().microseconds * 1000
        try write(Array("\(measurement),store=\(context.store) value=1.0,uuid=\"check\" \(time)\n".utf8))
        let place = "\(Self.name(measurement)) WHERE store = \(Self.text(context.store))"
        let there = try rows("SELECT \"uuid\" FROM \(place)", in: database)
        guard there.contains(where: { $0["uuid"]?.text == "check" }) else {
            throw DeliveryError(.unfit, "it accepts points but does not return them: it is not InfluxDB 1")
        }
        try query("DELETE FROM \(place)", in: database)
        guard try rows("SELECT \"uuid\" FROM \(place)", in: database).isEmpty else {
            throw DeliveryError(.unauthorised, "it does not delete points")
        }
    }
}

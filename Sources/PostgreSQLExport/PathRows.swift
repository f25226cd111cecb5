import HealthModel
import Pipeline

/// Finds reports of several hubs that are one measurement (``PathReports``), after rows of a hub were added or removed. The most precise report
/// stays a row, and represents the others (``SupersededRows``).
///
/// Only people who have readings from several hubs are compared. The locks of the persons keep other writers out (``WriterLocks``).
struct PathRows {
    let schema: String
    let hub: Int32

    private struct Series: Hashable {
        let person: String
        let type: SampleType
    }

    /// A report as it is in the database.
    private struct Known {
        var report: PathReports.Report
        let start: String
        var isRow: Bool
        /// The row that represents it, of some of its hubs.
        var by: String?
    }

    /// Compares the reports near some samples, and notes changed rows in the temporary table `touched`.
    ///
    /// - Returns: Whether anything changed.
    func compare(near samples: [Sample], _ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        var times: [Series: [Int64]] = [:]
        for sample in samples where sample.record == nil && PathReports.compares(sample.origin.type) {
            times[Series(person: sample.origin.person, type: sample.origin.type), default: []].append(sample.start.microseconds)
        }
        guard !times.isEmpty else { return false }
        let people = NewRows.literal(Set(times.keys.map(\.person)).sorted())
        let shared = Set(
            try connection.run(
                "SELECT DISTINCT subject FROM \(schema).participant WHERE subject = ANY($1::text[]) AND hub <> \(hub)", [people]
            ).compactMap { $0[0] })
        var hasChanged = false
        for (series, times) in times where shared.contains(series.person) {
            if try compare(series, Self.spans(around: times), connection) { hasChanged = true }
        }
        return hasChanged
    }

    /// The partners of a report may have other partners, so the spans reach twice as far.
    private static func spans(around times: [Int64]) -> [ClosedRange<Int64>] {
        var spans: [ClosedRange<Int64>] = []
        for time in times.sorted() {
            let (low, high) = (time - 2 * PathReports.reach, time + 2 * PathReports.reach)
            if let last = spans.last, low <= last.upperBound {
                spans[spans.count - 1] = last.lowerBound...high
            } else {
                spans.append(low...high)
            }
        }
        return spans
    }

    private func compare(
        _ series: Series, _ spans: [ClosedRange<Int64>], _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> Bool {
        var known = try reports(of: series, spans, connection)
        guard Set(known.values.flatMap(\.report.hubs)).count > 1 else { return false }
        // A row beyond the spans represents these. It is compared when they are near.
        let present = Set(known.keys.map(\.uuid))
        known = known.filter { _, each in each.by.map(present.contains) ?? true }
        let represented = PathReports(known.values.map(\.report)).represented
        var (below, above): ([(Known, PathReports.Place)], [Known]) = ([], [])
        for (place, each) in known.sorted(by: { $0.key < $1.key }) {
            if let by = represented[place] {
                if each.isRow || each.by != by.uuid { below.append((each, by)) }
            } else if each.by != nil {
                above.append(each)
            }
        }
        guard !below.isEmpty || !above.isEmpty else { return false }
        try comeForward(above, series.person, connection)
        try represent(below, series.person, connection)
        let touched = Set(known.keys.map(\.uuid)).union(known.values.compactMap(\.by)).sorted()
        try connection.run(
            "INSERT INTO touched SELECT u, $2 FROM unnest($1::uuid[]) AS u", [NewRows.literal(touched), series.person])
        return true
    }

    // MARK: Reading

    /// The reports of a person and type in some spans.
    private func reports(
        of series: Series, _ spans: [ClosedRange<Int64>], _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> [PathReports.Place: Known] {
        func numbers(_ bound: (ClosedRange<Int64>) -> Int64) -> String {
            "{" + spans.map { "\(bound($0))" }.joined(separator: ",") + "}"
        }
        func time(_ column: String) -> String { "'epoch'::timestamptz + \(column) * interval '1 microsecond'" }
        func microseconds(_ column: String) -> String { "(extract(epoch FROM s.\(column)) * 1000000)::bigint" }
        let fields = """
            s.uuid, s.variant, \(microseconds("start_time")), \(microseconds("end_time")), s.numeral, s.numeral_unit, s.source_id,
            s.source_name, s.device_key, s.device_name, s.device_manufacturer, s.device_model, s.device_serial, s.time_origin,
            s.group_id IS NOT NULL, s.metadata, s.identity->>'resolution', s.identity->>'molarMass', s.start_time
            """
        let near = """
            SELECT \(time("low")) AS low, \(time("high")) AS high FROM unnest($3::bigint[], $4::bigint[]) AS u(low, high) OFFSET 0
            """
        let rows = try connection.run(
            """
            SELECT \(fields), array_to_string(s.hubs, ','), NULL FROM (\(near)) i CROSS JOIN LATERAL (SELECT * FROM \(schema).sample r
                WHERE r.type || '' = $1 AND r.subject = $2 AND r.start_time BETWEEN i.low AND i.high AND r.record_id IS NULL) s
            UNION ALL
            SELECT \(fields), k.hub::text, k.by FROM (\(near)) i JOIN \(schema).superseded k
                ON k.subject = $2 AND k.path_time BETWEEN i.low AND i.high,
                jsonb_populate_record(NULL::\(schema).sample, k.content) s WHERE s.type = $1
            """,
            [series.type.id, series.person, numbers(\.lowerBound), numbers(\.upperBound)])
        var known: [PathReports.Place: Known] = [:]
        for row in rows {
            guard let each = Self.known(row, series), each.report.trace.timeResolution <= Agreement.coarsest else { continue }
            guard var other = known[each.report.place] else {
                known[each.report.place] = each
                continue
            }
            other.report.hubs.formUnion(each.report.hubs)
            other.isRow = other.isRow || each.isRow
            other.by = other.by ?? each.by
            known[each.report.place] = other
        }
        return known
    }

    private static func known(_ row: [String?], _ series: Series) -> Known? {
        func text(_ index: Int) -> String { row[index] ?? "" }
        guard let variant = Int64(text(1)), let start = Int64(text(2)), let end = Int64(text(3)),
            let numeral = try? Numeral(text(4)), var unit = try? Unit(ucum: text(5))
        else { return nil }
        if let molarMass = row[17].flatMap({ Double($0) }) { unit = unit.with(molarMass: molarMass) }
        guard let conversion = try? series.type.conversion(from: unit) else { return nil }
        let zero = conversion(0)
        let scale = conversion.isIdentity ? 1 : abs(conversion(1) - zero)
        let trace = ReadingTrace(
            start: start, duration: end - start, timeResolution: row[16].flatMap { Int32($0) } ?? 1,
            isArrival: row[13] == TimeOrigin.receipt.name, value: conversion.convert(numeral),
            valueResolution: numeral.step * scale, scale: scale, zero: zero,
            method: MeasuringMethod(row[15].flatMap { try? Metadata(json: $0) }))
        let device = row[8].map {
            Device(key: $0, name: row[9], manufacturer: row[10], model: row[11], serial: row[12])
        }
        let origin = Origin(
            person: series.person, type: series.type, source: SourceRevision(id: text(6), name: text(7)), device: device)
        let hubs = text(19).split(separator: ",").compactMap { Int32($0) }
        let report = PathReports.Report(
            place: PathReports.Place(uuid: text(0), variant: variant), hubs: Set(hubs), origin: origin, trace: trace,
            isGrouped: row[14] == "t")
        return Known(report: report, start: text(18), isRow: row[20] == nil, by: row[20])
    }

    // MARK: Writing

    /// The conditions for a row and its place in the statement's values.
    private static let isSame = "s.subject = $1 AND s.start_time = p.start_time AND s.uuid = p.uuid AND s.variant = p.variant"
    private static let isSameReport = """
        k.held = p.uuid AND k.subject = $1 AND k.path_time IS NOT NULL AND (k.content->>'variant')::bigint = p.variant
        """

    /// Makes reports rows that another one has represented.
    private func comeForward(
        _ reports: [Known], _ person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        guard !reports.isEmpty else { return }
        let places = "unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[]) AS p(uuid, variant, start_time, hubs)"
        let hubs = NewRows.literal(reports.map { "{" + $0.report.hubs.sorted().map { "\($0)" }.joined(separator: ",") + "}" })
        let values = Self.values(person, reports) + [hubs]
        let columns = CopyRows.columns
        for statement in [
            "UPDATE \(schema).sample s SET hubs = p.hubs::integer[] FROM \(places) WHERE \(Self.isSame)",
            """
            INSERT INTO \(schema).sample(\(columns.joined(separator: ", ")), hubs)
                SELECT \(columns.map { "r.\($0)" }.joined(separator: ", ")), f.hubs FROM (
                    SELECT DISTINCT ON (k.held, p.variant) k.content, p.hubs::integer[] AS hubs FROM \(places)
                        JOIN \(schema).superseded k ON \(Self.isSameReport)
                        WHERE NOT EXISTS(SELECT 1 FROM \(schema).sample s WHERE \(Self.isSame)) ORDER BY k.held, p.variant, k.hub) f,
                    jsonb_populate_record(NULL::\(schema).sample, f.content) r
            """,
            "DELETE FROM \(schema).superseded k USING \(places) WHERE \(Self.isSameReport)",
        ] { try connection.run(statement, values) }
    }

    /// Makes rows reports that another one represents.
    private func represent(
        _ reports: [(known: Known, by: PathReports.Place)], _ person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        guard !reports.isEmpty else { return }
        let places = "unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::uuid[]) AS p(uuid, variant, start_time, by)"
        let values = Self.values(person, reports.map(\.known)) + [NewRows.literal(reports.map(\.by.uuid))]
        for statement in [
            """
            INSERT INTO \(schema).superseded(held, hub, by, subject, place, content, path_time)
                SELECT s.uuid, h.hub, p.by, s.subject, 'sample', \(SupersededRows.content("s")), s.start_time FROM \(places)
                    JOIN \(schema).sample s ON \(Self.isSame), unnest(s.hubs) AS h(hub)
                ON CONFLICT(held, hub) DO UPDATE SET by = excluded.by, place = excluded.place, content = excluded.content,
                    path_time = excluded.path_time
            """,
            "DELETE FROM \(schema).sample s USING \(places) WHERE \(Self.isSame)",
            "UPDATE \(schema).superseded k SET by = p.by FROM \(places) WHERE k.by = p.uuid AND k.subject = $1",
            "UPDATE \(schema).superseded k SET by = p.by FROM \(places) WHERE \(Self.isSameReport)",
        ] { try connection.run(statement, values) }
    }

    /// The person, and the UUIDs, variants and starts of some reports.
    private static func values(_ person: String, _ reports: [Known]) -> [String] {
        [
            person, NewRows.literal(reports.map(\.report.place.uuid)),
            NewRows.literal(reports.map { "\($0.report.place.variant)" }), NewRows.literal(reports.map(\.start)),
        ]
    }
}

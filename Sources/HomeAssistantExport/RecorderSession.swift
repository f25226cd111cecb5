import Formats
import HealthModel
import HomeAssistantKit

/// The statistics in Home Assistant's recorder, over one connection.
///
/// The answer to an import means only that the rows are queued in memory: a kill in the same second loses them. So every write
/// ends with a barrier, a command that waits for everything queued before it, and is then read back and compared.
final class RecorderSession {
    /// What Home Assistant knows of a statistic.
    struct Metadata: Decodable, Hashable {
        var id: String
        var name: String?
        var unit: String?
        var hasSum: Bool

        private enum CodingKeys: String, CodingKey {
            case id = "statistic_id"
            case name
            case unit = "statistics_unit_of_measurement"
            case hasSum = "has_sum"
        }
    }

    /// The state of the recorder, from `recorder/info`.
    struct Info: Decodable {
        var recording: Bool
        var threadRunning: Bool
        var migrationInProgress: Bool

        private enum CodingKeys: String, CodingKey {
            case recording
            case threadRunning = "thread_running"
            case migrationInProgress = "migration_in_progress"
        }
    }

    /// A row as it is read. Times are milliseconds since 1970.
    private struct Row: Decodable {
        var start: Double
        var end: Double
        var mean: Double?
        var min: Double?
        var max: Double?
        var state: Double?
        var sum: Double?
    }

    /// The total at the end of a month.
    struct Month {
        var start: Instant
        var end: Instant
        var total: Double?
    }

    /// The maximum number of rows in a message. Home Assistant does nothing else while it checks them.
    static let maximumRows = 1000
    /// The number of messages before a barrier. Home Assistant writes 200 rows a second or more, so it has work for some seconds
    /// and not for minutes.
    static let messagesBeforeBarrier = 4
    /// How long a barrier may take. It answers after 10 seconds if the queue is longer, and is then repeated.
    private static let barrierTimeout = Duration.seconds(180)

    let client: HomeAssistantClient
    /// The known statistics, by id.
    private(set) var known: [String: Metadata]
    /// Whether single rows can be deleted, from 2026.11 on.
    let canDeleteRows: Bool

    /// Waits until everything that an earlier connection queued is written, and reads the known statistics.
    init(_ client: HomeAssistantClient) throws(HomeAssistantError) {
        self.client = client
        known = [:]
        canDeleteRows = try Self.canDeleteRows(client)
        try barrier()
        try readMetadata()
    }

    /// Asks without touching data: older versions refuse the range in the message's form, which is checked first.
    private static func canDeleteRows(_ client: HomeAssistantClient) throws(HomeAssistantError) -> Bool {
        do throws(HomeAssistantError) {
            let _: HomeAssistantClient.EmptyResult? = try client.call(
                "recorder/clear_statistics",
                [
                    "statistic_ids": ["vitalgate:unused"], "start_time": "2025-03-03T06:00:00+00:00",
                    "end_time": "2025-03-03T07:00:00+00:00",
                ])
            return true
        } catch {
            guard case .command(let code) = error.kind else { throw error }
            return code == "timeout"
        }
    }

    func info() throws(HomeAssistantError) -> Info { try client.call("recorder/info") }

    private func readMetadata() throws(HomeAssistantError) {
        // Home Assistant lists all statistics if the request names none.
        let all: [Metadata] = try client.call("recorder/get_statistics_metadata")
        known = [:]
        for each in all where each.id.hasPrefix(Statistic.source + ":") { known[each.id] = each }
    }

    /// Waits until everything that was queued before is written.
    func barrier() throws(HomeAssistantError) {
        let end = ContinuousClock.now + Self.barrierTimeout
        while true {
            do throws(HomeAssistantError) {
                let _: HomeAssistantClient.EmptyResult? = try client.call(
                    "recorder/update_statistics_metadata",
                    ["statistic_id": "vitalgate:barrier", "unit_class": nil, "unit_of_measurement": nil])
                return
            } catch {
                guard error.kind == .command("timeout") else { throw error }
                guard ContinuousClock.now < end else {
                    throw HomeAssistantError(.unreachable, "Home Assistant's recorder has a long queue")
                }
            }
        }
    }

    // MARK: Reading

    /// Returns the rows of hours, in order. Rows without values are left out.
    func rows(of statistic: Statistic, from: Instant, to: Instant) throws(HomeAssistantError) -> [StatisticRow] {
        guard known[statistic.id] != nil, from < to else { return [] }
        return try read(statistic, "hour", from, to).compactMap { row in
            guard let start = Self.instant(row.start) else { return nil }
            if statistic.isSum {
                guard row.state != nil || row.sum != nil else { return nil }
                return StatisticRow(start: start, values: .sum(state: row.state ?? .nan, total: row.sum ?? .nan))
            }
            guard row.mean != nil || row.min != nil || row.max != nil else { return nil }
            return StatisticRow(
                start: start, values: .mean(row.mean ?? .nan, minimum: row.min ?? .nan, maximum: row.max ?? .nan))
        }
    }

    /// Returns the months that have rows before an instant, and the total at the end of each.
    func months(of statistic: Statistic, before: Instant) throws(HomeAssistantError) -> [Month] {
        guard known[statistic.id] != nil else { return [] }
        return try read(statistic, "month", Instant(seconds: 0), before).compactMap { row in
            guard let start = Self.instant(row.start), let end = Self.instant(row.end) else { return nil }
            return Month(start: start, end: end, total: row.sum)
        }
    }

    /// The time of a number of milliseconds, or `nil` if it is not one.
    private static func instant(_ milliseconds: Double) -> Instant? {
        Int64(exactly: (milliseconds * 1000).rounded()).map { Instant(microseconds: $0) }
    }

    private func read(
        _ statistic: Statistic, _ period: String, _ from: Instant, _ to: Instant
    ) throws(HomeAssistantError) -> [Row] {
        let answer: [String: [Row]] = try client.call(
            "recorder/statistics_during_period",
            [
                "start_time": Self.text(from), "end_time": Self.text(to), "statistic_ids": [statistic.id], "period": period,
                "types": statistic.isSum ? ["state", "sum"] : ["mean", "min", "max"],
            ])
        return answer[statistic.id] ?? []
    }

    // MARK: Writing

    /// Imports rows and returns once they were read back as sent.
    ///
    /// - Parameter rows: Rows with different starts, in the order in which they are written.
    func write(_ rows: [StatisticRow], of statistic: Statistic, _ metadata: Metadata) throws(HomeAssistantError) {
        var rest = rows[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.maximumRows * Self.messagesBeforeBarrier)
            rest = rest.dropFirst(group.count)
            var tickets: [HomeAssistantClient.Ticket] = []
            var unsent = group
            while !unsent.isEmpty {
                tickets.append(try send(unsent.prefix(Self.maximumRows), statistic, metadata))
                unsent = unsent.dropFirst(Self.maximumRows)
            }
            for ticket in tickets { let _: HomeAssistantClient.EmptyResult? = try client.result(of: ticket) }
            known[metadata.id] = metadata
            try barrier()
            try check(Array(group), of: statistic)
        }
    }

    func rename(_ statistic: Statistic, _ metadata: Metadata) throws(HomeAssistantError) {
        let _: HomeAssistantClient.EmptyResult? = try client.result(of: send([], statistic, metadata))
        known[metadata.id] = metadata
    }

    private func send(
        _ rows: ArraySlice<StatisticRow>, _ statistic: Statistic, _ metadata: Metadata
    ) throws(HomeAssistantError) -> HomeAssistantClient.Ticket {
        let unit = StatisticUnit(statistic.series.type, text: metadata.unit)
        let head: JSONObject = [
            "statistic_id": statistic.id, "source": Statistic.source, "name": metadata.name,
            "unit_of_measurement": metadata.unit, "unit_class": unit?.unitClass, "mean_type": statistic.isSum ? 0 : 1,
            "has_sum": statistic.isSum,
        ]
        return try client.send("recorder/import_statistics", ["metadata": head, "stats": rows.map(Self.object)])
    }

    private static func object(_ row: StatisticRow) -> JSONObject {
        switch row.values {
        case .mean(let mean, let minimum, let maximum):
            ["start": text(row.start), "mean": mean, "min": minimum, "max": maximum]
        case .sum(let state, let total): ["start": text(row.start), "state": state, "sum": total]
        case .empty: ["start": text(row.start)]
        }
    }

    /// Compares rows with those that were sent.
    private func check(_ sent: [StatisticRow], of statistic: Statistic) throws(HomeAssistantError) {
        guard let first = sent.lazy.map(\.start).min(), let last = sent.lazy.map(\.start).max() else { return }
        var found: [Instant: StatisticRow] = [:]
        for row in try rows(of: statistic, from: first, to: Instant(microseconds: last.microseconds + StatisticRow.hour)) {
            found[row.start] = row
        }
        for row in sent {
            let isThere = row.values == .empty ? found[row.start] == nil : found[row.start] == row
            guard isThere else {
                throw HomeAssistantError(.unreachable, "Home Assistant has not stored all rows that it acknowledged")
            }
        }
    }

    /// Removes rows.
    func remove(_ starts: [Instant], of statistic: Statistic, _ metadata: Metadata) throws(HomeAssistantError) {
        guard !starts.isEmpty else { return }
        guard canDeleteRows else {
            return try write(starts.map { StatisticRow(start: $0, values: .empty) }, of: statistic, metadata)
        }
        var spans: [(from: Instant, to: Instant)] = []
        for start in starts.sorted() {
            let end = Instant(microseconds: start.microseconds + StatisticRow.hour)
            if let last = spans.last, last.to == start { spans[spans.count - 1].to = end } else { spans.append((start, end)) }
        }
        for span in spans {
            try clear(["statistic_ids": [statistic.id], "start_time": Self.text(span.from), "end_time": Self.text(span.to)])
        }
        try barrier()
        try check(starts.map { StatisticRow(start: $0, values: .empty) }, of: statistic)
    }

    /// Removes statistics with all rows.
    func clear(_ ids: [String]) throws(HomeAssistantError) {
        guard !ids.isEmpty else { return }
        try clear(["statistic_ids": ids])
        try barrier()
        try readMetadata()
        guard ids.allSatisfy({ known[$0] == nil }) else {
            throw HomeAssistantError(.unreachable, "Home Assistant has not removed all statistics")
        }
    }

    private func clear(_ fields: HomeAssistantClient.Fields) throws(HomeAssistantError) {
        do throws(HomeAssistantError) {
            let _: HomeAssistantClient.EmptyResult? = try client.call("recorder/clear_statistics", fields)
        } catch {
            // It will still happen, before the barrier.
            guard error.kind == .command("timeout") else { throw error }
        }
    }

    /// A time in the form that makes any hour the top of one: with an offset that has the hour's own minute.
    private static func text(_ instant: Instant) -> String {
        let minute = instant.microseconds.flooredQuotientAndRemainder(dividingBy: StatisticRow.hour).remainder / 60_000_000
        let offset = minute == 0 ? 0 : 60 - minute
        let wall = Instant(microseconds: instant.microseconds + offset * 60_000_000).description
        return wall.prefix { $0 != "." && $0 != "Z" } + "+00:" + (offset < 10 ? "0" : "") + "\(offset)"
    }
}

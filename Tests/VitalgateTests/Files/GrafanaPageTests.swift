import FoundationEssentials
import HTTPServerTesting
import HealthModel
import Testing

/// Sends the queries of `docs/how-to/grafana.md` as Grafana's Infinity data source does: it replaces the macros, finds the rows below the root,
/// and reads the columns of each row.
@Suite struct GrafanaPageTests {
    private struct Query: Decodable {
        struct Column: Decodable {
            var selector: String
            var type: String
        }
        struct Options: Decodable { var method: String }
        var url: String
        var options: Options
        var root: String
        var columns: [Column]

        private enum CodingKeys: String, CodingKey {
            case url, columns
            case options = "url_options"
            case root = "root_selector"
        }
    }

    private enum Cell: Decodable {
        case number(Double)
        case text(String)
        case other
        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }
    }

    private static func blocks(_ language: String) throws -> [String] {
        let page = String(decoding: try Repository.data("docs/how-to/grafana.md"), as: UTF8.self)
        return page.split(separator: "```").filter { $0.hasPrefix(language + "\n") }.map {
            String($0.dropFirst(language.count + 1))
        }
    }

    /// The range that the dashboard shows in hours, and the resulting interval of the request.
    @Test(arguments: [(1, ["1m", "1h"]), (24, ["10m", "1h"]), (24 * 7, ["1h", "1d"]), (24 * 365, ["1d", "1d"])])
    func everyQueryIsAnsweredAsWritten(hours: Int, intervals: [String]) throws {
        let rows = (0..<600).map { minute in
            let time = Instant(seconds: 1_795_132_800 + Int64(minute) * 60)
            return "\(time),heartRate,\(60 + minute % 30),/min\n\(time),stepCount,\(minute % 50),1\n"
        }
        let hub = try ServingHub(["pulse.csv": "time,type,value,unit\n" + rows.joined()])
        // The page's own commands.
        for command in try Self.blocks("sh").flatMap({ $0.split(separator: "\n") }) {
            let run = try RunningVitalgate(
                ["--config", hub.folder.path("config.json5")], environment: hub.environment,
                wrapper: [
                    "/bin/sh", "-c",
                    "cd '\(hub.folder.root)'; vitalgate() { \"$0\" \"$@\"; }; \(command.replacing("vitalgate ", with: "vitalgate --config config.json5 "))",
                ]
            ).wait()
            #expect(run.status == 0, "\(command): \(run.errors)")
        }
        let token = hub.folder.text("token").filter { !$0.isNewline }
        #expect(!token.isEmpty)
        let to = Instant(seconds: 1_795_132_800 + 36_000)
        let from = Instant(microseconds: to.microseconds - Int64(hours) * 3_600_000_000)
        let queries = try Self.blocks("json").map { try JSONDecoder().decode(Query.self, from: Data($0.utf8)) }
        #expect(queries.count == 3)
        for (index, query) in queries.enumerated() {
            let url = query.url.replacing("${__timeFrom:date:iso}", with: "\(from)").replacing(
                "${__timeTo:date:iso}", with: "\(to)"
            )
            .replacing(#/\$__customInterval\((.*?)\)/#) { Self.interval($0.1.split(separator: ",").map(String.init), hours) }
            #expect(!url.contains("$"))
            if index < intervals.count { #expect(url.hasSuffix("every=" + intervals[index])) }
            let client = try #require(RawClient(hub.address))
            let answer = try #require(client.get(url, "Authorization: Bearer \(token)\r\n", method: query.options.method))
            #expect(answer.status == 200, "\(url): \(answer.text)")
            let document = try JSONDecoder().decode([String: [[String: Cell]]].self, from: Data(answer.body))
            let found = try #require(document[query.root])
            #expect(!found.isEmpty, "\(url)")
            for row in found {
                for column in query.columns { #expect(Self.fits(row[column.selector], column.type), "\(column)") }
            }
        }
        try hub.stop()
    }

    /// The value after the first duration that is not shorter than the shown range, otherwise the last.
    private static func interval(_ words: [String], _ hours: Int) -> String {
        for index in stride(from: 0, to: words.count - 1, by: 2) {
            let unit = words[index].hasSuffix("d") ? 24 : 1
            if let count = Int(words[index].dropLast()), hours <= count * unit { return words[index + 1] }
        }
        return words.last ?? ""
    }

    private static func fits(_ cell: Cell?, _ type: String) -> Bool {
        switch (cell, type) {
        case (.number, "number"), (.text, "string"): true
        // Go's RFC 3339, which the backend parser reads.
        case (.text(let text), "timestamp"):
            text.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/#) != nil
        default: false
        }
    }
}

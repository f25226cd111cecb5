import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `query TYPE --explain`: shows how a query is executed and how much it reads.
struct PlanReport {
    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    /// Runs the query and prints its cost instead of the samples.
    func write(_ query: SampleQuery, _ store: SampleStore) throws -> ExitCode {
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var matched = 0
        while try cursor.next() != nil { matched += 1 }
        let output = context.streams.output
        if context.format == .ndjson {
            try output.write(object(query, cursor, matched).line)
        } else {
            try output.write(TerminalText.sanitized(text(query, cursor, matched), keepingLines: true))
        }
        return .success
    }

    // MARK: For people

    private func text(_ query: SampleQuery, _ cursor: SampleCursor, _ matched: Int) -> String {
        let plan = cursor.plan
        var text = "condition  \(query.predicate)\n"
        if !query.order.isEmpty {
            let how = plan.isStreamed ? "as they are read" : "sorted before output"
            text += "order      \(query.order.map(\.description).joined(separator: ", ")): \(how)\n"
        }
        if let limit = query.limit { text += "limit      \(Readable.count(limit))\n" }
        for (part, scanned) in zip(plan.parts, cursor.scanned) {
            let device = part.series.device.isEmpty ? "" : ", \(part.series.device)"
            text += "\(name(part)), \(part.series.source)\(device)\n"
            text += "  starts   \(part.starts.intervals.map(words).joined(separator: ", "))\n"
            if let rest = part.rest { text += "  filter   \(rest)\n" }
            text += "  read     \(Readable.count(scanned, "sample"))\n"
        }
        let skippedSeries = plan.untouched
        text += "\(Readable.count(skippedSeries)) other series \(skippedSeries == 1 ? "is" : "are") skipped\n"
        let scanned = cursor.scanned.reduce(0, +)
        return text
            + "\(Readable.count(scanned, "sample")) read, \(Readable.count(matched)) match\(matched == 1 ? "es" : "") the condition\n"
    }

    private func name(_ part: QueryPlan.Part) -> String {
        part.isDerived ? "bloodPressure, derived from \(part.series.type.id)" : part.series.type.id
    }

    private func words(_ interval: ClosedRange<Int64>) -> String {
        let (first, last) = (Instant(microseconds: interval.lowerBound), Instant(microseconds: interval.upperBound))
        switch (interval.lowerBound == .min, interval.upperBound == .max) {
        case (true, true): return "all"
        case (true, false): return "to \(last)"
        case (false, true): return "from \(first)"
        case (false, false): return first == last ? "\(first)" : "\(first) to \(last)"
        }
    }

    // MARK: For programs

    private func object(_ query: SampleQuery, _ cursor: SampleCursor, _ matched: Int) -> JSONObject {
        var object = JSONObject([
            "condition": query.predicate.description, "order": query.order.map(\.description), "streamed": cursor.plan.isStreamed,
        ])
        let parts: [JSONObject] = zip(cursor.plan.parts, cursor.scanned).map { part, scanned in
            var object = JSONObject([
                "type": part.isDerived ? "bloodPressure" : part.series.type.id, "derived": part.isDerived,
                "source": part.series.source, "device": part.series.device,
            ])
            let intervals: [JSONObject] = part.starts.intervals.map { interval in
                JSONObject(["from": time(interval.lowerBound, unless: .min), "through": time(interval.upperBound, unless: .max)])
            }
            object.set(["starts": intervals, "rest": part.rest?.description, "read": scanned])
            return object
        }
        object.set(["series": parts, "untouched": cursor.plan.untouched, "read": cursor.scanned.reduce(0, +), "met": matched])
        return object
    }

    private func time(_ microseconds: Int64, unless end: Int64) -> String? {
        microseconds == end ? nil : Instant(microseconds: microseconds).description
    }
}

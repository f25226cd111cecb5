import CommandLineKit
import Formats
import HealthModel
import Pipeline
import SampleStore

/// `quarantine show N`: shows a quarantined sample with context for a decision.
struct QuarantineReport {
    private let context: CommandContext
    /// The number of samples to show on either side.
    private static let neighbours = 3

    init(_ context: CommandContext) { self.context = context }

    func show() throws -> ExitCode {
        let number = try context.number()
        let store = try context.openForReading()
        guard let entry = try store.quarantine.sample(number: number) else {
            throw StoreError(.invalid, "quarantine has no entry \(number) (see 'vitalgate quarantine list')")
        }
        let before = try neighbours(of: entry, in: store, descending: true).reversed()
        let after = try neighbours(of: entry, in: store, descending: false)
        if context.format == .ndjson {
            try context.streams.output.write(object(entry, before: Array(before), after: after, me: store.owner).line)
        } else {
            let text = text(entry, before: Array(before), after: after, try context.times())
            try context.streams.output.write(TerminalText.sanitized(text, keepingLines: true))
        }
        return .success
    }

    /// The person's samples of the same type next to it in time.
    private func neighbours(
        of entry: QuarantinedSample, in store: SampleStore, descending: Bool
    ) throws -> [StoredSample] {
        let sample = entry.stored.sample
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [sample.origin.type], from: descending ? nil : sample.start, to: descending ? sample.start : nil,
                person: sample.origin.person, descending: descending, limit: Self.neighbours))
        defer { cursor.close() }
        var found: [StoredSample] = []
        while let next = try cursor.next() { found.append(next) }
        return found
    }

    private func text(
        _ entry: QuarantinedSample, before: [StoredSample], after: [StoredSample], _ times: ShownTimes
    ) -> String {
        func line(_ sample: Sample) -> String {
            "\(times.start(of: sample))  \(sample.receivedCase ?? Readable.number(sample.value)) \(Readable.unit(sample.origin.type.canonicalUnit))  "
                + sample.origin.source.displayName
        }
        let sample = entry.stored.sample
        let rule = GateRule(entry.rule)
        var text = "number:   \(entry.id), \(entry.state)\n"
        text += "sample:   \(entry.stored.uuid)\n"
        text += "type:     \(sample.origin.type.id)\n"
        let received = sample.receivedCase ?? "\(sample.numeral.text) \(sample.unit.code)"
        text += "received: \(received), ledger entry \(entry.stored.ingest), \(entry.place)\n"
        text += "rule:     \(entry.rule): \(rule.explanation)\n"
        if let frame = entry.frame { text += "frame:    \(frame)\n" }
        if let metadata = sample.metadata { text += "metadata: \(metadata.json)\n" }
        text += "\n"
        for neighbour in before { text += "  \(line(neighbour.sample))\n" }
        text += "> \(line(sample))\n"
        for neighbour in after { text += "  \(line(neighbour.sample))\n" }
        return text
    }

    private func object(
        _ entry: QuarantinedSample, before: [StoredSample], after: [StoredSample], me: String
    ) -> JSONObject {
        let writer = SampleLine(me: me)
        func field(_ stored: StoredSample) -> RawJSON { writer.field(stored.sample, ingest: stored.ingest, seq: stored.seq) }
        return [
            "quarantine": entry.id, "state": entry.state, "rule": entry.rule, "place": entry.place, "frame": entry.frame,
            "sample": writer.field(entry.stored.sample, ingest: entry.stored.ingest), "before": before.map(field),
            "after": after.map(field),
        ]
    }
}

extension Sample {
    /// The name of a category's case as received, if this version does not know it.
    var receivedCase: String? {
        guard case .string(let word)? = metadata?[Metadata.receivedCase] else { return nil }
        return word
    }
}

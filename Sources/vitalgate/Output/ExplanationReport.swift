import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `query --explain UUID`: explains why a reading is or is not a separate sample.
struct ExplanationReport {
    private let context: CommandContext
    private let store: SampleStore
    private let times: ShownTimes

    init(_ context: CommandContext, _ store: SampleStore) throws {
        self.context = context
        self.store = store
        times = try context.times()
    }

    func write(_ uuid: SampleIdentity) throws -> ExitCode {
        guard let explanation = try store.duplicates.explain(uuid) else {
            if let derived = try store.samples.derivedCorrelation(uuid) { return try write(derived) }
            context.note("vitalgate: no sample has the UUID \(uuid)")
            return .dataError
        }
        if context.format == .ndjson {
            try context.streams.output.write(object(explanation).line)
        } else {
            try context.streams.output.write(TerminalText.sanitized(text(explanation), keepingLines: true))
        }
        return .success
    }

    /// Writes a derived blood pressure, which is not stored.
    private func write(_ derived: StoredSample) throws -> ExitCode {
        let objects = (try? derived.sample.body?.decoded(as: Correlation.self))?.objects ?? []
        if context.format == .ndjson {
            try context.streams.output.write(
                JSONObject([
                    "uuid": derived.uuid.description, "state": "derived", "objects": objects,
                ]).line)
        } else {
            try context.streams.output.write(
                "\(derived.uuid)\n  \(derived.sample.origin.type.id) derived from \(objects.joined(separator: " and ")), not stored\n"
            )
        }
        return .success
    }

    // MARK: For people

    private func text(_ explanation: Explanation) throws -> String {
        let stored = explanation.stored
        var text = "\(stored.uuid)\n  \(summary(stored))\n"
        text += "  \(try state(explanation))\n"
        for duplicate in explanation.duplicates {
            text +=
                "  \(duplicate.other.uuid) is a duplicate of it by rule \(duplicate.rule.rawValue)\n    \(summary(duplicate.other))\n"
        }
        for link in explanation.linked {
            text +=
                "  \(link.other.uuid) from another device matches by rule \(link.rule.rawValue) (both kept)\n    \(summary(link.other))\n"
        }
        return text
    }

    private func state(_ explanation: Explanation) throws -> String {
        if let first = explanation.first {
            return "duplicate of \(first.other.uuid) by rule \(first.rule.rawValue), since ledger entry \(first.ingest)"
        }
        switch try store.samples.lookup(explanation.stored.uuid) {
        case .live: return "stored by ledger entry \(explanation.stored.ingest)"
        case .deleted(_, let replacement?): return "replaced by \(replacement)"
        default: return "deleted (restore it with 'vitalgate restore \(explanation.stored.uuid)')"
        }
    }

    /// The type, original value, time with its resolution, and source.
    private func summary(_ stored: StoredSample) -> String {
        let sample = stored.sample
        return
            "\(sample.origin.type.id) \(sample.numeral.text) \(Readable.unit(sample.unit)), \(times.start(of: sample)) to the "
            + "\(sample.timeResolution >= 3600 ? "hour" : sample.timeResolution >= 60 ? "minute" : "second") (\(sample.timeOrigin.name)), "
            + "\(sample.origin.source.displayName)" + (sample.origin.device.map { ", \($0.name ?? $0.model ?? $0.key)" } ?? "")
            + ", ledger entry \(stored.ingest)"
    }

    // MARK: For programs

    private func object(_ explanation: Explanation) throws -> JSONObject {
        var object = JSONObject([
            "uuid": explanation.stored.uuid.description, "rule": Self.rule(of: explanation.stored.sample).rawValue,
            "state": explanation.first == nil ? try stateName(explanation.stored.uuid) : "duplicate",
        ])
        if let first = explanation.first {
            object.set(["of": first.other.uuid.description, "by": first.rule.rawValue, "decidedIn": Int(first.ingest)])
        }
        object.set("sample", SampleLine(me: store.owner).field(explanation.stored.sample, ingest: explanation.stored.ingest))
        object.set("witnesses", explanation.duplicates.map(relation))
        object.set("linked", explanation.linked.map(relation))
        return object
    }

    private static func rule(of sample: Sample) -> DuplicateRule {
        DuplicateRule.of(sample.origin.type, lasting: sample.end > sample.start)
    }

    private func stateName(_ uuid: SampleIdentity) throws -> String {
        if case .live = try store.samples.lookup(uuid) { return "stored" }
        return "deleted"
    }

    private func relation(_ relation: Explanation.Relation) -> JSONObject {
        [
            "by": relation.rule.rawValue, "timeResolution": Int(relation.other.sample.timeResolution),
            "sample": SampleLine(me: store.owner).field(relation.other.sample, ingest: relation.other.ingest),
        ]
    }
}

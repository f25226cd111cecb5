import CommandLineKit
import Formats
import HealthModel
import Hub
import Pipeline
import SampleStore

struct TargetReport {
    let context: CommandContext

    func write(named name: String?) throws {
        let configured = try name.map { [try context.target($0)] } ?? context.configuration().targets
        let store = try context.openForReading()
        try write(TargetStatus.all(configured, in: store, withRemoved: name == nil, at: context.machine.now()))
        if let name { try write(try store.targets.setAside(by: name)) }
    }

    private func write(_ entries: [TargetStatus]) throws {
        try context.write(
            entries,
            [
                Field("name") { $0.name }, Field("kind") { $0.kind?.rawValue ?? "" }, Field("state") { state(of: $0) },
                Field("delivered") { $0.progress?.delivered ?? 0 }, Field("leftOut", "left out") { $0.progress?.leftOut ?? 0 },
                Field("waiting") { $0.waiting }, Field("setAside", "set aside") { $0.setAside },
                Field("lag", cell: { $0.waiting == 0 ? "" : "\($0.lag) s" }) { $0.lag },
                Field("said", cell: { TerminalText.sanitized(message(by: $0)) }) { $0.progress?.words },
                .json("refused") { $0.refusal }, .json("changed") { $0.progress?.changed },
            ])
    }

    /// The state: as in the store, `new` before the first delivery, or `removed` if it is no longer in the configuration.
    private func state(of entry: TargetStatus) -> String {
        guard entry.kind != nil else { return "removed" }
        return entry.progress?.state.rawValue ?? "new"
    }

    /// The last error message, or the message for rejected changes.
    private func message(by entry: TargetStatus) -> String {
        if let words = entry.progress?.words { return words }
        return entry.refusal.map { "set aside: \($0)" } ?? ""
    }

    private func write(_ setAside: [SetAside]) throws {
        let times = try context.times()
        guard !setAside.isEmpty else { return }
        if context.format != .ndjson { try context.streams.output.write("\n") }
        try context.write(
            setAside,
            [
                Field("uuid", "set aside") { $0.uuid.description }, .column("time") { times.local($0.time) },
                Field("said", cell: { TerminalText.sanitized($0.words) }) { $0.words }, .json("time") { $0.time },
                .json("retry") { $0.isRetried },
            ])
    }
}

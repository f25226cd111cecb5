import CommandLineKit
import Formats
import HealthModel
import Hub
import Pipeline
import SampleStore

/// Writes the state of targets.
struct TargetReport {
    let context: CommandContext

    func write(named name: String?) throws {
        let configured = try name.map { [try context.target($0)] } ?? context.configuration().targets
        let store = try context.openForReading()
        try write(TargetStatus.all(configured, in: store, withRemoved: name == nil, at: context.machine.now()))
        if let name { try write(try store.targets.setAside(by: name)) }
    }

    private func write(_ entries: [TargetStatus]) throws {
        if context.format == .ndjson {
            for entry in entries { try context.streams.output.write(object(entry).line) }
            return
        }
        try TableOutput(context: context).write(
            header: ["name", "kind", "state", "delivered", "left out", "waiting", "set aside", "lag", "said"],
            rows: entries.map {
                [
                    $0.name, $0.kind?.rawValue ?? "", state(of: $0), "\($0.progress?.delivered ?? 0)",
                    "\($0.progress?.leftOut ?? 0)",
                    "\($0.waiting)",
                    "\($0.setAside)", $0.waiting == 0 ? "" : "\($0.lag) s", TerminalText.sanitized(message(by: $0)),
                ]
            })
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

    private func object(_ entry: TargetStatus) -> JSONObject {
        var object = JSONObject()
        object.set("name", entry.name)
        object.set("kind", entry.kind?.rawValue ?? "")
        object.set("state", state(of: entry))
        object.set("delivered", entry.progress?.delivered ?? 0)
        object.set("leftOut", entry.progress?.leftOut ?? 0)
        object.set("waiting", entry.waiting)
        object.set("setAside", entry.setAside)
        object.set("lag", entry.lag)
        object.set("said", entry.progress?.words)
        object.set("refused", entry.refusal)
        object.set("changed", entry.progress?.changed.description)
        return object
    }

    private func write(_ setAside: [SetAside]) throws {
        if context.format == .ndjson {
            for each in setAside {
                var object = JSONObject()
                object.set("uuid", each.uuid.description)
                object.set("said", each.words)
                object.set("time", each.time.description)
                object.set("retry", each.isRetried)
                try context.streams.output.write(object.line)
            }
            return
        }
        guard !setAside.isEmpty else { return }
        let times = try context.times()
        try context.streams.output.write("\n")
        try TableOutput(context: context).write(
            header: ["set aside", "time", "said"],
            rows: setAside.map { [$0.uuid.description, times.local($0.time), TerminalText.sanitized($0.words)] })
    }
}

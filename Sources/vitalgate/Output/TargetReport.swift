import CommandLineKit
import Formats
import HealthModel
import Hub
import Pipeline
import SampleStore

/// Writes the state of targets.
struct TargetReport {
    let context: CommandContext

    /// A target of the configuration with its state in the store.
    private struct Entry {
        var name: String
        /// The kind, or empty if the target is no longer in the configuration.
        var kind: String
        var known: Target?
        var waiting: Int
        var setAside: Int
        /// The target's message for the last change that it rejected.
        var refusal: String?
        /// The seconds since the oldest waiting change was received.
        var lag: Int
    }

    func write(named name: String?) throws {
        let configured = try name.map { [try context.target($0)] } ?? context.configuration().targets
        let store = try context.openForReading()
        let known = try store.targets.all()
        var entries = try configured.map {
            try entry($0.name, $0.kind.rawValue, known.first { [name = $0.name] in $0.name == name }, store)
        }
        if name == nil {
            for target in known where !configured.contains(where: { $0.name == target.name }) {
                entries.append(try entry(target.name, "", target, store))
            }
        }
        try write(entries)
        if let name { try write(try store.targets.setAside(by: name)) }
    }

    private func entry(_ name: String, _ kind: String, _ known: Target?, _ store: SampleStore) throws -> Entry {
        let waiting = try known.map(store.targets.changesWaiting) ?? Int(store.lastChange())
        let setAside = try store.targets.setAsideSummary(of: name)
        return Entry(
            name: name, kind: kind, known: known, waiting: waiting, setAside: setAside.count, refusal: setAside.words,
            lag: waiting == 0 ? 0 : try lag(known, store))
    }

    private struct Enough: Error {}

    private func lag(_ known: Target?, _ store: SampleStore) throws -> Int {
        var received: Instant?
        let anchor = known?.backlog?.anchor ?? known?.anchor ?? .beginning
        // The anchor is unknown if the store was restored from a backup. `targets verify` is the remedy.
        guard try store.changes.knows(anchor) else { return 0 }
        do {
            try store.changes.read(after: anchor, types: nil) { change, _ in
                received =
                    switch change {
                    case .added(let stored): stored.sample.received
                    case .deleted(let deletion): deletion.sample.received
                    }
                throw Enough()
            }
        } catch is Enough {}
        guard let received else { return 0 }
        return Int(max(0, context.machine.now().microseconds - received.microseconds) / 1_000_000)
    }

    private func write(_ entries: [Entry]) throws {
        if context.format == .ndjson {
            for entry in entries { try context.streams.output.write(object(entry).line) }
            return
        }
        try TableOutput(context: context).write(
            header: ["name", "kind", "state", "delivered", "left out", "waiting", "set aside", "lag", "said"],
            rows: entries.map {
                [
                    $0.name, $0.kind, state(of: $0), "\($0.known?.delivered ?? 0)", "\($0.known?.leftOut ?? 0)", "\($0.waiting)",
                    "\($0.setAside)", $0.waiting == 0 ? "" : "\($0.lag) s", TerminalText.sanitized(said(by: $0)),
                ]
            })
    }

    /// The state: as in the store, `new` before the first delivery, or `removed` if it is no longer in the configuration.
    private func state(of entry: Entry) -> String {
        guard !entry.kind.isEmpty else { return "removed" }
        return entry.known?.state.rawValue ?? "new"
    }

    /// The last error message, or the message for rejected changes.
    private func said(by entry: Entry) -> String {
        if let words = entry.known?.words { return words }
        return entry.refusal.map { "set aside: \($0)" } ?? ""
    }

    private func object(_ entry: Entry) -> JSONObject {
        var object = JSONObject()
        object.set("name", entry.name)
        object.set("kind", entry.kind)
        object.set("state", state(of: entry))
        object.set("delivered", entry.known?.delivered ?? 0)
        object.set("leftOut", entry.known?.leftOut ?? 0)
        object.set("waiting", entry.waiting)
        object.set("setAside", entry.setAside)
        object.set("lag", entry.lag)
        object.set("said", entry.known?.words)
        object.set("refused", entry.refusal)
        object.set("changed", entry.known?.changed.description)
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

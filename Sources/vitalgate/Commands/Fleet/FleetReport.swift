import CommandLineKit
import FleetCollector
import FleetProtocol
import Formats
import FoundationEssentials
import Pipeline

/// Writes the hubs of a fleet.
struct FleetReport {
    private let context: CommandContext
    private let database: FleetDatabase
    private let opensSealed: Bool

    /// The number of commands that are shown for a hub.
    private static let maximumOrders = 20

    /// - Parameter opensSealed: Whether the center has a key for sealed requests.
    init(_ context: CommandContext, _ database: FleetDatabase, opensSealed: Bool) {
        (self.context, self.database, self.opensSealed) = (context, database, opensSealed)
    }

    func writeHubs() throws -> ExitCode {
        let hubs = try database.hubs()
        if context.invocation.flag("--names") {
            for hub in hubs where !hub.isRevoked { try context.streams.output.write(hub.name + "\n") }
            return .success
        }
        try write(hubs)
        let open = hubs.count(where: isOpen)
        if open > 0 {
            context.note("vitalgate: \(Readable.count(open, "hub")) without a sealed report (see 'vitalgate fleet status HUB')")
        }
        if hubs.isEmpty { context.note("the fleet has no hubs (see 'vitalgate fleet enroll --help')") }
        return .success
    }

    func writeStatus() throws -> ExitCode {
        let name = context.invocation.argument("HUB") ?? ""
        guard let hub = try database.hubs().first(where: { $0.name == name }) else {
            throw context.invocation.invalid("HUB", value: name, expected: "a hub from 'vitalgate fleet hubs'")
        }
        try write([hub])
        try writeRemarks(hub)
        let orders = try database.orders(of: hub, limit: Self.maximumOrders)
        guard !orders.isEmpty else { return .success }
        if context.format == .ndjson {
            for order in orders {
                var object = JSONObject()
                object.set("order", Int(order.number))
                object.set("kind", order.kind)
                object.set("made", order.made)
                object.set("finished", order.finished)
                object.set("code", order.code)
                if order.isRefused { object.set("refused", true) }
                object.set("output", order.output.isEmpty ? nil : order.output)
                try context.streams.output.write(object.line)
            }
            return .success
        }
        try context.streams.output.write("\n")
        try TableOutput(context: context).write(
            header: ["command", "kind", "given", "finished", "status", "output"],
            rows: orders.map {
                let status = $0.isRefused ? "refused" : $0.code.map { "\($0)" } ?? ""
                return [
                    "\($0.number)", $0.kind, $0.made, $0.finished ?? "waiting", status, Self.reason(of: $0.output) ?? $0.output,
                ]
            })
        return .success
    }

    /// The reason of a command that failed, or `nil` if its output is something else.
    static func reason(of output: String) -> String? {
        (try? JSONDecoder().decode(FailureReason.self, from: Data(output.utf8)))?.reason
    }

    /// Writes the result of `targets verify` on a hub.
    static func write(comparison output: String, _ context: CommandContext) throws {
        guard context.format != .ndjson, let line = try? JSONDecoder().decode(Comparison.self, from: Data(output.utf8)) else {
            return try context.streams.output.write(output + "\n")
        }
        let counts = [line.equal, line.missing, line.differing, line.surplus, line.foreign, line.setAside]
        try TableOutput(context: context).write(
            header: ["equal", "missing", "differing", "surplus", "foreign", "setAside"], rows: [counts.map { "\($0)" }])
        guard let days = line.days, !days.isEmpty else { return }
        try context.streams.output.write("\n")
        try TableOutput(context: context).write(
            header: DayLine.header, rows: days.map { [$0.type, $0.day, "\($0.here)", "\($0.there)"] })
        if let rest = line.daysLeftOut, rest > 0 {
            context.note("vitalgate: \(Readable.count(rest, "more day")) with differences")
        }
    }

    private struct Comparison: Decodable {
        var equal, missing, differing, surplus, foreign, setAside: Int
        var days: [DayLine]?
        var daysLeftOut: Int?
    }

    private func write(_ hubs: [EnrolledHub]) throws {
        guard context.format == .ndjson else {
            let header = [
                "name", "state", "last seen", "silence", "version", "changes", "waiting", "quarantined", "battery", "silent",
                "orders",
            ]
            return try TableOutput(context: context).write(header: header, rows: hubs.map(Self.row))
        }
        for hub in hubs {
            var object = JSONObject()
            object.set("name", hub.name)
            object.set("store", hub.store)
            object.set("key", hub.key)
            object.set("enrolled", hub.enrolled)
            object.set("revoked", hub.isRevoked)
            object.set("seen", hub.seen)
            object.set("silence", hub.silence)
            object.set("version", hub.version)
            object.set("lastChange", hub.lastChange)
            object.set("waiting", hub.waiting)
            object.set("quarantined", hub.quarantined)
            object.set("stopped", hub.isStopped)
            object.set("sealed", hub.isSealed)
            object.set("epoch", hub.epoch)
            object.set("restored", hub.restored)
            object.set("machine", hub.machine)
            object.set("otherMachine", hub.otherMachine)
            object.set("otherSeen", hub.otherSeen)
            object.set("lowestBattery", hub.lowestBattery)
            object.set("silentDevices", hub.silentDevices)
            object.set("lastOrder", hub.lastOrder)
            object.set("openOrders", hub.openOrders)
            try context.streams.output.write(object.line)
        }
    }

    /// Whether a hub still reports without a seal, although the center opens sealed requests.
    private func isOpen(_ hub: EnrolledHub) -> Bool {
        opensSealed && !hub.isRevoked && !hub.isSealed && hub.version != nil
    }

    /// The word for a hub's state.
    static func state(_ hub: EnrolledHub) -> String {
        if hub.isRevoked { return "revoked" }
        if hub.otherMachine != nil { return "copied" }
        return hub.isStopped ? "stopped" : "enrolled"
    }

    /// Writes the facts that have no column in the table.
    private func writeRemarks(_ hub: EnrolledHub) throws {
        guard context.format != .ndjson else { return }
        var lines: [String] = []
        if let other = hub.otherMachine {
            lines.append(
                "The store was copied: readings come from \(hub.machine ?? "one machine"), and \(other) has tried to send from a copy, "
                    + "the last time at \(hub.otherSeen ?? ""). Run 'vitalgate store adopt' on the machine with the copy.")
        }
        if hub.isStopped {
            lines.append("Its delivery has stopped: 'vitalgate targets status' on the hub shows the reason.")
        }
        if isOpen(hub) {
            lines.append("Its last report was not sealed: set 'sealingKey' of its target (see docs/how-to/fleet.md).")
        }
        if let restored = hub.restored {
            lines.append(
                "Epoch \(hub.epoch) since \(restored): its store or this database was restored from a backup, and the hub has compared "
                    + "the two.")
        }
        for line in lines { try context.streams.output.write("\n" + TerminalText.sanitized(line) + "\n") }
    }

    private static func row(_ hub: EnrolledHub) -> [String] {
        func text(_ number: Int?) -> String { number.map { Readable.count($0) } ?? "" }
        return [
            hub.name, state(hub), hub.seen ?? "never", hub.silence.map(duration) ?? "",
            hub.version ?? "", text(hub.lastChange), text(hub.waiting), text(hub.quarantined),
            hub.lowestBattery.map { "\($0) %" } ?? "", text(hub.silentDevices), text(hub.openOrders),
        ]
    }

    /// A duration in its largest unit, such as `5 min`.
    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

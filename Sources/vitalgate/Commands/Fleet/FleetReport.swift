import CommandLineKit
import FleetCollector
import FleetProtocol
import Formats
import FoundationEssentials
import Pipeline

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
        if context.format != .ndjson { try context.streams.output.write("\n") }
        try context.write(
            orders,
            [
                Field("order", "command") { $0.number }, Field("kind") { $0.kind }, Field("made", "given") { $0.made },
                Field("finished", cell: { $0.finished ?? "waiting" }) { $0.finished },
                Field("code", "status", cell: { $0.isRefused ? "refused" : $0.code.map { "\($0)" } ?? "" }) { $0.code },
                .json("refused") { ifPresent($0.isRefused ? true : nil) },
                Field("output", cell: { Self.reason(of: $0.output) ?? $0.output }) { $0.output.isEmpty ? nil : $0.output },
            ])
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
        func number(_ number: Int?) -> String { number.map { Readable.count($0) } ?? "" }
        try context.write(
            hubs,
            [
                Field("name") { $0.name }, .json("store") { $0.store }, .json("key") { $0.key },
                .json("enrolled") { $0.enrolled }, .json("revoked") { $0.isRevoked }, .column("state") { Self.state($0) },
                Field("seen", "last seen", cell: { $0.seen ?? "never" }) { $0.seen },
                Field("silence", cell: { $0.silence.map(Self.duration) ?? "" }) { $0.silence }, Field("version") { $0.version },
                Field("lastChange", "changes", cell: { number($0.lastChange) }) { $0.lastChange },
                Field("waiting", cell: { number($0.waiting) }) { $0.waiting },
                Field("quarantined", cell: { number($0.quarantined) }) { $0.quarantined }, .json("stopped") { $0.isStopped },
                .json("sealed") { $0.isSealed }, .json("epoch") { $0.epoch }, .json("restored") { $0.restored },
                .json("machine") { $0.machine }, .json("otherMachine") { $0.otherMachine }, .json("otherSeen") { $0.otherSeen },
                Field("lowestBattery", "battery", cell: { $0.lowestBattery.map { "\($0) %" } ?? "" }) { $0.lowestBattery },
                Field("silentDevices", "silent", cell: { number($0.silentDevices) }) { $0.silentDevices },
                .json("lastOrder") { $0.lastOrder },
                Field("openOrders", "orders", cell: { number($0.openOrders) }) { $0.openOrders },
            ])
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

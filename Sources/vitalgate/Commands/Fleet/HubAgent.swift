import CommandLineKit
import EventLoopKit
import ExportEngine
import FleetExport
import FleetProtocol
import Glibc
import Hub
import Ingestion
import SampleStore

/// Reports this hub's state to the center of its fleet, and runs the center's commands.
final class HubAgent {
    private let context: CommandContext
    private let target: String
    private let store: SampleStore
    private let exporter: FleetExporter
    /// The refused command that the log has.
    private var lastRefused: Int64?

    /// The longest run of a command in seconds.
    private static let patience = 1800

    /// - Parameter waiting: Returns the number of changes that wait for delivery.
    init(
        _ context: CommandContext, _ target: String, _ store: SampleStore, _ exporter: FleetExporter,
        waiting: @escaping () throws -> Int
    ) {
        (self.context, self.target, self.store, self.exporter) = (context, target, store, exporter)
        exporter.makeReport = {
            let progress = try store.targets.fleetProgress(of: target)
            return HubReport(
                version: Program.version, lastChange: try store.lastChange(), waiting: try waiting(),
                quarantined: try store.quarantine.count(), order: progress?.order ?? 0,
                result: progress.map { OrderResult(code: $0.code, output: $0.output) })
        }
    }

    /// Runs the command that the last report has brought.
    ///
    /// A command that is interrupted runs again after a restart. Each of them can run twice without harm.
    ///
    /// - Returns: whether there is something to report: a result, or a command that the center's key has not signed.
    func carryOut() throws -> Bool {
        if let number = exporter.refusedOrder {
            if number != lastRefused {
                context.warn("target \(target): refused command \(number): the center's key has not signed it for this hub")
            }
            lastRefused = number
            return exporter.isRefusalDue
        }
        guard let order = exporter.order else { return false }
        let result = run(order)
        guard result.code != Int(ExitCode.tryAgain.rawValue) else {
            context.inform("target \(target): command \(order.number) of the center (\(order.kind)) has to wait")
            exporter.postpone()
            return false
        }
        try store.targets.save(FleetProgress(order: order.number, code: result.code, output: result.output), of: target)
        exporter.endOrder()
        context.inform("target \(target): command \(order.number) of the center (\(order.kind)) ended with status \(result.code)")
        return true
    }

    private func run(_ order: FleetOrder) -> OrderResult {
        guard order.obstacle == nil, let kind = FleetOrder.Kind(rawValue: order.kind) else {
            return OrderResult(code: Int(ExitCode.usage.rawValue))
        }
        let run = ProgramRun.run(program + arguments(of: kind, order.arguments), seconds: Self.patience)
        if run.code == 0, kind == .adopt || kind == .assign { reloadHub() }
        // Only counts. All other output may name people.
        let line = kind == .verify ? run.output.split(separator: "\n").last.map(String.init) ?? "" : ""
        return OrderResult(code: Int(run.code), output: line.utf8.count <= OrderResult.longestOutput ? line : "")
    }

    /// This program with the store and the configuration of this process.
    private var program: [String] {
        var command = [ProfileFolders.executable(), "--store", SmallFile.absolute(store.path)]
        if let path = context.invocation.string("--config") { command += ["--config", SmallFile.absolute(path)] }
        for folder in context.invocation.strings("--profiles") { command += ["--profiles", SmallFile.absolute(folder)] }
        return command
    }

    private func arguments(of kind: FleetOrder.Kind, _ arguments: [String]) -> [String] {
        switch kind {
        case .adopt: ["devices", "adopt"] + arguments
        case .assign: ["devices", "assign"] + arguments
        case .repair: ["repair", "apply"] + arguments
        case .erase: ["people", "erase", "--yes"] + arguments
        case .verify: ["targets", "verify", "--format", "ndjson"] + arguments + ["--", target]
        }
    }

    /// Makes a running hub read its devices again.
    private func reloadHub() {
        guard let hub = try? StatusClient.ask(store: store.path, machine: context.machine).status.hub else { return }
        kill(pid_t(hub.process), SIGHUP)
    }
}

import CommandLineKit
import EventLoopKit
import ExportEngine
import FleetExport
import FleetProtocol
import Formats
import Glibc
import HealthModel
import Hub
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// Reports this hub's state to the center of its fleet, and runs the center's commands.
final class HubAgent {
    private let context: CommandContext
    private let target: String
    private let store: SampleStore
    private let settings: TargetSettings
    private let exporter: FleetExporter
    /// Whether a report is about a delivery that has stopped.
    private var isStopped = false
    /// When this process noticed a restoration, until the comparison is done.
    private var restored: Instant?
    /// When the last comparison was done.
    private var compared: Instant?
    /// The failure of a report that the log has.
    private var lastFailure: String?
    /// The refused command that the log has.
    private var lastRefused: Int64?

    /// The time without a reading after which a device counts as silent, in microseconds: a day.
    private static let silence: Int64 = 86_400_000_000
    /// The longest run of a command in seconds.
    private static let timeout = 1800

    /// The shortest time between two comparisons, so that two copies of one store do not compare all the time.
    private static let comparisonPause: Int64 = 3_600_000_000

    /// - Parameter waiting: Returns the number of changes that wait for delivery.
    init(
        _ context: CommandContext, _ settings: TargetSettings, _ store: SampleStore, _ exporter: FleetExporter,
        waiting: @escaping () throws -> Int
    ) {
        (self.context, self.settings, self.store, self.exporter) = (context, settings, store, exporter)
        target = settings.name
        exporter.makeReport = { [unowned self] in try report(waiting: waiting()) }
    }

    private func report(waiting: Int) throws -> HubReport {
        let progress = try store.targets.fleetProgress(of: target)
        var report = HubReport(
            version: Program.version, lastChange: try store.lastChange(), waiting: waiting,
            quarantined: try store.quarantine.count(), order: progress?.order ?? 0,
            result: progress.map { OrderResult(code: $0.code, output: $0.output) })
        report.machine = HubReport.Machine(id: settings.holder.id, name: settings.holder.name)
        report.isStopped = isStopped ? true : nil
        report.restored = restored?.microseconds
        if let status = hubStatus() {
            // Without the names and addresses of devices.
            report.lowestBattery = status.devices.compactMap(\.battery).min().map { Int(max(0, min($0, 100))) }
            let yesterday = context.machine.now().microseconds - Self.silence
            report.silentDevices = status.devices.count { $0.last.map { $0.microseconds < yesterday } ?? false }
        }
        return report
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
        let (result, errors) = run(order)
        guard result.code != Int(ExitCode.tryAgain.rawValue) else {
            context.inform("target \(target): command \(order.number) of the center (\(order.kind)) has to wait")
            exporter.postpone()
            return false
        }
        try store.targets.save(FleetProgress(order: order.number, code: result.code, output: result.output), of: target)
        exporter.endOrder()
        // The log contains no names, not even those of the order.
        let reason = result.code == 0 ? nil : FailureReason(errors: errors).map { ": \($0.reason)" }
        context.inform(
            "target \(target): command \(order.number) of the center (\(order.kind)) ended with status \(result.code)\(reason ?? "")"
        )
        return true
    }

    /// Reports to the center after a step, and does what lets a stopped delivery continue: a comparison after a restoration, or a
    /// command of the center.
    ///
    /// - Returns: whether to try again at once.
    func attend(to run: TargetRun, _ outcome: TargetRun.Outcome) throws -> Bool {
        guard outcome == .stopped else {
            if case .upToDate = outcome { return try carryOut() }
            return false
        }
        // All other reports are sent by a step that delivers.
        isStopped = true
        defer { isStopped = false }
        let now = context.machine.now()
        let isSoonAfter = compared.map { abs(now.microseconds - $0.microseconds) < Self.comparisonPause } ?? false
        do {
            let compares = try !isSoonAfter && run.isRestored()
            if compares, restored == nil { restored = now }
            try exporter.report()
            if compares { return try compare() }
        } catch let error as DeliveryError {
            if lastFailure != error.reason { context.warn("target \(target): the center was not reached: \(error)") }
            lastFailure = error.reason
            return false
        }
        return try carryOut()
    }

    /// Compares everything with the center and sends what differs. Readings that this store does not have stay at the center.
    private func compare() throws -> Bool {
        context.inform("target \(target): the store or the center was restored from a backup, so both are compared")
        let (differences, refused) = try TargetComparison(
            settings, exporter: exporter, store: store, now: context.machine.now, isClockSet: { ClockSteps.isSynchronised }
        ).repair()
        context.inform(
            "target \(target): compared: \(Readable.count(differences.count, "difference")) corrected, \(differences.foreign) "
                + "only at the center, \(refused) set aside")
        (restored, compared) = (nil, context.machine.now())
        exporter.reportSoon()
        return true
    }

    /// - Returns: the result, and the printed errors.
    private func run(_ order: FleetOrder) -> (result: OrderResult, errors: String) {
        let result: (code: Int, output: String, errors: String)
        if let rejectionReason = order.rejectionReason {
            result = (Int(ExitCode.usage.rawValue), "", rejectionReason)
        } else {
            switch FleetOrder.Kind(rawValue: order.kind) {
            case nil: result = (Int(ExitCode.usage.rawValue), "", "unknown command")
            case .set: result = set(order.arguments.compactMap { HubSetting($0) })
            case .profile: result = install(profile: order.arguments.first ?? "")
            case .some(let kind): result = runProgram(kind, order.arguments)
            }
        }
        let reason = result.code == 0 ? nil : FailureReason(errors: result.errors, mentioning: order.arguments)
        let output = result.output.isEmpty ? reason.flatMap(Self.line) ?? "" : result.output
        return (OrderResult(code: result.code, output: output), result.errors)
    }

    private static func line(_ reason: FailureReason) -> String? {
        let object = JSONObject(["reason": reason.reason])
        return String(decoding: object.line.dropLast(), as: UTF8.self)
    }

    private func runProgram(
        _ kind: FleetOrder.Kind, _ arguments: [String]
    ) -> (code: Int, output: String, errors: String) {
        let run = ProgramRun.run(program + self.arguments(of: kind, arguments), seconds: Self.timeout)
        if run.code == 0, kind == .adopt || kind == .assign { reloadHub() }
        // Only counts. All other output may name people.
        let line = kind == .verify ? run.output.split(separator: "\n").last.map(String.init) ?? "" : ""
        return (Int(run.code), line.utf8.count <= OrderResult.maximumOutputLength ? line : "", run.words)
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
        case .set, .profile: []
        }
    }

    /// Changes the configuration, and makes a running hub read it.
    ///
    /// - Returns: 77 if this process may not change the file, and 78 if the hub would refuse the new text.
    private func set(_ settings: [HubSetting]) -> (code: Int, output: String, errors: String) {
        let file: ConfigurationFile
        do {
            file = try ConfigurationFile(context)
        } catch {
            return (Int(ExitCode.noPermission.rawValue), "", Program.explain(error).message ?? "")
        }
        do {
            let bytes = try ConfigurationText.setting(settings.map { $0.of(target: target) }, in: file.bytes)
            _ = try Configuration(text: bytes, of: file.path, machine: context.machine)
            if bytes != file.bytes { try file.replace(with: bytes) }
            // Also without a change: an earlier run may have been interrupted before it.
            return (0, "{\"changed\":\(bytes != file.bytes),\"reloaded\":\(reloadHub())}", "")
        } catch {
            return (Int(ExitCode.configuration.rawValue), "", Program.explain(error).message ?? "")
        }
    }

    /// Writes a profile into the last folder of profiles, which takes precedence over the others, and makes a running hub read it.
    ///
    /// - Returns: 77 if this process may not write there, and 78 if the hub would refuse the profile.
    private func install(profile text: String) -> (code: Int, output: String, errors: String) {
        let bytes = Array(text.utf8)
        let (profile, folder): (Profile, String)
        do {
            profile = try Profile(json5: bytes, file: "")
            guard let last = try ProfileCommand.folders(context).folders.last else {
                return (Int(ExitCode.configuration.rawValue), "", "no folder of profiles")
            }
            folder = last
        } catch {
            return (Int(ExitCode.configuration.rawValue), "", Program.explain(error).message ?? "")
        }
        let path = "\(folder)/\(profile.id).json5"
        let isChanged = SmallFile.read(path, limit: bytes.count) != bytes
        do throws(SystemFailure) {
            if isChanged { try SmallFile.replace(path, with: text, mode: 0o644) }
        } catch {
            return (Int(ExitCode.noPermission.rawValue), "", error.reason)
        }
        // Also without a change: an earlier run may have been interrupted before it.
        return (0, "{\"changed\":\(isChanged),\"reloaded\":\(reloadHub())}", "")
    }

    /// Makes a running hub read its configuration and devices again, as 'systemctl reload' does.
    ///
    /// - Returns: whether a hub runs.
    @discardableResult
    private func reloadHub() -> Bool {
        guard let hub = hubStatus()?.hub else { return false }
        return kill(pid_t(hub.process), SIGHUP) == 0
    }

    /// The status of the hub that runs on the store, or `nil`.
    private func hubStatus() -> HubStatus? { try? StatusClient.ask(store: store.path, machine: context.machine).status }
}

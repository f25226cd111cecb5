import CommandLineKit
import ExportEngine
import HealthModel
import Hub
import Ingestion
import Pipeline
import SampleStore

extension CommandContext {
    func target(_ name: String) throws -> TargetConfiguration {
        let targets = try configuration().targets
        if let target = targets.first(where: { $0.name == name }) { return target }
        throw invocation.invalid(
            "TARGET", value: name,
            expected: targets.isEmpty
                ? "a target, but the configuration defines none (key 'targets')"
                : "one of \(targets.map(\.name).joined(separator: ", "))")
    }

    /// Becomes the owner of the store, as whom the hub sends to its targets and receivers, runs their programs, and reads their passwords.
    func becomeStoreOwner() throws { try FolderOwner.become(ownerOf: try configuration().store) }

    func assemble(_ target: TargetConfiguration, _ store: SampleStore) throws -> (
        settings: TargetSettings, exporter: any Exporter
    ) {
        let zone = try machine.zone(configuration().timeZone)
        var settings = try target.settings(in: store, zone: zone, holder: machine.holder(ofStore: store.path))
        settings.sourcePriority = try configuration().priority
        return (
            settings,
            try target.exporter(
                settings, for: store, zone: zone, priority: try configuration().priority,
                findZone: { [machine] in try? machine.zone(ZoneName($0, from: .option)) }, now: machine.now)
        )
    }

    /// Checks a target and writes the findings. With `--create`, it creates missing parts before.
    ///
    /// - Returns: whether the target accepts data.
    func check(_ target: TargetConfiguration, _ store: SampleStore) throws -> Bool {
        let (_, exporter) = try assemble(target, store)
        var findings: [Finding] = []
        do throws(DeliveryError) {
            if invocation.flag("--create") { findings += try exporter.create() }
            findings += try exporter.check()
        } catch {
            findings.append(Finding(.broken, target.name, TerminalText.sanitized(error.reason)))
        }
        try? exporter.finish()
        try FindingReport(context: self).write(findings)
        return !findings.contains { $0.weight == .broken }
    }
}

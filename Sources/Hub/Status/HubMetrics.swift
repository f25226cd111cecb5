import HTTPServerKit
import HealthModel
import SampleStore

/// The state of the hub for Prometheus: the facts of `vitalgate status` and `vitalgate targets status` as numbers.
///
/// It has no measured values and no names of people or devices. The labels are fixed words, addresses of adopted devices (at most
/// ``HubStatus/maximumDevices``) and names of targets in the configuration (at most 64).
package struct HubMetrics {
    /// The state of the hub, or of the store if no hub runs.
    package var status: HubStatus
    package var targets: [TargetStatus]
    package var quarantine: [QuarantineSummary]
    package var memory: [ProcessMemory]
    package var version: String

    /// Reads the metrics.
    ///
    /// - Parameters:
    ///   - status: The answer of the hub, or the state of the store.
    ///   - targets: The targets of the configuration.
    package init(
        _ status: HubStatus, targets: [TargetConfiguration], store: SampleStore, version: String, at now: Instant
    ) throws {
        self.status = status
        self.version = version
        self.targets = try TargetStatus.all(targets, in: store, at: now)
        quarantine = try store.quarantine.summary()
        memory = ProcessMemory.all(ofHub: status.hub?.process)
    }

    /// The metrics as Prometheus reads them.
    package var text: String {
        var text = PrometheusText()
        addHub(to: &text)
        addReadings(to: &text)
        addDevices(to: &text)
        addTargets(to: &text)
        addBackups(to: &text)
        addUpdate(to: &text)
        addLoad(to: &text)
        return text.text
    }

    private func addHub(to text: inout PrometheusText) {
        text.add(
            "vitalgate_build_info", .gauge, "Version of the program.",
            [PrometheusText.Point(labels: [("version", version)], value: 1)])
        text.add("vitalgate_hub_running", .gauge, "Whether a hub runs on the store.", status.hub == nil ? 0 : 1)
        text.add(
            "vitalgate_hub_start_time_seconds", .gauge, "Start of the hub, in seconds since 1970.",
            status.hub.map { Self.seconds($0.started) })
        text.add(
            "vitalgate_source_running", .gauge, "Whether a source of the hub runs.", status.sources, by: "source", { $0.name },
            { $0.state == "running" ? 1 : 0 })
        text.add("vitalgate_store_bytes", .gauge, "Size of the store.", Double(status.store.bytes))
        text.add(
            "vitalgate_store_writable", .gauge, "Whether readings can be stored.", status.store.failure == nil ? 1 : 0)
        text.add(
            "vitalgate_commit_duration_seconds", .gauge, "Duration of the hub's last commit.", status.store.commitSeconds)
        text.add(
            "vitalgate_process_resident_memory_bytes", .gauge, "Resident memory of the hub's processes.", memory, by: "process",
            { $0.process.rawValue }, { Double($0.bytes) })
    }

    private func addReadings(to text: inout PrometheusText) {
        let today = status.today
        if today.failure == nil {
            text.add(
                "vitalgate_today_readings", .gauge, "Readings since local midnight, by outcome.",
                [
                    ("stored", today.stored), ("duplicate", today.duplicate), ("quarantined", today.quarantined),
                    ("refused", today.refused),
                ], by: "outcome", { $0.0 }, { Double($0.1) })
            text.add(
                "vitalgate_today_skipped", .gauge, "Frames and rows without a reading since local midnight.",
                Double(today.skipped))
        }
        text.add("vitalgate_readings_waiting", .gauge, "Readings that are not written yet.", today.waiting.map { Double($0) })
        text.add(
            "vitalgate_quarantine_readings", .gauge, "Readings in quarantine.",
            Double(quarantine.reduce(0) { $0 + $1.count }))
        text.add(
            "vitalgate_quarantine_oldest_timestamp_seconds", .gauge,
            "Arrival of the oldest reading in quarantine, in seconds since 1970.",
            quarantine.map(\.since).min().map(Self.seconds))
    }

    private func addDevices(to text: inout PrometheusText) {
        let devices = status.devices
        text.add(
            "vitalgate_devices", .gauge, "Number of adopted devices.", Double(devices.count + status.devicesLeftOut))
        text.add(
            "vitalgate_device_last_reading_timestamp_seconds", .gauge, "Last reading of a device, in seconds since 1970.",
            devices, by: "device", { $0.address }, { $0.last.map(Self.seconds) })
        text.add(
            "vitalgate_device_silent", .gauge, "Whether the next reading of a device is long overdue.", devices, by: "device",
            { $0.address }, { $0.silentSince == nil ? 0 : 1 })
        text.add(
            "vitalgate_device_battery_ratio", .gauge, "Battery level of a device, from 0 to 1.", devices, by: "device",
            { $0.address }, { $0.battery.map { $0 / 100 } })
    }

    private func addTargets(to text: inout PrometheusText) {
        func add(_ name: String, _ kind: PrometheusText.Kind, _ help: String, _ value: (TargetStatus) -> Double) {
            text.add("vitalgate_target_" + name, kind, help, targets, by: "target", { $0.name }, value)
        }
        add("delivering", .gauge, "Whether a target accepts changes.") { $0.isDelivering ? 1 : 0 }
        add("waiting_changes", .gauge, "Changes that a target does not have yet.") { Double($0.waiting) }
        add("lag_seconds", .gauge, "Time since the oldest of these changes was received.") { Double($0.lag) }
        add("rejected_samples", .gauge, "Samples that a target rejected.") { Double($0.setAside) }
        add("delivered_changes_total", .counter, "Changes that a target has received.") { Double($0.progress?.delivered ?? 0) }
    }

    private func addBackups(to text: inout PrometheusText) {
        guard let backups = status.backups else { return }
        text.add(
            "vitalgate_backup_last_timestamp_seconds", .gauge, "Last verified backup at a location, in seconds since 1970.",
            backups, by: "location", { $0.name }, { $0.made.map(Self.seconds) })
        text.add(
            "vitalgate_backup_proven_timestamp_seconds", .gauge,
            "Newest backup at a location that was restored and checked, in seconds since 1970.", backups, by: "location",
            { $0.name }, { $0.proven.map(Self.seconds) })
        text.add(
            "vitalgate_backup_failing", .gauge, "Whether the last backup or its drill failed.", backups, by: "location",
            { $0.name }, { $0.failure == nil ? 0 : 1 })
    }

    private func addUpdate(to text: inout PrometheusText) {
        guard let update = status.update else { return }
        text.add(
            "vitalgate_update_available", .gauge, "Whether the repository has a newer version.", update.available == nil ? 0 : 1)
        text.add(
            "vitalgate_update_failing", .gauge, "Whether the last check or update failed.",
            update.failure == nil && update.trouble == nil ? 0 : 1)
    }

    private func addLoad(to text: inout PrometheusText) {
        guard let api = status.sources.first(where: { $0.refusedForLoad != nil }) else { return }
        text.add(
            "vitalgate_refused_requests_total", .counter,
            "Requests that the API and the page refused because a limit was reached.", LoadBound.allCases, by: "bound",
            { $0.rawValue }, { bound in Double(api.refusals?.first { $0.bound == bound.rawValue }?.count ?? 0) })
        text.add(
            "vitalgate_wrong_tokens_total", .counter, "Requests with a wrong token or login code.",
            api.wrongTokens.map { Double($0) })
    }

    private static func seconds(_ time: Instant) -> Double { Double(time.microseconds) / 1e6 }
}

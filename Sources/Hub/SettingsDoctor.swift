import Glibc
import HealthAnswers
import HealthModel
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// Checks the configuration, the store and the profiles. Each finding contains the command that fixes it.
package struct SettingsDoctor: Sendable {
    private let configuration: Result<Configuration, ConfigurationError>
    private let machine: Machine
    private let executable: String

    /// - Parameters: - configuration: the configuration, or the error from reading it. - executable: the program's own path, to
    ///   find the profiles.
    package init(configuration: Result<Configuration, ConfigurationError>, machine: Machine, executable: String) {
        self.configuration = configuration
        self.machine = machine
        self.executable = executable
    }

    /// Checks everything without changes. If the configuration cannot be read, that is the only finding.
    package func examine() -> [Finding] {
        switch configuration {
        case .failure(let error): return [Finding(.broken, "configuration", error.description)]
        case .success(let configuration):
            var findings = [settings(configuration)]
            findings += servers(configuration)
            findings += store(configuration)
            findings += backup(configuration)
            findings += [UpdateState(in: UpdateState.folder)?.finding].compactMap { $0 }
            findings += estimates(configuration)
            findings += scales(configuration)
            findings += alerts(configuration)
            findings += silentDevices(configuration)
            findings += clock(configuration)
            findings += retention(configuration)
            findings += [powerCut(configuration), profiles(configuration)]
            return findings
        }
    }

    private func settings(_ configuration: Configuration) -> Finding {
        do throws(ConfigurationError) {
            let zone = try machine.zone(configuration.timeZone)
            return Finding(.good, "configuration", "readable, time zone \(zone.identifier)")
        } catch {
            return Finding(.broken, "configuration", error.description)
        }
    }

    private func servers(_ configuration: Configuration) -> [Finding] {
        let servers = [("api", configuration.api?.weaknesses), ("metrics", configuration.metrics?.weaknesses)]
        return servers.flatMap { name, weaknesses in
            (weaknesses?(machine.now()) ?? []).map {
                Finding($0.isBroken ? .broken : .warning, name, $0.text, command: $0.command)
            }
        }
    }

    /// Returns the amount that a power cut would lose now.
    private func powerCut(_ configuration: Configuration) -> Finding {
        let seconds = configuration.hub.commitEvery
        return Finding(
            .good, "power cut",
            "a power cut can lose the last \(seconds) s of continuous streams such as a heart rate strap ('hub.commitEvery') "
                + "and the last second of other readings, but no reading acknowledged to its device")
    }

    private func store(_ configuration: Configuration) -> [Finding] {
        let path = configuration.store
        do throws(StoreError) {
            let store = try StoreAccess(configuration: configuration, machine: machine).openForReading()
            guard access(path, W_OK) == 0 else {
                return [
                    Finding(.broken, "store", "\(path): can be read but not written", command: "sudo chown $USER \(path)*")
                ]
            }
            var findings = [Finding(.good, "store", "\(path), schema \(try store.summary().schema)")]
            if isOpenToOthers(path) {
                findings.append(Finding(.warning, "store", "\(path): other users can read it", command: "chmod go= \(path)*"))
            }
            for stored in try store.quarantine.summary() {
                findings.append(
                    Finding(
                        .warning, "quarantine",
                        "\(stored.count == 1 ? "1 reading" : "\(stored.count) readings") since \(stored.since): \(stored.rule)",
                        command: "vitalgate quarantine list"))
            }
            return findings
        } catch {
            return [broken(error, path)]
        }
    }

    /// The longest time without a backup, in days.
    private static let daysWithoutBackup = 7

    /// Checks that the store was copied lately.
    private func backup(_ configuration: Configuration) -> [Finding] {
        let now = machine.now()
        guard configuration.backup.locations.isEmpty else {
            return configuration.backup.findings(ofStore: StatusSocket.canonical(configuration.store), at: now)
        }
        guard PlausibleClock.allows(now),
            let store = try? StoreAccess(configuration: configuration, machine: machine).openForReading(),
            let first = try? store.firstEntry
        else { return [] }
        func days(since time: Instant) -> Int64 { max(0, now.microseconds - time.microseconds) / 86_400_000_000 }
        let command = "vitalgate backup add /media/disk/vitalgate"
        guard let last = try? store.lastBackup else {
            guard days(since: first) >= Self.daysWithoutBackup else { return [] }
            return [
                Finding(
                    .warning, "backup",
                    "the store was never backed up: if its disk fails, all readings are lost",
                    command: command)
            ]
        }
        let age = days(since: last.time) == 1 ? "1 day ago" : "\(days(since: last.time)) days ago"
        let isOld = days(since: last.time) >= Self.daysWithoutBackup
        let place = last.isOnSameDisk ? "on the disk of the store: keep a copy of the file elsewhere" : "on another disk"
        return [Finding(isOld ? .warning : .good, "backup", "\(age), \(place)", command: isOld ? command : nil)]
    }

    /// Checks that the facts for estimates are known for each person with estimates.
    private func estimates(_ configuration: Configuration) -> [Finding] {
        do {
            let store = try StoreAccess(configuration: configuration, machine: machine).openForReading()
            let zone = try machine.zone(configuration.timeZone)
            let formulas = try configuration.estimates(in: store)
            guard !formulas.isEmpty else { return [] }
            var missing: Set<BodyEstimates.Missing> = []
            for (person, formulas) in formulas {
                for formula in formulas {
                    missing.formUnion(
                        try BodyEstimates(store: store, person: person, formula: formula, zone: zone).missing(
                            on: zone.date(of: machine.now())))
                }
            }
            guard !missing.isEmpty else {
                return [Finding(.good, "estimates", "all facts that 'bodyComposition' needs are known")]
            }
            return BodyEstimates.Missing.allCases.filter(missing.contains).map {
                Finding(.warning, "estimates", "body composition is not estimated for a person without " + $0.advice)
            }
        } catch let error as ConfigurationError {
            return [Finding(.broken, "estimates", error.description)]
        } catch {
            // A problem of the store is already reported.
            return []
        }
    }

    /// Finds scales that several people use as one.
    private func scales(_ configuration: Configuration) -> [Finding] {
        guard let store = try? StoreAccess(configuration: configuration, machine: machine).openForReading(),
            let found = try? ScaleUse.suspected(in: store)
        else { return [] }
        return found.map { use in
            Finding(
                .warning, "scale \(use.scale)",
                "on \(use.days) days its weights within half an hour were of two people, but all belong to one person: tell it their "
                    + "ranges",
                command: "vitalgate devices assign --help")
        }
    }

    /// Checks whether the daily removal of old samples waits for a person.
    private func retention(_ configuration: Configuration) -> [Finding] {
        guard configuration.prunesDaily, PlausibleClock.allows(machine.now()),
            let store = try? StoreAccess(configuration: configuration, machine: machine).openForReading(),
            let dates = try? configuration.retention.dates(in: store, now: machine.now()),
            let doubt = try? store.pruningDoubt(
                dates, at: machine.now(), waitingFor: Set(configuration.targets.map(\.name)))
        else { return [] }
        return [Finding(.warning, "retention", "old samples are not removed: \(doubt)", command: "vitalgate store prune")]
    }

    /// Checks whether the machine's clock can be right.
    private func clock(_ configuration: Configuration) -> [Finding] {
        let now = machine.now()
        guard !PlausibleClock.allows(now) else {
            let store = try? StoreAccess(configuration: configuration, machine: machine).openForReading()
            guard let last = try? store?.ledger.lastEntry(), PlausibleClock.allows(last), now > last,
                !PlausibleClock.allows(step: now.microseconds &- last.microseconds)
            else { return [] }
            return [
                Finding(
                    .warning, "clock",
                    "the machine's clock shows \(now), more than a year after the last entry of the ledger: the hub doubts it for a day",
                    command: "timedatectl")
            ]
        }
        return [
            Finding(
                .warning, "clock",
                "the machine's clock shows \(now), which cannot be right: readings are quarantined, and nothing is pruned until it is set",
                command: "timedatectl")
        ]
    }

    /// Checks that alerts reach their receivers.
    private func alerts(_ configuration: Configuration) -> [Finding] {
        let known = try? StoreAccess(configuration: configuration, machine: machine).openForReading().alerts.receivers()
        return configuration.alerts.map { configured in
            let person = "alerts \(configured.name)"
            guard let receiver = known?.first(where: { $0.name == configured.name }) else {
                return Finding(.good, person, "configured, not used by a hub yet")
            }
            guard let failing = receiver.failing else { return Finding(.good, person, "delivered") }
            return Finding(
                .broken, person, "cannot be delivered since \(failing): \(receiver.words ?? "")",
                command: "vitalgate alerts test \(configured.name)")
        }
    }

    /// Finds devices with a raised alert about missing readings.
    private func silentDevices(_ configuration: Configuration) -> [Finding] {
        guard let store = try? StoreAccess(configuration: configuration, machine: machine).openForReading(),
            let alerts = try? store.alerts.all(), let names = try? store.devices.names()
        else { return [] }
        return alerts.compactMap { alert in
            guard let device = alert.device, alert.raised != nil else { return nil }
            let hours = alert.bound == alert.bound.rounded() ? "\(Int64(alert.bound))" : "\(alert.bound)"
            return Finding(
                .warning, "device \(names[device] ?? device)",
                "no reading of \(alert.type.id) for \(hours) h (alert \(alert.id))",
                command: "vitalgate status")
        }
    }

    private func broken(_ error: StoreError, _ path: String) -> Finding {
        switch error.kind {
        case .missing where path.isEmpty: Finding(.broken, "store", error.message)
        case .missing: missing(path)
        case .busy:
            Finding(.warning, "store", "\(path): another program has locked it for a long time", command: "fuser -v \(path)")
        case .permission: Finding(.broken, "store", "\(error)", command: "sudo chown $USER \(path)*")
        case .corrupt: Finding(.broken, "store", "\(error)", command: "vitalgate --store \(path) store check")
        // The medium failed, which is not a fault of the file.
        case .inputOutput: Finding(.broken, "store", "\(error)", command: "journalctl -k --priority err")
        default: Finding(.broken, "store", "\(error)")
        }
    }

    /// Checks that a missing store can be created when it is first needed.
    private func missing(_ path: String) -> Finding {
        var folder = path
        repeat {
            folder = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
        } while access(folder, F_OK) != 0 && folder != "/" && folder != "."
        if access(folder, W_OK | X_OK) == 0 { return Finding(.good, "store", "\(path): does not exist yet and can be created") }
        return Finding(
            .broken, "store", "\(path): does not exist yet, and you cannot write to \(folder)",
            command: "sudo chown $USER \(folder)"
        )
    }

    private func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }

    private func profiles(_ configuration: Configuration) -> Finding {
        let folders = ProfileFolders(configuration: configuration, executable: executable)
        do throws(SourceError) {
            try folders.checkNamed()
        } catch {
            return Finding(.broken, "profiles", error.description)
        }
        let (library, problems) = folders.load()
        if library.profiles.isEmpty {
            return Finding(
                .broken, "profiles", "no profiles in \(folders.folders.joined(separator: ", ")): use --profiles to name a folder")
        }
        if !problems.isEmpty {
            return Finding(.warning, "profiles", "\(problems.count) cannot be read", command: "vitalgate profile check")
        }
        return Finding(.good, "profiles", "\(library.profiles.count)")
    }
}

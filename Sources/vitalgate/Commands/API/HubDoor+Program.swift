import Glibc
import HealthModel
import HealthPage
import Hub
import HubBackup
import SampleStore

extension HubDoor {
    /// The interface to the hub of the configured store. It asks the hub over its socket, like `status`, and runs this program as a
    /// shell would.
    static func own(_ context: CommandContext, _ configuration: Configuration) -> HubDoor {
        let (store, machine, invocation) = (configuration.store, context.machine, context.invocation)
        var options = ["--store", store]
        if let config = invocation.string("--config") { options += ["--config", config] }
        for folder in invocation.strings("--profiles") { options += ["--profiles", folder] }
        let program = [ProfileFolders.executable()] + options
        var door = HubDoor(
            inbox: inbox(context, configuration),
            devices: {
                guard let status = try? StatusClient.ask(store: store, machine: machine).status else { return (false, []) }
                return (true, status.devices.map(Device.init))
            },
            run: { words, input, seconds in
                let run = ProgramRun.run(program + words, input: Array((input ?? "").utf8), seconds: seconds, memory: .importing)
                return Outcome(code: run.code, output: run.output, words: run.words)
            },
            reload: { reload(store: store, machine: machine) })
        let (locations, path) = (configuration.backup.locations.map(\.name), BackupContext.canonical(store))
        door.backups = {
            let (places, now) = (BackupState(ofStore: path).places, machine.now())
            return locations.map { Backup($0, places[$0] ?? BackupState.Place(), at: now) }
        }
        door.alertsFail = {
            let sources = (try? StatusClient.ask(store: store, machine: machine).status.sources) ?? []
            return sources.contains { $0.name == "alerts" && $0.state != "running" }
        }
        door.readName = { TemporaryName.read(as: $0) }
        return door
    }

    /// Makes the hub of a store read its devices and files again, if one is running.
    static func reload(store: String, machine: Machine) {
        guard let hub = try? StatusClient.ask(store: store, machine: machine).status.hub else { return }
        kill(hub.process, SIGHUP)
    }

    private static func inbox(_ context: CommandContext, _ configuration: Configuration) -> String? {
        context.invocation.string("--inbox") ?? configuration.hub.inbox
    }
}

extension HubDoor.Backup {
    init(_ name: String, _ place: BackupState.Place, at now: Instant) {
        self.init(name: name)
        (made, proven) = (place.made.map { Instant(microseconds: $0) }, place.proven.map { Instant(microseconds: $0) })
        guard let trouble = place.trouble(at: now) else { return }
        self.trouble = trouble.kind.prefix(1).uppercased() + trouble.kind.dropFirst()
        days = trouble.days
    }
}

extension HubDoor.Device {
    init(_ reported: HubStatus.Device) {
        self.init(address: reported.address, name: reported.name)
        (state, last, rate) = (reported.state, reported.last, reported.rate)
        (silentSince, battery) = (reported.silentSince, reported.battery)
    }
}

import BlueZSource
import CommandLineKit
import EventLoopKit
import Hub
import Pipeline
import SystemdKit

/// `doctor`: finds the reasons for missing readings and suggests remedies.
enum DoctorCommand: Command {
    static let specification = CommandSpecification(
        name: "doctor", summary: "Find out why no readings arrive and how to fix it.",
        discussion: """
            Checks the configuration, the store, the profiles, the machine (its disk, clock and package) and Bluetooth (the adapters, the radio switches, bluetoothd, and \
            its D-Bus policy). For each problem, the command prints how to fix it. It changes nothing. The exit status is 69 if \
            something is broken. Warnings do not affect the exit status.
            """,
        options: [Format.option, Format.safe],
        examples: [Example("vitalgate doctor", "Run all checks.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let settings = SettingsDoctor(
            configuration: Result { () throws(ConfigurationError) in try context.configuration() }, machine: context.machine,
            executable: ProfileFolders.executable())
        let machine = (try? context.configuration()).map { MachineDoctor(store: $0.store, now: context.machine.now()) }
        let findings = settings.examine() + (machine?.examine() ?? []) + bluetooth(context)
        try FindingReport(context: context).write(findings)
        return findings.contains { $0.weight == .broken } ? .unavailable : .success
    }

    private static func bluetooth(_ context: CommandContext) -> [Finding] {
        let loop = EventLoop(clock: MachineClock(context.machine))
        let doctor = BluetoothDoctor(bus: SystemBus(loop: loop))
        var findings: [Finding] = []
        doctor.examine {
            findings = $0
            loop.stop()
        }
        loop.run()
        return findings
    }
}

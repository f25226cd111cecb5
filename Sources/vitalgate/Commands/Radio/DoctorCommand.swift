import BlueZSource
import CommandLineKit
import EventLoopKit
import Gateway
import Pipeline

/// `doctor`: finds the reasons for missing readings and suggests remedies.
enum DoctorCommand: Command {
    static let specification = CommandSpecification(
        name: "doctor", summary: "Find out why no readings come, and what to do.",
        discussion: """
            Looks at the configuration, the store and the profiles, then at Bluetooth from the bottom up: adapters and switches as \
            the kernel tells them, bluetoothd, the policy of D-Bus. Each finding has the command that mends it; nothing is changed. \
            Exit status 69 where something is broken; a warning is no failure.
            """,
        options: [Format.option, Format.safe],
        examples: [Example("vitalgate doctor", "Look at everything.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let settings = SettingsDoctor(
            configuration: Result { () throws(ConfigurationError) in try context.configuration() }, machine: context.machine,
            executable: ProfileFolders.executable())
        let findings = settings.examine() + bluetooth(context)
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

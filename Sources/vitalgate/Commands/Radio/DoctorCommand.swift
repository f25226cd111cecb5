import BlueZSource
import CommandLineKit
import EventLoopKit
import Formats
import Gateway
import Pipeline

/// `doctor`: what keeps readings from coming, and what to do about it.
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
        switch context.format {
        case .ndjson: for finding in findings { try context.streams.output.write(object(finding).line) }
        case .csv:
            try TableOutput(context: context).write(
                header: ["subject", "state", "finding", "command"],
                rows: findings.map { [$0.subject, $0.weight.rawValue, $0.text, $0.command ?? ""] })
        case .table: for finding in findings { try context.streams.output.write(text(finding)) }
        }
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

    private static func object(_ finding: Finding) -> JSONObject {
        var object = JSONObject()
        object.set("subject", finding.subject)
        object.set("state", finding.weight.rawValue)
        object.set("finding", finding.text)
        object.set("command", finding.command)
        return object
    }

    /// A command may be long, and is there to be copied: it has a line of its own, which no table cuts.
    private static func text(_ finding: Finding) -> String {
        let state = finding.weight.rawValue
        let line = state + String(repeating: " ", count: 9 - state.count) + "\(finding.subject): \(finding.text)\n"
        return line + (finding.command.map { "         → \($0)\n" } ?? "")
    }
}

import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `alerts`: conditions on readings that raise an alert.
enum AlertsCommand: Command {
    private static let conditions = Alert.Condition.allCases.map(\.rawValue)

    static let specification = CommandSpecification(
        name: "alerts", summary: "Manage alerts on readings and their delivery.",
        discussion: """
            You define an alert for a type of readings. It is raised when a new reading is above or below a limit, or when there \
            has been no reading for a number of hours. It ends with a reading within the limit, at least three minutes after the \
            last one beyond it. Until then, further readings beyond the limit do not raise it again. A reading that arrives late \
            raises an alert that is marked as late. A reading that is more than a day old when it arrives raises none. If you \
            have several devices of a type, add an alert with --device for each one that must not be silent.

            The hub checks alerts after each commit, and the page shows them. The configuration defines other receivers:

              alerts: { lamp: { kind: "command", command: ["/usr/local/bin/lamp"] } }

            Kinds: \(AlertReceiverConfiguration.Kind.allCases.map(\.rawValue).joined(separator: ", ")) (see docs/how-to/alerts.md). Each \
            receiver gets one message when an alert begins and one when it ends. If a receiver does not answer, its messages wait in the \
            store. Afterwards it gets the alerts that are still raised, and one summary if there are more than four messages.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List alerts and whether they are raised.",
                options: [SharedOptions.person, SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "add", summary: "Add an alert and print its number.",
                arguments: [
                    Argument(name: "TYPE", help: "Type of the readings.", completion: .types),
                    Argument(
                        name: "CONDITION", help: "Condition that raises the alert.", completion: .values(conditions)),
                    Argument(name: "LIMIT", help: "Limit for above and below, or number of hours for missing."),
                    Argument(
                        name: "UNIT", help: "Unit of the value, a UCUM code such as kg, mm[Hg] or [degF].", arity: .optional),
                ],
                options: [
                    Option(
                        names: ["--margin"], value: "VALUE",
                        help: "How far within the limit a reading must be to end the alert, in the same unit (default: 0)."),
                    Option(
                        names: ["--for"], value: "DURATION",
                        help:
                            "How long readings must be beyond the limit, such as 10min (default: the first one begins the alert)."
                    ),
                    Option(
                        names: ["--hold"], value: "DURATION",
                        help: "How long no reading must be beyond the limit before the alert ends (default: 3min, 0 for at once)."
                    ),
                    Option(
                        names: ["--device"], value: "DEVICE",
                        help: "Only readings of this adopted device are missing (address, path or name, default: all readings)."),
                    SharedOptions.person,
                ],
                examples: [
                    Example("vitalgate alerts add bloodGlucose below 70 mg/dL", "Alert when glucose is low."),
                    Example(
                        "vitalgate alerts add heartRate above 120 --margin 10 --for 5min", "Alert when the pulse stays high."),
                    Example("vitalgate alerts add bodyMass missing 48", "Alert after two days without a weight."),
                    Example(
                        "vitalgate alerts add bodyTemperature missing 24 --device bedroom",
                        "Alert when one of several thermometers is silent."),
                ]),
            CommandSpecification(
                name: "remove", summary: "Remove an alert.",
                arguments: [Argument(name: "N", help: "Number of the alert.")]),
            CommandSpecification(
                name: "acknowledge", summary: "Acknowledge a raised alert.",
                discussion:
                    "The alert stays raised until its condition is over. The page and the history show the acknowledgement.",
                arguments: [Argument(name: "N", help: "Number of the alert.")]),
            CommandSpecification(
                name: "history", summary: "Show when alerts began and ended, with their deliveries.",
                options: [
                    Option(names: ["--alert"], value: "N", help: "Only this alert."),
                    Option(names: ["--limit"], value: "N", help: "Show at most N entries, the latest first (default: 50)."),
                    SharedOptions.person, SharedOptions.timeZone, Format.option, Format.safe,
                ]),
            CommandSpecification(
                name: "receivers", summary: "Show the receivers of alerts, with waiting messages and errors.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "test", summary: "Send a test message to a receiver of alerts.",
                discussion: """
                    The message is marked as a test and has no reading. The exit status is 69 if the receiver did not acknowledge it.
                    """,
                arguments: [Argument(name: "NAME", help: "Name of a receiver in the configuration.")],
                examples: [Example("vitalgate alerts test phone", "See whether messages reach your phone.")]),
            CommandSpecification(
                name: "watch", summary: "Check alerts and deliver them until stopped.",
                discussion: "The hub does this by itself. Use this command only on a machine without a hub.",
                options: [SharedOptions.untilEOF]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "add": try add(context)
        case "remove": try remove(context)
        case "acknowledge": try acknowledge(context)
        case "history": try AlertHistoryReport(context: context).write()
        case "receivers": try AlertReceiverReport(context: context).write()
        case "test":
            try context.becomeStoreOwner()
            return try AlertReceiverReport(context: context).test(context.invocation.argument("NAME") ?? "")
        case "watch":
            try context.becomeStoreOwner()
            let process = try AlertProcess(context)
            return try withExtendedLifetime(process) { try process.run() }
        default: try list(context)
        }
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let (store, times) = (try context.openForReading(), try context.times())
        let person = try context.person(in: store)
        let (alerts, names) = (try store.alerts.all(of: person), try store.people.names())
        let devices = try store.devices.names()
        let configuration = try context.configuration()
        func shown(_ alert: Alert) throws -> (bound: String, unit: String) {
            var (bound, unit) = (alert.bound, "h")
            if alert.condition != .missing {
                let shown = configuration.unit(of: alert.type) ?? alert.type.canonicalUnit
                bound = try alert.type.canonicalUnit.conversion(to: shown, molarMass: alert.type.molarMass)(bound)
                unit = Readable.unit(shown)
            }
            return (Readable.number(bound), unit)
        }
        let rows = try alerts.map { (alert: $0, shown: try shown($0)) }
        func timing(_ alert: Alert, _ value: (AlertTiming) -> Double) -> (any JSONRepresentable)? {
            ifPresent(alert.condition == .missing ? nil : value(alert.timing))
        }
        try context.write(
            rows,
            [
                Field("alert") { $0.alert.id }, .person(names, store) { $0.alert.person }, Field("type") { $0.alert.type.id },
                Field("condition") { $0.alert.condition.rawValue },
                Field("limit", cell: { $0.shown.bound }, value: { $0.alert.bound }),
                Field("unit", cell: { $0.shown.unit }, value: { $0.alert.unit }),
                .json("device") { row in
                    guard let device = row.alert.device else { return ifPresent(nil) }
                    return devices[device]
                },
                .json("address") { ifPresent($0.alert.device) },
                Field("raised", cell: { $0.alert.raised.map(times.local) ?? "" }, value: { ifPresent($0.alert.raised) }),
                .json("acknowledged") { ifPresent($0.alert.acknowledged) }, .json("margin") { timing($0.alert) { $0.margin } },
                .json("for") { timing($0.alert) { Double($0.lasting) / 1e6 } },
                .json("hold") { timing($0.alert) { Double($0.hold) / 1e6 } },
                .column("device") { $0.alert.device.map { devices[$0] ?? $0 } ?? "" },
            ])
    }

    private static func add(_ context: CommandContext) throws {
        let invocation = context.invocation
        let type = try context.type(invocation.argument("TYPE") ?? "")
        let word = invocation.argument("CONDITION") ?? ""
        guard let condition = Alert.Condition(rawValue: word) else {
            throw invocation.invalid("CONDITION", value: word, expected: "one of \(conditions.joined(separator: ", "))")
        }
        let text = invocation.argument("LIMIT") ?? ""
        guard var bound = (try? Numeral(text))?.doubleValue else {
            throw invocation.invalid("LIMIT", value: text, expected: "a number such as 70")
        }
        var timing = AlertTiming.defaultTiming
        if condition != .missing {
            var unit = try context.configuration().unit(of: type) ?? type.canonicalUnit
            if let code = invocation.argument("UNIT") { unit = try HealthModel.Unit(written: code) }
            let convert = try unit.conversion(to: type.canonicalUnit, molarMass: type.molarMass)
            timing = try self.timing(invocation) { convert(bound + $0) - convert(bound) }
            bound = convert(bound)
        } else if let option = ["--margin", "--for", "--hold"].first(where: { invocation.string($0) != nil }) {
            throw invocation.invalid(option, value: invocation.string(option) ?? "", expected: "above or below, not missing")
        } else if let code = invocation.argument("UNIT"), code != "h" {
            throw invocation.invalid("UNIT", value: code, expected: "h for missing readings")
        }
        if condition != .missing, let device = invocation.string("--device") {
            throw invocation.invalid("--device", value: device, expected: "missing, not above or below")
        }
        let store = try context.access().openForWriting(creating: true)
        let person = try context.person(in: store) ?? store.owner
        let device = try invocation.string("--device").map { try context.adoptedDevice($0, in: store).address }
        let number = try store.alerts.add(
            of: person, type: type, condition, bound: bound, device: device, timing: timing, at: context.machine.now())
        try context.streams.output.write("\(number)\n")
    }

    /// The options about the beginning and the end.
    ///
    /// - Parameter convert: Converts a difference to the canonical unit.
    private static func timing(_ invocation: Invocation, _ convert: (Double) -> Double) throws -> AlertTiming {
        var timing = AlertTiming.defaultTiming
        if let text = invocation.string("--margin") {
            guard let value = (try? Numeral(text))?.doubleValue, value >= 0 else {
                throw invocation.invalid("--margin", value: text, expected: "a number such as 5")
            }
            timing.margin = abs(convert(value))
        }
        func duration(_ option: String, _ fallback: Int64) throws -> Int64 {
            guard let text = invocation.string(option) else { return fallback }
            let value = text == "0" ? 0 : Repair.duration(text)
            guard let value, (0...AlertTiming.maximumDuration).contains(value) else {
                throw invocation.invalid(option, value: text, expected: "a duration of at most a day, such as 5min or 30s")
            }
            return value
        }
        timing.lasting = try duration("--for", timing.lasting)
        timing.hold = try duration("--hold", timing.hold)
        return timing
    }

    private static func acknowledge(_ context: CommandContext) throws {
        let number = try context.number()
        let store = try context.access().openForWriting(creating: false)
        guard try store.alerts.acknowledge(number, at: context.machine.now()) else {
            throw StoreError(.invalid, "alert \(number) is not raised, or is acknowledged already (see 'vitalgate alerts list')")
        }
    }

    private static func remove(_ context: CommandContext) throws {
        let number = try context.number()
        guard try context.access().openForWriting(creating: false).alerts.remove(number) else {
            throw StoreError(.invalid, "there is no alert \(number) (see 'vitalgate alerts list')")
        }
    }
}

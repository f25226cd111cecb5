import BlueZSource
import CommandLineKit
import HealthModel
import Hub
import Ingestion
import SampleStore

/// `devices assign`: assigns a device's readings to a person.
struct DeviceAssignment {
    let context: CommandContext

    static let specification = CommandSpecification(
        name: "assign", summary: "Assign a device's readings to a person.",
        discussion: """
            Without --range or --user, all future readings of the device belong to the person that you name with --person. A \
            running hub applies the change after 'sudo systemctl reload vitalgate' (or the signal SIGHUP).

            For a shared scale, run the command once for each person, with the person's weights as --range. A weighing in \
            exactly one range belongs to the person with that range. A weighing in no range or in several is unassigned. If the \
            scale distinguishes its users by numbers, give the person's number with --user instead. A number takes precedence \
            over ranges. Some scales send a user's weighings only after the user's --consent code.

            With --samples, the command assigns stored samples to the person instead. 'vitalgate repair undo' reverts this.
            """,
        arguments: [Argument(name: "ADDRESS", help: "Address, path or name of an adopted device.", arity: .optional)],
        options: [
            Option(
                names: ["--person"], formerNames: ["--subject"], value: "WHO",
                help: "Person: me (the store's owner), a name, a UUID, or unassigned (readings without a person)."
            ),
            Option(
                names: ["--range"], value: "LOW..HIGH",
                help: "Lowest and highest weight of the person, such as 70..90 (in kg) or '130..180 [lb_av]' (in pounds)."),
            Option(names: ["--user"], value: "NUMBER", help: "Number that the device uses for the person, 1 to 254."),
            Option(
                names: ["--consent"], value: "CODE",
                help:
                    "Consent code of the user, 0 to 65535, shown by the device or its app (- reads it from standard input)."
            ),
            Option(names: ["--samples"], value: "UUID", help: "UUID of a stored sample to assign.", repeating: true),
        ],
        examples: [
            Example(
                "vitalgate devices assign scale --person me --range 70..90", "Assign these weights on a shared scale to yourself."
            ),
            Example("vitalgate devices assign scale --person Anna --range 50..65", "Assign other weights to Anna."),
            Example(
                "vitalgate devices assign scale --person me --user 1 --consent 2520",
                "Assign the scale's first user to yourself."),
            Example(
                "vitalgate devices assign --samples 019a0000-0000-8000-8000-000000000001 --person Anna",
                "Assign a stored weighing to Anna."),
        ])

    func run() throws -> ExitCode {
        let invocation = context.invocation
        guard let name = invocation.string("--person") else {
            throw UsageError(.missingArgument("--person"), command: "vitalgate devices assign")
        }
        let uuids = try invocation.strings("--samples").flatMap { $0.split(separator: ",") }.map {
            try DeleteCommand.uuid(String($0), invocation)
        }
        guard (invocation.argument("ADDRESS") == nil) != uuids.isEmpty else {
            throw UsageError(.missingArgument("either ADDRESS or --samples"), command: "vitalgate devices assign")
        }
        let store = try context.access().openForWriting(creating: false)
        let person = try StoreAccess.person(name, in: store)
        guard uuids.isEmpty else { return try assign(uuids, to: person, store) }
        let device = try context.adoptedDevice(context.invocation.argument("ADDRESS") ?? "", in: store)
        if let user = try self.user(person) { return try assign(user, of: device, store) }
        guard let range = invocation.string("--range") else {
            try store.devices.assign(device: device.address, to: person)
            context.note(
                "all future readings of \(device.name.isEmpty ? device.address : device.name) are assigned to this person")
            return .success
        }
        guard person != Origin.unassigned else {
            throw invocation.invalid("--range", value: range, expected: "a person as well, not unassigned")
        }
        let use = SharedUse(person: person, weights: try weights(range))
        let uses = device.sharedBy.filter { $0.person != person } + [use]
        try store.devices.assign(device: device.address, to: Origin.unassigned, sharedBy: uses, users: device.users)
        if uses.contains(where: { $0.person != person && $0.weights.overlaps(use.weights) }) {
            context.note("warning: the range overlaps another one, and weighings in both are unassigned")
        }
        context.note(
            "\(uses.count == 1 ? "1 person has" : "\(uses.count) people have") a range, and other weights are unassigned")
        return .success
    }

    private func assign(_ uuids: [SampleIdentity], to person: String, _ store: SampleStore) throws -> ExitCode {
        let (count, repairID) = try store.people.assign(
            uuids, to: person, now: context.machine.now(), owner: ProcessIdentity.current())
        guard let repairID else {
            context.note("nothing changed: the samples already belong to this person")
            return .success
        }
        context.note(
            "\(Readable.count(count, "sample")) assigned (undo with 'vitalgate repair undo \(repairID)')"
        )
        return .success
    }

    /// The user number on the device, or `nil` if none was given.
    private func user(_ person: String) throws -> ScaleUser? {
        let invocation = context.invocation
        let code = try context.secret("--consent")
        guard let number = try invocation.integer("--user", in: 1...254) else {
            if code != nil { throw UsageError(.missingArgument("--user"), command: "vitalgate devices assign") }
            return nil
        }
        guard invocation.string("--range") == nil else {
            throw invocation.invalid(
                "--user", value: "\(number)", expected: "either --user or --range (run the command twice to set both)")
        }
        guard person != Origin.unassigned else {
            throw invocation.invalid("--user", value: "\(number)", expected: "a person as well, not unassigned")
        }
        var consent: Int?
        if let code {
            // The message omits the value because it may be almost a code and must not end up in a log.
            guard let read = UInt16(code) else {
                throw invocation.invalid("--consent", value: "…", expected: "a number from 0 to 65535")
            }
            consent = Int(read)
        }
        return ScaleUser(number: number, person: person, consent: consent)
    }

    private func assign(_ user: ScaleUser, of device: AdoptedDevice, _ store: SampleStore) throws -> ExitCode {
        var user = user
        // If the number is assigned to another person, its consent code is kept.
        let known = device.users.first { $0.number == user.number }
        if user.consent == nil { user.consent = known?.consent }
        let users = device.users.filter { $0.number != user.number } + [user]
        try store.devices.assign(device: device.address, to: Origin.unassigned, sharedBy: device.sharedBy, users: users)
        context.note("\(Readable.count(users.count, "user number")) assigned, and readings of other users are unassigned")
        return .success
    }

    /// A range of weights in kilograms, from `60..80`, `60..80 kg` or `130..180 [lb_av]`.
    private func weights(_ text: String) throws -> ClosedRange<Double> {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        let numbers = (parts.first ?? "").components(around: "..")
        let unit = parts.count > 1 ? try HealthModel.Unit(ucum: parts[1]) : SampleType.bodyMass.canonicalUnit
        let conversion = try SampleType.bodyMass.conversion(from: unit)
        guard numbers.count == 2, let low = try? Numeral(numbers[0]), let high = try? Numeral(numbers[1]) else {
            throw invalid(text)
        }
        let (from, to) = (conversion.convert(low), conversion.convert(high))
        guard from >= 0, from < to, to <= 1000 else { throw invalid(text) }
        return from...to
    }

    private func invalid(_ text: String) -> UsageError {
        context.invocation.invalid("--range", value: text, expected: "weights such as 60..80 or '130..180 [lb_av]'")
    }
}

extension String {
    /// The parts before and after a separator.
    fileprivate func components(around separator: String) -> [String] {
        guard let range = firstRange(of: separator) else { return [self] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}

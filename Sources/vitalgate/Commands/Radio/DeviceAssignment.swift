import BlueZSource
import CommandLineKit
import Gateway
import HealthModel
import Ingestion
import SampleStore

/// `devices assign`: assigns a device's readings to a person.
struct DeviceAssignment {
    let context: CommandContext

    static let specification = CommandSpecification(
        name: "assign", summary: "Say whose a device's readings are.",
        discussion: """
            With --range a scale is shared: each person has a range of weights, and a weighing in exactly one of them is that person's, with all that was \
            measured in it. Where ranges meet, and outside of all, it is unassigned: nothing is guessed. With --user it is the scale's own number that \
            tells a person, and counts before any range; a scale that keeps its weighings for users who consent wants --consent, too. A running hub takes it up when it is sent \
            SIGHUP. Without --range all that the device measures from now on is one person's. --samples gives samples that are there \
            to a person; 'vitalgate repair undo' takes that back.
            """,
        arguments: [Argument(name: "ADDRESS", help: "An adopted device's address, path or name.", arity: .optional)],
        options: [
            Option(
                names: ["--person"], formerNames: ["--subject"], value: "WHO", help: "A person: a name, me, unassigned or a UUID."
            ),
            Option(
                names: ["--range"], value: "LOW..HIGH", help: "The person's weights, in kg or with a unit: '130..180 [lb_av]'."),
            Option(names: ["--user"], value: "NUMBER", help: "The number that the device itself gives the person, 1 to 254."),
            Option(
                names: ["--consent"], value: "CODE",
                help:
                    "What the device wants before it tells this user's weighings, as it shows or its app was given: 0 to 65535; - reads it from standard input."
            ),
            Option(names: ["--samples"], value: "UUID", help: "Give these samples to the person.", repeating: true),
        ],
        examples: [
            Example("vitalgate devices assign scale --person me --range 70..90", "The scale is shared; these weights are mine."),
            Example("vitalgate devices assign scale --person Anna --range 50..65", "And these are Anna's."),
            Example(
                "vitalgate devices assign scale --person me --user 1 --consent 2520",
                "The scale tells its users apart itself, and I am its first."),
            Example(
                "vitalgate devices assign --samples 019a0000-0000-8000-8000-000000000001 --person Anna",
                "This weighing was Anna's, too."),
        ])

    func run() throws -> ExitCode {
        let invocation = context.invocation
        guard let who = invocation.string("--person") else {
            throw UsageError(.missingArgument("--person"), command: "vitalgate devices assign")
        }
        let uuids = try invocation.strings("--samples").flatMap { $0.split(separator: ",") }.map {
            try DeleteCommand.uuid(String($0), invocation)
        }
        guard (invocation.argument("ADDRESS") == nil) != uuids.isEmpty else {
            throw UsageError(.missingArgument("either ADDRESS or --samples"), command: "vitalgate devices assign")
        }
        let store = try context.access().openForWriting(creating: false)
        let subject = try StoreAccess.subject(who, in: store)
        guard uuids.isEmpty else { return try assign(uuids, to: subject, store) }
        let device = try device(store)
        if let user = try self.user(subject) { return try assign(user, of: device, store) }
        guard let range = invocation.string("--range") else {
            try store.assign(device: device.address, to: subject)
            context.note("all that it measures from now on is one person's")
            return .success
        }
        guard subject != Origin.unassigned else {
            throw invocation.invalid("--range", value: range, expected: "a person with it, not unassigned")
        }
        let use = SharedUse(subject: subject, weights: try weights(range))
        let uses = device.sharedBy.filter { $0.subject != subject } + [use]
        try store.assign(device: device.address, to: Origin.unassigned, sharedBy: uses, users: device.users)
        if uses.contains(where: { $0.subject != subject && $0.weights.overlaps(use.weights) }) {
            context.note("warning: the range meets another one; weighings in both are unassigned")
        }
        context.note("\(Readable.count(uses.count)) of its users have a range; other weights are unassigned")
        return .success
    }

    private func assign(_ uuids: [SampleIdentity], to subject: String, _ store: SampleStore) throws -> ExitCode {
        let (count, migration) = try store.assign(
            uuids, to: subject, now: context.machine.now(), owner: ProcessIdentity.current())
        guard let migration else {
            context.note("they are this person's already; nothing is changed")
            return .success
        }
        context.note(
            "\(Readable.count(count)) samples assigned (this is repair \(migration); 'vitalgate repair undo \(migration)' takes it back)"
        )
        return .success
    }

    /// The user number on the device, or `nil` if none was given.
    private func user(_ subject: String) throws -> ScaleUser? {
        let invocation = context.invocation
        let code = try context.secret("--consent")
        guard let number = try invocation.integer("--user", in: 1...254) else {
            if code != nil { throw UsageError(.missingArgument("--user"), command: "vitalgate devices assign") }
            return nil
        }
        guard invocation.string("--range") == nil else {
            throw invocation.invalid(
                "--user", value: "\(number)", expected: "either --user or --range; one after the other, both count")
        }
        guard subject != Origin.unassigned else {
            throw invocation.invalid("--user", value: "\(number)", expected: "a person with it, not unassigned")
        }
        var consent: Int?
        if let code {
            // The message omits the value because it may be almost a code and must not end up in a log.
            guard let read = UInt16(code) else {
                throw invocation.invalid("--consent", value: "…", expected: "a number from 0 to 65535")
            }
            consent = Int(read)
        }
        return ScaleUser(number: number, subject: subject, consent: consent)
    }

    private func assign(_ user: ScaleUser, of device: AdoptedDevice, _ store: SampleStore) throws -> ExitCode {
        var user = user
        // If the number is assigned to another person, its consent code is kept.
        let known = device.users.first { $0.number == user.number }
        if user.consent == nil { user.consent = known?.consent }
        let users = device.users.filter { $0.number != user.number } + [user]
        try store.assign(device: device.address, to: Origin.unassigned, sharedBy: device.sharedBy, users: users)
        context.note("\(Readable.count(users.count)) of its users have a number; what it says of others is unassigned")
        return .success
    }

    private func device(_ store: SampleStore) throws -> AdoptedDevice {
        let text = context.invocation.argument("ADDRESS") ?? ""
        let address =
            SerialAdoption.isPath(text)
            ? DeviceAssembly.storedAddress(serial: text) : BluetoothAddress(text).map(DeviceAssembly.storedAddress) ?? text
        let devices = try store.adoptedDevices()
        let found = devices.filter { $0.address == address || $0.name == text }
        guard found.count == 1 else {
            throw StoreError(.invalid, "\(found.count) adopted devices are called that; 'vitalgate devices list' shows them")
        }
        return found[0]
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

import CommandLineKit
import HealthModel
import Hub
import Ingestion
import SampleStore

/// The options of `repair plan` and `repair apply`: the samples and the repair.
enum RepairOptions {
    static let conditions =
        [
            Option(names: ["--type"], value: "TYPE", help: "Quantity type, or several separated by commas.", completion: .types),
            SharedOptions.source,
            Option(
                names: ["--source-version"], value: "RANGE",
                help: "Versions of the app or device that was the source, such as 2.1, '<2.1', '>=1.0 <2.1' or 1.0...2.0."),
            SharedOptions.device,
            Option(names: ["--firmware"], value: "RANGE", help: "Versions of the device's firmware, as in --source-version."),
            SharedOptions.person,
        ] + SharedOptions.range + [
            Option(names: ["--received-from"], value: "T", help: "Only samples that the store received at this time or later."),
            Option(names: ["--received-to"], value: "T", help: "Only samples that the store received before this time."),
            SharedOptions.condition,
        ]

    static let repairs = [
        Option(
            names: ["--read-as"], value: "UNIT",
            help: "Read the numbers, as they were received, in this unit (a UCUM code such as [degF])."),
        Option(names: ["--scale"], value: "FACTOR", help: "Multiply the numbers by this factor, such as 0.01."),
        Option(names: ["--shift"], value: "TIME", help: "Move start and end by this time, such as +1h, -5h30min or +90s."),
        Option(
            names: ["--move-zone"], value: "ZONE",
            help: "Keep the local time of the samples, but read it in this zone, such as Europe/Berlin or +01:00."
        ),
        Option(
            names: ["--assign"], value: "ID",
            help: "Assign to another person: me (the store's owner), a name, a UUID, or unassigned."),
        Option(
            names: ["--set-type"], value: "TYPE", help: "Change to another quantity type, such as bodyFatMass.",
            completion: .types),
    ]

    static let ambiguous = Option(
        names: ["--ambiguous"],
        help: "Also repair values that are plausible both before and after the repair.")

    static let merge = Option(
        names: ["--merge"],
        help: "Confirm that wrong samples are removed if the store already has the correct version.")

    static let correction = Option(
        names: ["--correction"], value: "PROFILE/ID",
        help: "Apply a correction, which is a repair defined in a profile ('vitalgate repair suggest' lists them).")

    static let all = conditions + repairs + [correction] + [ambiguous, SharedOptions.timeZone, Format.option, Format.safe]

    static func request(_ context: CommandContext, _ store: SampleStore) throws -> RepairRequest {
        let invocation = context.invocation
        if let name = invocation.string("--correction") { return try correction(name, context) }
        let command = "vitalgate " + invocation.path.joined(separator: " ")
        let given = repairs.map { $0.names[0] }.filter { invocation.string($0) != nil }
        guard given.count == 1, let name = given.first, let text = invocation.string(name) else {
            let names = repairs.map { $0.names[0] }.joined(separator: ", ")
            if given.count > 1, let second = invocation.string(given[1]) {
                throw invocation.invalid(given[1], value: second, expected: "only one repair, and \(given[0]) is already given")
            }
            throw UsageError(.missingArgument("one of \(names)"), command: command)
        }
        let conditions = try conditions(context, store)
        let changesValues = name == "--read-as" || name == "--scale"
        guard conditions.types != nil || (!changesValues && !conditions.parts(me: store.owner).isEmpty) else {
            throw UsageError(.missingArgument(changesValues ? "--type" : "a condition such as --type"), command: command)
        }
        return RepairRequest(
            try repair(name, text, of: conditions.types, context, store), of: conditions,
            takesAmbiguous: invocation.flag("--ambiguous"),
            now: context.machine.now())
    }

    private static func correction(_ name: String, _ context: CommandContext) throws -> RepairRequest {
        for option in (conditions + repairs).map({ $0.names[0] }) {
            if let value = context.invocation.string(option) {
                throw context.invocation.invalid(option, value: value, expected: "either a correction or conditions, not both")
            }
        }
        let corrections = Corrections(library: try ProfileCommand.library(context), now: context.machine.now())
        guard let found = corrections.all.first(where: { $0.name == name }) else {
            throw context.invocation.invalid(
                "--correction", value: name,
                expected: "one of the profiles' corrections: \(corrections.all.map(\.name).joined(separator: ", "))")
        }
        return found.request
    }

    private static func repair(
        _ name: String, _ text: String, of types: Set<SampleType>?, _ context: CommandContext, _ store: SampleStore
    ) throws -> Repair {
        let invocation = context.invocation
        switch name {
        case "--read-as":
            let unit = try HealthModel.Unit(written: text)
            if let types { try unit.checkConversion(toOneOf: types) }
            return .unit(unit)
        case "--scale":
            guard let factor = try? Numeral(text), factor.doubleValue != 0, factor.doubleValue != 1 else {
                throw invocation.invalid(name, value: text, expected: "a number other than 0 and 1")
            }
            return .scale(factor)
        case "--shift":
            guard let offset = Repair.duration(text) else {
                throw invocation.invalid(name, value: text, expected: "a time such as +1h, -5h30min or +90s")
            }
            return .shift(offset)
        case "--move-zone": return .zone(try context.machine.zone(ZoneName(text, from: .option)))
        case "--assign": return .person(try StoreAccess.person(text, in: store))
        default: return .type(try context.type(text))
        }
    }

    private static func conditions(_ context: CommandContext, _ store: SampleStore) throws -> SampleConditions {
        let invocation = context.invocation
        let zone = try context.zone()
        var conditions = SampleConditions(
            types: try invocation.string("--type").map { names in
                Set(try context.types(names))
            })
        conditions.source = invocation.string("--source")
        conditions.device = invocation.string("--device")
        conditions.sourceVersion = try range("--source-version", invocation)
        conditions.firmware = try range("--firmware", invocation)
        conditions.person = try context.person(in: store)
        (conditions.from, conditions.to) = try context.range(zone: zone)
        conditions.receivedFrom = try context.instant(option: "--received-from", zone: zone)
        conditions.receivedTo = try context.instant(option: "--received-to", zone: zone)
        conditions.conditionText = invocation.string("--where")
        conditions.condition = try context.condition(for: conditions.types, zone: zone, in: store)
        return conditions
    }

    private static func range(_ name: String, _ invocation: Invocation) throws -> VersionRange? {
        guard let text = invocation.string(name) else { return nil }
        guard let range = VersionRange(text) else {
            throw invocation.invalid(name, value: text, expected: "versions such as 2.1, '<2.1', '>=1.0 <2.1' or 1.0...2.0")
        }
        return range
    }
}

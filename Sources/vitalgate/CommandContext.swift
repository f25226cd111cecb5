import CommandLineKit
import Gateway
import HealthModel
import SampleStore

/// What a command works with.
struct CommandContext {
    let invocation: Invocation
    let streams: StandardStreams
    let machine: Machine

    func configuration() throws(ConfigurationError) -> Configuration {
        var configuration = try Configuration(path: invocation.string("--config"), machine: machine)
        if let path = invocation.string("--store") { configuration.store = path }
        configuration.profiles += invocation.strings("--profiles")
        return configuration
    }

    func access() throws -> StoreAccess {
        let access = StoreAccess(configuration: try configuration(), machine: machine)
        try access.checkSubject()
        return access
    }

    func openForReading() throws -> SampleStore { try access().openForReading() }

    /// The zone named by an option, else the configured one, else the machine's.
    func zone() throws -> TimeZoneRules {
        try machine.zone(invocation.string("--time-zone").map { ZoneName($0, from: .option) } ?? configuration().timeZone)
    }

    /// A quantity type by its id or HealthKit's.
    func type(_ name: String) throws -> QuantityType {
        if let type = QuantityType(name) { return type }
        let near = QuantityType.all.map(\.id).first {
            $0.lowercased() == name.lowercased() || $0.lowercased().hasPrefix(name.lowercased())
        }
        throw invocation.invalid(
            "TYPE", value: name,
            expected: (near.map { "a type such as \($0)" } ?? "a quantity type") + "; 'vitalgate types' lists them")
    }

    /// The unit named by an option, and whether the type's samples have a conversion to it.
    func unit(for type: QuantityType?) throws -> HealthModel.Unit? {
        guard let code = invocation.string("--unit") else { return nil }
        let unit = try HealthModel.Unit(ucum: code)
        if let type { _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass) }
        return unit
    }

    /// A point in time as a person writes it: ISO 8601 with or without a zone, a date, `now`, `today`, or `-7d` for seven days ago.
    func instant(option: String, zone: TimeZoneRules) throws -> Instant? {
        guard let text = invocation.string(option) else { return nil }
        let now = machine.now()
        if text == "now" { return now }
        let days = CalendarIntervals(.day, zone: zone)
        if text == "today" { return days.start(of: days.index(of: now)) }
        if text.hasPrefix("-"), let back = CalendarInterval(text.dropFirst()) {
            let intervals = CalendarIntervals(back, zone: zone, anchor: now)
            return intervals.start(of: -1)
        }
        let stamp = text.utf8.count == 10 ? "\(text)T00:00:00" : text
        guard let parsed = try? Timestamp(iso8601: stamp) else {
            throw invocation.invalid(
                option, value: text, expected: "a time such as 2026-11-20, 2026-11-20T06:30:00+01:00, today or -7d")
        }
        if let instant = parsed.instant { return instant }
        guard let offset = zone.offsets(at: parsed.wall).first else {
            throw invocation.invalid(option, value: text, expected: "a time that exists in \(zone.identifier)")
        }
        return parsed.wall.instant(at: offset)
    }

    var format: Format { invocation.string("--format").flatMap(Format.init) ?? .table }

    /// Writes what a command says about its work, not its data.
    func note(_ text: String) { streams.note(text) }

    /// Lines of a log.
    func inform(_ text: String) { streams.note("info: \(text)", priority: .information) }
    func warn(_ text: String) { streams.note("warning: \(text)", priority: .warning) }
}

/// How data is written.
enum Format: String, CaseIterable {
    case table, ndjson, csv

    static let option = Option(
        names: ["--format"], value: "FORMAT", help: "table for people (the default), ndjson or csv for programs.",
        completion: .values(allCases.map(\.rawValue)))
}

/// Options that several commands share.
enum SharedOptions {
    static let timeZone = Option(
        names: ["--time-zone"], value: "ZONE",
        help: "A zone such as Europe/Berlin or an offset such as +01:00; else the configured one, else the machine's.")
    static let range = [
        Option(names: ["--from"], value: "T", help: "The first start that counts: a date, a time, today or -7d."),
        Option(names: ["--to"], value: "T", help: "The first start that no longer counts."),
    ]
    static let subject = Option(names: ["--subject"], value: "ID", help: "A person: a name, me, unassigned or a UUID.")
    static let unit = Option(names: ["--unit"], value: "CODE", help: "Show values in this unit (UCUM).")
    static let condition = Option(
        names: ["--where"], value: "EXPR",
        help:
            "Only samples that meet a condition: comparisons of value (with a unit), metadata.KEY, source.name, device.model … joined by and, or, not (see 'vitalgate query --help')."
    )
    /// How a condition is written; told by `query --help`, and so by the manual page.
    static let conditionSyntax = """
        A condition for --where compares a field with a value: FIELD = VALUE, and !=, <, <=, >, >=, and ~ for "contains". not, and, or \
        join comparisons, and bind in this order; parentheses group them. A number may have a unit (value > 38 Cel, value < 70 mg/dL) and is \
        compared after conversion; without one it is in the type's own unit. A text with blanks or parentheses stands in '…' or "…"; put the \
        whole condition in the shell's other quotes. A field that a sample does not have equals nothing.

        Fields are \(SamplePredicate.fields.joined(separator: ", ")); KEY is a metadata key such as bloodGlucoseMealTime, duration is in \
        seconds, and times are ISO 8601 with a zone.
        """
    static let type = Argument(
        name: "TYPE", help: "A quantity type such as heartRate, or all.", completion: .command("vitalgate types --ids"))
}

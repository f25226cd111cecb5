import CommandLineKit
import Formats
import Glibc
import HealthAnswers
import HealthModel
import Hub
import SampleStore

/// The environment of a command: arguments, streams and machine.
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
        try access.checkPerson()
        return access
    }

    func openForReading() throws -> SampleStore { try access().openForReading() }

    /// The time zone from `--time-zone`, or the configured one, or the machine's.
    func zone() throws -> TimeZoneRules {
        try machine.zone(invocation.string("--time-zone").map { ZoneName($0, from: .option) } ?? configuration().timeZone)
    }

    /// The requested kind of samples, or `nil` for all kinds.
    func kind() throws -> SampleKind? {
        guard let name = invocation.string("--kind") else { return nil }
        guard let kind = SampleKind(named: name) else {
            throw invocation.invalid(
                "--kind", value: name, expected: "one of \(SampleKind.allCases.map(\.name).joined(separator: ", "))")
        }
        return kind
    }

    /// A type by its id, HealthKit's identifier, display name or short name.
    func type(_ name: String) throws -> SampleType {
        do throws(TypeNameError) {
            return try SampleType(anyName: name)
        } catch {
            guard error.candidates.isEmpty else {
                let candidates = error.candidates.map { "\($0.id) (\($0.displayName))" }.joined(separator: ", ")
                throw invocation.invalid("TYPE", value: name, expected: "one of \(candidates)")
            }
            throw invocation.invalid(
                "TYPE", value: name,
                expected: "a type of samples (see 'vitalgate types')"
                    + (TypeSuggestion.nearest(to: name).map { "; did you mean '\($0)'?" } ?? ""))
        }
    }

    /// Several types, separated by commas. The error names all unknown ones.
    func types(_ names: String) throws -> [SampleType] {
        let words = names.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // A display name may contain a comma.
        if !words.contains(""), SampleType.named(names).count == 1 { return [try type(names)] }
        let unknown = words.filter { SampleType($0) == nil && SampleType.named($0).isEmpty }
        if unknown.count > 1 {
            let anyName = unknown.map { word in
                TypeSuggestion.nearest(to: word).map { "\($0) instead of '\(word)'" } ?? "another type instead of '\(word)'"
            }
            throw invocation.invalid(
                "TYPE", value: unknown.joined(separator: ","),
                expected: "\(anyName.joined(separator: ", ")) (see 'vitalgate types')")
        }
        return try words.map(type)
    }

    /// The interval from `--from` to `--to`.
    func range(zone: TimeZoneRules) throws -> (from: Instant?, to: Instant?) {
        let range = (from: try instant(option: "--from", zone: zone), to: try instant(option: "--to", zone: zone))
        if let from = range.from, let to = range.to, to < from, let text = invocation.string("--from") {
            throw invocation.invalid(
                "--from", value: text,
                expected: "a time no later than --to ('\(invocation.string("--to") ?? "")')")
        }
        return range
    }

    /// The requested unit. Throws if it is not compatible with the type.
    func unit(for type: SampleType?) throws -> HealthModel.Unit? {
        guard let code = invocation.string("--unit") else { return nil }
        let unit = try HealthModel.Unit(written: code)
        if let measured = type.map(BloodPressure.measuredType) {
            _ = try measured.canonicalUnit.conversion(to: unit, molarMass: measured.molarMass)
        }
        return unit
    }

    /// The time in an option: ISO 8601 with or without a zone, a date, `now`, `today`, `yesterday`, a weekday, or `-7d` for seven
    /// days ago.
    func instant(option: String, zone: TimeZoneRules) throws -> Instant? {
        guard let text = invocation.string(option) else { return nil }
        guard let instant = instant(text, zone: zone) else {
            throw invocation.invalid(
                option, value: text,
                expected:
                    "a time such as 2026-11-20, 2026-11-20T06:30:00+01:00, now, today, yesterday, monday or -7d "
                    + "that exists in \(zone.identifier)"
            )
        }
        return instant
    }

    private func instant(_ text: String, zone: TimeZoneRules) -> Instant? {
        Instant(written: text, now: machine.now(), zone: zone)
    }

    /// The condition of `--where`. It accepts the same times as `--from`, and people by name.
    ///
    /// - Parameter types: The requested types, or `nil` for all.
    func condition(for types: Set<SampleType>?, zone: TimeZoneRules, in store: SampleStore) throws -> SamplePredicate? {
        guard let text = invocation.string("--where") else { return nil }
        let condition = try SamplePredicate(
            text, instant: { instant($0, zone: zone) }, person: { try? StoreAccess.person($0, in: store) })
        try condition.check(for: types ?? Set(SampleType.all))
        return condition
    }

    /// The samples that `--person`, `--source`, `--device`, and `--where` choose.
    func query(_ types: Set<SampleType>?, from: Instant?, to: Instant?, zone: TimeZoneRules, in store: SampleStore) throws
        -> SampleQuery
    {
        SampleQuery(
            types: types, from: from, to: to,
            person: try person(in: store),
            source: invocation.string("--source"), device: invocation.string("--device"),
            where: try condition(for: types, zone: zone, in: store))
    }

    /// The number in the argument `N`, such as that of a ledger entry.
    func number() throws -> Int64 { Int64(try invocation.integer(argument: "N", in: 1...Int.max) ?? 0) }

    /// The person of `--person`, or `nil` without the option.
    func person(in store: SampleStore) throws -> String? {
        try invocation.string("--person").map { try StoreAccess.person($0, in: store) }
    }

    /// A CSV writer that respects `--safe`.
    var csv: CSVWriter { CSVWriter(safe: invocation.flag("--safe")) }

    /// The time format of tables and reports.
    func times() throws -> ShownTimes { ShownTimes(zone: try zone(), isExplicit: invocation.string("--time-zone") != nil) }

    var format: Format { invocation.string("--format").flatMap(Format.init) ?? .table }

    /// Whether a person confirms a change, by `--yes` or at the terminal.
    func isConfirmed() throws -> Bool {
        if invocation.flag("--yes") { return true }
        guard isatty(STDIN_FILENO) == 1 else {
            note("vitalgate: nothing was changed (confirm with --yes)")
            return false
        }
        try streams.output.write("Continue? [y/N] ")
        try streams.output.flush()
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }

    /// Writes a message to standard error, separate from the data.
    func note(_ text: String) { streams.note(text) }

    /// Writes a log line. Line breaks in names are removed, so that a name cannot forge a line.
    func inform(_ text: String) { log("info", text, .information) }
    func warn(_ text: String) { log("warning", text, .warning) }

    func log(_ kind: String, _ text: String, _ priority: StandardStreams.Priority) {
        streams.note("\(kind): \(TerminalText.sanitized(text))", priority: priority)
    }
}

enum Format: String, CaseIterable {
    case table, ndjson, csv

    static let safe = Option(
        names: ["--safe"], help: "Put ' before CSV cells that a spreadsheet would read as formulas (= + - @).")
    static let option = Option(
        names: ["--format"], value: "FORMAT", help: "Output format (default: table).",
        completion: .values(allCases.map(\.rawValue)))
}

/// Lists of names, which a shell asks the program for.
extension Completion {
    static let types = command("vitalgate types --ids")
    static let targets = command("vitalgate targets list --names")
    static let profiles = command("vitalgate profile list --ids")
}

enum SharedOptions {
    static let timeZone = Option(
        names: ["--time-zone"], value: "ZONE",
        help: "Time zone, such as Europe/Berlin or +01:00 (default: the configured zone or the system's).")
    static let range = [
        Option(
            names: ["--from"], value: "T", help: "Earliest start: a date, a time, today, yesterday, monday or -7d (7 days ago)."),
        Option(names: ["--to"], value: "T", help: "Only samples that start before this time (written as for --from)."),
    ]
    static let person = Option(
        names: ["--person"], formerNames: ["--subject"], value: "ID",
        help: "Person: me (the store's owner), a name, a UUID, or unassigned (readings without a person).")
    static let source = Option(
        names: ["--source"], value: "SOURCE", help: "Name or id of a source (see 'vitalgate sources list').")
    static let device = Option(
        names: ["--device"], value: "DEVICE",
        help: "Name, model, serial number or key of a device (see 'vitalgate devices list').")
    static let kind = Option(
        names: ["--kind"], value: "KIND", help: "Only types of this kind.", completion: .values(SampleKind.allCases.map(\.name)))
    static let profile = Option(
        names: ["--profile"], value: "ID",
        help: "Profile that reads the data (default: detected, 'vitalgate profile list' shows all).", completion: .profiles)
    static let types = Option(names: ["--types"], value: "TYPES", help: "Only these types, separated by commas.")
    static let untilEOF = Option(
        names: ["--until-eof"], help: "Stop when standard input ends (the hub uses this).")
    static let unit = Option(
        names: ["--unit"], value: "CODE", help: "Show values in this unit, a UCUM code such as kg or [lb_av].")
    static let condition = Option(
        names: ["--where"], value: "EXPR",
        help:
            "Only samples that match a condition, such as 'value > 38 Cel' (see 'vitalgate query --help')."
    )
    /// The syntax of conditions, for `query --help` and the manual page.
    static let conditionSyntax = """
        A condition for --where compares fields with values. The operators are =, !=, <, <=, >, >=, ~ (contains) and ^= \
        (begins with). '= *' matches samples that have the field. Join comparisons with and, or, not and parentheses. A number \
        may have a unit. Quote text that contains spaces or parentheses.

        Common fields are value, case (such as asleepDeep for a sleep stage), start, end, duration, type, source.name, \
        device.model, metadata.KEY, activity (of a workout) and fhir.code (of a health record). docs/reference/conditions.md \
        lists all fields.
        """
}

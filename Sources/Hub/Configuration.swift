import FoundationEssentials
import Glibc
import HealthModel
import Ingestion
import Profiles
import SampleStore

/// The user's configuration in JSON5, which allows comments. All keys are optional. `docs/reference/configuration.md` lists them.
///
///     {
///         store: "/var/lib/vitalgate/store.db",
///         timeZone: "Europe/Berlin",
///         hub: { inbox: "/srv/vitalgate/inbox" },
///         targets: { archive: { kind: "files", folder: "/srv/vitalgate/archive" } },
///     }
package struct Configuration: Sendable {
    /// The path of the store. Empty if no option, file or home folder determines it.
    package var store: String
    package var timeZone: ZoneName
    /// The subject for a new store.
    package var person: String?
    /// Paths of additional profile folders, with `~/` expanded.
    package var profiles: [String]
    /// The key `hub`, or the defaults.
    package var hub: HubConfiguration
    /// Sources and devices by id or name, the best first.
    package var priority: [String]
    /// The units to display, by type.
    private let units: [SampleType: HealthModel.Unit]
    private let regionalUnits: RegionalUnits?
    /// The language of `locale`, such as `de` for `de-AT`, or `nil` if it has none.
    package let language: String?
    /// How long samples are kept, by type.
    package var retention: RetentionConfiguration
    /// Whether the hub removes samples every day according to ``retention``.
    package var prunesDaily: Bool
    /// The formulas for estimates of body composition, by a person's name.
    private let bodyComposition: [String: [ImpedanceFormula]]
    /// Whether corrections in profiles are applied automatically.
    package var appliesCorrections: Bool

    /// The HTTP API's settings, or `nil` if it is off.
    package var api: APIConfiguration?
    /// The settings of the metrics, or `nil` if they are off.
    package var metrics: MetricsConfiguration?
    /// The collector's settings, or `nil` if this machine does not collect.
    package var collect: CollectorConfiguration?
    /// The web page's settings.
    package var page: PageConfiguration
    /// The path of the file, or `nil` if there is none.
    package private(set) var file: String?

    /// Where and when the hub makes backups.
    package var backup: BackupConfiguration
    /// Whether the package is updated at night.
    package var update: UpdateConfiguration

    /// The targets, by name.
    package var targets: [TargetConfiguration]
    /// Other receivers that the hub listens to, by name.
    package var sources: [SourceConfiguration]
    /// The receivers of alerts, by name.
    package var alerts: [AlertReceiverConfiguration]

    private static func language(_ locale: String) -> String? {
        let parts = locale.split(whereSeparator: { "-_".contains($0) })
        return parts.count > 1 ? parts.first?.lowercased() : nil
    }

    /// The keys of the file's outermost object.
    static let knownKeys = [
        "store", "timeZone", "subject", "profiles", "priority", "locale", "units", "retention", "prune", "corrections",
        "bodyComposition", "hub", "sources", "targets", "alerts", "api", "metrics", "page", "collect", "backup",
        "update",
    ]

    private struct File: Decodable {
        var store: String?
        var timeZone: String?
        var subject: String?
        var profiles: [String]?
        var hub: HubConfiguration?
        var priority: [String]?
        var units: [String: String]?
        var locale: String?
        var retention: RetentionConfiguration?
        var prune: String?
        var corrections: String?
        var bodyComposition: [String: [String]]?
        var api: APIConfiguration?
        var metrics: MetricsConfiguration?
        var collect: CollectorConfiguration?
        var page: PageConfiguration?
        var backup: BackupConfiguration?
        var update: UpdateConfiguration?
        var sources: NamedSettings<SourceConfiguration>?
        var targets: NamedSettings<TargetConfiguration>?
        var alerts: NamedSettings<AlertReceiverConfiguration>?
    }

    /// The largest size in bytes.
    static let maximumLength = 1 << 20

    /// The path of the machine's configuration.
    package static let systemPath = "/etc/vitalgate/config.json5"

    /// The path of the user's configuration, or `nil` without a home folder.
    package static func userPath(_ machine: Machine) -> String? {
        (machine.folder("XDG_CONFIG_HOME") ?? machine.home.map { $0 + "/.config" }).map { $0 + "/vitalgate/config.json5" }
    }

    /// Reads the configuration: the named file, or else the system's, or else the user's.
    ///
    /// - Throws: ``ConfigurationError`` if a named file is missing, or a file is malformed or contains unknown keys.
    package init(path: String?, machine: Machine) throws(ConfigurationError) {
        let candidates = path.map { [$0] } ?? [Self.systemPath, Self.userPath(machine)].compactMap { $0 }
        let found = candidates.first { access($0, F_OK) == 0 }
        if let found {
            guard let bytes = SmallFile.read(found, limit: Self.maximumLength) else {
                throw ConfigurationError("\(found): cannot be read")
            }
            try self.init(Self.read(bytes, of: found), of: found, machine: machine)
        } else if let path {
            throw ConfigurationError("\(path): no such file")
        } else {
            try self.init(File(), of: nil, machine: machine)
        }
    }

    /// Reads a text as the configuration, before it is written to a file.
    ///
    /// - Throws: ``ConfigurationError`` like the file itself.
    package init(text: [UInt8], of path: String, machine: Machine) throws(ConfigurationError) {
        guard text.count <= Self.maximumLength else {
            throw ConfigurationError("\(path): larger than \(Self.maximumLength) bytes")
        }
        try self.init(Self.read(text, of: path), of: path, machine: machine)
    }

    private init(_ file: File, of found: String?, machine: Machine) throws(ConfigurationError) {
        let data = (machine.folder("XDG_DATA_HOME") ?? machine.home.map { $0 + "/.local/share" }).map {
            $0 + "/vitalgate/store.db"
        }
        let system = "/var/lib/vitalgate/store.db"
        func expanded(_ path: String) -> String {
            guard path.hasPrefix("~/"), let home = machine.home else { return path }
            return home + path.dropFirst()
        }
        store = file.store.map(expanded) ?? (access(system, F_OK) == 0 ? system : data ?? "")
        timeZone = file.timeZone.map { ZoneName($0, from: .configuration(found ?? "")) } ?? machine.zoneName
        person = file.subject
        profiles = (file.profiles ?? []).map(expanded)
        hub = file.hub ?? HubConfiguration()
        hub.inbox = hub.inbox.map(expanded)
        priority = file.priority ?? []
        units = try Self.units(file.units ?? [:], of: found ?? "")
        regionalUnits = file.locale.flatMap { RegionalUnits(locale: $0) }
        guard file.locale == nil || regionalUnits != nil else {
            throw ConfigurationError("\(found ?? ""): locale: must include a region, such as en-US or de-AT")
        }
        language = file.locale.flatMap(Self.language)
        retention = file.retention ?? RetentionConfiguration()
        guard [nil, "daily", "never"].contains(file.prune) else {
            throw ConfigurationError("\(found ?? ""): prune: must be \"daily\" or \"never\"")
        }
        prunesDaily = file.prune == "daily"
        guard [nil, "apply", "report"].contains(file.corrections) else {
            throw ConfigurationError("\(found ?? ""): corrections: must be \"apply\" or \"report\"")
        }
        appliesCorrections = file.corrections == "apply"
        bodyComposition = try Self.formulas(file.bodyComposition ?? [:], of: found ?? "")
        sources = file.sources?.all ?? []
        targets = file.targets?.all ?? []
        alerts = file.alerts?.all ?? []
        api = file.api?.expanded(expanded)
        metrics = file.metrics?.expanded(expanded)
        collect = file.collect
        page = file.page ?? PageConfiguration()
        backup = file.backup ?? BackupConfiguration()
        update = file.update ?? UpdateConfiguration()
        self.file = found
    }

    /// Returns the user's display unit for a type, or `nil` if none is set. It does not affect stored values.
    package func unit(of type: SampleType) -> HealthModel.Unit? {
        units[type] ?? regionalUnits?.unit(of: type)
    }

    private static func formulas(
        _ names: [String: [String]], of path: String
    ) throws(ConfigurationError) -> [String: [ImpedanceFormula]] {
        var formulas: [String: [ImpedanceFormula]] = [:]
        for (person, names) in names {
            for name in names {
                guard let formula = ImpedanceFormula(rawValue: name) else {
                    let known = ImpedanceFormula.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ConfigurationError("\(path): bodyComposition: unknown formula '\(name)', expected one of \(known)")
                }
                formulas[person, default: []].append(formula)
            }
        }
        return formulas
    }

    /// Returns the formulas of `bodyComposition` by the person's UUID.
    ///
    /// - Throws: ``ConfigurationError`` if a person does not exist.
    package func estimates(in store: SampleStore) throws -> [String: [ImpedanceFormula]] {
        var formulas: [String: [ImpedanceFormula]] = [:]
        for (person, names) in bodyComposition {
            do {
                formulas[try StoreAccess.person(person, in: store)] = names
            } catch let error as ConfigurationError {
                // The name is removed because this text goes to the log.
                throw ConfigurationError("the configuration's bodyComposition: \(error.description)")
            }
        }
        return formulas
    }

    private static func units(
        _ codes: [String: String], of path: String
    ) throws(ConfigurationError) -> [SampleType: HealthModel.Unit] {
        do throws(ConfigurationError) {
            return try TypeKeys.units(codes, at: "units")
        } catch {
            throw ConfigurationError("\(path): \(error.description)")
        }
    }

    private static func read(_ bytes: [UInt8], of path: String) throws(ConfigurationError) -> File {
        // An empty file sets nothing.
        guard !bytes.isEmpty else { return File() }
        if let fault = JSON5Fault.find(in: bytes) { throw ConfigurationError("\(path): not JSON5: \(fault)") }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            let keys = try decoder.decode([String: AnyValue].self, from: Data(bytes)).keys
            if let unknown = keys.sorted().first(where: { !knownKeys.contains($0) }) {
                throw ConfigurationError(
                    "\(path): unknown key '\(unknown)', expected one of \(knownKeys.joined(separator: ", "))")
            }
            return try decoder.decode(File.self, from: Data(bytes))
        } catch let error as ConfigurationError {
            // The error belongs to one of the keys, or to an unknown key.
            throw error.description.hasPrefix(path) ? error : ConfigurationError("\(path): \(error)")
        } catch let error as DecodingError {
            throw ConfigurationError("\(path): \(Self.explain(error, bytes))")
        } catch {
            throw ConfigurationError("\(path): \(error)")
        }
    }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    private static func explain(_ error: DecodingError, _ bytes: [UInt8]) -> String {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            path(context.codingPath) + "expected " + words(of: type)
        case .keyNotFound(let key, let context): path(context.codingPath + [key]) + "is missing"
        case .dataCorrupted(let context):
            JSON5Fault.find(in: bytes).map { "not JSON5: \($0)" } ?? path(context.codingPath) + "invalid value"
        @unknown default: "invalid value"
        }
    }

    /// Returns the position in the file, such as `'hub.inbox': `. List positions start at 0.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "" : "'" + keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".") + "': "
    }

    /// Returns a description of the expected kind of value.
    private static func words(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
        case is any RangeReplaceableCollection.Type: "a list"
        default: "an object in braces"
        }
    }
}

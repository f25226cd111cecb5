import ExportEngine
import HealthAnswers
import HealthModel
import Pipeline
import SampleStore

/// One of the configuration's `targets`: another store, and what goes there.
///
///     targets: {
///         archive: {
///             kind: "files", folder: "/srv/vitalgate/archive", format: "csv",
///             types: ["heartRate", "bodyMass"],          // all of them without it
///             where: "subject = me",                     // a condition as 'query --where' takes it
///             units: { bodyMass: "[lb_av]" },            // the type's own without it
///             batch: 1000,                               // changes at once; what suits the kind without it
///         },
///     }
package struct TargetConfiguration: Sendable, NamedSetting {
    /// The name in commands: lower-case letters, digits, `-`.
    package let name: String
    package let kind: ExporterKind
    private let types: Set<SampleType>?
    private let condition: TargetCondition?
    private let ownSources: [String]
    private let units: [SampleType: Unit]
    private let batch: Int?
    private let make: @Sendable (ExportContext) throws -> any Exporter

    /// The keys that all targets have.
    package static let settings = [
        ExporterSetting("kind"), ExporterSetting("types", .list), ExporterSetting("where"), ExporterSetting("units", .texts),
        ExporterSetting("batch", .number), ExporterSetting("ownSources", .list),
    ]
    package static let (key, noun) = ("targets", "target")

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let path = "targets.\(name)"
        let members = try decoder.container(keyedBy: SettingKey.self)
        kind = try members.kind { (Self.settings + $0.settings).map(\.key) }
        let typeNames = try members["types"] as [String]?
        let text: String? = try members["where"]
        condition = try text.map { text throws(ConfigurationError) in try TargetCondition(text, path: "\(path).where") }
        ownSources = try members["ownSources"] ?? []
        let unitCodes: [String: String] = try members["units"] ?? [:]
        batch = try members.number("batch", in: 1...100_000)
        make = try members.settings { [kind] in try kind.read(decoder) }
        var types: Set<SampleType>?
        for name in typeNames ?? [] { types = try (types ?? []).union([TypeKeys.type(name, at: "\(path).types")]) }
        self.types = typeNames == nil ? nil : types ?? []
        units = try TypeKeys.units(unitCodes, at: "\(path).units")
    }

    /// Returns the engine's settings, with people and times resolved in this store and zone.
    ///
    /// - Parameter holder: the machine and file that feed the target.
    /// - Throws: ``ConfigurationError`` if the condition is invalid.
    package func settings(in store: SampleStore, zone: TimeZoneRules, holder: StoreHolder) throws -> TargetSettings {
        var parts: [SamplePredicate] = types.map { [.types($0)] } ?? []
        var text = types.map { [$0.map(\.id).sorted().joined(separator: ",")] } ?? []
        if let condition = try condition?.resolved(in: store, zone: zone, types: types ?? Set(SampleType.all)) {
            parts.append(condition.predicate)
            text.append(condition.text)
        }
        if !ownSources.isEmpty { text.append("source not in \(ownSources.sorted().joined(separator: ","))") }
        var settings = TargetSettings(
            name: name, filter: parts.isEmpty ? nil : .and(parts), filterText: text.joined(separator: " where "),
            shapeText: units.map { "units.\($0.key.id)=\($0.value.code)" }.sorted().joined(separator: " "),
            holder: holder, ownSources: Set(ownSources), batchSize: batch ?? .max)
        settings.takesOver = try store.targets.confirmedHolder() == holder.id
        return settings
    }

    /// The exporter; it connects to nothing yet.
    ///
    /// - Parameters:
    ///   - settings: those of this target in this store.
    ///   - priority: source and device ids or names in the configured order, the best first.
    ///   - findZone: looks up a zone of the tz database.
    package func exporter(
        _ settings: TargetSettings, for store: SampleStore, zone: TimeZoneRules, priority: [String],
        findZone: @escaping (String) -> TimeZoneRules? = { _ in nil }, now: @escaping () -> Instant
    ) throws -> any Exporter {
        let present = PresentSamples(store, settings)
        let figures = DailyFigures(store, zone: zone, priority: priority)
        return try make(
            ExportContext(
                name: name, store: store.identifier, me: store.owner, units: units, zone: zone,
                present: present.all, packet: present.packet,
                today: { try figures.today(of: $0, at: now(), where: settings.filter) },
                hours: StoredHours(store, settings, zone: findZone), now: now))
    }
}

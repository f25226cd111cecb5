import HealthModel

/// The table `series`, and the tables of the properties that samples share: `origin`, `context`, `body`, and `metadata`. ``Interner`` adds
/// their rows, and ``SampleDecoder`` reads them for a sample.
struct SeriesTable {
    let connection: Connection

    // MARK: Series

    /// Returns all series, in the order of their ids.
    func all() throws(StoreError) -> [SeriesDescription] {
        try connection.list("SELECT id, subject, type, source, device, longest, kind, longest_total FROM series ORDER BY id") {
            row throws(StoreError) in
            SeriesDescription(
                id: row.integer(0), person: row.text(1), type: try type(row.text(2), kind: row.integer(6), of: row.integer(0)),
                source: row.text(3), device: row.text(4), maximumDuration: row.integer(5), maximumTotalDuration: row.integer(7))
        }
    }

    /// Returns the type of a series. The readings of a quantity type that this version does not know are all in quarantine.
    func type(_ id: String, kind: Int64, of series: Int64) throws(StoreError) -> SampleType {
        let kind = SampleKind(rawValue: kind)
        if let kind, let type = SampleType(id, kind: kind) { return type }
        guard kind == .quantity, let type = SampleType(quantity: id),
            try connection.samples.start(of: series, from: .min, through: .max, among: .live) == nil
        else {
            throw StoreError.unknownType(id)
        }
        return type
    }

    /// Returns the series of an origin, or `nil` if the store has none yet.
    func id(of origin: Origin) throws(StoreError) -> Int64? {
        try id(type: origin.type.id, person: origin.person, source: origin.source.id, device: origin.device?.key ?? "")
    }

    /// Whether there is a series of a source.
    func contains(source: String) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM series WHERE source = ?", [.text(source)])
    }

    /// Whether a reference may lead to a sample.
    func permits(_ key: SampleKey, by rule: ReferenceRule) throws(StoreError) -> Bool {
        try connection.first("SELECT subject, source FROM series WHERE id = ?", [.integer(key.series)]) {
            rule.permits(person: $0.text(0), source: $0.text(1), start: key.start)
        } ?? false
    }

    func id(type: String, person: String, source: String, device: String) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(type), .text(person),
            .text(source), .text(device))
    }

    /// Returns the series of a person and type, in the order of their ids.
    func ids(of type: SampleType, _ person: String) throws(StoreError) -> [Int64] {
        try connection.list(
            "SELECT id FROM series WHERE type = ? AND subject = ? ORDER BY id", [.text(type.id), .text(person)]
        ) { $0.integer(0) }
    }

    /// Returns the series with the person and type of a series.
    func ids(ofPersonAndTypeOf series: Int64) throws(StoreError) -> [Int64] {
        try connection.list(
            """
            SELECT other.id FROM series AS own JOIN series AS other ON other.type = own.type AND other.subject = own.subject
            WHERE own.id = ? ORDER BY other.id
            """, [.integer(series)]
        ) { $0.integer(0) }
    }

    /// SQL for the series of a person and type.
    static func ids(ofPerson person: String, type: String) -> String {
        "(SELECT id FROM series WHERE subject = \(person) AND type = \(type))"
    }

    /// SQL for the series of a source.
    static func ids(ofSource source: String) -> String { "(SELECT id FROM series WHERE source = \(source))" }

    /// SQL for the series of a person.
    static func ids(ofPerson person: String) -> String { "(SELECT id FROM series WHERE subject = \(person))" }

    /// SQL for the keys of the devices of all series.
    static let deviceKeys = "SELECT device FROM series WHERE device <> ''"

    func ids(ofDevice key: String) throws(StoreError) -> [Int64] {
        try connection.list("SELECT id FROM series WHERE device = ?", [.text(key)]) { $0.integer(0) }
    }

    /// A series of the same person and type as another one.
    struct Related {
        var id: Int64
        /// The coarsest resolution of its times, in seconds.
        var coarsest: Int32
        var maximumDuration: Int64
        var person: String
        var type: String
        var kind: Int64
        var source: String
        var device: String
    }

    private static let related =
        "SELECT own.id, own.coarsest, own.longest, own.subject, own.type, own.kind, own.source, own.device"

    private static func related(_ row: Statement) -> Related {
        Related(
            id: row.integer(0), coarsest: Int32(truncatingIfNeeded: row.integer(1)), maximumDuration: row.integer(2),
            person: row.text(3), type: row.text(4), kind: row.integer(5), source: row.text(6), device: row.text(7))
    }

    /// Returns the other series of the origin's person and type.
    func related(to origin: Origin, except series: Int64) throws(StoreError) -> [Related] {
        try connection.list(
            "\(Self.related) FROM series AS own WHERE type = ? AND subject = ? AND id <> ?",
            [.text(origin.type.id), .text(origin.person), .integer(series)], Self.related)
    }

    /// Returns the series of the person and type of a series.
    func related(toSeries series: Int64) throws(StoreError) -> [Related] {
        try connection.list(
            """
            \(Self.related) FROM series AS other CROSS JOIN series AS own ON own.type = other.type AND own.subject = other.subject
            WHERE other.id = ? ORDER BY own.id
            """, [.integer(series)], Self.related)
    }

    /// SQL for the series with the person, type, and source of a series.
    static func idsWithSameRecords(asSeries series: String) -> String {
        """
        (SELECT same.id FROM series AS here CROSS JOIN series AS same
            ON (same.type, same.subject, same.source) = (here.type, here.subject, here.source) WHERE here.id = \(series))
        """
    }

    /// Whether two series have the same person, type, and source, so that a record has one id in both.
    func haveSameRecords(_ one: Int64, _ other: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 WHERE ?2 IN \(Self.idsWithSameRecords(asSeries: "?1"))", [.integer(one), .integer(other)])
    }

    /// Returns the series of the same source as a series, but of another person or type, of which repairs have replaced samples.
    func otherOriginals(ofSourceOf series: Int64) throws(StoreError) -> [Int64] {
        try connection.list(
            """
            WITH RECURSIVE \(RepairTable.originals)
            SELECT other.id FROM series AS own CROSS JOIN original CROSS JOIN series AS other
                ON other.id = original.series AND other.source = own.source AND (other.type, other.subject) <> (own.type, own.subject)
                    AND \(RecordTable.exists(inSeries: "other.id"))
            WHERE own.id = ?
            """, [.integer(series)]
        ) { $0.integer(0) }
    }

    /// Returns the origin of the reports of a series, or `nil` if it has no rows.
    func origin(ofSeries id: Int64) throws(StoreError) -> Origin? {
        guard let series = try related(toSeries: id).first(where: { $0.id == id }) else { return nil }
        return try origin(of: series)
    }

    /// Returns the origin of the reports of a series, or `nil` if it has no rows.
    func origin(of series: Related) throws(StoreError) -> Origin? {
        guard let names = try names(ofSeries: series.id, orDeleted: true) else { return nil }
        return Origin(
            person: series.person, type: try type(series.type, kind: series.kind, of: series.id),
            source: SourceRevision(id: series.source, name: names.source ?? ""),
            device: series.device.isEmpty
                ? nil
                : Device(
                    key: series.device, name: names.device, manufacturer: names.manufacturer, model: names.model,
                    serial: names.serial))
    }

    /// Returns the series that have others of the same person and type.
    func idsWithRelated() throws(StoreError) -> [Int64] {
        try connection.list(
            """
            SELECT id FROM series AS own
            WHERE EXISTS(SELECT 1 FROM series AS other WHERE other.type = own.type AND other.subject = own.subject AND other.id <> own.id)
            ORDER BY id
            """
        ) { $0.integer(0) }
    }

    /// Whether a person has a series of this type.
    func contains(_ type: SampleType, person: String) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM series WHERE type = ? AND subject = ? LIMIT 1", [.text(type.id), .text(person)])
    }

    /// Returns the type of a series.
    func type(of series: Int64) throws(StoreError) -> SampleType? {
        try connection.text("SELECT type FROM series WHERE id = ?", .integer(series)).flatMap { SampleType($0) }
    }

    /// Returns the types of the series that SQL selects.
    func types(ofSeries ids: String, _ bindings: [Value]) throws(StoreError) -> Set<SampleType> {
        Set(
            try connection.list("SELECT type, kind, id FROM series WHERE id IN (\(ids))", bindings) { row throws(StoreError) in
                try type(row.text(0), kind: row.integer(1), of: row.integer(2))
            })
    }

    func count(ofSource source: String) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM series WHERE source = ?", .text(source)) ?? 0)
    }

    /// Returns the ids, type names, and kinds of all series.
    func kinds() throws(StoreError) -> [(series: Int64, type: String, kind: Int64)] {
        try connection.list("SELECT id, type, kind FROM series ORDER BY id") { ($0.integer(0), $0.text(1), $0.integer(2)) }
    }

    /// Returns the coarsest resolution of the times of a series, in seconds.
    func coarsest(of series: Int64) throws(StoreError) -> Int64 {
        try connection.integer("SELECT coarsest FROM series WHERE id = ?", .integer(series)) ?? 1
    }

    /// Records the resolution of a time, in seconds.
    func coarsen(_ series: Int64, to resolution: Int64) throws(StoreError) {
        try connection.run(
            "UPDATE series SET coarsest = ?2 WHERE id = ?1 AND coarsest < ?2", .integer(series), .integer(resolution))
    }

    /// The longest durations among some samples of a series, in microseconds.
    struct DurationMaximum {
        /// Of all samples.
        private(set) var any: Int64 = 0
        /// Of those that are totals (``TotalPeriod``).
        private(set) var total: Int64 = 0

        @inline(__always)
        mutating func add(_ start: Int64, _ duration: Int64) {
            any = max(any, duration)
            if duration > total, TotalPeriod.contains(start, duration) { total = duration }
        }
    }

    /// Records the durations of samples. Statistics look back by the longest duration, and the search for near-duplicates
    /// skips durations if it is zero. This must be called for each stored sample that has a duration.
    func lengthen(_ series: Int64, to maximumDuration: DurationMaximum) throws(StoreError) {
        guard maximumDuration.any > 0 else { return }
        try connection.run(
            """
            UPDATE series SET longest = max(longest, ?2), longest_total = max(longest_total, ?3)
            WHERE id = ?1 AND (longest < ?2 OR longest_total < ?3)
            """,
            .integer(series), .integer(maximumDuration.any), .integer(maximumDuration.total))
    }

    // MARK: Shared properties

    /// SQL for the skew of a context: the microseconds that the nominal start is ahead of the start.
    static func skew(of context: String) -> String { "(SELECT skew FROM context WHERE context.id = \(context))" }

    /// Returns the person of a series, or `nil` if there is no such series.
    func person(of series: Int64) throws(StoreError) -> String? {
        try connection.first("SELECT subject FROM series WHERE id = ?", [.integer(series)]) { $0.text(0) }
    }

    /// Returns the id of the source of a series, or `nil` if there is no such series.
    func source(of series: Int64) throws(StoreError) -> String? {
        try connection.text("SELECT source FROM series WHERE id = ?", .integer(series))
    }

    /// The description of the source and device of a sample.
    struct Names {
        var source: String?
        var device: String?
        var manufacturer: String?
        var model: String?
        var serial: String?
    }

    /// Returns the names of one sample of a series, or also of a tombstone or duplicate, or `nil` if it has no rows.
    func names(ofSeries series: Int64, orDeleted: Bool = false) throws(StoreError) -> Names? {
        let sample = "(SELECT context FROM sample WHERE series = ?1 LIMIT 1)"
        let others = ["deleted", "witness_row"].map { "(SELECT context FROM \($0) WHERE series = ?1 LIMIT 1)" }
        let any = orDeleted ? "coalesce(\(sample), \(others.joined(separator: ", ")))" : sample
        return try connection.first(
            """
            SELECT source_name, device_name, manufacturer, model, serial FROM origin
            WHERE id = (SELECT context.origin FROM context WHERE context.id = \(any))
            """, [.integer(series)]
        ) {
            Names(
                source: $0.optionalText(0), device: $0.optionalText(1), manufacturer: $0.optionalText(2),
                model: $0.optionalText(3), serial: $0.optionalText(4))
        }
    }

    /// Returns the names of all sources and devices in lowercase letters.
    func allNames() throws(StoreError) -> Set<String> {
        let names = """
            SELECT source FROM series UNION SELECT device FROM series UNION SELECT source_name FROM origin
            UNION SELECT device_name FROM origin WHERE device_name IS NOT NULL UNION SELECT model FROM origin WHERE model IS NOT NULL
            """
        return Set(try connection.list(names) { $0.text(0).lowercased() })
    }

    /// Whether any sample had this unit.
    func hasUnit(_ unit: Unit) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM context WHERE unit = ? LIMIT 1", [.text(unit.code)])
    }

    /// Whether the source of a series sent readings of any type in this unit.
    func hasUnit(_ unit: Unit, fromSourceOf series: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM context CROSS JOIN origin ON origin.id = context.origin WHERE unit = ?1 AND source_name = (
                SELECT source_name FROM origin WHERE id = (SELECT origin FROM context WHERE id = (
                    SELECT context FROM sample WHERE series = ?2 LIMIT 1))) LIMIT 1
            """, [.text(unit.code), .integer(series)])
    }

    /// The unit and the times of samples.
    struct Context {
        /// The UCUM code of the unit.
        var unit: String
        var molarMass: Double?
        /// Seconds ahead of UTC.
        var zone: Int64?
        var timeOrigin: Int64
        /// The microseconds that the nominal start is ahead of the start.
        var skew: Int64
        var resolution: Int64
    }

    func context(_ id: Int64) throws(StoreError) -> Context {
        let context = try connection.first(
            "SELECT unit, molar_mass, zone, time_origin, skew, resolution FROM context WHERE id = ?", [.integer(id)]
        ) {
            Context(
                unit: $0.text(0), molarMass: $0.isNull(1) ? nil : $0.real(1), zone: $0.optionalInteger(2),
                timeOrigin: $0.integer(3), skew: $0.integer(4), resolution: $0.integer(5))
        }
        guard let context else { throw StoreError(.corrupt, "context \(id) is missing") }
        return context
    }

    /// Returns the ids of the metadata that correct a sample, with the UUID of this sample. This reads all metadata.
    func corrections() throws(StoreError) -> [Int64: SampleIdentity] {
        let rows = try connection.list(
            "SELECT id, json FROM metadata WHERE json LIKE '%\"\(ReadableReferences.corrects)\":%'"
        ) { (id: $0.integer(0), json: $0.text(1)) }
        var found: [Int64: SampleIdentity] = [:]
        for row in rows {
            guard let metadata = try? Metadata(json: row.json), case .string(let text)? = metadata[ReadableReferences.corrects]
            else {
                continue
            }
            found[row.id] = SampleIdentity(text)
        }
        return found
    }

    /// Returns metadata as JSON, or `nil` if the id does not exist.
    func metadata(_ id: Int64) throws(StoreError) -> String? {
        try connection.text("SELECT json FROM metadata WHERE id = ?", .integer(id))
    }
}

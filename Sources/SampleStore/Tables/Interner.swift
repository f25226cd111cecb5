import HealthModel
import Pipeline

/// Finds or inserts the rows that samples share: series, origin, context, body, metadata. Nothing else adds rows to these tables.
///
/// Its caches are valid for committed rows and for rows of the running transaction. After a rollback all of them are cleared.
final class Interner {
    /// The ids that an ``Origin`` has in the store, and the context of its last sample.
    final class Entry {
        let origin: Origin
        let series: Int64
        let originID: Int64
        /// The properties of the last sample's context.
        let unit: Unit
        let zone: ZoneOffset?
        let timeOrigin: TimeOrigin
        let skew: Int64
        let timeResolution: Int32
        let ordinal: UInt32?
        let body: SampleBody?
        let context: Int64
        /// Whether the unit is the type's canonical unit, so that value and numeral are the same number.
        let isCanonical: Bool

        init(
            origin: Origin, series: Int64, originID: Int64, unit: Unit, zone: ZoneOffset?, timeOrigin: TimeOrigin, skew: Int64,
            timeResolution: Int32, ordinal: UInt32?, body: SampleBody?, context: Int64
        ) {
            self.origin = origin
            self.series = series
            self.originID = originID
            self.unit = unit
            self.zone = zone
            self.timeOrigin = timeOrigin
            self.skew = skew
            self.timeResolution = timeResolution
            self.ordinal = ordinal
            self.body = body
            self.context = context
            isCanonical = Self.isCanonical(unit, origin.type)
        }

        static func isCanonical(_ unit: Unit, _ type: SampleType) -> Bool {
            (try? type.conversion(from: unit))?.isIdentity ?? false
        }
    }

    private struct ContextKey: Hashable {
        var origin: Int64
        var unit: Unit
        var molarMass: Double?
        var zone: ZoneOffset?
        var timeOrigin: TimeOrigin
        var skew: Int64
        var timeResolution: Int32
        var ordinal: UInt32?
        var body: Int64?
    }

    /// One row of the table `context`, with its columns as they are stored.
    struct ContextRow {
        var origin: Int64
        var unit: String
        var molarMass: Double?
        /// Seconds ahead of UTC.
        var zone: Int64?
        var timeOrigin: Int64
        var skew: Int64
        var resolution: Int64
        /// Nil if the identity does not depend on an ordinal.
        var ordinal: Int64?
        /// Nil if the sample is only a number.
        var body: Int64?
    }

    private let connection: Connection
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var contexts: [ContextKey: Int64] = [:]
    private var metadata: [Metadata: Int64] = [:]
    /// The body that was inserted last, until it has a context.
    private var newBody: Int64?
    private var texts: [RowText.Key: RowText] = [:]
    private var coarsest: [Int64: Int32] = [:]
    private var recent: [Entry?] = Array(repeating: nil, count: 64)
    private static let maximumMetadata = 4096

    init(connection: Connection) { self.connection = connection }

    func forget() {
        entries.removeAll()
        contexts.removeAll()
        metadata.removeAll()
        newBody = nil
        coarsest.removeAll()
        for index in recent.indices { recent[index] = nil }
    }

    /// Returns the entry of the sample's origin, with `context` set to the sample's context.
    @inline(__always)
    func entry(for gated: UnsafePointer<GatedSample>) throws(StoreError) -> Entry {
        let skew = gated.pointee.sample.nominalStart &- gated.pointee.sample.start.microseconds
        let identifier = ObjectIdentifier(gated.pointee.sample.origin)
        // Uses the upper bits of a product with the golden ratio, which spreads neighboring addresses.
        let slot = Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: identifier)) &* 0x9E37_79B9_7F4A_7C15) >> 58)
        if let entry = recent[slot], entry.origin === gated.pointee.sample.origin, entry.skew == skew,
            entry.zone == gated.pointee.sample.zone,
            entry.timeOrigin == gated.pointee.sample.timeOrigin, entry.timeResolution == gated.pointee.sample.timeResolution,
            entry.ordinal == gated.pointee.sample.ordinal, entry.body === gated.pointee.sample.body,
            entry.unit == gated.pointee.sample.unit
        {
            return entry
        }
        return try slowEntry(for: gated, skew: skew, identifier: identifier, slot: slot)
    }

    private func slowEntry(
        for gated: UnsafePointer<GatedSample>, skew: Int64, identifier: ObjectIdentifier, slot: Int
    ) throws(StoreError) -> Entry {
        let known = entries[identifier]
        let series: Int64
        let originID: Int64
        if let known {
            (series, originID) = (known.series, known.originID)
        } else {
            series = try self.series(of: gated.pointee.sample.origin)
            originID = try origin(of: gated.pointee.sample.origin)
        }
        let key = ContextKey(
            origin: originID, unit: gated.pointee.sample.unit, molarMass: gated.pointee.sample.unit.molarMass,
            zone: gated.pointee.sample.zone,
            timeOrigin: gated.pointee.sample.timeOrigin, skew: skew, timeResolution: gated.pointee.sample.timeResolution,
            ordinal: gated.pointee.sample.ordinal, body: try gated.pointee.sample.body.map(id))
        let entry = Entry(
            origin: gated.pointee.sample.origin, series: series, originID: originID, unit: gated.pointee.sample.unit,
            zone: gated.pointee.sample.zone,
            timeOrigin: gated.pointee.sample.timeOrigin, skew: skew,
            timeResolution: gated.pointee.sample.timeResolution, ordinal: gated.pointee.sample.ordinal,
            body: gated.pointee.sample.body, context: try context(key))
        try note(entry.timeResolution, in: series)
        // A file with many different devices must not fill the memory.
        if known == nil, entries.count > 100_000 { forget() }
        entries[identifier] = entry
        recent[slot] = entry
        return entry
    }

    /// Updates the coarsest time resolution of a series.
    private func note(_ resolution: Int32, in series: Int64) throws(StoreError) {
        guard resolution > 1, coarsest[series, default: 1] < resolution else { return }
        try connection.series.coarsen(series, to: Int64(resolution))
        coarsest[series] = resolution
    }

    func series(of origin: Origin) throws(StoreError) -> Int64 {
        let values: [Value] = [
            .text(origin.type.id), .text(origin.person), .text(origin.source.id), .text(origin.device?.key ?? ""),
            .integer(origin.kind.rawValue),
        ]
        return try findOrInsert("series", "type, subject, source, device, kind", values)
    }

    private func origin(of origin: Origin) throws(StoreError) -> Int64 {
        let device = origin.device
        let values: [Value] = [
            .text(origin.source.name), .optional(origin.source.version), .optional(device?.name), .optional(device?.manufacturer),
            .optional(device?.model), .optional(device?.serial), .optional(device?.hardware), .optional(device?.firmware),
            .optional(device?.software), .optional(device?.udi),
        ]
        let columns =
            "source_name, source_version, device_name, manufacturer, model, serial, hardware, firmware, software, udi"
        return try findOrInsert("origin", columns, values)
    }

    private func context(_ key: ContextKey) throws(StoreError) -> Int64 {
        if let known = contexts[key] { return known }
        let id = try context(
            ContextRow(
                origin: key.origin, unit: key.unit.code, molarMass: key.molarMass, zone: key.zone.map { Int64($0.seconds) },
                timeOrigin: Int64(key.timeOrigin.rawValue), skew: key.skew, resolution: Int64(key.timeResolution),
                ordinal: key.ordinal.map { Int64($0) }, body: key.body), isNew: key.body != nil && key.body == newBody)
        newBody = nil
        // A context with a body belongs to one sample, so it is not cached.
        guard key.body == nil else { return id }
        if contexts.count > 100_000 { contexts.removeAll() }
        contexts[key] = id
        return id
    }

    /// Returns the id of a context that equals another one except for the change.
    func context(like other: Int64, changing change: (inout ContextRow) -> Void) throws(StoreError) -> Int64 {
        let select = try connection.statement(
            "SELECT \(Self.contextColumns) FROM context WHERE id = ?")
        defer { select.reset() }
        try select.bind([.integer(other)])
        guard try select.step() else { throw StoreError(.corrupt, "context \(other) is missing") }
        var row = ContextRow(
            origin: select.integer(0), unit: select.text(1), molarMass: select.isNull(2) ? nil : select.real(2),
            zone: select.optionalInteger(3),
            timeOrigin: select.integer(4), skew: select.integer(5), resolution: select.integer(6),
            ordinal: select.optionalInteger(7), body: select.optionalInteger(8))
        select.reset()
        change(&row)
        return try context(row)
    }

    private static let contextColumns = "origin, unit, molar_mass, zone, time_origin, skew, resolution, ordinal, body"

    /// - Parameter isNew: Whether it is known that no equal row exists.
    private func context(_ row: ContextRow, isNew: Bool = false) throws(StoreError) -> Int64 {
        let values: [Value] = [
            .integer(row.origin), .text(row.unit), row.molarMass.map { .real($0) } ?? .null, .optional(row.zone),
            .integer(row.timeOrigin), .integer(row.skew), .integer(row.resolution), .optional(row.ordinal), .optional(row.body),
        ]
        return try findOrInsert("context", Self.contextColumns, values, isNew: isNew)
    }

    func id(of metadata: Metadata) throws(StoreError) -> Int64 {
        if let known = self.metadata[metadata] { return known }
        let id = try findOrInsert("metadata", "json", [.text(metadata.json)])
        if self.metadata.count >= Self.maximumMetadata { self.metadata.removeAll() }
        self.metadata[metadata] = id
        return id
    }

    /// Returns the id of a body. It is not cached, because few samples have a body and bodies rarely repeat.
    private func id(of body: SampleBody) throws(StoreError) -> Int64 {
        newBody = nil
        let digest = Value.blob(body.digest)
        // Almost every body is new, so the insertion is tried first.
        try connection.run("INSERT OR IGNORE INTO body(digest, octets) VALUES(?, ?)", digest, .blob(body.bytes))
        if connection.changes > 0 {
            newBody = connection.lastInsertedRow
            return connection.lastInsertedRow
        }
        guard let known = try connection.integer("SELECT id FROM body WHERE digest = ?", digest) else {
            throw StoreError(.corrupt, "a body is neither there nor missing")
        }
        return known
    }

    /// Returns the id of the row with these values. Inserts it if it is missing.
    ///
    /// - Parameter isNew: Whether it is known that no such row exists.
    private func findOrInsert(
        _ table: String, _ columns: String, _ values: [Value], isNew: Bool = false
    ) throws(StoreError) -> Int64 {
        let text = text(table, columns, values)
        if !isNew {
            let select = try connection.statement(text.select)
            defer { select.reset() }
            try select.bind(values)
            if try select.step() { return select.integer(0) }
        }
        let insert = try connection.statement(text.insert)
        defer { insert.reset() }
        try insert.bind(values)
        _ = try insert.step()
        return connection.lastInsertedRow
    }

    private func text(_ table: String, _ columns: String, _ values: [Value]) -> RowText {
        var nulls: UInt64 = 0
        for (index, value) in values.enumerated() where value == .null { nulls |= 1 << UInt64(index) }
        let key = RowText.Key(table: table, nulls: nulls)
        if let known = texts[key] { return known }
        // SQLite uses a partial index on non-NULL values only if the condition implies that the value is not NULL.
        let conditions = zip(columns.split(separator: ", "), values).map { "\($0) \($1 == .null ? "IS" : "=") ?" }
        let keys = values.map { _ in "?" }.joined(separator: ", ")
        let text = RowText(
            select: "SELECT id FROM \(table) WHERE \(conditions.joined(separator: " AND "))",
            insert: "INSERT INTO \(table)(\(columns)) VALUES(\(keys))")
        texts[key] = text
        return text
    }
}

/// The statements that find and insert a row of a table, depending on which values are NULL.
private struct RowText {
    struct Key: Hashable {
        var table: String
        var nulls: UInt64
    }

    var select: String
    var insert: String
}

import HealthModel

/// Decodes rows of `sample` and `deleted` into samples. It caches the rows that samples share.
final class SampleDecoder {
    /// The columns, in the order in which ``decode(_:series:)`` reads them.
    static let columns = "start, hash, value, numeral, context, duration, received, grp, metadata, seq"

    /// The columns of a quarantined reading or witness. The ingest replaces the change number.
    static let quarantineColumns = "start, hash, value, numeral, context, duration, received, grp, metadata, ingest"

    private struct Context {
        var origin: Origin
        var unit: Unit
        var zone: ZoneOffset?
        var timeOrigin: TimeOrigin
        var skew: Int64
        var timeResolution: Int32
        var ordinal: UInt32?
        var body: SampleBody?
    }

    fileprivate struct ContextKey: Hashable {
        var series: Int64
        var context: Int64
    }

    private struct ChangeRange {
        var seqs: ClosedRange<Int64>
        var ingest: Int64
        var received: Int64
    }

    private let connection: Connection
    private var contexts: [ContextKey: Context] = [:]
    /// The context that was read last. Neighboring samples usually share it.
    private var latest: (key: ContextKey, context: Context)?
    private var metadata: [Int64: Metadata] = [:]
    /// The last entry of the change log that was read, by series.
    private var changes: [Int64: ChangeRange] = [:]
    /// The one of them that was read last.
    private var latestChange: (series: Int64, range: ChangeRange)?

    init(connection: Connection) { self.connection = connection }

    /// Decodes the statement's current row.
    func decode(_ row: Statement, series: Int64) throws(StoreError) -> StoredSample {
        let seq = row.integer(9)
        let change = try change(of: seq, series: series)
        return try decode(row, series: series, ingest: change.ingest, ingestReceived: change.received, seq: seq)
    }

    /// Decodes a row of `quarantine` or `duplicate`, whose tenth column is the ingest.
    func decodeQuarantined(_ row: Statement, series: Int64) throws(StoreError) -> StoredSample {
        let ingest = row.integer(9)
        let received = try connection.ledger.received(of: ingest) ?? 0
        return try decode(row, series: series, ingest: ingest, ingestReceived: received, seq: 0)
    }

    /// The sample that was decoded last, which the next one of its context overwrites. Copying a sample takes longer than decoding it.
    struct Buffer {
        fileprivate var context: ContextKey?
        fileprivate var skew: Int64 = 0
        /// The sample, or `nil` before the first row.
        fileprivate(set) var stored: StoredSample?
    }

    /// Decodes the statement's current row.
    func decode(_ row: Statement, series: Int64, into buffer: inout Buffer) throws(StoreError) {
        let key = ContextKey(series: series, context: row.integer(4))
        guard buffer.context == key else {
            let context = try context(key.context, series: series)
            // A body belongs to one sample.
            buffer.context = context.body == nil ? key : nil
            buffer.skew = context.skew
            buffer.stored = try decode(row, series: series)
            return
        }
        let seq = row.integer(9)
        let change = try change(of: seq, series: series)
        let skew = buffer.skew
        func overwrite(_ stored: inout StoredSample) throws(StoreError) {
            try read(row, skew: skew, ingestReceived: change.received, into: &stored.sample)
            (stored.ingest, stored.seq) = (change.ingest, seq)
        }
        if buffer.stored != nil { try overwrite(&buffer.stored!) }
    }

    private func decode(
        _ row: Statement, series: Int64, ingest: Int64, ingestReceived: Int64, seq: Int64
    ) throws(StoreError) -> StoredSample {
        let context = try context(row.integer(4), series: series)
        // A sample of its own would be copied once more.
        var stored = StoredSample(
            sample: Sample(
                origin: context.origin, identity: Self.none, nominalStart: 0, start: Instant(microseconds: 0),
                end: Instant(microseconds: 0), value: 0, numeral: Numeral(coefficient: 0), unit: context.unit, zone: context.zone,
                timeOrigin: context.timeOrigin, received: Instant(microseconds: 0), timeResolution: context.timeResolution,
                ordinal: context.ordinal, body: context.body),
            ingest: ingest, seq: seq)
        try read(row, skew: context.skew, ingestReceived: ingestReceived, into: &stored.sample)
        if context.body != nil, connection.isRestricted {
            stored.sample.body = try ReadableReferences.shown(in: stored.sample, connection)
        }
        return stored
    }

    private static let none = SampleIdentity(milliseconds: 0, high: 0, low: 0)

    /// Reads the fields that are not part of the context.
    private func read(
        _ row: Statement, skew: Int64, ingestReceived: Int64, into sample: inout Sample
    ) throws(StoreError) {
        let start = row.integer(0)
        let hash = try HashBytes.read(row.blob(1))
        let value = row.real(2)
        let nominal = start &+ skew
        sample.identity = SampleIdentity(nominalStart: nominal, high: hash.high, low: hash.low)
        sample.nominalStart = nominal
        sample.start = Instant(microseconds: start)
        sample.end = Instant(microseconds: start &+ row.integer(5))
        sample.value = value
        sample.numeral = try numeral(row, value: value)
        sample.received = Instant(
            microseconds: sample.timeOrigin == .receipt ? start : row.optionalInteger(6).map { start &+ $0 } ?? ingestReceived)
        sample.group = row.optionalInteger(7).map { UInt64(bitPattern: $0) }
        if let id = row.optionalInteger(8) { sample.metadata = try metadata(id) } else { sample.metadata = nil }
    }

    private func numeral(_ row: Statement, value: Double) throws(StoreError) -> Numeral {
        if row.isNull(3) { return Numeral(shortest: value) }
        do throws(NumeralError) {
            return try Numeral(row.text(3))
        } catch {
            throw StoreError(.corrupt, "a stored numeral is not a number")
        }
    }

    private func context(_ id: Int64, series: Int64) throws(StoreError) -> Context {
        let key = ContextKey(series: series, context: id)
        if let latest, latest.key == key { return latest.context }
        if let known = contexts[key] {
            latest = (key, known)
            return known
        }
        let statement = try connection.statement(
            """
            SELECT subject, type, source, device, source_name, source_version, device_name, manufacturer, model, serial, hardware,
                firmware, software, udi, unit, molar_mass, zone, time_origin, skew, resolution, ordinal, kind,
                (SELECT octets FROM body WHERE body.id = context.body)
            FROM context JOIN origin ON origin.id = context.origin JOIN series ON series.id = ?
            WHERE context.id = ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(id)])
        guard try statement.step() else { throw StoreError(.corrupt, "a sample's context \(id) or its series is missing") }
        let type = try connection.series.type(statement.text(1), kind: statement.integer(21), of: series)
        let body = statement.isNull(22) ? nil : SampleBody(bytes: Array(statement.blob(22)))
        var device: Device?
        if !statement.text(3).isEmpty {
            device = Device(
                key: statement.text(3), name: statement.optionalText(6), manufacturer: statement.optionalText(7),
                model: statement.optionalText(8), serial: statement.optionalText(9), hardware: statement.optionalText(10),
                firmware: statement.optionalText(11), software: statement.optionalText(12), udi: statement.optionalText(13))
        }
        let context = Context(
            origin: Origin(
                person: statement.text(0), type: type,
                source: SourceRevision(id: statement.text(2), name: statement.text(4), version: statement.optionalText(5)),
                device: device),
            unit: try unit(statement.text(14), molarMass: statement.isNull(15) ? nil : statement.real(15)),
            zone: statement.optionalInteger(16).map { ZoneOffset(seconds: Int32(truncatingIfNeeded: $0)) },
            timeOrigin: TimeOrigin(rawValue: UInt8(truncatingIfNeeded: statement.integer(17))) ?? .device,
            skew: statement.integer(18), timeResolution: Int32(truncatingIfNeeded: statement.integer(19)),
            ordinal: statement.optionalInteger(20).map { UInt32(truncatingIfNeeded: $0) },
            body: body)
        // A body is large and belongs to one sample, so the context is not cached.
        guard context.body == nil else { return context }
        if contexts.count > 100_000 { contexts.removeAll() }
        contexts[key] = context
        latest = (key, context)
        return context
    }

    private func unit(_ code: String, molarMass: Double?) throws(StoreError) -> Unit {
        do throws(UnitError) {
            let unit = try Unit(ucum: code)
            return molarMass.map { unit.with(molarMass: $0) } ?? unit
        } catch {
            throw StoreError(.corrupt, "a stored unit is unknown: \(error)")
        }
    }

    private func metadata(_ id: Int64) throws(StoreError) -> Metadata {
        if let known = metadata[id] { return known }
        guard let json = try connection.series.metadata(id) else {
            throw StoreError(.corrupt, "metadata \(id) is missing")
        }
        var read: Metadata
        do throws(MetadataError) {
            read = try Metadata(json: json)
        } catch {
            throw StoreError(.corrupt, "metadata \(id) cannot be read: \(error)")
        }
        if connection.isRestricted { read = try ReadableReferences.shown(in: read, connection) }
        if metadata.count > 4096 { metadata.removeAll() }
        metadata[id] = read
        return read
    }

    /// Returns the ingest that a change belongs to. Neighboring samples of a series usually share it.
    func change(of seq: Int64, series: Int64) throws(StoreError) -> (ingest: Int64, received: Int64) {
        if let latestChange, latestChange.series == series, latestChange.range.seqs.contains(seq) {
            return (latestChange.range.ingest, latestChange.range.received)
        }
        if let change = changes[series], change.seqs.contains(seq) {
            latestChange = (series, change)
            return (change.ingest, change.received)
        }
        guard let found = try connection.changeTable.entry(of: seq, series: series) else {
            throw StoreError(.corrupt, "change \(seq) is not in the change log")
        }
        let change = ChangeRange(seqs: found.seqs, ingest: found.ingest, received: found.received)
        (changes[series], latestChange) = (change, (series, change))
        return (change.ingest, change.received)
    }
}

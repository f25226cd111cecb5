import HealthModel

/// Another series of the same person and type, from which the same measurement may arrive over another path.
struct RelatedSeries {
    var series: Int64
    /// The coarsest resolution of its times, in seconds.
    var coarsest: Int32
    /// Whether any of its samples ever had a duration.
    var lasts: Bool
    /// The relation of its device to that of the compared readings.
    var kinship: DeviceKinship
}

/// A cache of the related series of series and of the resolution and units of their readings.
final class RelatedSeriesCache {
    /// The compared properties that all samples of one context share.
    struct Telling {
        /// The UCUM code of the unit.
        var unit: String
        var timeResolution: Int32
        var isArrival: Bool
        /// A numeral step of 1, and the numeral 0, in the canonical unit.
        var scale: Double
        var zero: Double
    }

    private struct Pair: Hashable {
        var origin: ObjectIdentifier
        var series: Int64
    }

    private struct Key: Hashable {
        var type: SampleType
        var context: Int64
    }

    private let connection: Connection
    private var kinships: [Pair: DeviceKinship] = [:]
    private var tellings: [Key: Telling] = [:]
    private var methods: [Int64: MeasuringMethod] = [:]
    /// Keeps the origins alive whose object identifiers are keys in ``kinships``.
    private var origins: [ObjectIdentifier: Origin] = [:]

    init(connection: Connection) { self.connection = connection }

    func forget() {
        kinships.removeAll()
        tellings.removeAll()
        origins.removeAll()
        methods.removeAll()
    }

    /// The other series of the origin's person and type.
    func of(_ origin: Origin, series: Int64) throws(StoreError) -> [RelatedSeries] {
        let statement = try connection.statement(
            "SELECT id, coarsest, longest, source, device FROM series WHERE type = ? AND subject = ? AND id <> ?")
        defer { statement.reset() }
        try statement.bind([.text(origin.type.id), .text(origin.subject), .integer(series)])
        var relatedSeries: [RelatedSeries] = []
        while try statement.step() {
            let id = statement.integer(0)
            var known = kinships[Pair(origin: ObjectIdentifier(origin), series: id)]
            if known == nil {
                known = try kinship(of: origin, to: id, source: statement.text(3), device: statement.text(4))
            }
            guard let kinship = known else { continue }
            relatedSeries.append(
                RelatedSeries(
                    series: id, coarsest: Int32(truncatingIfNeeded: statement.integer(1)), lasts: statement.integer(2) > 0,
                    kinship: kinship))
        }
        return relatedSeries
    }

    /// The relation of an origin's device to that of a related series, or `nil` if that series has no rows or the two
    /// are never the same measurement.
    ///
    /// If one path distinguishes two devices, they are two devices.
    private func kinship(
        of origin: Origin, to series: Int64, source: String, device: String
    ) throws(StoreError) -> DeviceKinship? {
        let statement = try connection.statement(
            """
            SELECT source_name, device_name, manufacturer, model, serial FROM origin WHERE id = (SELECT context.origin FROM context
                WHERE context.id = coalesce((SELECT context FROM sample WHERE series = ?1 LIMIT 1),
                    (SELECT context FROM deleted WHERE series = ?1 LIMIT 1)))
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series)])
        guard try statement.step() else { return nil }
        var kinship = DeviceKinship.other
        if Client.isSource(source) || Client.isSource(origin.source.id) {
            // A client distinguishes its devices itself.
            guard source != origin.source.id else { return nil }
            kinship = .copy
        } else if source != origin.source.id || device.isEmpty || origin.device == nil {
            let other = Origin(
                subject: origin.subject, type: origin.type, source: SourceRevision(id: source, name: statement.text(0)),
                device: device.isEmpty
                    ? nil
                    : Device(
                        key: device, name: statement.optionalText(1), manufacturer: statement.optionalText(2),
                        model: statement.optionalText(3), serial: statement.optionalText(4)))
            kinship = DeviceKinship(origin, other)
        }
        if kinships.count > 10_000 { forget() }
        origins[ObjectIdentifier(origin)] = origin
        kinships[Pair(origin: ObjectIdentifier(origin), series: series)] = kinship
        return kinship
    }

    /// The measuring method of samples with these metadata. The id 0 means no metadata.
    func method(ofMetadata id: Int64) throws(StoreError) -> MeasuringMethod {
        guard id != 0 else { return .unknown }
        if let known = methods[id] { return known }
        let json = try connection.text("SELECT json FROM metadata WHERE id = ?", .integer(id))
        let method = MeasuringMethod(json.flatMap { try? Metadata(json: $0) })
        if methods.count > 10_000 { methods.removeAll() }
        methods[id] = method
        return method
    }

    /// The compared properties of samples of a context.
    func telling(_ context: Int64, of type: SampleType) throws(StoreError) -> Telling {
        let key = Key(type: type, context: context)
        if let known = tellings[key] { return known }
        let statement = try connection.statement("SELECT unit, molar_mass, time_origin, resolution FROM context WHERE id = ?")
        defer { statement.reset() }
        try statement.bind([.integer(key.context)])
        guard try statement.step() else { throw StoreError(.corrupt, "context \(key.context) is missing") }
        let code = statement.text(0)
        guard var unit = try? Unit(ucum: code) else {
            throw StoreError(.corrupt, "the unit of context \(key.context) is unknown")
        }
        if !statement.isNull(1) { unit = unit.with(molarMass: statement.real(1)) }
        let conversion = (try? type.conversion(from: unit)) ?? .identity
        let zero = conversion(0)
        let telling = Telling(
            unit: code,
            timeResolution: Int32(truncatingIfNeeded: statement.integer(3)),
            isArrival: statement.integer(2) == Int64(TimeOrigin.receipt.rawValue),
            scale: conversion.isIdentity ? 1 : abs(conversion(1) - zero), zero: zero)
        if tellings.count > 10_000 { tellings.removeAll() }
        tellings[key] = telling
        return telling
    }
}

/// Returns the compared properties of samples of one series. It caches the last context, because adjacent samples
/// mostly share it.
struct SeriesTelling {
    private let relatedSeries: RelatedSeriesCache
    private let type: SampleType
    private var last: (context: Int64, telling: RelatedSeriesCache.Telling)?
    private var lastMethod: (metadata: Int64, method: MeasuringMethod) = (0, .unknown)

    init(_ relatedSeries: RelatedSeriesCache, _ type: SampleType) {
        self.relatedSeries = relatedSeries
        self.type = type
    }

    /// The compared properties of a sample.
    ///
    /// - Parameters:
    ///   - step: A step of the numeral's last digit, in the unit of the context.
    ///   - metadata: The id of the metadata in the store, or 0 for none.
    mutating func trace(
        start: Int64, duration: Int64, value: Double, step: Double, context: Int64, metadata: Int64
    ) throws(StoreError) -> ReadingTrace {
        if metadata != lastMethod.metadata { lastMethod = (metadata, try relatedSeries.method(ofMetadata: metadata)) }
        let telling = if let last, last.context == context { last.telling } else { try relatedSeries.telling(context, of: type) }
        last = (context, telling)
        return ReadingTrace(
            start: start, duration: duration, timeResolution: telling.timeResolution, isArrival: telling.isArrival, value: value,
            valueResolution: step * telling.scale, scale: telling.scale, zero: telling.zero, method: lastMethod.method)
    }
}

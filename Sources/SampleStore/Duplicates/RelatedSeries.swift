import HealthModel

/// Another series of the same person and type, from which the same measurement may arrive over another path.
struct RelatedSeries {
    var series: Int64
    /// The coarsest resolution of its times, in seconds.
    var coarsest: Int32
    /// Whether any of its samples ever had a duration.
    var lasts: Bool
    /// The relation of its device to that of the compared readings.
    var relation: DeviceRelation
    /// Whether equally precise readings of the compared series precede its own (``ReportPath``).
    var isAfter: Bool
}

/// A cache of the related series of series and of the resolution and units of their readings.
final class RelatedSeriesCache {
    /// The compared properties that all samples of one context share.
    struct ComparedProperties {
        /// The UCUM code of the unit.
        var unit: String
        var timeResolution: Int32
        var isArrival: Bool
        /// A numeral step of 1, and the numeral 0, in the canonical unit.
        var scale: Double
        var zero: Double
    }

    /// The origin of a series, and the maker of its device.
    private struct Path {
        var origin: Origin
        var maker: DeviceMaker?
    }

    private struct Key: Hashable {
        var type: SampleType
        var context: Int64
    }

    private let connection: Connection
    /// The origins of related series, by their ids. The relation of two is computed each time, because their pairs may be many.
    private var paths: [Int64: Path] = [:]
    /// The maker of the compared readings' device.
    private var own: Path?
    private var cachedProperties: [Key: ComparedProperties] = [:]
    private var methods: [Int64: MeasuringMethod] = [:]

    init(connection: Connection) { self.connection = connection }

    func forget() {
        paths.removeAll()
        own = nil
        cachedProperties.removeAll()
        methods.removeAll()
    }

    /// The other series of the origin's person and type.
    func of(_ origin: Origin, series: Int64) throws(StoreError) -> [RelatedSeries] {
        var relatedSeries: [RelatedSeries] = []
        let path = ReportPath(origin)
        for other in try connection.series.related(to: origin, except: series) {
            guard let relation = try relation(of: origin, to: other) else { continue }
            relatedSeries.append(
                RelatedSeries(
                    series: other.id, coarsest: other.coarsest, lasts: other.maximumDuration > 0, relation: relation,
                    isAfter: path < ReportPath(source: other.source, device: other.device)))
        }
        return relatedSeries
    }

    /// The relation of an origin's device to that of a related series, or `nil` if that series has no rows or the two
    /// are never the same measurement.
    private func relation(of origin: Origin, to related: SeriesTable.Related) throws(StoreError) -> DeviceRelation? {
        guard let path = try path(of: related) else { return nil }
        return DeviceRelation(paths: origin, path.origin, makers: (maker(of: origin), path.maker))
    }

    /// The origin of a related series, or `nil` if the series has no rows.
    private func path(of related: SeriesTable.Related) throws(StoreError) -> Path? {
        if let known = paths[related.id] { return known }
        guard let other = try connection.series.origin(of: related) else { return nil }
        let path = Path(origin: other, maker: DeviceMaker(other))
        if paths.count > 10_000 { paths.removeAll() }
        paths[related.id] = path
        return path
    }

    private func maker(of origin: Origin) -> DeviceMaker? {
        if let own, own.origin === origin { return own.maker }
        let path = Path(origin: origin, maker: DeviceMaker(origin))
        own = path
        return path.maker
    }

    /// The measuring method of samples with these metadata. The id 0 means no metadata.
    func method(ofMetadata id: Int64) throws(StoreError) -> MeasuringMethod {
        guard id != 0 else { return .unknown }
        if let known = methods[id] { return known }
        let json = try connection.series.metadata(id)
        let method = MeasuringMethod(json.flatMap { try? Metadata(json: $0) })
        if methods.count > 10_000 { methods.removeAll() }
        methods[id] = method
        return method
    }

    /// The compared properties of samples of a context.
    func properties(_ context: Int64, of type: SampleType) throws(StoreError) -> ComparedProperties {
        let key = Key(type: type, context: context)
        if let known = cachedProperties[key] { return known }
        let stored = try connection.series.context(context)
        guard var unit = try? Unit(ucum: stored.unit) else {
            throw StoreError(.corrupt, "the unit of context \(context) is unknown")
        }
        if let molarMass = stored.molarMass { unit = unit.with(molarMass: molarMass) }
        let conversion = (try? type.conversion(from: unit)) ?? .identity
        let zero = conversion(0)
        let properties = ComparedProperties(
            unit: stored.unit, timeResolution: Int32(truncatingIfNeeded: stored.resolution),
            isArrival: stored.timeOrigin == Int64(TimeOrigin.receipt.rawValue),
            scale: conversion.isIdentity ? 1 : abs(conversion(1) - zero), zero: zero)
        if cachedProperties.count > 10_000 { cachedProperties.removeAll() }
        cachedProperties[key] = properties
        return properties
    }
}

/// Returns the compared properties of samples of one series. It caches the last context, because adjacent samples
/// mostly share it.
struct SeriesProperties {
    private let relatedSeries: RelatedSeriesCache
    private let type: SampleType
    private var last: (context: Int64, properties: RelatedSeriesCache.ComparedProperties)?
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
        let properties =
            if let last, last.context == context { last.properties } else { try relatedSeries.properties(context, of: type) }
        last = (context, properties)
        return ReadingTrace(
            start: start, duration: duration, timeResolution: properties.timeResolution, isArrival: properties.isArrival,
            value: value,
            valueResolution: step * properties.scale, scale: properties.scale, zero: properties.zero, method: lastMethod.method)
    }
}

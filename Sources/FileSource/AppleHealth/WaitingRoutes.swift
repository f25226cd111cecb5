import HealthModel
import Pipeline

/// Routes whose files come later, by the keys of the files. There may be tens of thousands: of each is kept what differs from route to route.
struct WaitingRoutes {
    private struct Route {
        var origin: Int32
        var ordinal: UInt32
        var start: Instant
        var end: Instant
        var offset: ZoneOffset?
        var metadata: Metadata?
        var record: RecordIdentifier?
        var workout: SampleIdentity
        var place: Place
    }

    private var routes: [[UInt8]: Route] = [:]
    private var origins: [Origin] = []
    private var numbers: [Origin: Int32] = [:]

    /// How many there are.
    var count: Int { routes.count }

    /// Where the export names the first of them; `nil` where there is none.
    var firstPlace: Place? { routes.values.lazy.map(\.place).min { $0.number < $1.number } }

    /// Takes a route whose locations are in a file.
    mutating func insert(_ header: ExportRoutes.Header, for key: [UInt8]) {
        let origin = numbers[header.origin] ?? Int32(origins.count)
        if origin == origins.count {
            origins.append(header.origin)
            numbers[header.origin] = origin
        }
        routes[key] = Route(
            origin: origin, ordinal: header.ordinal, start: header.start, end: header.end, offset: header.offset,
            metadata: header.metadata, record: header.record, workout: header.workout, place: header.place)
    }

    /// Gives the route of a file, once.
    mutating func remove(_ key: [UInt8]) -> ExportRoutes.Header? {
        guard let route = routes.removeValue(forKey: key) else { return nil }
        return ExportRoutes.Header(
            origin: origins[Int(route.origin)], start: route.start, end: route.end, offset: route.offset, ordinal: route.ordinal,
            metadata: route.metadata, record: route.record, workout: route.workout, place: route.place)
    }
}

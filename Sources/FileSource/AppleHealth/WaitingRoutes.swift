import HealthModel
import Pipeline

/// Routes whose files come later, by the keys of the files. There may be tens of thousands, so only the data that differs between routes
/// is kept for each.
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

    /// The index of the route for each file key. A table of the routes themselves would need twice the memory while it grows.
    private var indexes: [[UInt8]: Int32] = [:]
    private var routes: [[Route?]] = []
    private static let blockLength = 256
    private var origins: [Origin] = []
    private var numbers: [Origin: Int32] = [:]

    var count: Int { indexes.count }

    /// The place of the first of them in the export, or `nil` if there are none.
    var firstPlace: Place? { routes.joined().lazy.compactMap(\.?.place).min { $0.number < $1.number } }

    /// Adds a route whose locations are in a file.
    mutating func insert(_ header: ExportRoutes.Header, for key: [UInt8]) {
        let origin = numbers[header.origin] ?? Int32(origins.count)
        if origin == origins.count {
            origins.append(header.origin)
            numbers[header.origin] = origin
        }
        let route = Route(
            origin: origin, ordinal: header.ordinal, start: header.start, end: header.end, offset: header.offset,
            metadata: header.metadata, record: header.record, workout: header.workout, place: header.place)
        if let index = indexes[key] {
            self[index] = route
            return
        }
        if (routes.last?.count ?? Self.blockLength) == Self.blockLength {
            routes.append([])
            routes[routes.count - 1].reserveCapacity(Self.blockLength)
        }
        routes[routes.count - 1].append(route)
        indexes[key] = Int32((routes.count - 1) * Self.blockLength + routes[routes.count - 1].count - 1)
    }

    /// Removes and returns the route of a file, or `nil` if there is none.
    mutating func remove(_ key: [UInt8]) -> ExportRoutes.Header? {
        guard let index = indexes.removeValue(forKey: key), let route = self[index] else { return nil }
        self[index] = nil
        return ExportRoutes.Header(
            origin: origins[Int(route.origin)], start: route.start, end: route.end, offset: route.offset, ordinal: route.ordinal,
            metadata: route.metadata, record: route.record, workout: route.workout, place: route.place)
    }

    private subscript(index: Int32) -> Route? {
        get { routes[Int(index) / Self.blockLength][Int(index) % Self.blockLength] }
        set { routes[Int(index) / Self.blockLength][Int(index) % Self.blockLength] = newValue }
    }
}

import HealthModel
import Pipeline

/// Packs where an activity went, as its points come.
struct ActivityTrack {
    private var writer: PointsWriter
    private(set) var start: Instant
    private(set) var end: Instant
    /// The first place and the last one, as told: they tell routes apart that nothing else does.
    private var marks: (first: UInt64, last: UInt64)

    /// A place with its time.
    struct Location {
        var time: Instant
        var latitude: Numeral
        var longitude: Numeral
        var altitude: Numeral?
        var speed: Numeral?
        /// Of the texts of latitude and longitude.
        var mark: UInt64
    }

    /// - Throws: ``ContentError/tooLong``.
    init(_ first: Location) throws(ContentError) {
        writer = PointsWriter(columns: WorkoutRoute.columns)
        (start, end) = (first.time, first.time)
        marks = (first.mark, first.mark)
        try append(first)
    }

    /// - Throws: ``ContentError/tooLong``.
    mutating func append(_ location: Location) throws(ContentError) {
        try writer.append([
            Numeral(coefficient: location.time.microseconds &- start.microseconds), location.latitude, location.longitude,
            location.altitude, nil, nil, nil, location.speed,
        ])
        end = max(end, location.time)
        marks.last = location.mark
    }

    /// The ordinal of the route's identity.
    var ordinal: UInt32 { UInt32(truncatingIfNeeded: marks.first &* 31 &+ marks.last) & 0x7FFF_FFFF }

    /// What was added; nothing may be added behind.
    mutating func pack() throws(ContentError) -> (points: Points, content: PackedContent) { try writer.end() }
}

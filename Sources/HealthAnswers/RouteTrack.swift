import Glibc
import HealthModel

/// The path of a workout, from the locations of its route alone.
///
///     RouteTrack(route)?.length  // 10302.4
package struct RouteTrack: Sendable {
    package struct Location: Hashable, Sendable {
        /// The time in microseconds since 1970.
        package var time: Int64
        /// The latitude in degrees of WGS 84.
        package var latitude: Double
        /// The longitude in degrees of WGS 84, at most 180 away from that of the first location.
        package var longitude: Double
        /// The altitude in metres.
        package var altitude: Double?
        /// The distance from the first location along the path, in metres.
        package var distance: Double
    }

    /// The locations in order of time. Of a long route, only every so many.
    package let locations: [Location]
    /// The length in metres.
    package let length: Double

    /// The maximum number of locations.
    private static let maximum = 2000

    /// Returns `nil` if the sample is not a route or has fewer than two locations.
    package init?(_ route: Sample) {
        guard let body = route.body, let content = body.content, let reported = try? body.decoded(as: WorkoutRoute.self),
            var reader = try? PointsReader(reported.points, content)
        else { return nil }
        func column(_ name: String) -> Int? { reported.points.columns.firstIndex { $0.name == name } }
        guard let time = column(Points.time), let latitude = column("latitude"), let longitude = column("longitude") else {
            return nil
        }
        let altitude = column("altitude")
        let every = max(1, reported.points.count / Self.maximum)
        var (retained, last, count): ([Location], Location?, Int) = ([], nil, 0)
        while let point = try? reader.next() {
            guard let after = point[time]?.doubleValue, let north = point[latitude]?.doubleValue,
                let east = point[longitude]?.doubleValue, abs(north) <= 90, abs(east) <= 180, abs(after) < 1e15
            else { continue }
            var location = Location(
                time: route.start.microseconds + Int64(after), latitude: north, longitude: east,
                altitude: altitude.flatMap { point[$0]?.doubleValue }, distance: 0)
            if let first = retained.first { location.longitude = Self.near(east, first.longitude) }
            if let last {
                guard location.time >= last.time else { continue }
                location.distance = last.distance + Self.metres(last, location)
            }
            if count % every == 0 { retained.append(location) }
            (last, count) = (location, count + 1)
        }
        guard let last, count > 1 else { return nil }
        if retained.last != last { retained.append(last) }
        (locations, length) = (retained, last.distance)
    }

    /// A longitude without the jump from 180 to -180 degrees.
    private static func near(_ longitude: Double, _ first: Double) -> Double {
        longitude - first > 180 ? longitude - 360 : longitude - first < -180 ? longitude + 360 : longitude
    }

    /// The mean radius of the earth in metres (IUGG).
    private static let radius = 6_371_008.8

    /// The distance of two locations on a sphere, by the haversine formula.
    private static func metres(_ one: Location, _ other: Location) -> Double {
        let (first, second) = (one.latitude * .pi / 180, other.latitude * .pi / 180)
        let east = sin((other.longitude - one.longitude) * .pi / 360)
        let north = sin((second - first) / 2)
        return 2 * radius * asin(min(1, (north * north + cos(first) * cos(second) * east * east).squareRoot()))
    }

    /// The distance from the start at a time, interpolated between locations.
    package func distance(at time: Int64) -> Double {
        guard let next = locations.firstIndex(where: { $0.time >= time }) else { return length }
        guard next > 0 else { return locations[next].distance }
        let (before, after) = (locations[next - 1], locations[next])
        let share = Double(time - before.time) / Double(max(1, after.time - before.time))
        return before.distance + share * (after.distance - before.distance)
    }

    /// The times at which each whole multiple of a distance is passed, in microseconds since 1970. The first is the start.
    package func passes(every metres: Double) -> [Int64] {
        guard metres > 0, let first = locations.first, length / metres < 1000 else { return [] }
        var (times, goal) = ([first.time], metres)
        for (before, after) in zip(locations, locations.dropFirst()) {
            while after.distance >= goal {
                let share = (goal - before.distance) / max(after.distance - before.distance, 1e-9)
                times.append(before.time + Int64(share * Double(after.time - before.time)))
                goal += metres
            }
        }
        return times
    }
}

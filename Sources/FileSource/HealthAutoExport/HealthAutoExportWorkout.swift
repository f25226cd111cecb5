import HealthModel
import Pipeline

/// Interprets a workout of an export, in both versions of the format.
///
/// The versions are distinguished member by member: `activeEnergy` is a number in version 1 and a series in version 2. In version 1 a 0 means
/// that nothing was measured. Version 1 and version 2 of one workout have different ids, so a workout is identified by its activity, start and
/// end. The version with more figures is kept.
///
/// The series of a workout are also in the metrics of the same hours. Only its heart rates are read, because averages do not add up.
extension HealthAutoExportInterpreter {
    func workout(_ line: LineObject, at place: Place, into readings: inout [Reading]) throws(LineFault) {
        guard let start = try HealthAutoExportPoint.time(line, "start"), let end = try HealthAutoExportPoint.time(line, "end"),
            let type = SampleType("workout")
        else { throw LineFault("the workout has no start or no end") }
        guard end.instant >= start.instant else { throw LineFault("the workout ends before it starts") }
        let figures = try HealthAutoExportFigures(line)
        var (workout, entries) = (Workout(), try figures.metadata(line))
        if let seconds = try line.number("duration") { workout.duration = Amount(seconds, Workout.second) }
        workout.statistics = figures.statistics
        let rates = try heartRates(of: line, until: end.instant, at: place)
        if rates.areOfRecovery {
            // Versions before 9.0.16 wrote the heart rates of the recovery, and derived these figures from them.
            leftOut.skipped[SkipKind("heart rate of a workout (of its recovery)"), default: 0] += 1
        } else if let rate = figures.heartRate {
            workout.statistics.append(rate)
        }
        let source = origin(type, [])
        var reading = Reading(
            origin: source, numeral: Numeral(coefficient: Int64(figures.sport.number)), unit: .one,
            time: .instants(start: start.instant, end: end.instant, offset: start.offset), place: place)
        let (route, count) = try route(of: line, at: place)
        let seconds = (
            start.instant.microseconds / 1_000_000, (end.instant.microseconds - start.instant.microseconds) / 1_000_000
        )
        // The version with the most figures counts, in any order of arrival.
        reading.record = RecordIdentifier(
            id: "workout \(seconds.0)+\(seconds.1) \(figures.sport.number)", version: Int64(figures.count + count))
        if let route {
            workout.routes = ["\(uuid(of: route))"]
            readings.append(route)
        }
        if let id = try line.text("id", atMost: 256) { entries.append(("externalUUID", .string(id))) }
        if !entries.isEmpty { reading.metadata = Metadata(entries) }
        guard let body = try? SampleBody(encoding: workout) else { throw LineFault("the workout cannot be stored") }
        reading.body = body
        readings.insert(reading, at: 0)
        readings += rates.readings
        for series in Self.unreadSeries where line.has(series) {
            let count = (try? line.list(series, atMost: Self.maximumPoints))??.count ?? 0
            if count > 0 { leftOut.skipped[names.kind("\(series) of workouts"), default: 0] += count }
        }
    }

    private static let maximumPoints = 1 << 20

    private static let unreadSeries = [
        "activeEnergy", "basalEnergy", "stepCount", "walkingAndRunningDistance", "cyclingCadence", "cyclingDistance",
        "cyclingPower",
        "cyclingSpeed", "swimDistance", "swimStroke",
    ]

    private func uuid(of reading: Reading) -> SampleIdentity {
        guard case .instants(let start, let end, _) = reading.time else {
            return SampleIdentity(milliseconds: 0, high: 0, low: 0)
        }
        return SampleIdentity(
            series: reading.origin.seriesKey, start: start.microseconds, end: end.microseconds, numeral: reading.numeral,
            unit: reading.unit, ordinal: reading.ordinal)
    }

    // MARK: Heart rates

    /// The heart rates during and after a workout. Those after its end are single readings.
    private func heartRates(
        of line: LineObject, until end: Instant, at place: Place
    ) throws(LineFault) -> (readings: [Reading], areOfRecovery: Bool) {
        var (readings, during, after): ([Reading], Int, Int) = ([], 0, 0)
        for series in ["heartRateData", "heartRateRecovery"] {
            for range in try line.list(series, atMost: Self.maximumPoints) ?? [] {
                let point = try LineObject(line.bytes, range, path: "\(series): ")
                guard let time = try HealthAutoExportPoint.time(point, "date") else {
                    throw LineFault(series, "a point has no time")
                }
                let isAfter = time.instant >= end
                if series == "heartRateData" { if isAfter { after += 1 } else { during += 1 } }
                // Version 1 writes `count` for beats a minute.
                let units = try point.text("units", atMost: 64).map { $0 == "count" ? "count/min" : $0 } ?? ""
                guard isAfter ? isSingle(point) : isPeriodKnown else {
                    leftOut.skipped[names.kind("\(series) of workouts"), default: 0] += 1
                    continue
                }
                if isAfter {
                    guard let numeral = try point.number(firstOf: "Avg", "avg", "qty"),
                        let unit = HealthAutoExportNames.unit(units, of: .heartRate)
                    else { continue }
                    let reported = try HealthAutoExportPoint(point)
                    readings.append(reading(.heartRate, numeral, unit, .moment, reported, metadata: nil, at: place))
                } else {
                    _ = try heartRate(point, units: units, at: place, into: &readings)
                }
            }
        }
        return (readings, after > 0 && during == 0)
    }

    private var isPeriodKnown: Bool { grouping.map { $0 != .none } ?? false }

    private func isSingle(_ point: LineObject) -> Bool {
        let values = ["Min", "Avg", "Max", "min", "avg", "max", "qty"].compactMap { name in
            (try? point.number(name)).flatMap { $0?.doubleValue }
        }
        return Set(values).count == 1
    }

    // MARK: Routes

    private func route(of line: LineObject, at place: Place) throws(LineFault) -> (route: Reading?, count: Int) {
        guard let ranges = try line.list("route", atMost: Self.maximumPoints), !ranges.isEmpty,
            let type = SampleType("workoutRoute")
        else { return (nil, 0) }
        var (points, offset) = (RoutePoints(received: received), ZoneOffset?.none)
        var refused = 0
        do throws(ContentError) {
            for range in ranges {
                guard let (location, zone, texts) = try? location(LineObject(line.bytes, range, path: "route: ")),
                    try points.append(location) == .added
                else {
                    refused += 1
                    continue
                }
                offset = offset ?? zone
                Array(texts.0.utf8).withUnsafeBytes { latitude in
                    Array(texts.1.utf8).withUnsafeBytes { longitude in points.mark(latitude, longitude) }
                }
            }
            if refused > 0 {
                leftOut.skipped[SkipKind("location of a workout (not readable, or repeated)"), default: 0] += refused
            }
            guard points.count > 0, let locations = try points.end() else { return (nil, 0) }
            var reading = Reading(
                origin: origin(type, []), numeral: Numeral(coefficient: 0), unit: .one,
                time: .instants(start: locations.start, end: locations.end, offset: offset), ordinal: locations.mark, place: place
            )
            reading.body = try? SampleBody(encoding: WorkoutRoute(points: locations.points), content: locations.content)
            return reading.body == nil ? (nil, 0) : (reading, points.count)
        } catch {
            throw LineFault("the route cannot be stored: \(error)")
        }
    }

    private func location(
        _ point: LineObject
    ) throws(LineFault) -> (location: RoutePoints.Location, offset: ZoneOffset, texts: (String, String))? {
        guard let time = try HealthAutoExportPoint.time(point, "timestamp"),
            let latitude = try point.number(firstOf: "latitude", "lat"), latitude.doubleValue.magnitude <= 90,
            let longitude = try point.number(firstOf: "longitude", "lon"), longitude.doubleValue.magnitude <= 180
        else { return nil }
        // A negative course, speed or accuracy means that it is not known (CoreLocation).
        func known(_ name: String) throws(LineFault) -> Numeral? {
            try point.number(name).flatMap { $0.doubleValue < 0 ? nil : $0 }
        }
        let location = RoutePoints.Location(
            time: time.instant.microseconds, latitude: latitude, longitude: longitude, altitude: try point.number("altitude"),
            horizontalAccuracy: try known("horizontalAccuracy"), verticalAccuracy: try known("verticalAccuracy"),
            course: try known("course"), speed: try known("speed"))
        return (location, time.offset, (latitude.text, longitude.text))
    }
}

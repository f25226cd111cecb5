import HealthModel
import Pipeline

/// Interprets an activity file (TCX, FIT).
///
/// Heart rate is a sample at each point, and so are cadence, power and speed in sports for which HealthKit has a type. The positions
/// become a `workoutRoute`. The activity becomes a `workout` with the totals from the file.
///
/// - The source is `tcx` or `fit` and the name of the program that wrote the file. The device is the one that recorded.
/// - Laps become events of the workout with their figures as metadata, as in HealthKit. Pauses become events if the file contains them.
/// - If only the laps have totals, distance, energy and duration are their sums, and the highest heart rate is the maximum of theirs. The
///   average of a single lap is kept. For several laps it is left out, because a mean of means was never measured.
/// - A point's distance is cumulative from the start. It is not split into differences, which were never measured.
/// - An invalid point, position, number or lap is rejected alone. Everything else that is read and not stored is counted by name.
package final class ActivityInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    private var recording: ActivityRecording?
    private var names = SkipNames()
    private var leftOut = LeftOut()

    /// - Parameter registry: the registry of the person who did the activities.
    package init(registry: OriginRegistry) { self.registry = registry }

    /// Reads a row. The last row of an activity returns its workout and its route.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard case .row(let row) = frame.payload else { throw Refusal("not a row of an activity file", at: frame.place) }
        let texts = ActivityTexts(row: row, place: frame.place, isXML: frame.channel == ActivityRow.tcx)
        let element = row[ActivityRow.element]
        if element.isText(ActivityRow.point) { return try point(texts, received: frame.received, into: &readings) }
        if element.isText(ActivityRow.activity) {
            recording = try ActivityRecording(texts, registry, channel: frame.channel, received: frame.received)
        } else if element.isText(ActivityRow.skip) {
            leftOut.skipped[names.kind(texts.text(1) ?? ""), default: 0] += Int(row.text(2)) ?? 1
        } else if element.isText(ActivityRow.refused) {
            throw Refusal(texts.text(1) ?? "it cannot be read", at: frame.place)
        } else if element.isText(ActivityRow.lap) {
            try recording?.append(lap: texts)
        } else if element.isText(ActivityRow.event) {
            try recording?.append(event: texts)
        } else if element.isText(ActivityRow.end) {
            guard let recording else { throw Refusal("the activity has no beginning", at: frame.place) }
            self.recording = nil
            readings += try recording.end(texts, &leftOut)
            return .readings
        }
        return .notData
    }

    /// Returns the parts of activities that were not stored.
    package func takeLeftOut() -> LeftOut? { leftOut.take() }

    private func point(
        _ texts: ActivityTexts, received: Instant, into readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        guard let measurements = recording?.measurements else {
            throw Refusal("a point is outside an activity", at: texts.place)
        }
        let time = try texts.time(ActivityRow.Point.time, of: "point").instant
        if let fault = TimeBounds(received: received).fault(of: time.microseconds) {
            throw Refusal("a point: \(fault)", at: texts.place)
        }
        let (first, refused, counted) = (readings.count, leftOut.refusals.count, leftOut.skipped)
        var location: RoutePoints.Location?
        do throws(Refusal) {
            location = try texts.location(at: time)
        } catch {
            leftOut.refusals.append(error)
        }
        measurements.read(
            texts.row.cells, at: time, offset: recording?.offset, isPlaced: location != nil, place: texts.place,
            into: &readings, names: &names, leftOut: &leftOut)
        recording?.append(time)
        if let location { recording?.append(location, texts) }
        if readings.count > first { return .readings }
        let isNothing = location == nil && leftOut.refusals.count == refused && leftOut.skipped == counted
        return isNothing ? .skipped(SkipKind("trackpoint")) : .notData
    }
}

extension ActivityTexts {
    /// The position of a point, or `nil` if the file does not contain it.
    func location(at time: Instant) throws(Refusal) -> RoutePoints.Location? {
        let latitude = try number(ActivityRow.Point.latitude, "latitude", atMost: 90)
        let longitude = try number(ActivityRow.Point.longitude, "longitude", atMost: 180)
        guard let latitude, let longitude else {
            guard latitude == nil, longitude == nil else { throw Refusal("a point has half of a position", at: place) }
            return nil
        }
        return RoutePoints.Location(
            time: time.microseconds, latitude: latitude, longitude: longitude,
            altitude: try number(ActivityRow.Point.altitude, "altitude"), speed: try number(ActivityRow.Point.speed, "speed"))
    }
}

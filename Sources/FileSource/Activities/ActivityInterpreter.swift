import HealthModel
import Pipeline

/// What an activity file (TCX, FIT) means: heart rate, and cadence, power and speed of sports that HealthKit has a type for, are samples of each
/// point; the places are a `workoutRoute`, and the activity is a `workout` whose figures are the file's own.
///
/// - The source is `tcx` or `fit` with the name of the program that wrote the file, the device is the one that recorded.
/// - Laps are events of the workout, with their figures as metadata, since HealthKit's laps are; pauses are events where the file tells them.
/// - Where only laps are told, distance, energy and duration are their sums, the highest heart rate is their highest. A mean of the laps' means is
///   nobody's measurement and is left out, but of a single lap.
/// - A distance of a point is counted from the start on: it is not taken apart into pieces that nobody measured.
public final class ActivityInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    private var recording: ActivityRecording?

    /// - Parameter registry: of the person whose activities these are.
    public init(registry: OriginRegistry) { self.registry = registry }

    /// Takes a row; the last one of an activity gives its workout and its route.
    public func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard case .row(let row) = frame.payload else { throw Refusal("not a row of an activity file", at: frame.place) }
        let texts = ActivityTexts(row: row, place: frame.place, isXML: frame.channel == ActivityRow.tcx)
        let element = row[ActivityRow.element]
        if element.isText(ActivityRow.point) { return try point(texts, into: &readings) }
        if element.isText(ActivityRow.activity) {
            recording = try ActivityRecording(texts, registry, channel: frame.channel)
            return .notData
        }
        if element.isText(ActivityRow.skip) { return .skipped(SkipKind(texts.text(1) ?? "other")) }
        if element.isText(ActivityRow.end) {
            guard let recording else { throw Refusal("the activity has no beginning", at: frame.place) }
            self.recording = nil
            readings += try recording.end(texts)
            return .readings
        }
        do throws(Refusal) {
            if element.isText(ActivityRow.lap) { try recording?.append(lap: texts) }
            if element.isText(ActivityRow.event) { try recording?.append(event: texts) }
        } catch {
            // What is wrong with a part is wrong with the workout, which is refused once.
            if recording?.refusal == nil { recording?.refusal = error }
        }
        return .notData
    }

    private func point(_ texts: ActivityTexts, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard recording != nil else { throw Refusal("a point stands outside of any activity", at: texts.place) }
        let first = readings.count
        let time = try texts.time(ActivityRow.Point.time, of: "point").instant
        let location = try texts.location(at: time)
        for measurement in recording?.measurements ?? [] {
            guard let numeral = try texts.number(measurement.column, measurement.name) else { continue }
            readings.append(
                Reading(
                    origin: measurement.origin, numeral: numeral, unit: measurement.unit,
                    time: .instants(start: time, end: time, offset: recording?.offset), place: texts.place))
        }
        let last = recording?.last ?? time
        recording?.last = max(last, time)
        if let location { recording?.append(location, at: texts.place) }
        if readings.count > first { return .readings }
        return location == nil ? .skipped(SkipKind("trackpoint")) : .notData
    }
}

extension ActivityTexts {
    /// Where a point is; `nil` where it does not say.
    func location(at time: Instant) throws(Refusal) -> ActivityTrack.Location? {
        let latitude = try number(ActivityRow.Point.latitude, "latitude", atMost: 90)
        let longitude = try number(ActivityRow.Point.longitude, "longitude", atMost: 180)
        guard let latitude, let longitude else {
            guard latitude == nil, longitude == nil else { throw Refusal("a point has half of a position", at: place) }
            return nil
        }
        let mark = FNV.hash(row[ActivityRow.Point.latitude]) &* 31 &+ FNV.hash(row[ActivityRow.Point.longitude])
        return ActivityTrack.Location(
            time: time, latitude: latitude, longitude: longitude,
            altitude: try number(ActivityRow.Point.altitude, "altitude"), speed: try number(ActivityRow.Point.speed, "speed"),
            mark: mark)
    }
}

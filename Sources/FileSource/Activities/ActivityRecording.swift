import HealthModel
import Pipeline

/// An activity that has not been read to its end.
struct ActivityRecording {
    /// The maximum number of laps and of events. It limits memory and is higher than in any real activity.
    static let maximumEvents = 10_000

    let measurements: PointMeasurements
    let offset: ZoneOffset?

    /// The reason why the activity gets no workout, if any.
    private var refusal: Refusal?
    /// The earliest and the latest time of the points.
    private var times: (first: Instant, last: Instant)?

    private let sport: ActivitySport
    private let metadata: Metadata?
    /// Distinguishes activities of unknown sports. It is 0 for known sports.
    private let ordinal: UInt32
    private let start: Instant?
    private let workout: Origin?
    private let route: Origin?
    private var laps: [Lap] = []
    /// Whether a lap was rejected. The sums of the other laps are then not those of the activity.
    private var isLapMissing = false
    private var events: [(type: String, time: Instant)] = []
    private var track: RoutePoints?
    private var trackRefusal: Refusal?
    private let received: Instant

    private struct Lap {
        var start: Instant
        var end: Instant
        var figures: ActivityFigures
    }

    init(_ texts: ActivityTexts, _ registry: OriginRegistry, channel: String, received: Instant) throws(Refusal) {
        typealias Column = ActivityRow.Activity
        let words = (sport: texts.text(Column.sport), below: texts.text(Column.subSport))
        let isTCX = channel == ActivityRow.tcx
        let sport = isTCX ? words.sport.map { ActivitySport(word: $0) } : ActivitySport(fit: words.sport, words.below)
        self.sport = sport ?? .other
        self.received = received
        ordinal =
            self.sport.isUnknown
            ? UInt32(truncatingIfNeeded: StableHash.hash("\(channel) \(words.sport ?? "")")) & 0x7FFF_FFFF : 0
        let labels = [("sport", words.sport), ("subSport", words.below)]
        let entries = labels.compactMap { (key: String, word: String?) in word.map { (key, MetadataValue.string($0)) } }
        metadata = entries.isEmpty ? nil : Metadata(entries)
        let reported = texts.row[Column.start].isEmpty ? nil : try texts.time(Column.start, of: "activity")
        start = reported?.instant
        offset = try Self.offset(texts) ?? reported?.offset
        let source = SourceRevision(
            id: channel, name: texts.text(Column.sourceName) ?? channel.uppercased(), version: texts.text(Column.sourceVersion))
        let device = Self.device(texts)
        func origin(_ type: SampleType?) -> Origin? {
            type.map { registry.origin(type: $0, source: source, device: device) }
        }
        workout = origin(SampleType("workout"))
        route = origin(SampleType("workoutRoute"))
        measurements = PointMeasurements(isTCX ? .tcx : .fit, of: sport) { origin($0) }
    }

    private static func offset(_ texts: ActivityTexts) throws(Refusal) -> ZoneOffset? {
        let seconds = try texts.number(ActivityRow.Activity.offset, "offset of the local time", atMost: 18 * 3600)
        return seconds.map { ZoneOffset(seconds: Int32($0.doubleValue)) }
    }

    private static func device(_ texts: ActivityTexts) -> Device? {
        typealias Column = ActivityRow.Activity
        let (manufacturer, model) = (texts.text(Column.manufacturer), texts.text(Column.model))
        // Some programs write 0 if there is no serial number.
        let serial = texts.text(Column.serial).flatMap { $0 == "0" ? nil : $0 }
        let parts = [manufacturer, model, serial].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        return Device(
            key: parts.joined(separator: "/"), name: model, manufacturer: manufacturer, model: model, serial: serial,
            firmware: texts.text(Column.firmware))
    }

    mutating func append(_ time: Instant) {
        times = (min(times?.first ?? time, time), max(times?.last ?? time, time))
    }

    mutating func append(_ location: RoutePoints.Location, _ texts: ActivityTexts) {
        guard trackRefusal == nil else { return }
        // Taken out of the optional to avoid a copy.
        var track = self.track.take() ?? RoutePoints(received: received)
        do throws(ContentError) {
            if try track.append(location) == .added {
                track.mark(texts.row[ActivityRow.Point.latitude], texts.row[ActivityRow.Point.longitude])
            }
            self.track = track
        } catch {
            trackRefusal = Refusal("the route cannot be stored: \(error)", at: texts.place)
        }
    }

    /// Adds a lap.
    ///
    /// - Throws: ``Refusal`` if the lap is invalid. The totals of the activity are then not derived from its laps.
    mutating func append(lap texts: ActivityTexts) throws(Refusal) {
        guard refusal == nil else { return }
        guard laps.count < Self.maximumEvents else {
            refusal = Refusal("the activity has too many laps", at: texts.place)
            return
        }
        do throws(Refusal) {
            laps.append(try Self.lap(texts))
        } catch {
            isLapMissing = true
            throw error
        }
    }

    private static func lap(_ texts: ActivityTexts) throws(Refusal) -> Lap {
        let start = try texts.time(ActivityRow.Figures.start, of: "lap").instant
        let figures = try ActivityFigures(texts)
        if let length = figures.elapsed ?? figures.length {
            return Lap(start: start, end: Instant(microseconds: start.microseconds &+ length), figures: figures)
        }
        // Some programs write the end of a lap and not its duration.
        guard !texts.row[ActivityRow.Figures.end].isEmpty else { throw Refusal("a lap has no duration", at: texts.place) }
        let end = try texts.time(ActivityRow.Figures.end, of: "lap").instant
        guard end >= start else { throw Refusal("a lap ends before it starts", at: texts.place) }
        return Lap(start: start, end: end, figures: figures)
    }

    mutating func append(event texts: ActivityTexts) throws(Refusal) {
        guard refusal == nil else { return }
        guard events.count < Self.maximumEvents else {
            refusal = Refusal("the activity has too many pauses", at: texts.place)
            return
        }
        let time = try texts.time(ActivityRow.Event.time, of: "event").instant
        events.append((texts.text(ActivityRow.Event.type) ?? "", time))
    }

    /// Returns the workout, and the route if there is one.
    func end(_ texts: ActivityTexts, _ leftOut: inout LeftOut) throws(Refusal) -> [Reading] {
        if let refusal { throw refusal }
        if let trackRefusal { leftOut.refusals.append(trackRefusal) }
        guard let workout, let route, let start = start ?? laps.map(\.start).min() ?? times?.first else {
            throw Refusal("the activity has no start", at: texts.place)
        }
        let whole = try ActivityFigures(texts)
        let reported = whole.elapsed.map { Instant(microseconds: start.microseconds &+ $0) }
        guard let end = reported ?? (laps.map(\.end) + (times.map { [$0.last] } ?? [])).max(), end >= start else {
            throw Refusal("the activity has no end", at: texts.place)
        }
        var reading = Reading(
            origin: workout, numeral: Numeral(coefficient: Int64(sport.number)), unit: .one,
            time: .instants(start: start, end: end, offset: offset), ordinal: ordinal, metadata: metadata, place: texts.place)
        var body = self.body(whole, start)
        var readings: [Reading] = []
        if var track, track.count > 0 {
            do throws(ContentError) {
                guard let locations = try track.end() else { throw .damaged }
                var going = Reading(
                    origin: route, numeral: Numeral(coefficient: 0), unit: .one,
                    time: .instants(start: locations.start, end: locations.end, offset: offset), ordinal: locations.mark,
                    place: texts.place)
                body.routes = [going.uuid(locations.start, locations.end)]
                going.body = try? SampleBody(
                    encoding: WorkoutRoute(points: locations.points, workout: reading.uuid(start, end)),
                    content: locations.content)
                readings.append(going)
            } catch {
                leftOut.refusals.append(Refusal("the route cannot be stored: \(error)", at: texts.place))
            }
        }
        reading.body = try? SampleBody(encoding: body)
        readings.insert(reading, at: 0)
        guard readings.allSatisfy({ $0.body != nil }) else { throw Refusal("it cannot be stored", at: texts.place) }
        return readings
    }

    private func body(_ whole: ActivityFigures, _ start: Instant) -> Workout {
        let reported = laps.map(\.figures)
        func sum(_ figure: KeyPath<ActivityFigures, Numeral?>) -> Numeral? {
            isLapMissing ? nil : ActivityFigures.sum(reported.map { $0[keyPath: figure] })
        }
        let distance = whole.distance ?? sum(\.distance)
        let energy = whole.energy ?? sum(\.energy)
        let only = reported.count == 1 && !isLapMissing ? reported.first : nil
        var workout = Workout(
            duration: (whole.timer ?? sum(\.timer)).map { Amount($0, Workout.second) },
            totalDistance: distance.map { Amount($0, ActivityFigures.metre) })
        if let type = sport.distance, let distance {
            workout.statistics.append(Workout.Statistics(type: type.id, sum: Amount(distance, ActivityFigures.metre)))
        }
        if let energy {
            workout.statistics.append(
                Workout.Statistics(type: "totalEnergyBurned", sum: Amount(energy, ActivityFigures.kilocalorie)))
        }
        let average = whole.averageHeartRate ?? only?.averageHeartRate
        let highest = isLapMissing ? nil : reported.compactMap(\.maximumHeartRate).max { $0.doubleValue < $1.doubleValue }
        let maximum = whole.maximumHeartRate ?? highest
        if average ?? maximum ?? whole.minimumHeartRate != nil {
            let rate: (Numeral?) -> Amount? = { $0.map { Amount($0, ActivityFigures.beatsPerMinute) } }
            workout.statistics.append(
                Workout.Statistics(
                    type: "heartRate", average: rate(average), minimum: rate(whole.minimumHeartRate), maximum: rate(maximum)))
        }
        // A single lap is the activity itself.
        for lap in laps where laps.count > 1 || isLapMissing {
            workout.events.append(
                Workout.Event(
                    type: "lap", start: lap.start.microseconds &- start.microseconds,
                    end: lap.end.microseconds &- start.microseconds, metadata: lap.figures.metadata))
        }
        for event in events {
            let time = event.time.microseconds &- start.microseconds
            workout.events.append(Workout.Event(type: event.type, start: time, end: time))
        }
        workout.events.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        return workout
    }
}

extension Reading {
    /// The UUID under which the sample will be stored. Other samples of the same file refer to it.
    fileprivate func uuid(_ start: Instant, _ end: Instant) -> String {
        let identity = SampleIdentity(
            series: origin.seriesKey, start: start.microseconds, end: end.microseconds, numeral: numeral, unit: unit,
            ordinal: ordinal)
        return "\(identity)"
    }
}

import HealthModel
import Pipeline

/// An activity of which not all was read yet.
struct ActivityRecording {
    /// One kind of sample that a point has.
    struct Measurement {
        var column: Int
        var name: StaticString
        var origin: Origin
        var unit: Unit
    }

    /// More than any activity has; what has more is made to fill the memory.
    static let maximumEvents = 10_000

    let measurements: [Measurement]
    let offset: ZoneOffset?
    /// The last point's time.
    var last: Instant?
    /// Why there will be no workout.
    var refusal: Refusal?

    private let sport: ActivitySport
    private let metadata: Metadata?
    /// Tells activities apart whose sport nobody knows.
    private let ordinal: UInt32
    private let start: Instant?
    private let workout: Origin?
    private let route: Origin?
    private var laps: [Lap] = []
    private var events: [(type: String, time: Instant)] = []
    private var track: ActivityTrack?
    private var trackRefusal: Refusal?

    private struct Lap {
        var start: Instant
        var end: Instant
        var figures: ActivityFigures
    }

    init(_ texts: ActivityTexts, _ registry: OriginRegistry, channel: String) throws(Refusal) {
        typealias Column = ActivityRow.Activity
        let words = (sport: texts.text(Column.sport), below: texts.text(Column.subSport))
        let isTCX = channel == ActivityRow.tcx
        let name =
            isTCX
            ? ActivitySport.activity(ofTCX: words.sport ?? "")
            : ActivitySport.activity(ofFIT: words.sport ?? "", words.below ?? "")
        let sport = ActivitySport(name)
        self.sport = sport
        ordinal = sport.number == nil ? UInt32(truncatingIfNeeded: FNV.hash(name)) & 0x7FFF_FFFF : 0
        let said = [("sport", words.sport), ("subSport", words.below)]
        let entries = said.compactMap { (key: String, word: String?) in word.map { (key, MetadataValue.string($0)) } }
        metadata = entries.isEmpty ? nil : Metadata(entries)
        let told = texts.row[Column.start].isEmpty ? nil : try texts.time(Column.start, of: "activity")
        start = told?.instant
        offset = try Self.offset(texts) ?? told?.offset
        let source = SourceRevision(
            id: channel, name: texts.text(Column.sourceName) ?? channel.uppercased(), version: texts.text(Column.sourceVersion))
        let device = Self.device(texts)
        func origin(_ type: SampleType?) -> Origin? {
            type.map { registry.origin(type: $0, source: source, device: device) }
        }
        workout = origin(SampleType("workout"))
        route = origin(SampleType("workoutRoute"))
        typealias Point = ActivityRow.Point
        let kinds: [(Int, StaticString, SampleType?)] = [
            (Point.heartRate, "heart rate", SampleType("heartRate")), (Point.cadence, "cadence", sport.cadence),
            (Point.power, "power", sport.power), (Point.speed, "speed", sport.speed),
        ]
        var measurements: [Measurement] = []
        for (column, name, type) in kinds {
            guard let origin = origin(type), let unit = type?.canonicalUnit else { continue }
            measurements.append(Measurement(column: column, name: name, origin: origin, unit: unit))
        }
        self.measurements = measurements
    }

    private static func offset(_ texts: ActivityTexts) throws(Refusal) -> ZoneOffset? {
        let seconds = try texts.number(ActivityRow.Activity.offset, "offset of the local time", atMost: 18 * 3600)
        return seconds.map { ZoneOffset(seconds: Int32($0.doubleValue)) }
    }

    private static func device(_ texts: ActivityTexts) -> Device? {
        typealias Column = ActivityRow.Activity
        let (manufacturer, model) = (texts.text(Column.manufacturer), texts.text(Column.model))
        // 0 is what a program writes that has no number.
        let serial = texts.text(Column.serial).flatMap { $0 == "0" ? nil : $0 }
        let parts = [manufacturer, model, serial].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        return Device(
            key: parts.joined(separator: "/"), name: model, manufacturer: manufacturer, model: model, serial: serial,
            firmware: texts.text(Column.firmware))
    }

    mutating func append(_ location: ActivityTrack.Location, at place: Place) {
        guard trackRefusal == nil else { return }
        do throws(ContentError) {
            if track == nil { track = try ActivityTrack(location) } else { try track?.append(location) }
        } catch {
            trackRefusal = Refusal("the route cannot be packed: \(error)", at: place)
            track = nil
        }
    }

    mutating func append(lap texts: ActivityTexts) throws(Refusal) {
        guard laps.count < Self.maximumEvents else { throw Refusal("the activity has more laps than can be", at: texts.place) }
        let start = try texts.time(ActivityRow.Figures.start, of: "lap").instant
        let figures = try ActivityFigures(texts)
        guard let length = figures.elapsed ?? figures.length else { throw Refusal("a lap has no length", at: texts.place) }
        laps.append(Lap(start: start, end: Instant(microseconds: start.microseconds &+ length), figures: figures))
    }

    mutating func append(event texts: ActivityTexts) throws(Refusal) {
        guard events.count < Self.maximumEvents else {
            throw Refusal("the activity has more pauses than can be", at: texts.place)
        }
        let time = try texts.time(ActivityRow.Event.time, of: "event").instant
        events.append((texts.text(ActivityRow.Event.type) ?? "", time))
    }

    /// The workout, and the route where there was one.
    func end(_ texts: ActivityTexts) throws(Refusal) -> [Reading] {
        if let refusal = refusal ?? trackRefusal { throw refusal }
        guard let workout, let route, let start = start ?? laps.first?.start else {
            throw Refusal("the activity has no start", at: texts.place)
        }
        let whole = try ActivityFigures(texts)
        let told = whole.elapsed.map { Instant(microseconds: start.microseconds &+ $0) }
        guard let end = told ?? (laps.map(\.end) + (last.map { [$0] } ?? [])).max(), end >= start else {
            throw Refusal("the activity has no end", at: texts.place)
        }
        var reading = Reading(
            origin: workout, numeral: Numeral(coefficient: Int64(sport.number ?? -1)), unit: .one,
            time: .instants(start: start, end: end, offset: offset), ordinal: ordinal, metadata: metadata, place: texts.place)
        var body = self.body(whole, start)
        var readings: [Reading] = []
        if var track {
            var going = Reading(
                origin: route, numeral: Numeral(coefficient: 0), unit: .one,
                time: .instants(start: track.start, end: track.end, offset: offset), ordinal: track.ordinal, place: texts.place)
            body.routes = [going.uuid(track.start, track.end)]
            do throws(ContentError) {
                let (points, content) = try track.pack()
                going.body = try? SampleBody(
                    encoding: WorkoutRoute(points: points, workout: reading.uuid(start, end)), content: content)
            } catch {
                throw Refusal("the route cannot be packed: \(error)", at: texts.place)
            }
            readings.append(going)
        }
        reading.body = try? SampleBody(encoding: body)
        readings.insert(reading, at: 0)
        guard readings.allSatisfy({ $0.body != nil }) else { throw Refusal("it cannot be written down", at: texts.place) }
        return readings
    }

    private func body(_ whole: ActivityFigures, _ start: Instant) -> Workout {
        let told = laps.map(\.figures)
        let distance = whole.distance ?? ActivityFigures.sum(told.map(\.distance))
        let energy = whole.energy ?? ActivityFigures.sum(told.map(\.energy))
        let only = told.count == 1 ? told.first : nil
        var workout = Workout(
            duration: (whole.timer ?? ActivityFigures.sum(told.map(\.timer))).map { Amount($0, Workout.second) },
            totalDistance: distance.map { Amount($0, ActivityFigures.metre) })
        if let type = sport.distance, let distance {
            workout.statistics.append(Workout.Statistics(type: type.id, sum: Amount(distance, ActivityFigures.metre)))
        }
        if let energy {
            workout.statistics.append(
                Workout.Statistics(type: "totalEnergyBurned", sum: Amount(energy, ActivityFigures.kilocalorie)))
        }
        let average = whole.averageHeartRate ?? only?.averageHeartRate
        let maximum = whole.maximumHeartRate ?? told.compactMap(\.maximumHeartRate).max { $0.doubleValue < $1.doubleValue }
        if average ?? maximum ?? whole.minimumHeartRate != nil {
            let rate: (Numeral?) -> Amount? = { $0.map { Amount($0, ActivityFigures.beatsPerMinute) } }
            workout.statistics.append(
                Workout.Statistics(
                    type: "heartRate", average: rate(average), minimum: rate(whole.minimumHeartRate), maximum: rate(maximum)))
        }
        // One lap is the activity itself.
        for lap in laps where laps.count > 1 {
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
    /// The UUID that it will be stored under, told by others of the same file.
    fileprivate func uuid(_ start: Instant, _ end: Instant) -> String {
        let identity = SampleIdentity(
            series: origin.seriesKey, start: start.microseconds, end: end.microseconds, numeral: numeral, unit: unit,
            ordinal: ordinal)
        return "\(identity)"
    }
}

extension FNV {
    fileprivate static func hash(_ text: String) -> UInt64 {
        var hash = FNV()
        hash.combine(text)
        return hash.value
    }
}

import HealthModel
import Pipeline

/// Interprets the records of a post of the app HC Webhook.
///
/// A post has no record ids, so a record is identified by its list, source, device, time, and value. The app sends the steps of a day,
/// energies, nights, and workouts again while they grow. They are identified by their start, and the later end counts.
///
/// - The steps are the sum of a day, but counted only within the 48 hours before the post. The day that began earlier is a part of a day that
///   is reported as the whole, and is not stored.
/// - Without `metadata` the post does not contain the app that wrote a record. All of them then have one source.
/// - Times have no zone.
package final class HealthConnectPostInterpreter: FrameInterpreter {
    /// The id of the source. The packages of the writing apps follow.
    package static let source = "hc-webhook"
    package static var types: [SampleType] { HealthConnectNames.sampleTypes }

    private let registry: OriginRegistry
    private var names = SkipNames()
    private var leftOut = LeftOut()
    private var posted: Instant?
    private var origins: [OriginKey: Origin] = [:]

    private struct OriginKey: Hashable {
        var type: SampleType
        var package: String
        var device: Device?
    }

    /// More sources than a person has. Without this limit, a package that counts up would make a series of each record.
    private static let maximumOrigins = 1000
    /// The time before a post from which steps are counted, in microseconds: 48 hours.
    private static let window: Int64 = 172_800_000_000

    package init(registry: OriginRegistry) { self.registry = registry }

    package var unread: Unread { Unread() }
    package func takeLeftOut() -> LeftOut? { leftOut.take() }

    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard case .row(let row) = frame.payload else {
            guard case .malformed(let reason) = frame.payload else { throw Refusal("not a record of a post", at: frame.place) }
            throw Refusal(reason, at: frame.place)
        }
        let list = row.text(0)
        guard list != HealthConnectPostFile.timestamp else {
            posted = (try? Timestamp(iso8601: row.text(1)))?.instant
            return .notData
        }
        let first = readings.count
        do throws(LineFault) {
            let record = HealthConnectRecord(try LineObject(row[1]), list, frame)
            let skipped = try interpret(record, into: &readings)
            return skipped.map { .skipped($0) } ?? .readings
        } catch {
            readings.removeSubrange(first...)
            throw Refusal("\(names.kind(list).name): \(error.reason)", at: frame.place)
        }
    }

    /// Appends the readings of a record, or returns the kind under which it is skipped.
    private func interpret(_ record: HealthConnectRecord, into readings: inout [Reading]) throws(LineFault) -> SkipKind? {
        switch record.list {
        case "steps": return try steps(record, into: &readings)
        case "sleep": return try sleep(record, into: &readings)
        case "exercise":
            readings.append(try workout(record))
            return nil
        case "mindfulness":
            readings.append(try reading(record, "mindfulSession", Numeral(coefficient: 0), .one, try record.interval()))
            return nil
        default: break
        }
        if let reason = HealthConnectNames.skipped[record.list] { return names.kind(reason) }
        guard let shape = HealthConnectNames.shape(of: record.list) else { return names.kind(record.list) }
        return try values(shape, record, into: &readings)
    }

    private func values(
        _ shape: HealthConnectNames.Shape, _ record: HealthConnectRecord, into readings: inout [Reading]
    ) throws(LineFault) -> SkipKind? {
        let line = record.line
        // Newer versions can send the average of some time, without its length.
        if line.has("avg") { return names.kind("\(record.list): average") }
        let time = shape.lasts ? try record.interval() : try record.moment()
        let first = readings.count
        for (member, type, unit) in shape.values {
            guard let numeral = try line.number(member) else {
                guard shape.values.count > 1, !shape.isGroup else { throw LineFault(member, "it is missing") }
                continue
            }
            var entries: [(String, MetadataValue)] = []
            // 97 % is written as 97. A ratio such as 0.97 is not a possible percentage.
            if type == .oxygenSaturation, numeral.doubleValue <= 1 { entries.append(UncertainValue.unit) }
            var reading = try reading(record, type.id, numeral, unit, time)
            if let name = try line.text("name", atMost: 256), !name.isEmpty {
                entries.append(("foodType", .string(name)))
                // Two foods of one meal may have equal values.
                reading.ordinal = UInt32(truncatingIfNeeded: StableHash.hash(name)) & 0x7FFF_FFFF
            }
            if shape.isGroup { reading.group = .frame }
            if shape.grows {
                reading.record = .open("\(record.list) \(time.start.second)", number: time.end.second, isSentAgain: true)
            }
            if !entries.isEmpty { reading.metadata = Metadata(entries) }
            readings.append(reading)
        }
        return readings.count > first ? nil : names.kind("\(record.list) without a value")
    }

    private func steps(_ record: HealthConnectRecord, into readings: inout [Reading]) throws(LineFault) -> SkipKind? {
        guard let count = try record.line.number("count") else { throw LineFault("count", "it is missing") }
        let time = try record.interval()
        guard time.end > time.start else { throw LineFault("the period is empty") }
        let posted = posted ?? record.frame.received
        if time.start.microseconds < posted.microseconds - Self.window { return names.kind("steps of a part of a day") }
        var reading = try reading(record, "stepCount", count, Self.steps, time)
        reading.metadata = Metadata([("statistic", .string("sum"))])
        reading.record = .open("steps \(time.start.second)", number: time.end.second, isSentAgain: true)
        readings.append(reading)
        return nil
    }

    private static let steps = SampleType.stepCount.canonicalUnit

    private func sleep(_ record: HealthConnectRecord, into readings: inout [Reading]) throws(LineFault) -> SkipKind? {
        guard let end = try record.time("session_end_time"), let seconds = try record.line.number("duration_seconds") else {
            throw LineFault("a night has no end or no duration")
        }
        let duration = seconds.doubleValue
        guard duration >= 0, duration < 1e6 else { throw LineFault("the duration is not possible") }
        let start = Instant(microseconds: end.instant.microseconds - Int64((duration * 1e6).rounded()))
        let night = "sleep \(start.second)"
        var stages: [(time: HealthConnectRecord.Interval, name: String)] = []
        for stage in try record.line.objects("stages", atMost: 20_000) {
            let part = HealthConnectRecord(stage, record.list, record.frame)
            let code = try stage.text("stage", atMost: 16) ?? ""
            guard let name = HealthConnectNames.stages[code] else {
                leftOut.skipped[names.kind(code == "3" ? "out of bed" : "unknown stage of sleep"), default: 0] += 1
                continue
            }
            stages.append((try part.interval(), name))
        }
        // A night of which no stage is known.
        if stages.isEmpty { stages = [(.init(start: start, end: end.instant, offset: end.offset), "asleepUnspecified")] }
        stages.sort { ($0.time.start, $0.time.end) < ($1.time.start, $1.time.end) }
        for (index, stage) in stages.enumerated() {
            let value = SampleType("sleepAnalysis")?.categoryValues?.value(of: stage.name) ?? 0
            var reading = try reading(record, "sleepAnalysis", Numeral(coefficient: Int64(value)), .one, stage.time)
            let id = index == 0 ? night : RecordIdentifier.part(index, of: night)
            reading.record = RecordIdentifier(id: id, version: max(0, end.instant.second))
            readings.append(reading)
        }
        return nil
    }

    private func workout(_ record: HealthConnectRecord) throws(LineFault) -> Reading {
        let (line, time) = (record.line, try record.interval())
        let code = try line.text("type", atMost: 64) ?? ""
        let sport = ActivitySport(word: HealthConnectNames.activities[code] ?? code)
        var workout = Workout()
        if let seconds = try line.number("duration_seconds") { workout.duration = Amount(seconds, Workout.second) }
        if let meters = try line.number("distance_meters"), let type = sport.distance {
            workout.statistics.append(Workout.Statistics(type: type.id, sum: Amount(meters, type.canonicalUnit)))
        }
        if let steps = try line.number("steps") {
            workout.statistics.append(Workout.Statistics(type: SampleType.stepCount.id, sum: Amount(steps, Self.steps)))
        }
        var reading = try reading(record, "workout", Numeral(coefficient: Int64(sport.number)), .one, time)
        guard let body = try? SampleBody(encoding: workout) else { throw LineFault("the workout cannot be stored") }
        reading.body = body
        reading.record = .open("workout \(time.start.second) \(sport.number)", number: time.end.second, isSentAgain: true)
        if sport.isUnknown, !code.isEmpty { reading.metadata = Metadata([("activityName", .string(code))]) }
        return reading
    }

    private func reading(
        _ record: HealthConnectRecord, _ type: String, _ numeral: Numeral, _ unit: Unit, _ time: HealthConnectRecord.Interval
    ) throws(LineFault) -> Reading {
        guard let type = SampleType(type) else { throw LineFault("\(type) is not known") }
        return Reading(
            origin: try origin(type, record), numeral: numeral, unit: unit,
            time: .instants(start: time.start, end: time.end, offset: time.offset), place: record.frame.place)
    }

    /// The origin of a reading: the app that wrote the record and the device that measured it, if the post contains them.
    private func origin(_ type: SampleType, _ record: HealthConnectRecord) throws(LineFault) -> Origin {
        let writer = try record.writer()
        let key = OriginKey(type: type, package: writer.package, device: writer.device)
        if let known = origins[key] { return known }
        guard origins.count < Self.maximumOrigins else {
            return registry.origin(type: type, source: SourceRevision(id: Self.source, name: "HC Webhook"))
        }
        let source =
            writer.package.isEmpty
            ? SourceRevision(id: Self.source, name: "HC Webhook")
            : SourceRevision(id: "\(Self.source)/\(writer.package)", name: writer.package)
        let origin = registry.origin(type: type, source: source, device: writer.device)
        origins[key] = origin
        return origin
    }
}

/// A record of a list, with its times.
struct HealthConnectRecord {
    /// When a record was, with the offset if it is written with one.
    struct Interval {
        var start: Instant
        var end: Instant
        var offset: ZoneOffset?
    }

    let line: LineObject
    let list: String
    let frame: RawFrame

    init(_ line: LineObject, _ list: String, _ frame: RawFrame) { (self.line, self.list, self.frame) = (line, list, frame) }

    func moment() throws(LineFault) -> Interval {
        guard let time = try time("time") else { throw LineFault("time", "it is missing") }
        return Interval(start: time.instant, end: time.instant, offset: time.offset)
    }

    /// The time of a record that lasts.
    func interval() throws(LineFault) -> Interval {
        guard let start = try time("start_time"), let end = try time("end_time") else {
            throw LineFault("it has no start or no end")
        }
        guard end.instant >= start.instant else { throw LineFault("it ends before it starts") }
        return Interval(start: start.instant, end: end.instant, offset: start.offset)
    }

    /// Reads a time, or returns `nil` if it is missing. `Z` is an instant without a zone.
    func time(_ name: String) throws(LineFault) -> (instant: Instant, offset: ZoneOffset?)? {
        guard let text = try line.text(name, atMost: 64) else { return nil }
        guard let time = try? Timestamp(iso8601: text), let instant = time.instant else {
            throw line.fault(name, "it is not a time with an offset")
        }
        return (instant, text.hasSuffix("Z") ? nil : time.offset)
    }

    /// The app and the device, if the app was set to send them.
    func writer() throws(LineFault) -> (package: String, device: Device?) {
        guard let metadata = try line.object("metadata") else { return ("", nil) }
        let package = try metadata.text("data_origin", atMost: 256) ?? ""
        guard let device = try metadata.object("device") else { return (package, nil) }
        let (maker, model) = (try device.text("manufacturer", atMost: 128), try device.text("model", atMost: 128))
        guard let model, !model.isEmpty else { return (package, nil) }
        return (package, Device(key: [maker, model].compactMap { $0 }.joined(separator: "/"), manufacturer: maker, model: model))
    }
}

extension Instant {
    /// The whole second, in seconds since 1970.
    fileprivate var second: Int64 { microseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient }
}

import HealthModel
import Pipeline

/// Interprets the points and workouts of an export of Health Auto Export.
///
/// - A point of a period, such as the steps of a day, is a statistic. Its record is the type and the period, so a value that is sent again
///   replaces the earlier one and is never added to it. Its source is the app, because the phone has merged the sources of the period. Their
///   names are in the metadata, with the kind of statistic.
/// - Heart rates of a period become `heartRateAverage`, `heartRateMinimum` and `heartRateMaximum`, so they are never readings.
/// - A single sample is a reading of its source. The format has neither identifiers nor ends. A reading at the start of a minute may be the
///   average of this minute, so another value at the same time replaces it.
/// - A value whose period is not known is quarantined with its point: all points of an export without the header, and single samples of
///   types that are counted over time, such as steps.
/// - A night that contains only totals is kept as time in bed, with the totals in its metadata. No stage is derived from them.
/// - Units and names are looked up in ``HealthAutoExportNames``. An unknown unit is refused, an unknown name is counted in the account.
package final class HealthAutoExportInterpreter: FrameInterpreter {
    /// The id of the source of statistics. For readings, the names of their sources follow.
    package static let source = "health-auto-export"

    package static var types: [SampleType] { HealthAutoExportNames.sampleTypes }

    let registry: OriginRegistry
    let zone: TimeZoneRules?
    /// The grouping that the user names, or that of the request's header.
    private(set) var grouping: PeriodGrouping?
    private let isGroupingGiven: Bool
    /// Whether a UUID is that of a sample of this hub, which Vitalgate's webhook sent and which comes back as these readings.
    package var isOwn: (SampleIdentity, ArraySlice<Reading>) -> Bool = { _, _ in false }

    var names = SkipNames()
    var leftOut = LeftOut()
    private(set) var received = TimeBounds.earliest
    private var metric: (name: String, shape: HealthAutoExportNames.Shape?, units: String) = ("", nil, "")
    private var origins: [OriginKey: Origin] = [:]
    /// The number of days in other zones.
    private var daysElsewhere = 0
    private var pointsWithoutPeriod = 0

    private struct OriginKey: Hashable {
        var type: SampleType
        var sources: String
    }

    /// More sources than a person has. Without this limit, a source that counts up would make a series of each point.
    private static let maximumOrigins = 1000

    /// - Parameters:
    ///   - grouping: the length of the periods, or `nil` if the export contains it or it is unknown.
    ///   - zone: the person's zone, for the ends of days.
    package init(registry: OriginRegistry, grouping: PeriodGrouping? = nil, zone: TimeZoneRules? = nil) {
        (self.registry, self.grouping, self.zone) = (registry, grouping, zone)
        isGroupingGiven = grouping != nil
    }

    /// Assumptions and missing facts, for the account.
    package var notes: [String] {
        var notes: [String] = []
        if daysElsewhere > 0 {
            notes.append(
                "\(daysElsewhere == 1 ? "1 value" : "\(daysElsewhere) values") of a day or longer in another time zone: a day counts as 24 hours"
            )
        }
        if pointsWithoutPeriod > 0 {
            let count = pointsWithoutPeriod == 1 ? "1 value is" : "\(pointsWithoutPeriod) values are"
            notes.append(
                grouping == nil
                    ? "\(count) quarantined, because the export does not contain the length of their periods (--grouping)"
                    : "\(count) quarantined, because only their start is known: in the app, choose the time grouping Minutes or Hours for them"
            )
        }
        return notes
    }

    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        received = frame.received
        guard case .row(let row) = frame.payload else {
            guard case .malformed(let reason) = frame.payload else { throw Refusal("not a row of an export", at: frame.place) }
            throw Refusal(reason, at: frame.place)
        }
        switch row.text(0) {
        case HealthAutoExportRow.grouping:
            if !isGroupingGiven { grouping = PeriodGrouping(header: row.text(1)) }
            return .notData
        case HealthAutoExportRow.metric:
            metric = (row.text(1), HealthAutoExportNames.shape(of: row.text(1)), row.text(2))
            return .notData
        case HealthAutoExportRow.point: return try point(row[1], at: frame.place, into: &readings)
        default:
            guard row.text(1) == HealthAutoExportFile.workouts else { return .skipped(names.kind(row.text(1))) }
            let first = readings.count
            do throws(LineFault) {
                try workout(try LineObject(row[2]), at: frame.place, into: &readings)
            } catch {
                readings.removeSubrange(first...)
                throw Refusal(error.reason, at: frame.place)
            }
            return readings.count > first ? .readings : .notData
        }
    }

    package func takeLeftOut() -> LeftOut? { leftOut.take() }

    private func point(
        _ json: UnsafeRawBufferPointer, at place: Place, into readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        guard let shape = metric.shape else { return .skipped(names.kind(metric.name)) }
        let first = readings.count
        do throws(LineFault) {
            let line = try LineObject(json)
            let skipped = try interpret(line, shape, at: place, into: &readings)
            if let uuid = try line.text("uuid").flatMap({ SampleIdentity($0) }), isOwn(uuid, readings[first...]) {
                readings.removeSubrange(first...)
                return .skipped(Self.ownReading)
            }
            guard let skipped else { return .readings }
            return .skipped(skipped)
        } catch {
            readings.removeSubrange(first...)
            throw Refusal("\(metric.name): \(error.reason)", at: place)
        }
    }

    /// A sample of this hub that its webhook sent and that came back.
    package static let ownReading = SkipKind("own reading")
    static let noValue = SkipKind("no-value")

    /// Appends the readings of a point, or returns the kind under which it is skipped.
    private func interpret(
        _ line: LineObject, _ shape: HealthAutoExportNames.Shape, at place: Place, into readings: inout [Reading]
    ) throws(LineFault) -> SkipKind? {
        switch shape {
        case .quantity(let type):
            guard let numeral = try line.number("qty") else { return Self.noValue }
            readings.append(
                contentsOf: try quantities([(type, numeral)], units: metric.units, try HealthAutoExportPoint(line), at: place))
        case .heartRate: return try heartRate(line, units: metric.units, at: place, into: &readings)
        case .bloodPressure:
            guard let systolic = try line.number("systolic"), let diastolic = try line.number("diastolic"),
                let upper = SampleType("bloodPressureSystolic"), let lower = SampleType("bloodPressureDiastolic")
            else { return Self.noValue }
            var pair = try quantities(
                [(upper, systolic), (lower, diastolic)], units: metric.units, try HealthAutoExportPoint(line), at: place)
            for index in pair.indices { pair[index].group = .frame }
            readings += pair
        case .sleep: return try sleep(line, at: place, into: &readings)
        case .event(let id): return try event(line, id, at: place, into: &readings)
        case .counts:
            let hasEvents = line.members.contains {
                !["date", "source", "uuid"].contains($0.name) && (try? line.number($0.name))??.isZero == false
            }
            return hasEvents ? names.kind("\(metric.name): number of events") : Self.noValue
        }
        return nil
    }

    // MARK: Quantities

    func quantities(
        _ values: [(type: SampleType, numeral: Numeral)], units: String, _ point: HealthAutoExportPoint, at place: Place
    ) throws(LineFault) -> [Reading] {
        guard let first = values.first else { return [] }
        let placement = try placement(of: point, first.type)
        var readings: [Reading] = []
        for (type, numeral) in values {
            guard let unit = HealthAutoExportNames.unit(units, of: type) else {
                throw LineFault(units.isEmpty ? "the unit is missing" : "the unit is unknown")
            }
            var entries = point.metadata
            // 97 % is written as 97. A ratio such as 0.97 is not a possible percentage.
            if unit.code == "%", type == .oxygenSaturation, numeral.doubleValue <= 1 { entries.append(UncertainValue.unit) }
            switch placement {
            case .period:
                entries.append(("statistic", .string(type.aggregation == .cumulative ? "sum" : "average")))
                if !point.sources.isEmpty { entries.append(("sources", .string(point.sources.joined(separator: "|")))) }
            case .unknown: entries.append(UncertainValue.period)
            case .moment, .span: break
            }
            readings.append(
                reading(type, numeral, unit, placement, point, metadata: entries.isEmpty ? nil : Metadata(entries), at: place))
        }
        if case .unknown = placement { pointsWithoutPeriod += readings.count }
        return readings
    }

    /// When the value of a point was measured.
    enum Placement: Hashable {
        /// A single sample at an instant.
        case moment
        /// A single sample with an end.
        case span(Instant)
        /// A statistic of a period until this end.
        case period(Instant)
        /// It may be a sample or a statistic, or its end is unknown.
        case unknown
    }

    func placement(of point: HealthAutoExportPoint, _ type: SampleType) throws(LineFault) -> Placement {
        if point.isOfUnknownPeriod { return .unknown }
        if let end = point.end { return .span(end.instant) }
        // Vitalgate's webhook sends each sample with its UUID, without headers.
        guard let grouping = grouping ?? (point.uuid == nil ? nil : PeriodGrouping.none) else { return .unknown }
        guard let end = grouping.end(of: point.time.instant, offset: point.time.offset, zone: zone) else {
            return type.isCountedOverTime ? .unknown : .moment
        }
        guard end.instant <= TimeBounds.latest(received: received) else { throw LineFault("the period is not over yet") }
        if end.isElsewhere, zone != nil { daysElsewhere += 1 }
        return .period(end.instant)
    }

    func reading(
        _ type: SampleType, _ numeral: Numeral, _ unit: Unit, _ placement: Placement, _ point: HealthAutoExportPoint,
        metadata: Metadata?, at place: Place
    ) -> Reading {
        let start = point.time.instant
        var (end, record): (Instant, RecordIdentifier?) = (start, nil)
        switch placement {
        case .moment:
            if point.time.isWholeMinute { record = .open(point.recordName(start, start), number: 0, isSentAgain: true) }
        case .span(let reported): end = reported
        case .period(let reported):
            end = reported
            record = .open(point.recordName(start, end), number: 0, isSentAgain: true)
        case .unknown: break
        }
        if let uuid = point.uuid { record = RecordIdentifier(id: "\(uuid)", version: 0) }
        var isMerged = false
        if case .period = placement { isMerged = true }
        return Reading(
            origin: origin(type, isMerged ? [] : point.sources), numeral: numeral, unit: unit,
            time: .instants(start: start, end: end, offset: point.time.offset), metadata: metadata, record: record, place: place)
    }

    /// The origin of a reading of these sources, or of the app if the point names no source.
    func origin(_ type: SampleType, _ sources: [String]) -> Origin {
        let key = OriginKey(type: type, sources: sources.joined(separator: "|"))
        if let known = origins[key] { return known }
        let isNamed = !sources.isEmpty && origins.count < Self.maximumOrigins
        let source = SourceRevision(
            id: isNamed ? "\(Self.source)/\(key.sources)" : Self.source,
            name: isNamed ? sources.joined(separator: ", ") : "Health Auto Export")
        let origin = registry.origin(type: type, source: source)
        if isNamed || sources.isEmpty { origins[key] = origin }
        return origin
    }

    // MARK: Heart rates

    private static let heartRateTypes = (
        average: SampleType("heartRateAverage"), minimum: SampleType("heartRateMinimum"), maximum: SampleType("heartRateMaximum")
    )

    /// Appends the heart rates of a point. A single sample has three equal values.
    func heartRate(
        _ line: LineObject, units: String, at place: Place, into readings: inout [Reading]
    ) throws(LineFault) -> SkipKind? {
        guard let average = try line.number(firstOf: "Avg", "avg", "qty") else { return Self.noValue }
        let (minimum, maximum) = (
            try line.number(firstOf: "Min", "min") ?? average, try line.number(firstOf: "Max", "max") ?? average
        )
        let point = try HealthAutoExportPoint(line)
        let isSingle = minimum.doubleValue == average.doubleValue && maximum.doubleValue == average.doubleValue
        var values: [(SampleType, Numeral)] = []
        let placement = try placement(of: point, .heartRate)
        if case .period = placement {} else if isSingle { values = [(.heartRate, average)] }
        if values.isEmpty {
            for case (let type?, let numeral) in [
                (Self.heartRateTypes.average, average), (Self.heartRateTypes.minimum, minimum),
                (Self.heartRateTypes.maximum, maximum),
            ] { values.append((type, numeral)) }
            // Three different values are of some time, which no header names.
            if case .moment = placement {
                let sealed = HealthAutoExportPoint(point, isOfUnknownPeriod: true)
                readings += try quantities(values, units: units, sealed, at: place)
                return nil
            }
        }
        readings += try quantities(values, units: units, point, at: place)
        return nil
    }

    // MARK: Categories

    /// Appends an event. Its duration is the value. The sum of a period is not an event.
    private func event(
        _ line: LineObject, _ id: String, at place: Place, into readings: inout [Reading]
    ) throws(LineFault) -> SkipKind? {
        guard let numeral = try line.number("qty"), let type = SampleType(id), let second = try? Unit(ucum: "s") else {
            return Self.noValue
        }
        guard grouping == PeriodGrouping.none else {
            let reason = grouping == nil ? "unknown period" : "sum of a period"
            return names.kind("\(metric.name): \(reason)")
        }
        guard let unit = HealthAutoExportNames.unit(metric.units, of: type), let conversion = try? unit.conversion(to: second)
        else {
            throw LineFault("the unit is not one of time")
        }
        let seconds = conversion.convert(numeral)
        guard seconds >= 0, seconds < 1e6 else { throw LineFault("the duration is not possible") }
        let point = try HealthAutoExportPoint(line)
        let end = Instant(microseconds: point.time.instant.microseconds + Int64((seconds * 1e6).rounded()))
        var entries = point.metadata
        if let value = try line.text("value", atMost: 256) { entries.append(("value", .string(value))) }
        readings.append(
            reading(
                type, Numeral(coefficient: 0), .one, .span(end), point, metadata: entries.isEmpty ? nil : Metadata(entries),
                at: place))
        return nil
    }

    private static let stages = [
        "In Bed": "inBed", "InBed": "inBed", "Asleep": "asleepUnspecified", "Unspecified": "asleepUnspecified", "Awake": "awake",
        "Core": "asleepCore", "Deep": "asleepDeep", "REM": "asleepREM",
    ]

    private func sleep(_ line: LineObject, at place: Place, into readings: inout [Reading]) throws(LineFault) -> SkipKind? {
        guard let type = SampleType("sleepAnalysis") else { return Self.noValue }
        guard line.has("startDate") else { return try night(line, type, at: place, into: &readings) }
        guard let end = try HealthAutoExportPoint.time(line, "endDate"), let word = try line.text("value", atMost: 256) else {
            throw LineFault("a segment of sleep has no end or no stage")
        }
        let point = try HealthAutoExportPoint(line, start: "startDate")
        let number = Self.stages[word].flatMap { type.categoryValues?.value(of: $0) }
        // Words of another language are kept, and the segment is quarantined.
        let metadata = number == nil ? Metadata([(Metadata.receivedCase, .string(word))]) : nil
        var segment = reading(
            type, Numeral(coefficient: Int64(number ?? -1)), .one, .span(end.instant), point, metadata: metadata, at: place)
        if number == nil { segment.ordinal = UInt32(truncatingIfNeeded: StableHash.hash(word)) & 0x7FFF_FFFF }
        readings.append(segment)
        return nil
    }

    /// Appends a night that contains only totals.
    ///
    /// `asleep` is the sleep without a stage if the app writes stages, and all sleep in older versions (before 6.6.2).
    private func night(
        _ line: LineObject, _ type: SampleType, at place: Place, into readings: inout [Reading]
    ) throws(LineFault) -> SkipKind? {
        let inBed = try line.number("inBed").map { $0.doubleValue > 0 } ?? false
        let isInBedKnown = inBed && line.has("inBedStart") && line.has("inBedEnd")
        let keys = isInBedKnown ? ("inBedStart", "inBedEnd") : ("sleepStart", "sleepEnd")
        guard line.has(keys.0), let end = try HealthAutoExportPoint.time(line, keys.1) else { return Self.noValue }
        let point = try HealthAutoExportPoint(line, start: keys.0)
        guard let unit = HealthAutoExportNames.unit(metric.units, of: type) else { throw LineFault("the unit is unknown") }
        let hasStages = ["core", "deep", "rem"].contains { line.has($0) }
        let totals = [
            ("totalSleep", "asleepTotal"), ("asleep", hasStages ? "asleepUnspecified" : "asleepTotal"), ("core", "asleepCore"),
            ("deep", "asleepDeep"), ("rem", "asleepREM"), ("awake", "awake"), ("inBed", "inBed"),
        ]
        var entries: [(String, MetadataValue)] = [("statistic", .string("night"))]
        for (key, name) in totals {
            guard let numeral = try line.number(key), key != "inBed" || inBed else { continue }
            entries.append((name, .quantity(numeral, unit)))
        }
        if !point.sources.isEmpty { entries.append(("sources", .string(point.sources.joined(separator: "|")))) }
        var night = reading(
            type, Numeral(coefficient: Int64(type.categoryValues?.value(of: "inBed") ?? 0)), .one, .span(end.instant), point,
            metadata: Metadata(entries), at: place)
        night.origin = origin(type, [])
        // The same night is sent again while it lasts. The later end is the later version.
        night.record = .open(
            "night \(point.time.instant.microseconds / 1_000_000)", number: max(0, end.instant.microseconds / 1_000_000),
            isSentAgain: true)
        readings.append(night)
        return nil
    }
}

extension Numeral {
    fileprivate var isZero: Bool { doubleValue == 0 }
}

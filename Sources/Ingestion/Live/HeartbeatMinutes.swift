import HealthModel
import Pipeline

/// Gathers the intervals between heartbeats that a device tells, frame by frame, into one `heartbeatSeries` a minute of our clock.
///
///     readings of a frame:  heartRate 61   heartbeatInterval 984 ms   heartbeatInterval 977 ms
///     left:                 heartRate 61
///     gathered:             a beat, a beat 984 ms later, a beat 977 ms after that
///
/// A beat's time is that of the beat before and the interval, so that no interval is lost in the way of a frame through the air. The first beat is
/// as long before its frame as the frame's intervals say. Where intervals and arrivals part by more than ``tolerance``, beats are missing: the next
/// one has a gap before it, and is told by its arrival again.
///
/// A series begins with the last beat of the one before, where no beats are missing between them. Nothing here asks a clock: the same frames at the
/// same times make the same series.
struct HeartbeatMinutes {
    private struct Series {
        var interval: Origin
        var minute: Int64
        var start: Instant
        /// In microseconds after the start.
        var beats: [(time: Int64, isAfterGap: Bool)]
        var metadata: Metadata?
        var place: Place
    }

    private var open: Series?
    /// The last frame was cut off, and beats with it.
    private var isTorn = false
    /// When the last frame with beats came.
    private(set) var heard: Instant?

    /// How far, in microseconds, intervals and arrivals may part: frames wait a second or two in a sensor.
    private static let tolerance: Int64 = 3_000_000
    private static let minute: Int64 = 60_000_000
    /// More than any heart beats in a minute: a device that tells more has its series cut.
    private static let maximumBeats = 1000

    var isEmpty: Bool { open == nil }

    /// Takes the intervals of a frame out of its readings; those that cannot be true stay, for the gate.
    ///
    /// - Parameter finished: gets the series of a minute that is over.
    mutating func take(_ readings: inout [Reading], received: Instant, into finished: inout [Reading]) {
        var lengths: [Int64] = []
        var first: Reading?
        var isBroken = false
        let wasTorn = isTorn
        isTorn = readings.contains { $0.metadata?.entries.contains { $0.key == "cutOff" } ?? false }
        readings.removeAll { reading in
            guard reading.origin.type == Self.interval, case .receipt = reading.time else { return false }
            guard let length = Self.microseconds(reading) else {
                isBroken = true
                return false
            }
            first = first ?? reading
            lengths.append(length)
            return true
        }
        guard let first else {
            isTorn = isTorn || wasTorn
            return
        }
        if isBroken || open?.interval != first.origin { close(into: &finished) }
        let whole = lengths.reduce(0, +)
        let minute = received.microseconds.flooredQuotientAndRemainder(dividingBy: Self.minute).quotient
        if let last = open, last.minute != minute || last.beats.count > Self.maximumBeats {
            close(into: &finished)
            // What follows begins with the beat that the minute ended with.
            let end = last.start.microseconds &+ (last.beats.last?.time ?? 0)
            if !wasTorn, (end &+ whole &- received.microseconds).magnitude <= UInt64(Self.tolerance) {
                begin(first, minute, at: Instant(microseconds: end), isAfterGap: false)
            }
        }
        let arrived = received.microseconds &- whole
        if let series = open {
            let end = series.start.microseconds &+ (series.beats.last?.time ?? 0)
            if wasTorn || (end &- arrived).magnitude > UInt64(Self.tolerance) {
                // Never before the beat that is there already.
                open?.beats.append((max(arrived, end) &- series.start.microseconds, true))
            }
        } else {
            begin(first, minute, at: Instant(microseconds: arrived), isAfterGap: true)
        }
        for length in lengths {
            let last = open?.beats.last?.time ?? 0
            open?.beats.append((last &+ length, false))
        }
        heard = received
    }

    private mutating func begin(_ reading: Reading, _ minute: Int64, at start: Instant, isAfterGap: Bool) {
        open = Series(
            interval: reading.origin, minute: minute, start: start, beats: [(0, isAfterGap)], metadata: reading.metadata,
            place: reading.place)
    }

    /// Ends the series that is open: what comes next begins a new one, after a gap.
    mutating func close(into finished: inout [Reading]) {
        guard let series = open else { return }
        open = nil
        guard let type = Self.series, let packed = Self.pack(series.beats),
            let body = try? SampleBody(encoding: HeartbeatSeries(points: packed.points), content: packed.content)
        else { return }
        let origin = series.interval
        let end = series.start.microseconds &+ (series.beats.last?.time ?? 0)
        // Who it is follows from its first beat, its last one and its intervals.
        let mark = packed.content.digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        finished.append(
            Reading(
                origin: Origin(subject: origin.subject, type: type, source: origin.source, device: origin.device),
                numeral: Numeral(coefficient: 0), unit: .one,
                time: .instants(start: series.start, end: Instant(microseconds: end), offset: nil), ordinal: mark,
                metadata: series.metadata, body: body, place: series.place))
    }

    /// Our own clock was set, by so many microseconds.
    mutating func clockWasSet(by step: Int64) {
        heard?.microseconds &+= step
        open?.start.microseconds &+= step
        guard let heard else { return }
        open?.minute = heard.microseconds.flooredQuotientAndRemainder(dividingBy: Self.minute).quotient
    }

    private static let interval = SampleType("heartbeatInterval")
    private static let series = SampleType("heartbeatSeries")
    private static let millisecond = try? Unit(ucum: "ms")

    /// `nil` where it cannot be true.
    private static func microseconds(_ reading: Reading) -> Int64? {
        guard let millisecond, let conversion = try? reading.unit.conversion(to: millisecond) else { return nil }
        let length = conversion.convert(reading.numeral)
        guard reading.origin.inconspicuous.contains(length) else { return nil }
        return Int64((length * 1000).rounded())
    }

    private static func pack(_ beats: [(time: Int64, isAfterGap: Bool)]) -> (points: Points, content: PackedContent)? {
        do throws(ContentError) {
            var writer = PointsWriter(columns: HeartbeatSeries.columns)
            for beat in beats {
                try writer.append([Numeral(coefficient: beat.time), Numeral(coefficient: beat.isAfterGap ? 1 : 0), nil])
            }
            return try writer.end()
        } catch {
            return nil
        }
    }
}

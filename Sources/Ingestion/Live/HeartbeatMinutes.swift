import HealthModel
import Pipeline

/// Collects a device's intervals between heartbeats into one `heartbeatSeries` for each minute of our clock.
///
///     readings of a frame:  heartRate 61   heartbeatInterval 984 ms   heartbeatInterval 977 ms
///     left:                 heartRate 61
///     gathered:             a beat, a beat 984 ms later, a beat 977 ms after that
///
/// Each beat's time is the previous beat's time plus its interval, so a frame's delay in transmission does not change an
/// interval. The first beat's time is the frame's receive time minus the sum of its intervals. If intervals and receive times
/// differ by more than ``tolerance``, beats are missing. The next beat is then marked with a gap, and its time comes from the
/// receive time again.
///
/// A series begins with the last beat of the previous one unless beats are missing between them. No clock is read here: the same
/// frames at the same times make the same series.
struct HeartbeatMinutes {
    private struct Series {
        var interval: Origin
        var minute: Int64
        var start: Instant
        /// The times in microseconds after the start.
        var beats: [(time: Int64, isAfterGap: Bool)]
        var metadata: Metadata?
        var place: Place
    }

    private var open: Series?
    /// Whether the last frame was cut off, so that beats are missing.
    private var isTorn = false
    /// The receive time of the last frame with beats.
    private(set) var lastReceived: Instant?

    /// The maximum difference in microseconds between intervals and receive times. A sensor may keep frames for a second or two.
    private static let tolerance: Int64 = 3_000_000
    private static let minute: Int64 = 60_000_000
    /// The maximum number of beats in a series, more than any heart beats in a minute. A longer series is split.
    private static let maximumBeats = 1000

    var isEmpty: Bool { open == nil }

    /// Removes the intervals from a frame's readings. Impossible intervals stay in the readings for the gate.
    ///
    /// - Parameter finished: receives the series of a minute that is over.
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
            // The next series begins with the last beat of the minute.
            let end = last.start.microseconds &+ (last.beats.last?.time ?? 0)
            if !wasTorn, (end &+ whole &- received.microseconds).magnitude <= UInt64(Self.tolerance) {
                begin(first, minute, at: Instant(microseconds: end), isAfterGap: false)
            }
        }
        let arrived = received.microseconds &- whole
        if let series = open {
            let end = series.start.microseconds &+ (series.beats.last?.time ?? 0)
            if wasTorn || (end &- arrived).magnitude > UInt64(Self.tolerance) {
                // Never before the previous beat.
                open?.beats.append((max(arrived, end) &- series.start.microseconds, true))
            }
        } else {
            begin(first, minute, at: Instant(microseconds: arrived), isAfterGap: true)
        }
        for length in lengths {
            let last = open?.beats.last?.time ?? 0
            open?.beats.append((last &+ length, false))
        }
        lastReceived = received
    }

    private mutating func begin(_ reading: Reading, _ minute: Int64, at start: Instant, isAfterGap: Bool) {
        open = Series(
            interval: reading.origin, minute: minute, start: start, beats: [(0, isAfterGap)], metadata: reading.metadata,
            place: reading.place)
    }

    /// Ends the open series. The next one begins after a gap.
    mutating func close(into finished: inout [Reading]) {
        guard let series = open else { return }
        open = nil
        guard let type = Self.series, let packed = Self.pack(series.beats),
            let body = try? SampleBody(encoding: HeartbeatSeries(points: packed.points), content: packed.content)
        else { return }
        let origin = series.interval
        let end = series.start.microseconds &+ (series.beats.last?.time ?? 0)
        // The identity is derived from the first beat, the last beat and the intervals.
        let mark = packed.content.digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        finished.append(
            Reading(
                origin: Origin(person: origin.person, type: type, source: origin.source, device: origin.device),
                numeral: Numeral(coefficient: 0), unit: .one,
                time: .instants(start: series.start, end: Instant(microseconds: end), offset: nil), ordinal: mark,
                metadata: series.metadata, body: body, place: series.place))
    }

    /// Moves the times after our own clock was set, by this many microseconds.
    mutating func clockWasSet(by step: Int64) {
        lastReceived?.microseconds &+= step
        open?.start.microseconds &+= step
        guard let lastReceived else { return }
        open?.minute = lastReceived.microseconds.flooredQuotientAndRemainder(dividingBy: Self.minute).quotient
    }

    private static let interval = SampleType("heartbeatInterval")
    private static let series = SampleType("heartbeatSeries")
    private static let millisecond = try? Unit(ucum: "ms")

    /// Returns the length in microseconds, or `nil` if it is impossible.
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

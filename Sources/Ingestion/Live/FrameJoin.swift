import HealthModel
import Pipeline
import Profiles

/// Combines frames of a device that describe one another: the position of the sensor, the meal before a reading, the time of a
/// weighing for its second half.
struct FrameJoin {
    private struct Part {
        var channel: String
        var time: ReadingTime
        var metadata: Metadata?
        var received: Instant
    }

    private var ofDevice: [SampleType: Metadata] = [:]
    private var ofRecord: (place: Place, types: [SampleType], metadata: Metadata)?
    private var first: Part?
    /// The last measurement with a time of the device's own, by channel.
    private var timed: [String: Part] = [:]

    /// The maximum time in microseconds between the two parts of a measurement.
    private static let partsTogether: Int64 = 10_000_000

    /// Keeps a frame's description of others.
    mutating func learn(_ description: FrameDescription, at place: Place) {
        switch description.span {
        case .device: for type in description.types { ofDevice[type] = description.metadata }
        case .record: ofRecord = description.metadata.map { (place, description.types, $0) }
        }
    }

    /// Moves receive times after the hub's clock was set, by this many microseconds.
    mutating func clockWasSet(by step: Int64) {
        first?.received.microseconds &+= step
        for channel in timed.keys { timed[channel]?.received.microseconds &+= step }
    }

    /// Adds the facts from other frames. Returns the receive time of the readings, which is that of their first part.
    ///
    /// - Parameter follows: the channel whose measurement the frame belongs to if it has no time itself.
    mutating func join(_ readings: inout [Reading], isPart: Bool, follows: String?, _ frame: RawFrame) -> Instant {
        for index in readings.indices {
            let type = readings[index].origin.type
            if let record = ofRecord, record.place == frame.place, record.types.contains(type) {
                readings[index].metadata = Self.both(readings[index].metadata, record.metadata)
            }
            if let more = ofDevice[type] { readings[index].metadata = Self.both(readings[index].metadata, more) }
        }
        if let follows, readings.first?.time == .receipt, let part = timed.removeValue(forKey: follows), isTogether(part, frame) {
            return take(&readings, part)
        }
        if let reading = readings.first, case .wall = reading.time {
            timed[frame.channel] = Part(
                channel: frame.channel, time: reading.time, metadata: reading.metadata, received: frame.received)
        }
        guard isPart, let reading = readings.first else { return frame.received }
        guard let part = first, part.channel == frame.channel, isTogether(part, frame) else {
            first = Part(channel: frame.channel, time: reading.time, metadata: reading.metadata, received: frame.received)
            return frame.received
        }
        first = nil
        return take(&readings, part)
    }

    private func isTogether(_ part: Part, _ frame: RawFrame) -> Bool {
        (0..<Self.partsTogether).contains(frame.received.microseconds - part.received.microseconds)
    }

    private func take(_ readings: inout [Reading], _ part: Part) -> Instant {
        for index in readings.indices {
            readings[index].time = part.time
            if let metadata = part.metadata { readings[index].metadata = Self.both(readings[index].metadata, metadata) }
        }
        return part.received
    }

    /// Merges metadata. The frame's own values take precedence.
    private static func both(_ own: Metadata?, _ more: Metadata) -> Metadata {
        guard let own else { return more }
        return Metadata(more.entries.map { ($0.key, $0.value) } + own.entries.map { ($0.key, $0.value) })
    }
}

/// The state for a restart between the parts of a measurement. Descriptions of the device itself are not stored because it
/// repeats them at the next connection.
extension FrameJoin: Codable {
    private struct Stored: Codable {
        var channel: String
        /// The start and end by the device's clock, and the ticks if there are any. `nil` for a receive time.
        var wall: [Int64]?
        var metadata: Metadata?
        var received: Int64

        init?(_ part: Part?) {
            guard let part else { return nil }
            switch part.time {
            case .wall(let start, let end, let ticks):
                wall = [start.microseconds, end.microseconds] + (ticks.map { [$0] } ?? [])
            case .receipt: wall = nil
            default: return nil
            }
            (channel, metadata, received) = (part.channel, part.metadata, part.received.microseconds)
        }

        var part: Part? {
            var time = ReadingTime.receipt
            if let wall {
                guard wall.count >= 2 else { return nil }
                time = .wall(
                    start: WallTime(microseconds: wall[0]), end: WallTime(microseconds: wall[1]),
                    ticks: wall.count > 2 ? wall[2] : nil)
            }
            return Part(channel: channel, time: time, metadata: metadata, received: Instant(microseconds: received))
        }
    }

    private enum CodingKeys: CodingKey { case first, timed }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        first = try container.decodeIfPresent(Stored.self, forKey: .first)?.part
        for stored in try container.decode([Stored].self, forKey: .timed) { timed[stored.channel] = stored.part }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(Stored(first), forKey: .first)
        try container.encode(timed.sorted { $0.key < $1.key }.compactMap { Stored($0.value) }, forKey: .timed)
    }
}

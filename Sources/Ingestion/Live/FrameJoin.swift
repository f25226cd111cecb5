import HealthModel
import Pipeline
import Profiles

/// What one frame of a device says of the readings of another: where the sensor sits, before which meal it was, whose time the second half
/// of a weighing has, and that an advertisement is the last one again.
struct FrameJoin {
    private struct Part {
        var channel: String
        var time: ReadingTime
        var metadata: Metadata?
        var received: Instant
    }

    private struct Packet {
        var number: Int64
        var readings: [Reading]
        var heard: Instant
    }

    private var ofDevice: [SampleType: Metadata] = [:]
    private var ofRecord: (place: Place, types: [SampleType], metadata: Metadata)?
    private var first: Part?
    private var packets: [String: Packet] = [:]

    /// The second half of a measurement follows at once.
    private static let partsTogether: Int64 = 10_000_000
    /// A device that keeps its packet's number has measured nothing new. One that was silent for this long may have come round to it again.
    private static let packetRow: Int64 = 3_600_000_000

    /// Keeps what a frame says of others.
    mutating func learn(_ description: FrameDescription, at place: Place) {
        switch description.span {
        case .device: for type in description.types { ofDevice[type] = description.metadata }
        case .record: ofRecord = description.metadata.map { (place, description.types, $0) }
        }
    }

    /// The clock that says when frames were heard was set, by so many microseconds.
    mutating func clockWasSet(by step: Int64) {
        first?.received.microseconds &+= step
        for channel in packets.keys { packets[channel]?.heard.microseconds &+= step }
    }

    /// Whether these readings are those of the frame before, sent again.
    mutating func isRepeated(_ readings: [Reading], number: Int64?, _ frame: RawFrame) -> Bool {
        guard let number else { return false }
        let last = packets[frame.channel]
        packets[frame.channel] = Packet(number: number, readings: readings, heard: frame.received)
        guard let last, last.number == number, last.readings.count == readings.count else { return false }
        return abs(frame.received.microseconds - last.heard.microseconds) < Self.packetRow
            && zip(last.readings, readings).allSatisfy {
                $0.origin.type == $1.origin.type && $0.numeral == $1.numeral && $0.unit == $1.unit
            }
    }

    /// Adds what other frames say. Returns when the readings were received, which is when the first half of them was.
    mutating func join(_ readings: inout [Reading], isPart: Bool, _ frame: RawFrame) -> Instant {
        for index in readings.indices {
            let type = readings[index].origin.type
            if let record = ofRecord, record.place == frame.place, record.types.contains(type) {
                readings[index].metadata = Self.both(readings[index].metadata, record.metadata)
            }
            if let more = ofDevice[type] { readings[index].metadata = Self.both(readings[index].metadata, more) }
        }
        guard isPart, let reading = readings.first else { return frame.received }
        guard let part = first, part.channel == frame.channel,
            (0..<Self.partsTogether).contains(frame.received.microseconds - part.received.microseconds)
        else {
            first = Part(channel: frame.channel, time: reading.time, metadata: reading.metadata, received: frame.received)
            return frame.received
        }
        first = nil
        for index in readings.indices {
            readings[index].time = part.time
            if let metadata = part.metadata { readings[index].metadata = Self.both(readings[index].metadata, metadata) }
        }
        return part.received
    }

    /// What the frame itself says counts.
    private static func both(_ own: Metadata?, _ more: Metadata) -> Metadata {
        guard let own else { return more }
        return Metadata(more.entries.map { ($0.key, $0.value) } + own.entries.map { ($0.key, $0.value) })
    }
}

import HealthModel
import Pipeline

/// Leaves out readings that a device repeats: an oximeter sends its values 60 times a second, and a scale its weight until the
/// user steps off.
///
/// A frame with other types than the previous one is compared type by type. A scale sends the weight first, and then the same
/// weighing with the values from its impedance measurement.
struct RepeatedReadings: Codable {
    private var taken = TakenReadings()
    /// The last packet by channel.
    private var packets: [String: Packet] = [:]

    private struct Packet: Codable {
        var number: Int64
        var taken = TakenReadings()
        /// The receive time in microseconds.
        var lastReceived: Int64

        private enum CodingKeys: String, CodingKey {
            case number, taken
            case lastReceived = "heard"
        }
    }

    /// The result of leaving out readings of a frame.
    struct LeftOut {
        var kind: SkipKind
        /// When the repeated weight was taken.
        var weightTaken: Instant?
    }

    /// A silence of this many microseconds ends the repetition. Until then a device that keeps its packet number has measured
    /// nothing new.
    private static let packetRow: Int64 = 3_600_000_000

    /// Leaves out repeated readings: with the same packet number, or within this many seconds of the last (0: never).
    mutating func leaveOut(
        of readings: inout [Reading], number: Int64?, within seconds: Int, _ frame: RawFrame
    ) -> LeftOut? {
        let count = readings.count
        var leftOut: LeftOut?
        if let number {
            var packet = packets[frame.channel] ?? Packet(number: number, lastReceived: frame.received.microseconds)
            let silence = abs(frame.received.microseconds &- packet.lastReceived)
            if packet.number != number || silence >= Self.packetRow {
                packet = Packet(number: number, lastReceived: frame.received.microseconds)
            }
            packet.lastReceived = frame.received.microseconds
            let weight = packet.taken.leaveOut(of: &readings, at: frame.received) { _ in true }
            packets[frame.channel] = packet
            if readings.count < count { leftOut = LeftOut(kind: SkipKind("repeated-advert"), weightTaken: weight) }
        }
        if seconds > 0, !readings.isEmpty {
            let before = readings.count
            let weight = taken.leaveOut(of: &readings, at: frame.received) { taken in
                let passed = frame.received.microseconds &- taken.microseconds
                // If the clock was set back, the device's readings must still be accepted.
                return passed >= 0 && passed < Int64(seconds) * 1_000_000
            }
            if readings.count < before {
                leftOut = LeftOut(kind: SkipKind("repeated"), weightTaken: weight ?? leftOut?.weightTaken)
            }
        }
        // A single remaining reading needs no group.
        if leftOut != nil, readings.count == 1 { readings[0].group = .none }
        return leftOut
    }

    /// Moves receive times after the hub's clock was set, by this many microseconds.
    mutating func clockWasSet(by step: Int64) {
        taken.clockWasSet(by: step)
        for channel in packets.keys {
            packets[channel]?.lastReceived &+= step
            packets[channel]?.taken.clockWasSet(by: step)
        }
    }
}

/// The last values of each type, and when they were taken.
private struct TakenReadings {
    fileprivate struct Value {
        var numeral: Numeral
        var unit: Unit
        var taken: Instant
        /// The types of the frame that contained the value.
        var frame: Set<SampleType>
    }

    fileprivate var values: [SampleType: [Value]] = [:]

    /// Leaves out the readings whose type and value match the last ones, if `isRecent` accepts their time. A frame with the same
    /// types and a new value is another measurement, so its unchanged values were measured again.
    ///
    /// - Returns: when the omitted weight was taken.
    mutating func leaveOut(of readings: inout [Reading], at time: Instant, isRecent: (Instant) -> Bool) -> Instant? {
        let frame = Set(readings.map(\.origin.type))
        // A frame may contain several values of one type, such as two probes. Each counts for one.
        var open = values
        let known: [Value?] = readings.map { reading in
            let place = open[reading.origin.type]?.firstIndex {
                $0.numeral == reading.numeral && $0.unit == reading.unit && isRecent($0.taken)
            }
            return place.flatMap { open[reading.origin.type]?.remove(at: $0) }
        }
        let hasNewReading = known.contains { $0 == nil }
        var reported: [SampleType: (values: [Value], isNew: Bool)] = [:]
        var weightTaken: Instant?
        var left: [Reading] = []
        for (reading, known) in zip(readings, known) {
            let type = reading.origin.type
            if let known, !hasNewReading || known.frame != frame {
                reported[type, default: ([], false)].values.append(known)
                if type == .bodyMass { weightTaken = known.taken }
            } else {
                reported[type, default: ([], false)].values.append(
                    Value(numeral: reading.numeral, unit: reading.unit, taken: time, frame: frame))
                reported[type]?.isNew = true
                left.append(reading)
            }
        }
        readings = left
        // A type without a new value keeps its previous values.
        for (type, reported) in reported where reported.isNew { values[type] = reported.values }
        return weightTaken
    }

    mutating func clockWasSet(by step: Int64) {
        for (type, list) in values {
            values[type] = list.map { value in
                var value = value
                value.taken.microseconds &+= step
                return value
            }
        }
    }
}

/// The state for a restart, with types and units by name. A value that this version cannot read is skipped.
extension TakenReadings: Codable {
    private struct Stored: Codable {
        var type: String
        var value: String
        var unit: String
        var taken: Int64
        var frame: [String]
    }

    init(from decoder: any Decoder) throws {
        for stored in try [Stored](from: decoder) {
            guard let type = SampleType(stored.type), let numeral = try? Numeral(stored.value),
                let unit = try? Unit(ucum: stored.unit)
            else { continue }
            values[type, default: []].append(
                Value(
                    numeral: numeral, unit: unit, taken: Instant(microseconds: stored.taken),
                    frame: Set(stored.frame.compactMap { SampleType($0) })))
        }
    }

    func encode(to encoder: any Encoder) throws {
        try values.sorted { $0.key.id < $1.key.id }.flatMap { type, values in
            values.map {
                Stored(
                    type: type.id, value: $0.numeral.text, unit: $0.unit.code,
                    taken: $0.taken.microseconds, frame: $0.frame.map(\.id).sorted())
            }
        }.encode(to: encoder)
    }
}

/// Numbers equal records of a device's memory. Two measurements in the same minute of its clock with the same value stay two,
/// however often the memory is read.
struct RecordOrdinals {
    private var counts: [Key: UInt32] = [:]

    private struct Key: Hashable {
        var type: SampleType
        var time: ReadingTime
        var numeral: String
        var ordinal: UInt32
    }

    mutating func number(_ readings: inout [Reading]) {
        for index in readings.indices {
            let reading = readings[index]
            let key = Key(
                type: reading.origin.type, time: reading.time, numeral: reading.numeral.canonicalText, ordinal: reading.ordinal)
            let count = counts[key, default: 0]
            counts[key] = count + 1
            readings[index].ordinal += count
        }
    }
}

import HealthModel
import Pipeline

/// Leaves out what a device tells again: an oximeter sends its numbers 60 times a second, a scale its weight until somebody steps off it.
///
/// A frame with other types than the one before counts type by type: a scale tells the weight first, and then the same weighing once more with what
/// it measured through the body.
struct RepeatedReadings: Codable {
    private var taken = TakenReadings()
    /// By channel.
    private var packets: [String: Packet] = [:]

    private struct Packet: Codable {
        var number: Int64
        var taken = TakenReadings()
        /// In microseconds.
        var heard: Int64
    }

    /// What was left out of a frame.
    struct LeftOut {
        var kind: SkipKind
        /// When the weight was taken that the frame tells again.
        var weightTaken: Instant?
    }

    /// A device that keeps its packet's number has measured nothing new. One that was silent for this long may have come round to it again.
    private static let packetRow: Int64 = 3_600_000_000

    /// Leaves out the readings that were taken already: with the same packet's number, or within so many seconds of the last (0: never).
    mutating func leaveOut(
        of readings: inout [Reading], number: Int64?, within seconds: Int, _ frame: RawFrame
    ) -> LeftOut? {
        let count = readings.count
        var leftOut: LeftOut?
        if let number {
            var packet = packets[frame.channel] ?? Packet(number: number, heard: frame.received.microseconds)
            let silence = abs(frame.received.microseconds &- packet.heard)
            if packet.number != number || silence >= Self.packetRow {
                packet = Packet(number: number, heard: frame.received.microseconds)
            }
            packet.heard = frame.received.microseconds
            let weight = packet.taken.leaveOut(of: &readings, at: frame.received) { _ in true }
            packets[frame.channel] = packet
            if readings.count < count { leftOut = LeftOut(kind: SkipKind("repeated-advert"), weightTaken: weight) }
        }
        if seconds > 0, !readings.isEmpty {
            let before = readings.count
            let weight = taken.leaveOut(of: &readings, at: frame.received) { taken in
                let passed = frame.received.microseconds &- taken.microseconds
                // A clock that was set back must not silence a device.
                return passed >= 0 && passed < Int64(seconds) * 1_000_000
            }
            if readings.count < before {
                leftOut = LeftOut(kind: SkipKind("repeated"), weightTaken: weight ?? leftOut?.weightTaken)
            }
        }
        // What is left alone belongs together with nothing.
        if leftOut != nil, readings.count == 1 { readings[0].group = .none }
        return leftOut
    }

    /// The clock that says when frames were heard was set, by so many microseconds.
    mutating func clockWasSet(by step: Int64) {
        taken.clockWasSet(by: step)
        for channel in packets.keys {
            packets[channel]?.heard &+= step
            packets[channel]?.taken.clockWasSet(by: step)
        }
    }
}

/// The values of each type that a device told last, and when they were taken.
private struct TakenReadings {
    fileprivate struct Value {
        var numeral: Numeral
        var unit: Unit
        var taken: Instant
        /// The types of the frame that it was taken of.
        var frame: Set<SampleType>
    }

    fileprivate var values: [SampleType: [Value]] = [:]

    /// Leaves out the readings whose type and value were told last, where `isRecent` says that they still count. A frame with the types of the one that
    /// told them, and something new, is another measurement: what stays the same in it was measured again.
    ///
    /// - Returns: when the weight was taken that was left out.
    mutating func leaveOut(of readings: inout [Reading], at time: Instant, isRecent: (Instant) -> Bool) -> Instant? {
        let frame = Set(readings.map(\.origin.type))
        // A frame may tell several of one type, such as two probes: each counts for one.
        var open = values
        let known: [Value?] = readings.map { reading in
            let place = open[reading.origin.type]?.firstIndex {
                $0.numeral == reading.numeral && $0.unit == reading.unit && isRecent($0.taken)
            }
            return place.flatMap { open[reading.origin.type]?.remove(at: $0) }
        }
        let hasNews = known.contains { $0 == nil }
        var told: [SampleType: (values: [Value], isNew: Bool)] = [:]
        var weightTaken: Instant?
        var left: [Reading] = []
        for (reading, known) in zip(readings, known) {
            let type = reading.origin.type
            if let known, !hasNews || known.frame != frame {
                told[type, default: ([], false)].values.append(known)
                if type == .bodyMass { weightTaken = known.taken }
            } else {
                told[type, default: ([], false)].values.append(
                    Value(numeral: reading.numeral, unit: reading.unit, taken: time, frame: frame))
                told[type]?.isNew = true
                left.append(reading)
            }
        }
        readings = left
        // Where a type told nothing new, what was told beside it before counts as well.
        for (type, told) in told where told.isNew { values[type] = told.values }
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

/// For a restart: types and units by their names. A value that this version cannot read is left out.
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

/// Tells equal records of a device's memory apart: two measurements within one minute of its clock, with one value, stay two, however
/// often the memory is read.
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

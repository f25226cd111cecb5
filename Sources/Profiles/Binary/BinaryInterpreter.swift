import HealthModel
import Pipeline

/// The context for decoding a stream of frames, apart from its bytes.
package struct BinaryOptions: Sendable {
    /// Whether bits and values reserved for future use are refused. The specifications ask a receiver to ignore them.
    package var isStrict = false
    /// The keys and addresses that decrypt encrypted frames.
    package var secrets = FrameSecrets()
    /// The start of the sensor's session, for characteristics that count from there.
    package var sessionStart: Timestamp?

    /// - Parameter sessionStart: the start of the sensor's session, or nil if it is not known.
    package init(isStrict: Bool = false, secrets: FrameSecrets = FrameSecrets(), sessionStart: Timestamp? = nil) {
        self.isStrict = isStrict
        self.secrets = secrets
        self.sessionStart = sessionStart
    }
}

/// Reads the frames of one channel of one device by its profile.
///
///     let match = try library.match(channel: "gatt:2A37")
///     let interpreter = BinaryInterpreter(match, registry: registry, device: device)
///     let outcome = try interpreter.interpret(frame, into: &readings)
///     interpreter.fieldsJSON     // of the last frame
package final class BinaryInterpreter: FrameInterpreter {
    package let profile: Profile
    /// The decoder that splits the bytes into fields.
    package let decoder: FrameDecoder
    @exclusivity(unchecked) package private(set) var frame = DecodedFrame()
    package var sessionStart: Timestamp?

    let channel: BinaryChannel
    private let origins: [Origin]
    private var metadata: [MetadataMaker]
    /// The channel's rules as plain numbers, so that iterating over them does no reference counting.
    private let walks: [Walk]

    private let registry: OriginRegistry
    private let device: Device?
    private var measured: [SampleType: Origin] = [:]

    private struct Walk {
        var field: Int32
        var hasNamesakes: Bool
        var isInRecords: Bool
        var zeroIsNone: Bool
        var hasCompanions: Bool
        var condition: BitCondition
    }

    /// - Parameter device: the device that sends the frames, if it is known.
    package init(_ match: BinaryMatch, registry: OriginRegistry, device: Device? = nil, options: BinaryOptions = BinaryOptions())
    {
        profile = match.profile
        self.registry = registry
        self.device = device
        channel = match.channel
        decoder = FrameDecoder(plan: channel.plan, isStrict: options.isStrict, secrets: options.secrets)
        sessionStart = options.sessionStart
        let source = channel.source
        origins = channel.readings.map { registry.origin(type: $0.type, source: source, device: device) }
        walks = channel.readings.map {
            Walk(
                field: $0.field, hasNamesakes: !$0.namesakes.isEmpty, isInRecords: $0.isInRecords, zeroIsNone: $0.zeroIsNone,
                hasCompanions: !$0.companions.isEmpty, condition: $0.condition)
        }
        metadata = channel.readings.map { MetadataMaker($0.metadata, plan: match.channel.plan) }
    }

    /// The window for repeats, in seconds. An equal reading within this time of an accepted one is the same measurement, sent again.
    package var repeatsWithin: Int { channel.repeatsWithin }

    /// The channel with the measurement that a frame without a time of its own belongs to, or nil (for most channels).
    package var follows: String? { channel.follows }

    /// The fields of the last frame as one JSON object.
    package var fieldsJSON: [UInt8] { decoder.fieldsJSON(frame) }

    /// Turns a frame into readings.
    ///
    /// - Throws: ``Refusal`` if the bytes are not a frame of the channel.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .bytes(let bytes):
            do throws(FrameError) {
                try decode(bytes)
            } catch {
                throw Refusal("\(error) (at byte \(error.offset))", at: frame.place)
            }
            return try appendReadings(at: frame.place, to: &readings)
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .row: throw Refusal("a row of text, not bytes", at: frame.place)
        }
    }

    /// Decodes a frame's fields without making readings.
    package func decode(_ bytes: UnsafeRawBufferPointer) throws(FrameError) { try decoder.decode(bytes, into: &frame) }

    /// Whether a frame is an empty line.
    package func isBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
        channel.plan.framing?.isDelimited == true && bytes.allSatisfy { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }
    }

    /// Makes the readings of the last decoded frame.
    package func appendReadings(at place: Place, to readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        for skip in channel.skips where skip.condition.matches(frame.word) { return .skipped(skip.kind) }
        let first = readings.count
        if channel.measurements != nil { appendMeasurements(at: place, to: &readings) }
        do throws(Refusal) {
            for index in channel.readings.indices { try apply(index, at: place, to: &readings) }
        } catch {
            readings.removeSubrange(first...)
            throw error
        }
        guard readings.count > first else { return .skipped(channel.information) }
        if readings.count - first > 1 {
            for index in first..<readings.count { readings[index].group = .frame }
        }
        return .readings
    }

    private func apply(_ index: Int, at place: Place, to readings: inout [Reading]) throws(Refusal) {
        let rule = walks[index]
        var word = frame.word
        var ordinal: UInt32 = 0
        if !rule.isInRecords, !rule.condition.matches(word) { return }
        for position in frame.entries.indices {
            let entry = frame.entries[position]
            if rule.isInRecords {
                if entry.kind == .record { word = UInt64(bitPattern: entry.raw) }
                if !rule.condition.matches(word) { continue }
            }
            guard entry.field == rule.field || (rule.hasNamesakes && channel.readings[index].namesakes.contains(entry.field)),
                entry.kind == .number, !(rule.zeroIsNone && entry.coefficient == 0), let numeral = entry.numeral
            else { continue }
            if rule.hasCompanions, !hasCompanion(of: index, record: entry.record) { continue }
            guard let unit = unit(of: entry, rule: index) else {
                throw Refusal("the unit of \(channel.plan.fields[Int(entry.field)].name) is not a UCUM code", at: place)
            }
            let (time, deviceTime) = try self.time(entry.record, at: place)
            let metadata = self.metadata[index].metadata(word, frame, entry.record, deviceTime)
            readings.append(
                Reading(
                    origin: origins[index], numeral: numeral, unit: unit, time: time, ordinal: ordinal, metadata: metadata,
                    place: place))
            ordinal += 1
        }
    }

    /// Whether at least one companion of a rule has a value other than 0.
    private func hasCompanion(of rule: Int, record: Int32) -> Bool {
        channel.readings[rule].companions.contains { field in
            guard let other = frame.last(field, record: record) else { return false }
            return other.kind == .number && other.coefficient != 0
        }
    }

    /// Appends the readings of a line of measurements. The decoder has already checked its types, units and times.
    private func appendMeasurements(at place: Place, to readings: inout [Reading]) {
        var texts: [String] = []
        var numeral: Numeral?
        func finish() {
            defer { (texts, numeral) = ([], nil) }
            guard let numeral, texts.count >= 2, let type = SampleType(texts[0]),
                let unit = MeasurementLine.Item.unit(texts[1])
            else { return }
            let time = texts.count > 2 ? (try? Timestamp(iso8601: texts[2])).map(Self.readingTime) : nil
            let origin = measured[type] ?? registry.origin(type: type, source: channel.source, device: device)
            measured[type] = origin
            let ordinal = readings.count { $0.origin === origin && $0.place == place && $0.numeral == numeral }
            readings.append(
                Reading(
                    origin: origin, numeral: numeral, unit: unit, time: time ?? .receipt, ordinal: UInt32(ordinal), place: place))
        }
        for entry in frame.entries {
            switch entry.kind {
            case .record: finish()
            case .text: texts.append(frame.texts[Int(entry.text)])
            case .number: numeral = entry.numeral
            default: break
            }
        }
        finish()
    }

    private static func readingTime(_ time: Timestamp) -> ReadingTime {
        guard let offset = time.offset else { return .wall(start: time.wall, end: time.wall, ticks: nil) }
        let instant = time.wall.instant(at: offset)
        return .instants(start: instant, end: instant, offset: offset)
    }

    @inline(__always) private func unit(of entry: DecodedFrame.Entry, rule: Int) -> Unit? {
        channel.readings[rule].unit ?? (entry.variant >= 0 ? channel.plan.units[Int(entry.variant)].ucum : nil)
    }

    private static func unknownDate(_ place: Place) -> Refusal {
        Refusal("the device does not know the whole date, and a stored reading has no other time", at: place)
    }

    /// The reading's time, and the device's date if it cannot be used as a time.
    private func time(_ record: Int32, at place: Place) throws(Refusal) -> (ReadingTime, DeviceDateTime?) {
        switch channel.time {
        case .receipt: return (.receipt, nil)
        case .device(let field, let condition, let unknown):
            guard let entry = frame.last(field, record: record) else {
                // A frame without a time is a live reading, unless its profile declares all readings as stored ones.
                if unknown == .receipt { return (.receipt, nil) }
                throw Self.unknownDate(place)
            }
            let time = DeviceDateTime(packed: entry.raw)
            if condition.matches(frame.word), let wall = time.wallTime { return (.wall(start: wall, end: wall, ticks: nil), nil) }
            if unknown == .refuse { throw Self.unknownDate(place) }
            return (.receipt, time)
        case .session(let minutes):
            guard let start = sessionStart, let offset = frame.last(minutes, record: record) else {
                throw Refusal("the time counts from the session's start, which is not known", at: place)
            }
            guard let wall = start.wall.later(minutes: offset.raw) else {
                throw Refusal("this time is not in the calendar", at: place)
            }
            guard let zone = start.offset else { return (.wall(start: wall, end: wall, ticks: nil), nil) }
            let instant = wall.instant(at: zone)
            return (.instants(start: instant, end: instant, offset: zone), nil)
        }
    }
}

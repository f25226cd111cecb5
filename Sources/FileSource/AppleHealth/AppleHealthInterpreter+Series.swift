import HealthModel
import Pipeline

// Heartbeats, audiograms, vision prescriptions, and characteristics.
extension AppleHealthInterpreter {
    private static let heartbeatType = SampleType("heartbeatSeries")
    private static let audiogramType = SampleType("audiogram")
    private static let prescriptionType = SampleType("visionPrescription")

    // MARK: Beats

    /// Returns the single beats of a record as a series of the same source and times. If their times are outside of the record or in an
    /// unknown form, they are counted as elements that are not stored. The number is also the metadata `instantaneousBeats` of the record.
    func heartbeats(_ texts: Texts, at place: Place) throws(Refusal) -> Meaning {
        guard let type = Self.heartbeatType else { throw Refusal("the catalogue has no heartbeat series", at: place) }
        let beats = Array(texts.dropFirst(ExportRow.beatColumns))
        guard beats.count % 2 == 0 else {
            throw Refusal("heartbeat series: the record has more than \(ExportElements.maximumBeats) beats", at: place)
        }
        let start = try moment(texts[ExportColumn.startDate], "start", at: place)
        let end = try moment(texts[ExportColumn.endDate], "end", at: place)
        var times: [Int64] = []
        for index in stride(from: 1, to: beats.count, by: 2) {
            guard let time = BeatTime.timeOfDay(beats[index]) else { return skipped(beats: beats.count / 2) }
            times.append(time)
        }
        guard let offsets = BeatTime.offsets(of: times, from: start.instant, to: end.instant, at: start.offset) else {
            return skipped(beats: beats.count / 2)
        }
        let packed: (points: Points, content: PackedContent)
        do throws(ContentError) {
            var writer = PointsWriter(columns: HeartbeatSeries.columns)
            for (index, offset) in offsets.enumerated() {
                let text = beats[2 * index]
                let rate = try? Numeral(parsing: text)
                if rate == nil, !text.isEmpty { break }
                // An export does not record whether beats are missing before this one.
                try writer.append([Numeral(coefficient: offset), nil, rate])
            }
            packed = try writer.end()
        } catch {
            throw Refusal("heartbeat series: \(error)", at: place)
        }
        guard packed.points.count == offsets.count else { throw Refusal("heartbeat series: bpm is not a number", at: place) }
        return .reading(
            Reading(
                origin: origin(texts, type), numeral: Numeral(coefficient: 0), unit: .one,
                time: .instants(start: start.instant, end: end.instant, offset: start.offset),
                body: try body(HeartbeatSeries(points: packed.points), packed.content, at: place), place: place))
    }

    private func skipped(beats count: Int) -> Meaning {
        leftOut.skipped[names.kind("InstantaneousBeatsPerMinute"), default: 0] += count
        return .other(.notData)
    }

    // MARK: Ears

    func audiogram(_ tree: ExportTree, at place: Place) throws(Refusal) -> Reading {
        guard let type = Self.audiogramType else { throw Refusal("the catalogue has no audiograms", at: place) }
        let start = try moment(tree, "startDate", at: place)
        let end = try moment(tree, "endDate", at: place)
        var (points, audible): ([Audiogram.Point], [Audiogram.Point]) = ([], [])
        for element in tree.children(named: "SensitivityPoint") {
            guard let frequency = try amount(element, "frequencyValue", unit: "frequencyUnit", of: Self.hertz, at: place) else {
                throw Refusal("audiogram: a point has no frequency", at: place)
            }
            let left = try ear(element, "leftEar", at: place)
            let right = try ear(element, "rightEar", at: place)
            points.append(Audiogram.Point(frequency: frequency, left: left, right: right))
            // Only values that every version of an export has. Later versions add more to the same test.
            audible.append(
                Audiogram.Point(
                    frequency: frequency, left: left.map { Audiogram.Ear(sensitivity: $0.sensitivity) },
                    right: right.map { Audiogram.Ear(sensitivity: $0.sensitivity) }))
        }
        guard !points.isEmpty else { throw Refusal("audiogram: it has no points", at: place) }
        let (metadata, record) = description(tree)
        return Reading(
            origin: origin(tree, type), numeral: Numeral(coefficient: 0), unit: .one,
            time: .instants(start: start.instant, end: end.instant, offset: start.offset),
            ordinal: try mark(Audiogram(sensitivity: audible), at: place), metadata: metadata, record: record,
            body: try body(Audiogram(sensitivity: points), nil, at: place), place: place)
    }

    private static let hertz = try? Unit(ucum: "Hz")

    private func ear(_ element: ExportTree, _ side: String, at place: Place) throws(Refusal) -> Audiogram.Ear? {
        guard let sensitivity = try amount(element, side + "Value", unit: side + "Unit", of: Self.decibel, at: place) else {
            return nil
        }
        var ear = Audiogram.Ear(sensitivity: sensitivity)
        if let text = element[side + "Masked"] {
            switch text.lowercased() {
            case "1", "true", "yes": ear.masked = true
            case "0", "false", "no": ear.masked = false
            default: throw Refusal("\(element.name): \(side)Masked is neither true nor false", at: place)
            }
        }
        // The bounds are in decibels of hearing level (HKAudiogramSensitivityPointClampingRange.h).
        if let text = element[side + "ClampingRangeLowerBound"] {
            ear.clampedBelow = Amount(
                try numeral(text, of: element, side + "ClampingRangeLowerBound", at: place), Self.decibel)
        }
        if let text = element[side + "ClampingRangeUpperBound"] {
            ear.clampedAbove = Amount(
                try numeral(text, of: element, side + "ClampingRangeUpperBound", at: place), Self.decibel)
        }
        return ear
    }

    private static let decibel = try? Unit(healthKit: "dBHL")

    // MARK: Eyes

    func prescription(_ tree: ExportTree, at place: Place) throws(Refusal) -> Reading {
        guard let type = Self.prescriptionType else { throw Refusal("the catalogue has no vision prescriptions", at: place) }
        guard let name = tree["type"] else { throw Refusal("VisionPrescription: type is missing", at: place) }
        let issued = try moment(tree, "dateIssued", at: place)
        var prescription = VisionPrescription(
            leftEye: try eye(tree, "LeftEye", at: place), rightEye: try eye(tree, "RightEye", at: place))
        // The lenses distinguish prescriptions of one day. A prescription of an unknown type is quarantined.
        let values = type.categoryValues
        let raw = Int(name).flatMap { values?.name(of: $0) == nil ? nil : $0 }
        let number = values?.value(of: name) ?? values?.value(of: name.lowercased()) ?? raw
        var ordinal = try mark(prescription, at: place)
        if number == nil { ordinal = (ordinal ^ UInt32(truncatingIfNeeded: Self.hash(name))) & 0x7FFF_FFFF }
        prescription.brand = tree["brand"]
        if tree["expirationDate"] != nil {
            let end = try moment(tree, "expirationDate", at: place)
            prescription.expiration = end.instant.microseconds &- issued.instant.microseconds
        }
        prescription.attachments = tree.children(named: "Attachment").compactMap { $0["identifier"] }
        let (metadata, record) = description(tree)
        // Like rings, prescriptions may have no source.
        let origin =
            tree["sourceName"] == nil
            ? registry.origin(
                type: type, source: SourceRevision(id: "apple-health", name: "Apple Health", version: nil), device: nil)
            : origin(tree, type)
        return Reading(
            origin: origin, numeral: Numeral(coefficient: Int64(number ?? -1)), unit: .one,
            time: .instants(start: issued.instant, end: issued.instant, offset: issued.offset), ordinal: ordinal,
            metadata: metadata, record: record, body: try body(prescription, nil, at: place), place: place)
    }

    private func eye(_ tree: ExportTree, _ name: String, at place: Place) throws(Refusal) -> [String: Amount]? {
        guard let element = tree.children(named: name).first else { return nil }
        var amounts: [String: Amount] = [:]
        for name in VisionPrescription.names {
            amounts[name] = try amount(element, name, unit: name + "Unit", of: nil, at: place)
        }
        return amounts
    }

    // MARK: Who the person is

    /// Returns the characteristic in an attribute of `Me`. An empty attribute has no data.
    func characteristic(_ texts: Texts, at place: Place) throws(Refusal) -> FrameOutcome {
        guard texts.count > 2, !texts[2].isEmpty else { return .notData }
        let name = String(decoding: texts[1], as: UTF8.self)
        guard let type = CharacteristicType.allCases.first(where: { $0.healthKitIdentifier == name }) else {
            // The values of `CardioFitnessMedicationsUse` are not published. Two of them are known to mean no data.
            let isNotSet = texts[2].elementsEqual("None".utf8) || texts[2].suffix(6).elementsEqual("NotSet".utf8)
            return isNotSet ? .notData : .skipped(names.kind(name))
        }
        guard let characteristic = Characteristic(type, String(decoding: texts[2], as: UTF8.self)) else {
            throw Refusal("Me: \(type.rawValue) has a value that no version known here has", at: place)
        }
        return .characteristics([characteristic])
    }

    // MARK: Bodies

    private func mark(_ value: some Encodable, at place: Place) throws(Refusal) -> UInt32 {
        let bytes = try body(value, nil, at: place).bytes
        return UInt32(truncatingIfNeeded: StableHash.hash(bytes)) & 0x7FFF_FFFF
    }

    private static func hash(_ text: String) -> UInt64 { StableHash.hash(text) }

    private func body(_ value: some Encodable, _ content: PackedContent?, at place: Place) throws(Refusal) -> SampleBody {
        guard let body = try? SampleBody(encoding: value, content: content) else {
            throw Refusal("it cannot be stored", at: place)
        }
        return body
    }
}

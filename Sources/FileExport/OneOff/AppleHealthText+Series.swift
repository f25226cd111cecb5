import HealthModel
import Pipeline

// Heartbeats, audiograms and prescriptions for glasses.
extension AppleHealthText {
    /// The single beats of a record, each with its time of day.
    typealias Beats = [(rate: String, time: String)]

    private static let heartbeats = SampleType("heartbeatSeries")
    private static let variability = SampleType("heartRateVariabilitySDNN")

    /// Returns the series with the same source and times as a record of heart rate variability. `nil` if there is none or an
    /// export cannot represent it completely.
    func beats(of record: Sample) throws -> Beats? {
        guard record.origin.type == Self.variability, let type = Self.heartbeats else { return nil }
        let origin = Origin(
            person: record.origin.person, type: type, source: record.origin.source, device: record.origin.device)
        let identity = SampleIdentity(
            series: origin.seriesKey, start: record.start.microseconds, end: record.end.microseconds,
            numeral: Numeral(coefficient: 0), unit: .one, ordinal: 0)
        guard let sample = try member(identity)?.sample, let content = sample.body?.content,
            let series = try? sample.body?.decoded(as: HeartbeatSeries.self),
            (1...Self.maximumBeats).contains(series.points.count)
        else { return nil }
        let names = series.points.columns.map(\.name)
        guard let time = names.firstIndex(of: Points.time) else { return nil }
        let (gap, rate) = (names.firstIndex(of: "gap"), names.firstIndex(of: "heartRate"))
        var beats: Beats = []
        var reader = try PointsReader(series.points, content)
        while let beat = try reader.next() {
            guard let offset = beat[time].flatMap({ Int64(exactly: $0.doubleValue.rounded()) }), gap.flatMap({ beat[$0] }) == nil,
                offset >= 0, offset <= record.end.microseconds - record.start.microseconds
            else { return nil }
            let instant = Instant(microseconds: record.start.microseconds + offset)
            beats.append((rate.flatMap { beat[$0]?.text } ?? "", Self.timeOfDay(instant, record.zone ?? .utc)))
        }
        reported.insert(identity)
        return beats
    }

    /// The maximum number of beats in a record.
    private static let maximumBeats = 100_000

    /// Returns a time of day such as `08:00:20.25`.
    private static func timeOfDay(_ instant: Instant, _ zone: ZoneOffset) -> String {
        var text = instant.wallTime(at: zone).description.dropFirst(11).prefix(15)
        while text.hasSuffix("0"), text.utf8.count > 11 { text.removeLast() }
        return String(text)
    }

    static func append(_ beats: Beats, _ indent: Int, _ bytes: inout [UInt8]) {
        element("HeartRateVariabilityMetadataList", indent, &bytes) { _ in
        } content: { bytes in
            for beat in beats {
                element("InstantaneousBeatsPerMinute", indent + 1, &bytes) { bytes in
                    set("bpm", beat.rate, &bytes)
                    set("time", beat.time, &bytes)
                }
            }
        }
    }

    // MARK: Ears

    func audiogram(_ stored: StoredSample, to bytes: inout [UInt8]) -> WriteOutcome {
        let sample = stored.sample
        guard let audiogram = try? sample.body?.decoded(as: Audiogram.self) else { return Self.unreadable }
        Self.element("Audiogram", 1, &bytes) { bytes in
            Self.set("type", "HKDataTypeIdentifierAudiogram", &bytes)
            self.header(of: sample, to: &bytes)
        } content: { bytes in
            self.metadata(of: stored, indent: 2, to: &bytes)
            for point in audiogram.sensitivity {
                Self.element("SensitivityPoint", 2, &bytes) { bytes in
                    Self.set("frequency", point.frequency, suffix: "Value", &bytes)
                    for (side, ear) in [("leftEar", point.left), ("rightEar", point.right)] {
                        if let ear { Self.append(ear, side, &bytes) }
                    }
                }
            }
        }
        return .written
    }

    private static func append(_ ear: Audiogram.Ear, _ side: String, _ bytes: inout [UInt8]) {
        set(side + "Value", ear.sensitivity.numeral.text, &bytes)
        // HealthKit distinguishes decibels of hearing level and of sound by their unit.
        if let unit = ear.sensitivity.unit { set(side + "Unit", unit.healthKitString ?? "dBHL", &bytes) }
        if let masked = ear.masked { set(side + "Masked", masked ? "1" : "0", &bytes) }
        for (name, bound) in [("Lower", ear.clampedBelow), ("Upper", ear.clampedAbove)] {
            if let bound { set("\(side)ClampingRange\(name)Bound", bound.numeral.text, &bytes) }
        }
    }

    // MARK: Eyes

    func prescription(_ stored: StoredSample, to bytes: inout [UInt8]) -> WriteOutcome {
        let sample = stored.sample
        guard let prescription = try? sample.body?.decoded(as: VisionPrescription.self),
            let type = Int(exactly: sample.value).flatMap({ sample.origin.type.categoryValues?.constant(of: $0) })
        else { return Self.unreadable }
        let zone = sample.zone ?? .utc
        Self.element("VisionPrescription", 1, &bytes) { bytes in
            Self.set("type", type, &bytes)
            Self.set("dateIssued", Self.time(sample.start, zone), &bytes)
            if let expiration = prescription.expiration {
                Self.set(
                    "expirationDate", Self.time(Instant(microseconds: sample.start.microseconds &+ expiration), zone), &bytes)
            }
            if let brand = prescription.brand { Self.set("brand", brand, &bytes) }
            // The Health app's prescriptions have no source. Others keep theirs.
            if sample.origin.source.id != "apple-health" { Self.set("sourceName", sample.origin.source.name, &bytes) }
        } content: { bytes in
            self.metadata(of: stored, indent: 2, to: &bytes)
            for (name, eye) in [("RightEye", prescription.rightEye), ("LeftEye", prescription.leftEye)] {
                guard let eye else { continue }
                Self.element(name, 2, &bytes) { bytes in
                    for name in VisionPrescription.names {
                        if let reported = eye[name] { Self.set(name, reported, suffix: "", &bytes) }
                    }
                }
            }
            for attachment in prescription.attachments {
                Self.element("Attachment", 2, &bytes) { Self.set("identifier", attachment, &$0) }
            }
        }
        return .written
    }

    /// Sets an amount under the name with the suffix, and its unit.
    private static func set(_ name: String, _ amount: Amount, suffix: String, _ bytes: inout [UInt8]) {
        set(name + suffix, amount.numeral.text, &bytes)
        if let word = amount.unit?.healthKitString { set(name + "Unit", word, &bytes) }
    }
}

import HealthModel
import Pipeline

/// Interprets the lines of an electrocardiogram's file as a sample.
package final class ElectrocardiogramInterpreter: FrameInterpreter {
    /// The maximum number of voltages, more than half an hour of the watch's rate. A recording takes 30 seconds.
    static let maximumVoltages = 1 << 20

    private let registry: OriginRegistry
    private var header = ElectrocardiogramHeader()
    private var facts: ElectrocardiogramHeader.Facts?
    private var writer: PointsWriter?
    /// The decimal separator of this file, once a number shows it.
    private var separator: UInt8?
    private var refusal: Refusal?
    /// The path in the archive, or empty for a single file.
    private var file = ""

    /// - Parameter registry: the registry of the person who was recorded.
    package init(registry: OriginRegistry) { self.registry = registry }

    /// Reads a line. The row after the last line returns the electrocardiogram.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .bytes(let bytes):
            read(Array(bytes)[...], at: frame.place)
            return .notData
        case .row(let row):
            defer { begin() }
            guard row[0].isText(ElectrocardiogramRow.end) else {
                file = ExportText.shown(row[1])
                return .notData
            }
            defer { file = "" }
            do throws(Refusal) {
                readings.append(try reading(at: frame.place))
            } catch {
                throw inFile(error)
            }
            return .readings
        case .malformed(let reason):
            begin()
            defer { file = "" }
            throw inFile(Refusal(reason, at: frame.place))
        }
    }

    /// Adds the name of a file in an archive to an error.
    private func inFile(_ refusal: Refusal) -> Refusal {
        file.isEmpty
            ? refusal : Refusal("electrocardiogram: \(file), \(refusal.place): \(refusal.reason)", at: refusal.place)
    }

    private func begin() {
        (header, facts, writer, separator, refusal) = (ElectrocardiogramHeader(), nil, nil, nil, nil)
    }

    private func read(_ line: ArraySlice<UInt8>, at place: Place) {
        guard refusal == nil else { return }
        do throws(Refusal) {
            if facts == nil, !ElectrocardiogramHeader.isNumber(line) {
                guard header.append(line) else {
                    throw Refusal("the electrocardiogram has too many lines above its voltages", at: place)
                }
                return
            }
            try append(line, at: place)
        } catch {
            refusal = error
            writer = nil
        }
    }

    private func append(_ line: ArraySlice<UInt8>, at place: Place) throws(Refusal) {
        let text = ElectrocardiogramHeader.trimmed(line)
        guard !text.isEmpty else { return }
        if facts == nil { facts = try header.read(at: place) }
        var digits = Array(text)
        for (index, byte) in text.enumerated() where byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") {
            guard (separator ?? byte) == byte else {
                throw Refusal("a voltage has another decimal sign than those before it", at: place)
            }
            separator = byte
            digits[index] = UInt8(ascii: ".")
        }
        guard let number = digits.withUnsafeBytes({ try? Numeral(parsing: $0) }) else {
            throw Refusal("a voltage is not a number", at: place)
        }
        guard (writer?.count ?? 0) < Self.maximumVoltages else {
            throw Refusal("the electrocardiogram is too long", at: place)
        }
        do throws(ContentError) {
            if writer == nil {
                let unit = facts?.unit ?? ""
                writer = PointsWriter(columns: [Points.Column(Electrocardiogram.voltage.name, unit: unit)])
            }
            try writer?.append([number])
        } catch {
            throw Refusal("the electrocardiogram is too long: \(error)", at: place)
        }
    }

    private func reading(at place: Place) throws(Refusal) -> Reading {
        if let refusal { throw refusal }
        guard let type = SampleType("electrocardiogram") else {
            throw Refusal("the catalogue has no electrocardiograms", at: place)
        }
        guard let facts, var writer else { throw Refusal("the electrocardiogram has no voltages", at: place) }
        self.writer = nil
        let packed: (points: Points, content: PackedContent)
        do throws(ContentError) {
            packed = try writer.end()
        } catch {
            throw Refusal("the electrocardiogram is too long: \(error)", at: place)
        }
        let seconds = Double(packed.points.count) / facts.frequency.doubleValue
        guard seconds < 1e9 else { throw Refusal("the electrocardiogram is too long", at: place) }
        let start = facts.start.instant
        // An unknown name, such as one in another language than English, becomes HealthKit's case for it. The name is kept too.
        let reported = Self.number(of: facts.classification)
        let unrecognized = ObjectValues.electrocardiogramClassification.value(of: "unrecognized")
        let isExact = reported?.isExact ?? false
        guard let body = try? SampleBody(encoding: Self.electrocardiogram(facts, packed.points), content: packed.content) else {
            throw Refusal("the electrocardiogram cannot be stored", at: place)
        }
        return Reading(
            origin: registry.origin(
                type: type,
                source: SourceRevision(
                    id: SourceRevision.appleHealthPrefix + "electrocardiogram", name: "ECG",
                    version: facts.version.isEmpty ? nil : facts.version),
                device: Self.device(facts.device)),
            numeral: Numeral(coefficient: Int64(reported?.number ?? unrecognized ?? -1)), unit: .one,
            time: .instants(
                start: start, end: Instant(microseconds: start.microseconds &+ Int64((seconds * 1e6).rounded())),
                offset: facts.start.offset),
            metadata: isExact ? nil : Metadata([("classification", .string(facts.classification))]),
            record: Self.record(facts, voltages: packed.points.count), body: body, place: place)
    }

    /// The record of a device at one moment. Its version is the number of voltages: the file does not say how long the recording is, so
    /// a file that was cut at a line break looks complete until the longer one arrives and replaces it.
    private static func record(_ facts: ElectrocardiogramHeader.Facts, voltages: Int) -> RecordIdentifier {
        RecordIdentifier(id: "\(facts.start.instant.microseconds) \(facts.device)", version: Int64(voltages))
    }

    private static func electrocardiogram(
        _ facts: ElectrocardiogramHeader.Facts, _ points: Points
    ) -> Electrocardiogram {
        let isNone = facts.symptomsAreEnglish && facts.symptoms == "None"
        var status: String?
        if facts.symptomsAreEnglish, !facts.symptoms.isEmpty { status = isNone ? "none" : "present" }
        return Electrocardiogram(
            points: points, samplingFrequency: Amount(facts.frequency, try? Unit(ucum: "Hz")),
            averageHeartRate: facts.averageHeartRate.map { Amount($0, try? Unit(ucum: "/min")) }, symptomsStatus: status,
            symptoms: facts.symptoms.isEmpty || isNone ? [] : [facts.symptoms], lead: facts.lead.isEmpty ? nil : facts.lead)
    }

    /// Returns the case of HealthKit's number, its name, or its title in English files: `Sinus Rhythm`. An empty text is `notSet`.
    ///
    /// - Returns: `nil` for an unknown name. `isExact` is false for a name that only the Health app shows.
    private static func number(of text: String) -> (number: Int, isExact: Bool)? {
        let values = ObjectValues.electrocardiogramClassification
        guard !text.isEmpty else { return values.value(of: "notSet").map { ($0, true) } }
        if let number = values.value(of: text) { return (number, true) }
        let squeezed = String(
            String.UnicodeScalarView(
                text.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil }))
        if let exact = values.cases.first(where: { $0.name.lowercased() == squeezed }) { return (exact.value, true) }
        return shown[squeezed].flatMap { values.value(of: $0) }.map { ($0, false) }
    }

    /// The names that the Health app shows for the inconclusive cases.
    ///
    /// Sources: HKElectrocardiogram.h (below 50 per minute, a high heart rate, a poor signal, no classification), and Apple's list of
    /// results (https://support.apple.com/en-us/120278): over 120 in the first version of the app, over 150 in the second.
    private static let shown = [
        "inconclusive": "inconclusiveOther", "lowheartrate": "inconclusiveLowHeartRate",
        "heartrateunder50": "inconclusiveLowHeartRate", "inconclusiveheartrateunder50": "inconclusiveLowHeartRate",
        "highheartrate": "inconclusiveHighHeartRate", "heartrateover120": "inconclusiveHighHeartRate",
        "heartrateover150": "inconclusiveHighHeartRate", "inconclusiveheartrateover120": "inconclusiveHighHeartRate",
        "inconclusiveheartrateover150": "inconclusiveHighHeartRate", "poorrecording": "inconclusivePoorReading",
        "poorreading": "inconclusivePoorReading", "inconclusivepoorrecording": "inconclusivePoorReading",
    ]

    /// Parses the device. `Watch7,12` is a hardware model, any other text is a name.
    private static func device(_ text: String) -> Device? {
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: ",")
        guard parts.count == 2, parts[1].utf8.allSatisfy({ ($0 &- 0x30) < 10 }) else { return Device(key: text, name: text) }
        return Device(key: "||" + text, hardware: text)
    }
}

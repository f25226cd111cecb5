import Formats
import HealthModel
import Pipeline

// Samples with their own file in an archive.
extension AppleHealthText {
    func writeMembers(into file: OutputFile) throws {
        for identity in files {
            guard let stored = try member(identity) else { continue }
            let sample = stored.sample
            try file.begin(member: Self.folder + Self.file(of: sample))
            switch sample.origin.kind {
            case .workoutRoute: try gpx(sample, into: file)
            case .electrocardiogram: try csv(sample, into: file)
            default: try sample.body?.content?.forEachChunk { interval in try file.write { $0 += interval } }
            }
        }
    }

    /// Returns the name of the sample's file in the export's folder: the Health app's name with the UUID, so that it is unique.
    static func file(of sample: Sample) -> String {
        let wall = time(sample.start, sample.zone ?? .utc)
        let date = wall.prefix(10)
        switch sample.origin.kind {
        case .workoutRoute:
            let hour = Int(wall.dropFirst(11).prefix(2)) ?? 0
            let minute = wall.dropFirst(14).prefix(2)
            let clock = "\(hour % 12 == 0 ? 12 : hour % 12).\(minute)\(hour < 12 ? "am" : "pm")"
            return "workout-routes/route_\(date)_\(clock)_\(sample.identity).gpx"
        case .electrocardiogram: return "electrocardiograms/ecg_\(date)_\(sample.identity).csv"
        default:
            let type = (try? sample.body?.decoded(as: ClinicalRecord.self))?.resourceType ?? ""
            let isName = !type.isEmpty && type.utf8.count < 64 && type.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
            return "clinical-records/\(isName ? type : "Resource")-\(sample.identity).json"
        }
    }

    private static let needsArchive = "it needs a file of its own: use a name that ends in .zip"

    // MARK: Electrocardiograms

    func electrocardiogram(_ sample: Sample) -> WriteOutcome {
        guard isArchive else { return .leftOut("electrocardiogram: \(Self.needsArchive)") }
        guard let recording = try? sample.body?.decoded(as: Electrocardiogram.self), sample.body?.content != nil else {
            return Self.unreadable
        }
        guard Self.frequency(of: recording) != nil, Self.unit(of: recording) != nil, recording.points.count > 0 else {
            return .leftOut("the format needs one lead in volts and a sample rate")
        }
        files.append(sample.identity)
        return .written
    }

    private static func frequency(of recording: Electrocardiogram) -> String? {
        guard let frequency = recording.samplingFrequency, let hertz = try? Unit(ucum: "Hz") else { return nil }
        if frequency.unit == hertz { return frequency.numeral.text }
        return frequency.value(in: hertz)?.description
    }

    private static func unit(of recording: Electrocardiogram) -> String? {
        guard recording.points.columns.count == 1 else { return nil }
        switch recording.points.columns[0].unit {
        case "uV": return "µV"
        case "mV": return "mV"
        default: return nil
        }
    }

    /// Writes a file as the Health app does, without the person's name.
    private func csv(_ sample: Sample, into file: OutputFile) throws {
        guard let recording = try sample.body?.decoded(as: Electrocardiogram.self), let content = sample.body?.content else {
            return
        }
        let rows = CSVWriter()
        try file.write { bytes in
            rows.append(row: ["Name", ""], to: &bytes)
            rows.append(row: ["Date of Birth", ""], to: &bytes)
            rows.append(row: ["Recorded Date", Self.time(sample.start, sample.zone ?? .utc)], to: &bytes)
            rows.append(row: ["Classification", Self.classification(of: sample)], to: &bytes)
            let symptoms = recording.symptomsStatus == "none" ? "None" : recording.symptoms.joined(separator: ", ")
            rows.append(row: ["Symptoms", symptoms], to: &bytes)
            rows.append(row: ["Software Version", sample.origin.source.version ?? ""], to: &bytes)
            rows.append(row: ["Device", sample.origin.device?.hardware ?? sample.origin.device?.name ?? ""], to: &bytes)
            rows.append(row: ["Sample Rate", "\(Self.frequency(of: recording) ?? "") hertz"], to: &bytes)
            if let rate = recording.averageHeartRate {
                rows.append(row: ["Average Heart Rate", "\(rate.numeral.text) bpm"], to: &bytes)
            }
            rows.append(row: ["Lead", recording.lead ?? ""], to: &bytes)
            rows.append(row: ["Unit", Self.unit(of: recording) ?? ""], to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        var reader = try PointsReader(recording.points, content)
        while let voltages = try reader.next() {
            guard let voltage = voltages.first, let voltage else { continue }
            try file.write { $0 += "\(voltage.text)\n".utf8 }
        }
    }

    /// Returns a classification such as `Sinus Rhythm`.
    private static func classification(of sample: Sample) -> String {
        guard let name = sample.origin.type.caseName(of: sample.value) else { return "" }
        guard name != "notSet" else { return "" }
        var words = ""
        for character in name {
            if character.isUppercase { words.append(" ") }
            words.append(words.isEmpty ? Character(character.uppercased()) : character)
        }
        return words
    }

    // MARK: Clinical records

    func clinicalRecord(_ sample: Sample, to bytes: inout [UInt8]) -> WriteOutcome {
        guard isArchive else { return .leftOut("clinicalRecord: \(Self.needsArchive)") }
        guard let record = try? sample.body?.decoded(as: ClinicalRecord.self), sample.body?.content != nil else {
            return Self.unreadable
        }
        Self.element("ClinicalRecord", 1, &bytes) { bytes in
            // Uses the resource's type, as real exports do.
            Self.set("type", record.resourceType, &bytes)
            Self.set("identifier", record.identifier, &bytes)
            Self.set("sourceName", sample.origin.source.name, &bytes)
            Self.set("sourceURL", record.sourceURL ?? "", &bytes)
            Self.set("fhirVersion", Self.releases[record.version] ?? record.version, &bytes)
            Self.set("receivedDate", Self.time(sample.start, sample.zone ?? .utc), &bytes)
            Self.set("resourceFilePath", "/\(Self.file(of: sample))", &bytes)
        }
        files.append(sample.identity)
        return .written
    }

    /// HealthKit's names of the releases (`HKFHIRVersion.stringRepresentation`).
    private static let releases = ["DSTU2": "1.0.2", "R4": "4.0.1"]
}

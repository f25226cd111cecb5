import CommandLineKit
import HealthModel
import SampleStore

// The part of the page that depends on the sample's kind.
extension ObjectPage {
    mutating func kind(of sample: Sample) throws {
        switch sample.origin.kind {
        case .quantity, .category: break
        case .correlation: try objects(of: sample)
        case .workout: if let workout = body(of: sample, as: Workout.self) { try show(workout, of: sample) }
        case .activitySummary: if let summary = body(of: sample, as: ActivitySummary.self) { show(summary) }
        case .workoutRoute: if let route = body(of: sample, as: WorkoutRoute.self) { try show(route, of: sample) }
        case .heartbeatSeries: if let series = body(of: sample, as: HeartbeatSeries.self) { show(series, of: sample) }
        case .electrocardiogram: if let ecg = body(of: sample, as: Electrocardiogram.self) { show(ecg, of: sample) }
        case .audiogram: if let audiogram = body(of: sample, as: Audiogram.self) { show(audiogram) }
        case .visionPrescription:
            if let prescription = body(of: sample, as: VisionPrescription.self) { show(prescription, of: sample) }
        case .stateOfMind: if let state = body(of: sample, as: StateOfMind.self) { show(state, of: sample) }
        case .medicationDoseEvent: if let dose = body(of: sample, as: MedicationDoseEvent.self) { show(dose, of: sample) }
        case .scoredAssessment: if let assessment = body(of: sample, as: ScoredAssessment.self) { show(assessment, of: sample) }
        case .clinicalRecord: if let record = body(of: sample, as: ClinicalRecord.self) { try show(record, of: sample) }
        case .document: if let document = body(of: sample, as: ClinicalDocument.self) { show(document, of: sample) }
        }
    }

    /// The decoded body. If it cannot be read, the page contains a note.
    private mutating func body<Body: Decodable>(of sample: Sample, as type: Body.Type) -> Body? {
        guard let body = try? sample.body?.decoded(as: type) else {
            page.row("content", "cannot be read (see 'vitalgate store check --deep')")
            return nil
        }
        return body
    }

    private mutating func objects(of sample: Sample) throws {
        guard let correlation = body(of: sample, as: Correlation.self) else { return }
        var rows: [[String]] = []
        for uuid in correlation.objects.prefix(201) {
            let (text, stored) = try self.sample(of: uuid, in: sample)
            guard let stored else {
                rows.append(["", text, "", uuid])
                continue
            }
            let unit = stored.sample.origin.kind == .quantity ? Readable.unit(stored.sample.origin.type.canonicalUnit) : ""
            let value = stored.sample.shown ?? Readable.number(stored.sample.value)
            rows.append([stored.sample.origin.type.id, value, unit, stored.uuid.description])
        }
        rows += correlation.objects.dropFirst(201).map { ["", "", "", $0] }
        page.table(
            "samples", [.init("type"), .init("value", .decimal), .init("unit"), .init("uuid", .left, minimumWidth: 36)], rows)
    }

    private mutating func show(_ summary: ActivitySummary) {
        page.row("day", summary.date)
        let rings: [(String, Amount?, Amount?)] = [
            ("move", summary.activeEnergyBurned, summary.activeEnergyBurnedGoal),
            ("move", summary.moveTime, summary.moveTimeGoal), ("exercise", summary.exerciseTime, summary.exerciseTimeGoal),
            ("stand", summary.standHours, summary.standHoursGoal),
        ]
        for (name, reported, goal) in rings {
            guard let reported else { continue }
            let part = goal.map { " of \($0.numeral.text)" } ?? ""
            page.row(name, "\(reported.numeral.text)\(part) \(reported.unit.map { Readable.unit($0) } ?? "h")")
        }
    }

    // MARK: Recordings

    private mutating func show(_ route: WorkoutRoute, of sample: Sample) throws {
        page.row("name", route.name)
        page.row("locations", Readable.count(route.points.count))
        if let workout = route.workout { page.row("workout", "\(workout), \(try self.sample(of: workout, in: sample).text)") }
        guard let content = sample.body?.content, var reader = try? PointsReader(route.points, content) else { return }
        let names = route.points.columns.map(\.name)
        guard let latitude = names.firstIndex(of: "latitude"), let longitude = names.firstIndex(of: "longitude") else { return }
        let altitude = names.firstIndex(of: "altitude")
        var (first, last): (String?, String?) = (nil, nil)
        var heights: ClosedRange<Double>?
        while let point = try? reader.next() {
            guard let north = point[latitude], let east = point[longitude] else { continue }
            let place = "\(north.text), \(east.text)"
            first = first ?? place
            last = place
            guard let altitude, let height = point[altitude]?.doubleValue else { continue }
            heights = min(heights?.lowerBound ?? height, height)...max(heights?.upperBound ?? height, height)
        }
        page.row("from", first)
        page.row("to", last)
        if let heights {
            page.row(
                "altitude",
                "\(Readable.number(heights.lowerBound.rounded())) to \(Readable.number(heights.upperBound.rounded())) m")
        }
        hints.append("'vitalgate show \(sample.identity) --points' shows each location")
    }

    private mutating func show(_ series: HeartbeatSeries, of sample: Sample) {
        page.row("beats", Readable.count(series.points.count))
        if let gap = series.points.columns.firstIndex(where: { $0.name == "gap" }), let content = sample.body?.content,
            var reader = try? PointsReader(series.points, content)
        {
            var gaps = 0
            while let point = try? reader.next() { if point[gap]?.doubleValue == 1 { gaps += 1 } }
            page.row("gaps", Readable.count(gaps))
        }
        hints.append("'vitalgate show \(sample.identity) --points' shows each beat")
    }

    private mutating func show(_ recording: Electrocardiogram, of sample: Sample) {
        page.row("heart rate", Self.text(recording.averageHeartRate, in: Self.perMinute))
        page.row("sampled at", Self.text(recording.samplingFrequency, in: Self.hertz))
        page.row("lead", recording.lead)
        page.row("symptoms", ([recording.symptomsStatus].compactMap { $0 } + recording.symptoms).joined(separator: ", "))
        page.row("voltages", Readable.count(recording.points.count))
        trace(recording, of: sample)
        hints.append("'vitalgate show \(sample.identity) --points' shows each voltage")
    }

    private mutating func show(_ audiogram: Audiogram) {
        func cell(_ ear: Audiogram.Ear?) -> String {
            guard let ear else { return "" }
            var text = Self.text(ear.sensitivity) ?? ""
            if ear.masked == true { text += ", masked" }
            let bounds = [("at least", ear.clampedBelow), ("at most", ear.clampedAbove)]
            for case (let words, let bound?) in bounds { text += ", \(words) \(bound.numeral.text)" }
            return text
        }
        page.table(
            "hearing", [.init("frequency", .right), .init("left"), .init("right")],
            audiogram.sensitivity.map { [Self.text($0.frequency, in: Self.hertz) ?? "", cell($0.left), cell($0.right)] })
    }

    private static let hertz = try? Unit(ucum: "Hz")
    private static let perMinute = try? Unit(ucum: "/min")
}

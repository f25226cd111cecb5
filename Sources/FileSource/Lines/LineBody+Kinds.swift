import HealthModel

// The kinds that people write by hand, from the fields of lines. Their values are checked together with the body.

/// Returns a time of a line in microseconds after the start.
private func offset(_ line: LineObject, _ name: String, _ start: Instant) throws(LineFault) -> Int64? {
    try LineInterpreter.time(line, name).map { $0.instant.microseconds &- start.microseconds }
}

extension Correlation {
    init(_ line: LineObject) throws(LineFault) {
        self.init(objects: [])
        objects = try line.texts("objects", atMost: 1000)
    }
}

extension Workout {
    /// A workout written by hand has only its duration and distance.
    init(_ line: LineObject) throws(LineFault) {
        for field in ["events", "activities", "routes"] where try !(line.list(field) ?? []).isEmpty {
            throw LineFault(field, "it cannot be read without a body")
        }
        if let statistics = try line.object("statistics"), !statistics.members.isEmpty {
            throw LineFault("statistics", "it cannot be read without a body")
        }
        self.init(
            duration: try line.number("duration").map { Amount($0, Workout.second) },
            totalDistance: try LineBody.amount(line, "totalDistance"))
        if let seconds = duration?.numeral.doubleValue, !(0...1e9).contains(seconds) {
            throw LineFault("duration", "it is not a possible duration")
        }
    }
}

extension VisionPrescription {
    init(_ line: LineObject, _ start: Instant) throws(LineFault) {
        self.init(
            expiration: try offset(line, "expiration", start), brand: try line.text("brand"),
            leftEye: try Self.eye(line, "leftEye"), rightEye: try Self.eye(line, "rightEye"),
            attachments: try line.texts("attachments", atMost: 1000))
    }

    private static func eye(_ line: LineObject, _ name: String) throws(LineFault) -> [String: Amount]? {
        guard let eye = try line.object(name) else { return nil }
        var amounts: [String: Amount] = [:]
        for (name, _) in eye.members { amounts[name] = try LineBody.amount(eye, name) }
        return amounts
    }
}

extension StateOfMind {
    init(_ line: LineObject) throws(LineFault) {
        guard let kind = try line.text("stateOfMindKind") else { throw LineFault("stateOfMindKind: it is missing") }
        self.init(kind: kind, labels: try line.texts("labels"), associations: try line.texts("associations"))
    }
}

extension MedicationDoseEvent {
    init(_ line: LineObject, _ start: Instant) throws(LineFault) {
        guard let medication = try line.text("medication") else { throw LineFault("medication: it is missing") }
        let codes = try line.objects("codes", atMost: 100).map { code throws(LineFault) in
            Coding(system: try code.text("system"), code: try code.text("code"), display: try code.text("display"))
        }
        self.init(
            medication: medication, codes: codes, scheduleType: try line.text("scheduleType"),
            scheduled: try offset(line, "scheduled", start), dose: try LineBody.amount(line, "dose"),
            scheduledDose: try LineBody.amount(line, "scheduledDose"), doseUnit: try line.text("doseUnit"))
    }
}

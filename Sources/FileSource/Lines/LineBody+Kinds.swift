import HealthModel

// Kinds that people write by hand, from the fields of lines; and what has to be true of each, whoever wrote it.

private let reach = LineInterpreter.reach

private func check(_ offsets: [Int64?], _ field: String) throws(LineFault) {
    for case let offset? in offsets where !(-reach...reach).contains(offset) {
        throw LineFault(field, "a time lies far from the start")
    }
}

/// A time of a line as microseconds after the start.
private func offset(_ line: LineObject, _ name: String, _ start: Instant) throws(LineFault) -> Int64? {
    try LineInterpreter.time(line, name).map { $0.instant.microseconds &- start.microseconds }
}

extension Correlation {
    init(_ line: LineObject) throws(LineFault) {
        self.init(objects: [])
        objects = try line.texts("objects", atMost: 1000)
    }

    func checked() throws(LineFault) -> Correlation {
        guard !objects.isEmpty, objects.count <= 1000 else { throw LineFault("objects: there are none, or more than 1000") }
        guard objects.allSatisfy({ SampleIdentity($0) != nil }) else { throw LineFault("objects: one is no UUID of a sample") }
        return self
    }
}

extension Workout {
    /// By hand, a workout has its length and how far it went.
    init(_ line: LineObject) throws(LineFault) {
        for field in ["events", "activities", "routes"] where try !(line.list(field) ?? []).isEmpty {
            throw LineFault(field, "without a body it is not read")
        }
        if let statistics = try line.object("statistics"), !statistics.members.isEmpty {
            throw LineFault("statistics", "without a body it is not read")
        }
        self.init(
            duration: try line.number("duration").map { Amount($0, Workout.second) },
            totalDistance: try LineBody.amount(line, "totalDistance"))
        if let seconds = duration?.numeral.doubleValue, !(0...1e9).contains(seconds) {
            throw LineFault("duration", "it is no possible length")
        }
    }

    func checked() throws(LineFault) -> Workout {
        for event in events + activities.flatMap(\.events) { try check([event.start, event.end], "body: events") }
        for activity in activities { try check([activity.start, activity.end], "body: activities") }
        guard routes.allSatisfy({ SampleIdentity($0) != nil }) else {
            throw LineFault("body: routes: one is no UUID of a sample")
        }
        return self
    }
}

extension ActivitySummary {
    func checked() throws(LineFault) -> ActivitySummary {
        guard Characteristic(.dateOfBirth, date) != nil else { throw LineFault("body: date: it is no day of the calendar") }
        return self
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

    func checked() throws(LineFault) -> VisionPrescription {
        try check([expiration], "expiration")
        for (side, eye) in [("leftEye", leftEye), ("rightEye", rightEye)] {
            guard eye?.keys.allSatisfy(Self.names.contains) ?? true else { throw LineFault(side, "a lens has no such number") }
        }
        guard leftEye != nil || rightEye != nil else { throw LineFault("leftEye: neither eye is told of") }
        return self
    }
}

extension StateOfMind {
    init(_ line: LineObject) throws(LineFault) {
        guard let kind = try line.text("stateOfMindKind") else { throw LineFault("stateOfMindKind: it is missing") }
        self.init(kind: kind, labels: try line.texts("labels"), associations: try line.texts("associations"))
    }

    func checked() throws(LineFault) -> StateOfMind {
        try LineBody.check(kind, ObjectValues.stateOfMindKind, "stateOfMindKind")
        for label in labels { try LineBody.check(label, ObjectValues.stateOfMindLabel, "labels") }
        for association in associations { try LineBody.check(association, ObjectValues.stateOfMindAssociation, "associations") }
        return self
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

    func checked() throws(LineFault) -> MedicationDoseEvent {
        guard !medication.isEmpty else { throw LineFault("medication: it is empty") }
        try LineBody.check(scheduleType, ObjectValues.medicationScheduleType, "scheduleType")
        try check([scheduled], "scheduled")
        return self
    }
}

extension ScoredAssessment {
    func checked(_ type: SampleType) throws(LineFault) -> ScoredAssessment {
        let isAnxiety = type.id == "gad7"
        let count = isAnxiety ? 7 : 9
        guard answers.count == count else { throw LineFault("answers: there have to be \(count)") }
        let names = isAnxiety ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        guard answers.allSatisfy({ names.name(of: $0) != nil }) else {
            throw LineFault("answers: one is no answer of this questionnaire")
        }
        try LineBody.check(risk, isAnxiety ? ObjectValues.gad7Risk : ObjectValues.phq9Risk, "risk")
        return self
    }
}

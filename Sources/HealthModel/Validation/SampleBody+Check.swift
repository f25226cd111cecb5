extension SampleBody {
    /// An upper limit for the JSON of any body. Large content is stored separately.
    public static let maximumJSON = 8 << 20

    /// Checks that it has the content that an object of this type requires.
    ///
    /// - Parameter deeply: Whether its points are also read one by one. Points packed by our own readers are known to be valid.
    public func check(as type: SampleType, deeply: Bool = true) throws(InvalidObject) {
        guard json.count <= Self.maximumJSON else { throw InvalidObject("body", "it is too long") }
        switch type.kind {
        case .quantity, .category: throw InvalidObject("body", "a \(type.kind.name) has none")
        case .correlation: try read(Correlation.self).check()
        case .workout: try read(Workout.self).check()
        case .activitySummary: try read(ActivitySummary.self).check()
        case .workoutRoute:
            let route = try read(WorkoutRoute.self)
            guard route.workout.map({ SampleIdentity($0) != nil }) ?? true else {
                throw InvalidObject("body: workout", "it is not the UUID of a sample")
            }
            try check(route.points, deeply)
        case .heartbeatSeries: try check(try read(HeartbeatSeries.self).points, deeply)
        case .electrocardiogram:
            let recording = try read(Electrocardiogram.self)
            try checkName(recording.symptomsStatus, in: ObjectValues.symptomsStatus, "body: symptomsStatus")
            try check(recording.points, deeply)
        case .audiogram: _ = try read(Audiogram.self)
        case .visionPrescription: try read(VisionPrescription.self).check()
        case .stateOfMind: try read(StateOfMind.self).check()
        case .medicationDoseEvent: try read(MedicationDoseEvent.self).check()
        case .scoredAssessment: try read(ScoredAssessment.self).check(as: type)
        case .clinicalRecord: try read(ClinicalRecord.self).check(try unpacked(), as: type)
        case .document:
            _ = try read(ClinicalDocument.self)
            guard let root = XMLOutline.root(of: try unpacked()), root == "ClinicalDocument" else {
                throw InvalidObject("octets", "they are not a clinical document in well-formed XML")
            }
        }
    }

    private func read<Value: Decodable>(_ type: Value.Type) throws(InvalidObject) -> Value {
        guard let value = try? decoded(as: type) else {
            throw InvalidObject("body", "a member is missing or invalid")
        }
        return value
    }

    /// The decompressed data after the JSON.
    private func unpacked() throws(InvalidObject) -> [UInt8] {
        guard let content else { throw InvalidObject("octets", isLongerThanJSON ? "they are damaged" : "they are missing") }
        do throws(ContentError) {
            return try content.bytes()
        } catch {
            throw InvalidObject("octets", "\(error)")
        }
    }

    private func check(_ points: Points, _ deeply: Bool) throws(InvalidObject) {
        guard points.count >= 0, points.columns.count <= PointsWriter.maximumColumns, !points.columns.isEmpty else {
            throw InvalidObject("body: points", "they have no columns or too many")
        }
        guard let content else {
            guard points.count == 0, !isLongerThanJSON else { throw InvalidObject("data", "the points are missing or damaged") }
            return
        }
        guard deeply else { return }
        let time = points.columns.firstIndex { $0.name == Points.time }
        do {
            var reader = try PointsReader(points, content)
            while let numbers = try reader.next() {
                guard let time, let offset = numbers[time]?.doubleValue else { continue }
                guard offset.magnitude <= Double(Sample.reach) else {
                    throw InvalidObject("data: rows", "a time is far from the start")
                }
            }
        } catch let error as InvalidObject {
            throw error
        } catch {
            throw InvalidObject("data", "the points are missing or damaged")
        }
    }
}

/// The present name of a case, by that or by HealthKit's constant.
private func checkName(_ name: String?, in values: CategoryValues, _ field: String) throws(InvalidObject) {
    guard let name else { return }
    guard values.value(of: name).flatMap(values.name) == name else { throw InvalidObject(field, "HealthKit has no such value") }
}

private func checkTimes(_ offsets: [Int64?], _ field: String) throws(InvalidObject) {
    for case let offset? in offsets where !(-Sample.reach...Sample.reach).contains(offset) {
        throw InvalidObject(field, "a time is far from the start")
    }
}

extension Correlation {
    fileprivate func check() throws(InvalidObject) {
        guard !objects.isEmpty, objects.count <= 1000 else {
            throw InvalidObject("objects", "there must be 1 to 1000")
        }
        guard objects.allSatisfy({ SampleIdentity($0) != nil }) else {
            throw InvalidObject("objects", "one is not the UUID of a sample")
        }
    }
}

extension Workout {
    fileprivate func check() throws(InvalidObject) {
        for event in events + activities.flatMap(\.events) {
            try checkTimes([event.start, event.end], "body: events")
        }
        for activity in activities { try checkTimes([activity.start, activity.end], "body: activities") }
        guard routes.allSatisfy({ SampleIdentity($0) != nil }) else {
            throw InvalidObject("body: routes", "one is not the UUID of a sample")
        }
    }
}

extension ActivitySummary {
    fileprivate func check() throws(InvalidObject) {
        guard Characteristic(.dateOfBirth, date) != nil else { throw InvalidObject("body: date", "it is not a calendar date") }
    }
}

extension VisionPrescription {
    fileprivate func check() throws(InvalidObject) {
        try checkTimes([expiration], "expiration")
        for (side, eye) in [("leftEye", leftEye), ("rightEye", rightEye)] {
            guard eye?.keys.allSatisfy(Self.names.contains) ?? true else {
                throw InvalidObject(side, "a lens has no such number")
            }
        }
        guard leftEye != nil || rightEye != nil else { throw InvalidObject("leftEye", "both eyes are missing") }
    }
}

extension StateOfMind {
    fileprivate func check() throws(InvalidObject) {
        try checkName(kind, in: ObjectValues.stateOfMindKind, "stateOfMindKind")
        for label in labels { try checkName(label, in: ObjectValues.stateOfMindLabel, "labels") }
        for association in associations {
            try checkName(association, in: ObjectValues.stateOfMindAssociation, "associations")
        }
    }
}

extension MedicationDoseEvent {
    fileprivate func check() throws(InvalidObject) {
        guard !medication.isEmpty else { throw InvalidObject("medication", "it is empty") }
        guard medication.isFitName else { throw InvalidObject("medication", Sample.badName) }
        try checkName(scheduleType, in: ObjectValues.medicationScheduleType, "scheduleType")
        try checkTimes([scheduled], "scheduled")
    }
}

extension ScoredAssessment {
    fileprivate func check(as type: SampleType) throws(InvalidObject) {
        let isAnxiety = type.id == "gad7"
        let count = isAnxiety ? 7 : 9
        guard answers.count == count else { throw InvalidObject("answers", "there must be \(count)") }
        let names = isAnxiety ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        guard answers.allSatisfy({ names.name(of: $0) != nil }) else {
            throw InvalidObject("answers", "one is not an answer of this questionnaire")
        }
        try checkName(risk, in: isAnxiety ? ObjectValues.gad7Risk : ObjectValues.phq9Risk, "risk")
    }
}

extension ClinicalRecord {
    /// The resource types of each sample type, as the FHIR reader distinguishes them. A type of a later HealthKit may have any.
    private static let resources: [String: Set<String>] = [
        "allergyRecord": ["AllergyIntolerance"], "conditionRecord": ["Condition"], "immunizationRecord": ["Immunization"],
        "procedureRecord": ["Procedure"], "coverageRecord": ["Coverage"], "vitalSignRecord": ["Observation"],
        "medicationRecord": ["MedicationStatement", "MedicationOrder", "MedicationRequest", "MedicationDispense"],
        "labResultRecord": ["DiagnosticReport", "Observation"], "clinicalNoteRecord": ["DocumentReference"],
        "referencedRecord": referencedResources,
    ]

    fileprivate func check(_ bytes: [UInt8], as type: SampleType) throws(InvalidObject) {
        guard let found = JSONOutline.text("resourceType", of: bytes) else {
            throw InvalidObject("octets", "they are not a FHIR resource in JSON")
        }
        guard found == resourceType else {
            throw InvalidObject("octets", "the type of the resource differs from the body's")
        }
        guard Self.resources[type.id]?.contains(resourceType) ?? true else {
            throw InvalidObject("body: resourceType", "it is not a resource type of \(type.id)")
        }
        guard !identifier.isEmpty, !version.isEmpty else {
            throw InvalidObject("body", "the resource's identifier or version is empty")
        }
    }
}

import HealthModel

// Objects from people and clinics.
extension ObjectFields {
    ///     ,"valence":0.7,"stateOfMindKind":"momentaryEmotion","labels":["calm"],"associations":["family"]
    static func set(_ state: StateOfMind, in object: inout JSONObject) {
        object.set("stateOfMindKind", state.kind)
        object.set("labels", state.labels)
        object.set("associations", state.associations)
    }

    ///     ,"status":"taken","medication":"Ibuprofen","codes":[],"scheduleType":"schedule","scheduled":"…Z","dose":{"value":1.0,"unit":null},…
    static func set(_ event: MedicationDoseEvent, of sample: Sample, in object: inout JSONObject) {
        object.set("medication", event.medication)
        object.set("codes", event.codes.map { JSONObject($0) })
        object.set("scheduleType", event.scheduleType)
        object.set("scheduled", event.scheduled.map { time($0, sample.start) })
        if let dose = event.dose { object.set("dose", amount(dose, nil)) }
        if let dose = event.scheduledDose { object.set("scheduledDose", amount(dose, nil)) }
        object.set("doseUnit", event.doseUnit)
    }

    ///     ,"score":9,"risk":"mild","answers":["severalDays",…]
    static func set(_ assessment: ScoredAssessment, _ type: SampleType, in object: inout JSONObject) {
        let names = type.id == "gad7" ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        object.set("risk", assessment.risk)
        object.set("answers", assessment.answers.map { names.name(of: $0) ?? "\($0)" })
    }

    ///     ,"displayName":"MMRV","fhir":{"resourceType":"Immunization","identifier":"imm-1","version":"R4","sourceURL":null,"lastUpdated":null},
    ///     "dates":{"occurrence":"2012-05-15"},"codes":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94","display":"MMRV"}]
    static func set(_ record: ClinicalRecord, in object: inout JSONObject) {
        object.set("displayName", record.displayName)
        var fhir = JSONObject()
        fhir.set("resourceType", record.resourceType)
        fhir.set("identifier", record.identifier)
        fhir.set("version", record.version)
        fhir.set("sourceURL", record.sourceURL)
        fhir.set("lastUpdated", record.lastUpdated)
        object.set("fhir", fhir)
        var dates = JSONObject()
        for (name, date) in record.dates.sorted(by: { $0.key < $1.key }) { dates.set(name, date) }
        object.set("dates", dates)
        object.set("codes", record.codes.map { JSONObject($0) })
    }

    ///     ,"title":"Summary of care","patient":"…","custodian":"…","author":"…","valid":true
    static func set(_ document: ClinicalDocument, in object: inout JSONObject) {
        object.set("title", document.title)
        object.set("patient", document.patient)
        object.set("custodian", document.custodian)
        object.set("author", document.author)
        object.set("valid", document.valid)
        if let reason = document.reason { object.set("reason", reason) }
    }
}

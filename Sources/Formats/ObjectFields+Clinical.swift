import HealthModel

// Objects from people and clinics.
extension ObjectFields {
    ///     ,"valence":0.7,"stateOfMindKind":"momentaryEmotion","labels":["calm"],"associations":["family"]
    static func set(_ state: StateOfMind, in object: inout JSONObject) {
        object.set(["stateOfMindKind": state.kind, "labels": state.labels, "associations": state.associations])
    }

    ///     ,"status":"taken","medication":"Ibuprofen","codes":[],"scheduleType":"schedule","scheduled":"…Z","dose":{"value":1.0,"unit":null},…
    static func set(_ event: MedicationDoseEvent, of sample: Sample, in object: inout JSONObject) {
        object.set([
            "medication": event.medication, "codes": event.codes.map { JSONObject($0) }, "scheduleType": event.scheduleType,
            "scheduled": event.scheduled.map { time($0, sample.start) }, "dose": ifPresent(event.dose.map { amount($0, nil) }),
            "scheduledDose": ifPresent(event.scheduledDose.map { amount($0, nil) }), "doseUnit": event.doseUnit,
        ])
    }

    ///     ,"score":9,"risk":"mild","answers":["severalDays",…]
    static func set(_ assessment: ScoredAssessment, _ type: SampleType, in object: inout JSONObject) {
        let names = type.id == "gad7" ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        object.set(["risk": assessment.risk, "answers": assessment.answers.map { names.name(of: $0) ?? "\($0)" }])
    }

    ///     ,"displayName":"MMRV","fhir":{"resourceType":"Immunization","identifier":"imm-1","version":"R4","sourceURL":null,"lastUpdated":null},
    ///     "dates":{"occurrence":"2012-05-15"},"codes":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94","display":"MMRV"}]
    static func set(_ record: ClinicalRecord, in object: inout JSONObject) {
        object.set("displayName", record.displayName)
        object.set(
            "fhir",
            JSONObject([
                "resourceType": record.resourceType, "identifier": record.identifier, "version": record.version,
                "sourceURL": record.sourceURL, "lastUpdated": record.lastUpdated,
            ]))
        var dates = JSONObject()
        for (name, date) in record.dates.sorted(by: { $0.key < $1.key }) { dates.set(name, date) }
        object.set(["dates": dates, "codes": record.codes.map { JSONObject($0) }, "date": ifPresent(record.date)])
        if let result = record.result { set(result, in: &object) }
        if let references = record.references {
            object.set(
                "references",
                references.map { reference in
                    JSONObject(["element": reference.element, "reference": reference.reference, "display": reference.display])
                })
        }
    }

    ///     ,"value":88.10,"unit":"mg/dL","result":"88.10 mg/dL","original":{"value":"88.10","unit":"mg/dL"},
    ///     "ranges":[{"text":"70–99 mg/dL","low":{"value":70,"unit":"mg/dL"},"high":{…},"appliesTo":[]}],"outOfRange":false,
    ///     "interpretation":["Normal"]
    ///
    /// A result that is not one number has no value: a limit such as `<5 mg/dL`, words, or components.
    private static func set(_ result: ClinicalResult, in object: inout JSONObject) {
        if let quantity = result.quantity {
            if result.amount != nil {
                object.set(["value": RawJSON(quantity.value), "unit": quantity.code ?? quantity.unit])
            }
            object.set(
                "original",
                JSONObject([
                    "comparator": ifPresent(quantity.comparator), "value": quantity.value, "unit": quantity.unit,
                ]))
        }
        object.set(["result": result.text, "absent": ifPresent(result.absent)])
        if let ranges = result.ranges {
            object.set(
                "ranges",
                ranges.map { range in
                    JSONObject([
                        "text": range.text, "low": ifPresent(range.low.map { bound($0) }),
                        "high": ifPresent(range.high.map { bound($0) }), "appliesTo": range.appliesTo ?? [],
                    ])
                })
        }
        if let isOutside = result.isOutside { object.set("outOfRange", isOutside) }
        if let interpretation = result.interpretation { object.set("interpretation", interpretation) }
        if let notes = result.notes { object.set("notes", notes) }
        if let components = result.components {
            object.set(
                "components",
                components.map { component in
                    var entry = JSONObject(["name": component.name, "codes": component.codes.map { JSONObject($0) }])
                    set(component.result, in: &entry)
                    return entry
                })
        }
    }

    private static func bound(_ quantity: ClinicalResult.Quantity) -> JSONObject {
        ["comparator": ifPresent(quantity.comparator), "value": RawJSON(quantity.value), "unit": quantity.code ?? quantity.unit]
    }

    ///     ,"title":"Summary of care","patient":"…","custodian":"…","author":"…","valid":true
    static func set(_ document: ClinicalDocument, in object: inout JSONObject) {
        object.set([
            "title": document.title, "patient": document.patient, "custodian": document.custodian, "author": document.author,
            "valid": document.valid, "reason": ifPresent(document.reason),
        ])
    }
}

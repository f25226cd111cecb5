import HealthModel

/// The dates of a resource as written. For a period, `…` is the start and `…End` the end.
enum RecordDates {
    /// Elements and the names of their dates. A name with `[x]` is a date or a period.
    private static let elements: [String: [(element: StaticString, name: String)]] = [
        "AllergyIntolerance": [
            ("recordedDate", "recorded"), ("onset", "onset"), ("onsetDateTime", "onset"), ("onsetPeriod", "onset"),
            ("lastOccurrence", "lastOccurrence"), ("lastOccurence", "lastOccurrence"),
        ],
        "Condition": [
            ("recordedDate", "recorded"), ("dateRecorded", "recorded"), ("onsetDateTime", "onset"), ("onsetPeriod", "onset"),
            ("abatementDateTime", "abatement"), ("abatementPeriod", "abatement"),
        ],
        "Immunization": [
            ("recorded", "recorded"), ("occurrenceDateTime", "occurrence"), ("date", "occurrence"),
            ("expirationDate", "expiration"),
        ],
        "Observation": observed, "DiagnosticReport": observed,
        "MedicationStatement": [
            ("dateAsserted", "asserted"), ("effectiveDateTime", "effective"), ("effectivePeriod", "effective"),
        ],
        "MedicationOrder": [("dateWritten", "authored"), ("dateEnded", "ended")],
        "MedicationRequest": [("authoredOn", "authored")],
        "MedicationDispense": [("whenPrepared", "prepared"), ("whenHandedOver", "handedOver")],
        "Procedure": [("performedDateTime", "performed"), ("performedPeriod", "performed")],
        "Coverage": [("period", "period")],
        "DocumentReference": [("date", "authored"), ("created", "created"), ("indexed", "indexed")],
    ]

    private static let observed: [(element: StaticString, name: String)] = [
        ("issued", "issued"), ("effectiveDateTime", "effective"), ("effectiveInstant", "effective"),
        ("effectivePeriod", "effective"),
    ]

    static func dates(of type: String, _ tape: borrowing JSONTape) -> [String: String] {
        var dates: [String: String] = [:]
        for (element, name) in elements[type] ?? [] {
            guard let value = tape.member(element, of: 0) else { continue }
            if tape.nodes[value].kind == .string {
                dates[name] = tape.text(value)
            } else {
                if let start = tape.text("start", of: value) { dates[name] = start }
                if let end = tape.text("end", of: value) { dates[name + "End"] = end }
            }
        }
        return dates
    }
}

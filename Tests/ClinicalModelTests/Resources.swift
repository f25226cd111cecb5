/// Small resources to change.
enum Resources {
    static let immunization = """
        {"resourceType":"Immunization","id":"imm-1","status":"completed","vaccineCode":{"coding":[\
        {"system":"http://hl7.org/fhir/sid/cvx","code":"94"}]},"patient":{"reference":"Patient/1"},"occurrenceDateTime":"2012-05-15"}
        """

    static let observation = """
        {"resourceType":"Observation","id":"o1","meta":{"lastUpdated":"2020-01-02T03:04:05.5Z"},"status":"final","category":[{"coding":[\
        {"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],\
        "code":{"coding":[{"system":"http://loinc.org","code":"2823-3","display":"Potassium"}]},\
        "subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-01T08:00:00+01:00","valueQuantity":{"value":6.30,"unit":"mmol/L"}}
        """

    /// The immunization with one piece of it written otherwise.
    static func immunization(_ old: String, _ new: String) -> String { immunization.replacing(old, with: new) }
    static func observation(_ old: String, _ new: String) -> String { observation.replacing(old, with: new) }
}

import HealthModel

extension JSONObject {
    /// `{"system":"http://hl7.org/fhir/sid/cvx","code":"94","display":"MMRV"}`
    package init(_ coding: Coding) {
        self.init()
        set("system", coding.system)
        set("code", coding.code)
        set("display", coding.display)
    }
}

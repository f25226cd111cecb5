import Formats
import HealthModel

/// The FHIR R4 codes, profiles and units of types. LOINC and MDC codes come from the catalogue.
enum ObservationCodes {
    static let loinc = "http://loinc.org"
    static let ucum = "http://unitsofmeasure.org"
    static let mdc = "urn:iso:std:iso:11073:10101"
    /// The system of HealthKit's identifiers in FHIR.
    static let healthKit = "http://developer.apple.com/documentation/healthkit"
    /// The system of types that HealthKit does not have.
    static let own = "urn:vitalgate:quantity-type"
    /// The system of identifiers that are URIs, such as `urn:uuid:…`.
    static let uri = "urn:ietf:rfc:3986"
    /// The system of identifiers of blood pressures and devices, which are not samples.
    static let made = "urn:vitalgate:made"
    static let replacedBy = "urn:vitalgate:replaced-by"
    /// The extension of a Device that contains the mark of the last delivery.
    static let mark = "urn:vitalgate:mark"
    static let tagSystem = "urn:vitalgate:exporter"
    static let tag = "vitalgate"
    static let structures = "http://hl7.org/fhir/StructureDefinition/"
    static let absentReason = "http://terminology.hl7.org/CodeSystem/data-absent-reason"

    /// R4's vital signs profiles, whose codes and units a server may insist on (hl7.org/fhir/R4/observation-vitalsigns.html). The pressures' is
    /// the panel's.
    static let profiles = [
        "heartRate": "heartrate", "respiratoryRate": "resprate", "oxygenSaturation": "oxygensat", "bodyTemperature": "bodytemp",
        "height": "bodyheight", "bodyMass": "bodyweight", "bodyMassIndex": "bmi",
    ]

    /// Codes that are more specific than some readings of the type, so they are not sent.
    ///
    /// - `restingHeartRate`: a validator takes 40443-4 for a heart rate and asks for 8867-4, which it is not.
    /// - `heartRate`: 147842 is the rate of an electrocardiogram; a cuff and an oximeter have others.
    /// - `heartbeatInterval`: 8637-1 and 147240 are of an electrocardiogram; an optical sensor has the type, too.
    private static let withoutLOINC: Set = ["restingHeartRate", "heartbeatInterval"]
    private static let withoutMDC: Set = ["heartRate", "heartbeatInterval"]

    static func profile(of type: SampleType) -> String? { profiles[type.id].map { structures + $0 } }

    /// Whether the type describes a person.
    static func isAboutAPerson(_ type: SampleType) -> Bool { type != .batteryLevel }

    static func isBloodPressure(_ type: SampleType) -> Bool {
        type == .bloodPressureSystolic || type == .bloodPressureDiastolic
    }

    /// Returns a type's codings: LOINC, MDC, and the type's own name, which distinguishes types with the same LOINC code.
    static func codings(of type: SampleType) -> [Coding] {
        var codings: [Coding] = []
        if let code = type.loinc, !withoutLOINC.contains(type.id) {
            codings.append(Coding(system: loinc, code: code))
            // R4's profile requires the first code. The second identifies a pulse oximeter.
            if type == .oxygenSaturation { codings.append(Coding(system: loinc, code: "59408-5")) }
        }
        if let code = type.mdc, !withoutMDC.contains(type.id) {
            codings.append(Coding(system: mdc, code: String(code.code), display: code.name))
        }
        if let name = type.healthKitIdentifier {
            codings.append(Coding(system: healthKit, code: name, display: type.displayName))
        } else {
            codings.append(Coding(system: own, code: type.id, display: type.displayName))
        }
        return codings
    }

    /// A concept with its codings, and its text if there is one.
    static func concept(_ codings: [Coding], text: String? = nil) -> JSONObject {
        [
            "coding": codings.map { JSONObject(["system": $0.system, "code": $0.code, "display": ifPresent($0.display)]) },
            "text": ifPresent(text),
        ]
    }

    /// A value of a system, which identifies a resource.
    static func identifier(_ system: String, _ value: String) -> JSONObject { ["system": system, "value": value] }

    /// A reference to another resource.
    static func reference(_ path: String) -> JSONObject { ["reference": path] }

    /// The tag that identifies our resources, and the URL of the profile.
    static func meta(profile: String? = nil) -> JSONObject {
        ["profile": ifPresent(profile.map { [$0] }), "tag": [JSONObject(["system": tagSystem, "code": tag])]]
    }

    private static let categories = "http://terminology.hl7.org/CodeSystem/observation-category"
    /// The categories of an activity, and of a vital sign.
    static let activity = Coding(system: categories, code: "activity")
    static let vitalSign = Coding(system: categories, code: "vital-signs")
}

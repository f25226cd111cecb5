import HealthModel
import SampleStore

/// A parameter of a request, in the path, the query or a header. The OpenAPI document is generated from these declarations.
struct Parameter: Sendable {
    /// The form of the value, in the terms of JSON Schema.
    enum Form: Sendable {
        /// Any text with a maximum length in characters, and examples.
        case text(maximum: Int, like: [String])
        case number(ClosedRange<Int>)
        case flag
        case words([String])
        case name(TypeNames)
        /// Several names of types, separated by commas.
        case names(TypeNames)
        case uuid
        /// `me` or a UUID, and optionally `unassigned`.
        case person(allowsUnassigned: Bool)
        /// A calendar interval, such as `1d`.
        case interval
        /// A header of visible ASCII characters and spaces, with a maximum length.
        case field(maximum: Int)

        static func text(like examples: String...) -> Form { .text(maximum: 1000, like: examples) }
        static let times = Form.text(like: "2026-11-20T06:30:00Z", "2026-11-20", "today", "-7d")
    }

    let name: String
    let form: Form
    let help: String
    var isRequired = false
    var isRepeating = false
    var isInPath = false
    /// Whether this is a header, such as `Idempotency-Key`.
    var isInHeader = false

    static let types = Parameter(
        name: "types", form: .names(.samples),
        help: "Types such as heartRate or sleepAnalysis, separated by commas (default: all)."
    )
    static let from = Parameter(
        name: "from", form: .times, help: "Earliest start (inclusive): ISO 8601, a date, today, yesterday, monday, or -7d.")
    static let to = Parameter(name: "to", form: .times, help: "Latest start (exclusive).")
    static let person = Parameter(
        name: "subject", form: .person(allowsUnassigned: true), help: "Person: me, unassigned, or a UUID (default: all).")
    static let source = Parameter(name: "source", form: .text(like: "strap"), help: "ID or name of the source.")
    static let device = Parameter(
        name: "device", form: .text(like: "ble:C0:01:02:03:04:05"), help: "Key, name, model, or serial number of the device.")
    static let unit = Parameter(
        name: "unit", form: .text(like: "/min", "Cel", "kg"),
        help: "Unit of the values (UCUM), for types that can be converted to it.")
    static let zone = Parameter(
        name: "zone", form: .text(like: "Europe/Berlin", "+01:00", "UTC"),
        help: "Time zone of dates and days, such as Europe/Berlin or +01:00 (default: the server's).")
    static let condition = Parameter(
        name: "where",
        form: .text(
            maximum: 4000,
            like: [
                "value > 38 Cel", "metadata.wasUserEntered = *",
                "{\"not\":{\"field\":\"source.name\",\"is\":\"~\",\"value\":\"Ear\"}}",
            ]),
        help: """
            Condition, as in 'vitalgate query --where': value > 38 Cel and source.name ~ Ear. The same condition as JSON: \
            {"and":[{"field":"value","is":">","value":38,"unit":"Cel"},{"field":"source.name","is":"~","value":"Ear"}]}.
            """)
    static let uuid = Parameter(name: "uuid", form: .uuid, help: "UUID of the sample.", isRequired: true, isInPath: true)
    static func limit(_ maximum: Int, _ help: String) -> Parameter {
        Parameter(name: "limit", form: .number(0...maximum), help: help)
    }
    static func format(_ answers: [AnswerForm]) -> Parameter {
        Parameter(
            name: "format", form: .words(answers.map(\.name)),
            help: "Format of the response (default: by the Accept header, or else the first one).")
    }
}

/// Sets of type names, each with its own schema in the document. A route may also accept others: HealthKit's identifiers, and types
/// that are known from files only.
enum TypeNames: String, CaseIterable, Sendable {
    case samples = "SampleType"
    /// Types with statistics.
    case amounts = "AmountType"
    /// Types that can be granted: types of samples and characteristics.
    case objects = "ObjectType"
    /// Types that are granted object by object.
    case clinical = "ClinicalType"

    var all: [String] {
        switch self {
        case .samples: SampleType.all.map(\.id)
        case .amounts: SampleType.all.filter { $0.kind == .quantity || $0.kind == .category }.map(\.id)
        case .objects: SampleType.all.map(\.id) + CharacteristicType.allCases.map(\.rawValue)
        case .clinical: SampleType.all.filter { ObjectType($0).isAskedByObject }.map(\.id)
        }
    }

    /// The schema's path in the document.
    var path: String { "#/components/schemas/\(rawValue)" }
    var reference: String { "{\"$ref\":\"\(path)\"}" }
}

enum AnswerForm: Sendable {
    case json, ndjson, csv, events
    /// The original files: FHIR resources, CDA documents.
    case resource, document

    var name: String {
        switch self {
        case .json: "json"
        case .ndjson: "ndjson"
        case .csv: "csv"
        case .events: "events"
        case .resource: "resource"
        case .document: "document"
        }
    }

    var type: String {
        switch self {
        case .json: "application/json"
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv"
        case .events: "text/event-stream"
        case .resource: "application/fhir+json"
        case .document: "application/xml"
        }
    }
}

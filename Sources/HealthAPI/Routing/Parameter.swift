/// What a request may say in its path or behind the `?`; of each stands here what it is and what for, and the document says the same.
struct Parameter: Sendable {
    /// What its text is, in the terms of JSON Schema.
    enum Form: Sendable {
        case text
        case number(ClosedRange<Int>)
        case flag
        case words([String])
        /// Several, joined by commas.
        case list
        case uuid
    }

    let name: String
    let form: Form
    let help: String
    var isRequired = false
    var isRepeating = false
    var isInPath = false
    /// Whether it is a field of the head, `Idempotency-Key`.
    var isInHeader = false

    static let types = Parameter(
        name: "types", form: .list, help: "Types such as heartRate or sleepAnalysis, joined by commas; all without it.")
    static let from = Parameter(
        name: "from", form: .text, help: "The first start that counts: ISO 8601, a date, today, yesterday, monday or -7d.")
    static let to = Parameter(name: "to", form: .text, help: "The first start that no longer counts.")
    static let subject = Parameter(name: "subject", form: .text, help: "A person: me, unassigned or a UUID; all without it.")
    static let source = Parameter(name: "source", form: .text, help: "A source's id or name.")
    static let device = Parameter(name: "device", form: .text, help: "A device's key, name, model or serial number.")
    static let unit = Parameter(
        name: "unit", form: .text, help: "Values in this unit (UCUM), of those types that have a conversion to it.")
    static let zone = Parameter(
        name: "zone", form: .text, help: "The zone of dates and days, such as Europe/Berlin or +01:00; the server's without it.")
    static let condition = Parameter(
        name: "where", form: .text,
        help: """
            A condition as 'vitalgate query --where' takes it: value > 38 Cel and source.name ~ Ear. Or the same as JSON: \
            {"and":[{"field":"value","is":">","value":38,"unit":"Cel"},{"field":"source.name","is":"~","value":"Ear"}]}.
            """)
    static let uuid = Parameter(name: "uuid", form: .uuid, help: "The sample's UUID.", isRequired: true, isInPath: true)
    static func limit(_ most: Int, _ help: String) -> Parameter { Parameter(name: "limit", form: .number(0...most), help: help) }
    static func format(_ answers: [AnswerForm]) -> Parameter {
        Parameter(
            name: "format", form: .words(answers.map(\.name)),
            help: "The form of the answer; without it what Accept asks for, else the first.")
    }
}

/// A form that an answer comes in.
enum AnswerForm: Sendable {
    case json, ndjson, csv, events
    /// As they came: resources of FHIR, documents of CDA.
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

import Formats
import HTTPServerKit

/// JSON Schemas of parameters, bodies and answers.
extension HTTPDocument {
    /// The schema of a parameter. A value that violates it is rejected with 400. Other invalid values, such as a date that does not
    /// exist, get 422.
    static func schema(_ form: Parameter.Form) -> JSONObject {
        var schema = JSONObject()
        switch form {
        case .text(let maximum, let examples):
            schema.set(["type": "string", "minLength": 1, "maxLength": maximum, "pattern": "^[^\\u0000]*$", "examples": examples])
        case .number(let range):
            schema.set(["type": "integer", "minimum": range.lowerBound, "maximum": range.upperBound])
        case .flag: schema.set("type", "boolean")
        case .words(let words):
            schema.set(["type": "string", "enum": words])
        case .name(let names): schema.set("$ref", names.path)
        case .names(let names):
            schema.set(["type": "array", "items": RawJSON(names.reference), "minItems": 1])
        case .uuid:
            schema.set(["type": "string", "format": "uuid"])
        case .person(let allowsUnassigned):
            let digit = "[0-9a-fA-F]"
            let uuid = "\(digit){8}-\(digit){4}-\(digit){4}-\(digit){4}-\(digit){12}"
            schema.set("type", "string")
            schema.set("pattern", "^(me|\(allowsUnassigned ? "unassigned|" : "")\(uuid))$")
            schema.set("examples", ["me"])
        case .interval:
            schema.set(["type": "string", "pattern": "^([1-9][0-9]{0,3}|10000)(m|h|d|w|mo|y)$", "examples": ["1h", "1d", "1mo"]])
        case .field(let maximum):
            schema.set(["type": "string", "maxLength": maximum, "pattern": "^[!-~]([ -~]*[!-~])?$"])
        }
        return schema
    }

    /// The schema of a person, for use in other schemas.
    static func person(allowsUnassigned: Bool) -> String {
        String(decoding: schema(.person(allowsUnassigned: allowsUnassigned)).closed, as: UTF8.self)
    }

    /// The schema of an answer. A JSON object has its list under a name. The format pages describe the items.
    static func answerSchema(_ form: AnswerForm, _ route: Route) -> JSONObject {
        var schema = JSONObject()
        guard form == .json else {
            // For events, this is the schema of one event.
            schema.set("type", form == .events || form == .resource ? "object" : "string")
            return schema
        }
        schema.set("type", "object")
        guard let key = route.key else { return schema }
        schema.set("required", [key])
        let list = JSONObject(["type": "array", "items": RawJSON(route.item)])
        schema.set("properties", JSONObject([key: list]))
        return schema
    }

    static var components: JSONObject {
        var (components, schemas) = (JSONObject(), JSONObject())
        components.set("securitySchemes", raw: Array("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}".utf8))
        for (name, schema) in [
            ("Problem", problemSchema), ("Sample", sample), ("StoredSample", storedSample), ("SavedSample", savedSample),
            ("WriteBackItem", WriteBackRoutes.itemSchema),
        ] {
            schemas.set(name, raw: Array(schema.utf8))
        }
        for names in TypeNames.allCases {
            let schema = JSONObject(["type": "string", "enum": names.all])
            schemas.set(names.rawValue, schema)
        }
        components.set("schemas", schemas)
        return components
    }

    private static let problemSchema = """
        {"type":"object","required":["type","title","status","detail"],"properties":{"type":{"type":"string"},"title":{"type":"string"},\
        "status":{"type":"integer"},"detail":{"type":"string"}}}
        """

    /// Optional members may also be null, as in lines of `query`.
    private static var sample: String {
        """
        {"type":"object","required":["type","start"],"properties":{"type":\(TypeNames.samples.reference),\
        "start":{"type":"string","format":"date-time"},"end":{"type":["string","null"],"format":"date-time"},\
        "subject":{"oneOf":[\(person(allowsUnassigned: true)),{"type":"null"}]},"value":{"type":["number","null"]},"unit":{"type":["string","null"]},\
        "metadata":{"type":["object","null"]}},"examples":[\(example)]}
        """
    }

    static let example = """
        {"type":"bodyMass","start":"2026-11-20T07:00:00Z","value":71.4,"unit":"kg","metadata":{"syncIdentifier":"2026-11-20","syncVersion":1}}
        """

    private static let storedSample = """
        {"type":"object","required":["uuid","type","start"],"properties":{"uuid":{"type":"string","format":"uuid"},"type":{"type":"string"},\
        "start":{"type":"string","format":"date-time"},"end":{"type":"string","format":"date-time"},\
        "value":{"type":"number","description":"The value of a quantity, or of a laboratory result that is one number."},\
        "unit":{"type":["string","null"],"description":"The unit of the value."},\
        "original":{"type":"object","description":"The digits and the unit as received.","properties":{\
        "comparator":{"type":"string","enum":["<","<=",">=",">"]},"value":{"type":"string"},"unit":{"type":["string","null"]}}},\
        "displayName":{"type":"string","description":"The name of a clinical record."},\
        "date":{"type":"string","description":"The own date of a clinical record, such as the day of a test."},\
        "result":{"type":["string","null"],"description":"The result of an Observation as a text, such as <5 mg/dL."},\
        "absent":{"type":"string","description":"The reason why a result is missing."},\
        "ranges":{"type":"array","description":"Reference ranges.","items":{"type":"object","properties":{\
        "text":{"type":"string"},"low":\(bound),"high":\(bound),"appliesTo":{"type":"array","items":{"type":"string"}}}}},\
        "outOfRange":{"type":"boolean","description":"Whether the value is outside the only reference range."},\
        "interpretation":{"type":"array","items":{"type":"string"}},"notes":{"type":"array","items":{"type":"string"}},\
        "components":{"type":"array","description":"The parts of a panel, each with name, codes and result.","items":{"type":"object"}},\
        "references":{"type":"array","description":"The resources that a clinical record refers to.","items":{"type":"object",\
        "properties":{"element":{"type":"string"},"reference":{"type":["string","null"]},"display":{"type":["string","null"]}}}}}}
        """

    /// A bound of a reference range.
    private static let bound = """
        {"type":"object","properties":{"value":{"type":"number"},"unit":{"type":["string","null"]}}}
        """

    private static let savedSample = """
        {"type":"object","required":["uuid","type","outcome"],"properties":{"uuid":{"type":"string","format":"uuid"},"type":{"type":"string"},\
        "outcome":{"type":"string","enum":["stored","known","held"]}}}
        """
}

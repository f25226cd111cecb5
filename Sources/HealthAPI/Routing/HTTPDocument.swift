import Formats
import HTTPServerKit

/// The document of all routes: OpenAPI 3.1, made of the declarations that the routing goes by.
public enum HTTPDocument {
    /// The document as JSON, with an end of line.
    public static var json: [UInt8] {
        var document = JSONObject()
        document.set("openapi", "3.1.0")
        document.set("info", info)
        document.set("security", raw: Array("[{\"bearer\":[]}]".utf8))
        var paths = JSONObject()
        for path in RouteTable.all.map(\.path).uniqued {
            var item = JSONObject()
            for route in RouteTable.all where route.path == path { item.set(route.method.lowercased(), operation(route)) }
            paths.set(path, item)
        }
        document.set("paths", paths)
        document.set("components", components)
        return document.line
    }

    static var response: HTTPResponse { HTTPResponse(type: "application/json", json) }

    private static var info: JSONObject {
        var info = JSONObject()
        info.set("title", "Vitalgate")
        info.set("version", "1")
        info.set("summary", "Health samples of this household, for the programs that its people have let in.")
        return info
    }

    private static func operation(_ route: Route) -> JSONObject {
        var operation = JSONObject()
        operation.set("operationId", route.name)
        operation.set("summary", route.summary)
        if !route.discussion.isEmpty { operation.set("description", route.discussion) }
        if route.right == .none { operation.set("security", raw: Array("[]".utf8)) }
        operation.set("parameters", route.allParameters.map(parameter))
        if let body = route.body { operation.set("requestBody", requestBody(body)) }
        var answers = JSONObject()
        if route.answers.isEmpty {
            answers.set("\(route.status)", described("Done."))
        } else {
            answers.set("\(route.status)", answer(route))
        }
        if route.method == "GET", route.answers != [.events] {
            answers.set("304", described("The reader has it already (If-None-Match)."))
        }
        // A body that is too long is refused before anything else is looked at.
        let problems =
            [400] + (route.answers.isEmpty ? [] : [406]) + (route.right == .none ? [] : [401, 503]) + route.problems
            + (route.body == nil ? [] : [413, 415, 422])
        for status in problems.sorted() { answers.set("\(status)", problem(status)) }
        operation.set("responses", answers)
        return operation
    }

    private static func described(_ text: String) -> JSONObject {
        var object = JSONObject()
        object.set("description", text)
        return object
    }

    private static func parameter(_ parameter: Parameter) -> JSONObject {
        var object = JSONObject()
        object.set("name", parameter.name)
        object.set("in", parameter.isInPath ? "path" : parameter.isInHeader ? "header" : "query")
        object.set("description", parameter.help)
        object.set("required", parameter.isRequired)
        object.set("schema", schema(parameter.form))
        return object
    }

    private static func requestBody(_ body: RequestBody) -> JSONObject {
        var (object, content) = (JSONObject(), JSONObject())
        object.set("required", true)
        for form in body.forms {
            var media = JSONObject()
            media.set("schema", raw: Array((form == .json ? body.schema : "{\"type\":\"string\"}").utf8))
            content.set(form.type, media)
        }
        object.set("content", content)
        return object
    }

    private static func schema(_ form: Parameter.Form) -> JSONObject {
        var schema = JSONObject()
        switch form {
        case .text, .list:
            schema.set("type", "string")
            schema.set("minLength", 1)
        case .number(let range):
            schema.set("type", "integer")
            schema.set("minimum", range.lowerBound)
            if range.upperBound < .max { schema.set("maximum", range.upperBound) }
        case .flag: schema.set("type", "boolean")
        case .words(let words):
            schema.set("type", "string")
            schema.set("enum", words)
        case .uuid:
            schema.set("type", "string")
            schema.set("format", "uuid")
        }
        return schema
    }

    private static func answer(_ route: Route) -> JSONObject {
        var object = described("The answer.")
        var content = JSONObject()
        for form in route.answers {
            var media = JSONObject()
            media.set("schema", answerSchema(form, route.key))
            content.set(form.type, media)
        }
        object.set("content", content)
        return object
    }

    /// An object of JSON has its list under a name; what its parts have is told by the pages on formats.
    private static func answerSchema(_ form: AnswerForm, _ key: String?) -> JSONObject {
        var schema = JSONObject()
        guard form == .json else {
            schema.set("type", "string")
            return schema
        }
        schema.set("type", "object")
        guard let key else { return schema }
        schema.set("required", [key])
        var list = JSONObject()
        list.set("type", "array")
        list.set("items", raw: Array("{\"type\":\"object\"}".utf8))
        var properties = JSONObject()
        properties.set(key, list)
        schema.set("properties", properties)
        return schema
    }

    private static func problem(_ status: Int) -> JSONObject {
        var object = described(Problem(status, "").title)
        object.set(
            "content", raw: Array("{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}".utf8))
        return object
    }

    private static var components: JSONObject {
        var components = JSONObject()
        components.set("securitySchemes", raw: Array("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}".utf8))
        let problem = """
            {"Problem":{"type":"object","required":["type","title","status","detail"],"properties":{"type":{"type":"string"},\
            "title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"}}},"Sample":{"type":"object",\
            "required":["type","start"],"properties":{"type":{"type":"string"},"start":{"type":"string","format":"date-time"},\
            "end":{"type":"string","format":"date-time"},"subject":{"type":"string"},"value":{"type":"number"},"unit":{"type":"string"},\
            "metadata":{"type":"object"}}}}
            """
        components.set("schemas", raw: Array(problem.utf8))
        return components
    }
}

extension Array where Element == String {
    fileprivate var uniqued: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}

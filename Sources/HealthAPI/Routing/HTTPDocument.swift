import Formats
import HTTPServerKit

/// The OpenAPI 3.1 document of all routes, generated from the same declarations as the routing.
package enum HTTPDocument {
    /// The document as JSON, with a line ending.
    package static var json: [UInt8] {
        var document = JSONObject(["openapi": "3.1.0", "info": info, "security": RawJSON("[{\"bearer\":[]}]")])
        var paths = JSONObject()
        for path in RouteTable.all.map(\.path).uniqued {
            var item = JSONObject()
            for route in RouteTable.all where route.path == path { item.set(route.method.lowercased(), operation(route)) }
            paths.set(path, item)
        }
        document.set(["paths": paths, "components": components])
        return document.line
    }

    static var response: HTTPResponse { HTTPResponse(type: "application/json", json) }

    private static var info: JSONObject {
        [
            "title": "Vitalgate", "version": "1",
            "summary": "Health samples of a household, for programs that its people have authorized.",
        ]
    }

    private static func operation(_ route: Route) -> JSONObject {
        var operation = JSONObject([
            "operationId": route.name, "summary": route.summary,
            "description": ifPresent(!route.discussion.isEmpty ? route.discussion : nil),
            "security": ifPresent(route.right == .none ? RawJSON("[]") : nil), "parameters": route.allParameters.map(parameter),
            "requestBody": ifPresent(route.body.map { requestBody($0) }),
        ])
        var answers = JSONObject()
        if route.answers.isEmpty {
            answers.set("\(route.status)", described("Success, without a body."))
        } else {
            answers.set("\(route.status)", answer(route))
        }
        if route.method == "GET", route.answers != [.events] {
            answers.set("304", described("The response has not changed (If-None-Match)."))
        }
        // A body that is too long is refused before all other checks.
        let problems =
            Set(
                [400, 414, 431] + (route.answers.isEmpty ? [] : [406]) + (route.right == .none ? [] : [401, 422, 503])
                    + (route.isWriting ? [507] : []) + route.problems)
            + (route.body == nil ? [] : [413, 415, 422])
        for status in problems.sorted() { answers.set("\(status)", problem(status)) }
        operation.set("responses", answers)
        return operation
    }

    private static func described(_ text: String) -> JSONObject {
        ["description": text]
    }

    private static func parameter(_ parameter: Parameter) -> JSONObject {
        var object = JSONObject([
            "name": parameter.name, "in": parameter.isInPath ? "path" : parameter.isInHeader ? "header" : "query",
            "description": parameter.help, "required": parameter.isRequired,
        ])
        if case .names = parameter.form {
            object.set(["style": "form", "explode": false])
        }
        object.set("schema", schema(parameter.form))
        return object
    }

    private static func requestBody(_ body: RequestBody) -> JSONObject {
        var (object, content) = (JSONObject(), JSONObject())
        object.set("required", true)
        for form in body.forms {
            let media = JSONObject(["schema": RawJSON((form == .json ? body.schema : body.text))])
            content.set(form.type, media)
        }
        object.set("content", content)
        return object
    }

    private static func answer(_ route: Route) -> JSONObject {
        var object = described("Success.")
        var content = JSONObject()
        for form in route.answers {
            let media = JSONObject(["schema": answerSchema(form, route)])
            content.set(form.type, media)
        }
        object.set(["content": content, "links": ifPresent(!route.links.isEmpty ? links(route) : nil)])
        return object
    }

    /// The links from the first item of an answer to other routes.
    private static func links(_ route: Route) -> JSONObject {
        var links = JSONObject()
        for name in route.links {
            var (link, parameters) = (JSONObject(), JSONObject())
            parameters.set("uuid", "$response.body#/\(route.key ?? "")/0/uuid")
            link.set(["operationId": name, "parameters": parameters])
            links.set(name, link)
        }
        return links
    }

    private static func problem(_ status: Int) -> JSONObject {
        var object = described(Problem(status, "").title)
        object.set(
            "content", raw: Array("{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}".utf8))
        return object
    }
}

extension Array where Element == String {
    fileprivate var uniqued: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}

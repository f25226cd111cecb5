import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// A request with its values, checked against the route's declaration.
struct Call {
    let site: APISite
    var core: ServiceCore { site.core }
    let form: AnswerForm
    /// The name of the list in a JSON answer.
    let key: String?
    /// The request's body and its format.
    let body: (form: AnswerForm, bytes: [UInt8])
    /// The request's body, if it is kept in a file.
    let file: SpooledBody?
    private let head: RequestHead
    private let known: Caller?
    private let values: [String: [String]]
    private let retained = RetainedReaders()

    /// Checks a request.
    ///
    /// - Throws: ``Problem`` if a parameter is unknown, repeated, malformed or missing.
    init(
        _ request: HTTPRequest, _ route: Route, _ variables: [String: String], _ caller: Caller?, _ site: APISite
    ) throws {
        let head = request.head
        (self.head, self.site, known, key) = (head, site, caller, route.key)
        body = (try Self.bodyForm(head, route) ?? .json, request.body)
        file = request.file
        let parameters = route.allParameters
        var values = variables.mapValues { [$0] }
        for item in head.query {
            guard let parameter = parameters.first(where: { $0.name == item.name && $0.isInQuery }) else {
                let names = parameters.filter(\.isInQuery).map(\.name).joined(separator: ", ")
                throw Problem(
                    400, names.isEmpty ? "This path takes no parameters." : "Unknown parameter. Known parameters: \(names).")
            }
            guard values[item.name] == nil || parameter.isRepeating else {
                throw Problem(400, "'\(item.name)' is given more than once.")
            }
            values[item.name, default: []].append(item.value)
        }
        for parameter in parameters where parameter.isInHeader {
            let given = head.headers.filter { $0.name == parameter.name.lowercased() }.map(\.value)
            guard given.count <= 1 else { throw Problem(400, "'\(parameter.name)' is given more than once.") }
            if !given.isEmpty { values[parameter.name] = given }
        }
        for parameter in parameters {
            guard let given = values[parameter.name] else {
                guard !parameter.isRequired else { throw Problem(400, "'\(parameter.name)' is required.") }
                continue
            }
            for text in given where !parameter.takes(text) {
                throw Problem(400, "'\(parameter.name)' must be \(parameter.expected).")
            }
        }
        self.values = values
        form = try Self.form(head, route, values["format"]?.first)
    }

    /// The format of the answer: the one requested by name, or by `Accept`, or the route's first.
    private static func form(_ head: RequestHead, _ route: Route, _ name: String?) throws -> AnswerForm {
        if let name, let form = route.answers.first(where: { $0.name == name }) { return form }
        guard let first = route.answers.first else { return .json }
        guard first != .resource, let accept = head.header("accept") else { return first }
        var best: (form: AnswerForm, weight: Double)?
        for range in accept.split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            guard let wanted = parts.first, weight > best?.weight ?? 0 else { continue }
            let form = route.answers.first {
                wanted == "*/*" || wanted == $0.type || wanted == $0.type.prefix { $0 != "/" } + "/*"
            }
            if let form { best = (form, weight) }
        }
        guard let best else {
            throw Problem(406, "Available content types: \(route.answers.map(\.type).joined(separator: ", ")).")
        }
        return best.form
    }

    /// The format of the request's body, or `nil` if the route accepts no body.
    ///
    /// - Throws: ``Problem`` 415 if the route does not accept the format.
    static func bodyForm(_ head: RequestHead, _ route: Route) throws(Problem) -> AnswerForm? {
        guard let body = route.body else { return nil }
        let type = (head.header("content-type") ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard let form = body.forms.first(where: { $0.type == type }) else {
            throw Problem(415, "The Content-Type of the body must be \(body.forms.map(\.type).joined(separator: " or ")).")
        }
        return form
    }

    // MARK: Answers

    /// The authenticated client.
    ///
    /// - Throws: ``Problem`` 401 if there is none.
    func caller() throws -> Caller {
        guard let known else { throw Problem(401, "A client token is required.") }
        return known
    }

    /// A reader that shows the data that the caller may read.
    func reader() throws -> Reader { retained.keep(try site.reader(for: try caller())) }

    var parameters: [String] { head.query.map { "\($0.name)=\($0.value)" } }
    func header(_ name: String) -> String? { head.header(name) }
    func text(_ name: String) -> String? { values[name]?.first }
    func texts(_ name: String) -> [String] { values[name] ?? [] }
    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
    func flag(_ name: String) -> Bool { text(name) == "true" || text(name) == "" }

    /// A type of the catalogue by its id, identifier, display name or short name. Other types are rejected because accepting them would reveal which ones are in the store.
    func type(_ name: String, from parameter: String) throws -> SampleType {
        let named = SampleType.named(name)
        guard let type = named.first else {
            throw Problem(400, "Unknown type in '\(parameter)'. Run 'vitalgate types' to list all types.")
        }
        guard named.count == 1 else {
            throw Problem(400, "Ambiguous type in '\(parameter)'. Use one of \(named.map(\.id).joined(separator: ", ")).")
        }
        return type
    }

    /// The requested types, or `nil` for all.
    func types() throws -> Set<SampleType>? {
        guard let list = text("types") else { return nil }
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return Set(try names.map { try type($0, from: "types") })
    }

    func zone() throws -> TimeZoneRules {
        guard let name = text("zone") else { return core.settings.zone }
        guard let zone = core.settings.zones(name) else {
            throw Problem(422, "'zone' must be a time zone such as Europe/Berlin or +01:00.")
        }
        return zone
    }

    func range(_ zone: TimeZoneRules) throws -> (from: Instant?, to: Instant?) {
        let range = (from: try instant("from", zone), to: try instant("to", zone))
        if let from = range.from, let to = range.to, to < from { throw Problem(422, "'from' must not be later than 'to'.") }
        return range
    }

    func instant(_ name: String, _ zone: TimeZoneRules) throws -> Instant? {
        guard let text = text(name) else { return nil }
        guard let instant = Instant(written: text, now: core.settings.now(), zone: zone) else {
            throw Problem(422, "'\(name)' must be a time such as 2026-11-20T06:30:00Z, 2026-11-20, today, or -7d.")
        }
        return instant
    }

    /// The requested person by UUID only. Accepting names would reveal who is registered.
    func person(_ store: SampleStore) throws -> String? {
        guard let text = text("subject") else { return nil }
        return Self.person(text, store)
    }

    private static func person(_ text: String, _ store: SampleStore) -> String? {
        if text == "me" { return store.owner }
        return text == Origin.unassigned || UUIDText.isValid(text) ? text.lowercased() : nil
    }

    /// The requested unit.
    ///
    /// - Parameter types: The requested types. If there is only one, the unit must be compatible with it.
    func unit(for types: Set<SampleType>?) throws -> Unit? {
        guard let code = text("unit") else { return nil }
        let unit = try Unit(written: code)
        if let types, types.count == 1, let type = types.first {
            _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        }
        return unit
    }

    func condition(for types: Set<SampleType>?, _ zone: TimeZoneRules, _ store: SampleStore) throws -> SamplePredicate? {
        guard let text = text("where") else { return nil }
        let now = core.settings.now()
        let condition = try SamplePredicate(
            text.first == "{" ? try ConditionObject.text(of: text) : text,
            instant: { Instant(written: $0, now: now, zone: zone) }, person: { Self.person($0, store) },
            type: { SampleType.only(named: $0) })
        try condition.check(for: types ?? Set(SampleType.all))
        return condition
    }
}

extension Parameter {
    var isInQuery: Bool { !isInPath && !isInHeader }

    /// Whether a text has the parameter's form.
    func takes(_ text: String) -> Bool {
        switch form {
        case .text(let maximum, _): (1...maximum).contains(text.unicodeScalars.count)
        case .number(let range): Int(text).map { range.contains($0) && "\($0)" == text } ?? false
        case .flag: ["", "true", "false"].contains(text)
        case .words(let words): words.contains(text)
        case .name, .names: !text.isEmpty
        case .uuid: UUIDText.isValid(text)
        case .person(let allowsUnassigned):
            text == "me" || (allowsUnassigned && text == Origin.unassigned) || UUIDText.isValid(text)
        case .interval: CalendarInterval(text)?.description == text
        case .field(let maximum):
            (1...maximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                && text.first != " " && text.last != " "
        }
    }

    /// The description of valid values for an error message.
    var expected: String {
        switch form {
        case .text(let maximum, _): "1 to \(maximum) characters long"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .words(let words): "one of \(words.joined(separator: ", "))"
        case .name, .names: "the name of a type"
        case .uuid: "a UUID"
        case .person(let allowsUnassigned): allowsUnassigned ? "me, unassigned, or a UUID" : "me or a UUID"
        case .interval: "a number and a unit (m, h, d, w, mo, or y), such as 1d"
        case .field(let maximum): "1 to \(maximum) printable ASCII characters, without spaces at the start or end"
        }
    }
}

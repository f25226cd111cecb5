import HealthModel

/// Reads the result of an Observation: its value, reference ranges, interpretations, comments and components.
///
/// Nothing is computed or guessed. Numbers keep their digits. A value of another type than a number becomes words.
struct RecordResult {
    private static let maximumComponents = 64
    private static let maximumTexts = 16
    private static let maximumLength = 4096

    /// The result of the resource, or `nil` if it is not an Observation or has none.
    static func result(of type: String, _ tape: borrowing JSONTape) -> ClinicalResult? {
        guard type == "Observation" else { return nil }
        var result = read(0, tape)
        let components = tape.list(tape.member("component", of: 0)).prefix(maximumComponents).map { node in
            let concept = tape.member("code", of: node)
            let codes = DisplayName.codings(concept, tape)
            return ClinicalResult.Component(
                name: DisplayName.name(codes, concept, tape) ?? codes.first?.code ?? "", codes: codes, result: read(node, tape))
        }
        if !components.isEmpty { result.components = components }
        return result == ClinicalResult() ? nil : result
    }

    private static func read(_ node: Int, _ tape: borrowing JSONTape) -> ClinicalResult {
        var result = ClinicalResult()
        result.quantity = quantity(tape.member("valueQuantity", of: node), tape) ?? integer(node, tape)
        if result.quantity == nil { result.words = words(node, tape) }
        result.absent = concept(tape.member("dataAbsentReason", of: node), tape)
        // One concept in DSTU2, a list in R4.
        result.interpretation = texts(tape.list(tape.member("interpretation", of: node)).compactMap { concept($0, tape) })
        result.ranges = ranges(tape.list(tape.member("referenceRange", of: node)), tape)
        // Annotations in R4, a text in DSTU2.
        var notes = tape.list(tape.member("note", of: node)).compactMap { text("text", of: $0, tape) }
        if let comments = text("comments", of: node, tape) { notes.append(comments) }
        result.notes = texts(notes)
        return result
    }

    private static func ranges(_ nodes: [Int], _ tape: borrowing JSONTape) -> [ClinicalResult.ReferenceRange]? {
        let ranges = nodes.prefix(maximumTexts).map { node in
            // DSTU2 has the meaning of a range, and R4 has its type and the people that it applies to.
            var people = (["type", "meaning"] as [StaticString]).compactMap { concept(tape.member($0, of: node), tape) }
            people += tape.list(tape.member("appliesTo", of: node)).compactMap { concept($0, tape) }
            if let age = range(tape.member("age", of: node), tape) { people.append("age \(age.text)") }
            return ClinicalResult.ReferenceRange(
                low: quantity(tape.member("low", of: node), tape), high: quantity(tape.member("high", of: node), tape),
                words: text("text", of: node, tape), appliesTo: people.isEmpty ? nil : people)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// A quantity with a value, or `nil`.
    private static func quantity(_ node: Int?, _ tape: borrowing JSONTape) -> ClinicalResult.Quantity? {
        guard let value = tape.member("value", of: node), tape.nodes[value].kind == .number else { return nil }
        let code = text("code", of: node, tape)
        return ClinicalResult.Quantity(
            value: String(decoding: tape.bytes(of: value), as: UTF8.self), comparator: text("comparator", of: node, tape),
            unit: text("unit", of: node, tape) ?? code,
            code: text("system", of: node, tape).flatMap { CodeSystems.name(of: $0) } == "ucum" ? code : nil)
    }

    private static func integer(_ node: Int, _ tape: borrowing JSONTape) -> ClinicalResult.Quantity? {
        guard let value = tape.member("valueInteger", of: node), tape.nodes[value].kind == .number else { return nil }
        return ClinicalResult.Quantity(value: String(decoding: tape.bytes(of: value), as: UTF8.self))
    }

    private static func range(_ node: Int?, _ tape: borrowing JSONTape) -> ClinicalResult.ReferenceRange? {
        let bounds = (quantity(tape.member("low", of: node), tape), quantity(tape.member("high", of: node), tape))
        return bounds.0 == nil && bounds.1 == nil ? nil : ClinicalResult.ReferenceRange(low: bounds.0, high: bounds.1)
    }

    /// A value of another type than a number.
    private static func words(_ node: Int, _ tape: borrowing JSONTape) -> String? {
        for name in ["valueString", "valueDateTime", "valueTime"] as [StaticString] {
            if let text = text(name, of: node, tape) { return text }
        }
        if let value = tape.member("valueBoolean", of: node) { return tape.nodes[value].kind == .yes ? "true" : "false" }
        if let text = concept(tape.member("valueCodeableConcept", of: node), tape) { return text }
        if let range = range(tape.member("valueRange", of: node), tape) { return range.text }
        if let ratio = tape.member("valueRatio", of: node) {
            let parts = (["numerator", "denominator"] as [StaticString]).map { quantity(tape.member($0, of: ratio), tape)?.text }
            if let one = parts[0], let other = parts[1] { return "\(one) : \(other)" }
        }
        if let period = tape.member("valuePeriod", of: node) {
            return "\(text("start", of: period, tape) ?? "")–\(text("end", of: period, tape) ?? "")"
        }
        if tape.member("valueSampledData", of: node) != nil { return "sampled data" }
        if tape.member("valueAttachment", of: node) != nil { return "attachment" }
        return nil
    }

    /// The text of a concept, or the name of its first code, or the code itself.
    private static func concept(_ node: Int?, _ tape: borrowing JSONTape) -> String? {
        guard let node else { return nil }
        if let text = text("text", of: node, tape) { return text }
        let codings = DisplayName.codings(node, tape)
        return codings.lazy.compactMap(\.display).first ?? codings.lazy.compactMap(\.code).first
    }

    private static func text(_ name: StaticString, of node: Int?, _ tape: borrowing JSONTape) -> String? {
        guard let text = tape.text(name, of: node), text.contains(where: { !$0.isWhitespace }) else { return nil }
        return text.count > maximumLength ? String(text.prefix(maximumLength)) : text
    }

    private static func texts(_ list: [String]) -> [String]? { list.isEmpty ? nil : Array(list.prefix(maximumTexts)) }
}

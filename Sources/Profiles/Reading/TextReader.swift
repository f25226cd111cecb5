import HealthModel

/// Reads the pieces of a line of text: fixed texts, words, numerals, times, and sums.
struct TextReader {
    let layout: LayoutReader
    let scope: LayoutReader.Scope

    private static let types = ["word", "digits", "decimal", "time", "clock", "blanks"]

    static func reads(_ type: JSONValue?) -> Bool {
        if case .string(let text)? = type { types.contains(text) } else { false }
    }

    /// Reads a piece with a `type`.
    func field(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members([
            "name", "type", "when", "values", "absent", "optional", "hidden", "size", "unit", "special", "pattern", "then",
            "range",
        ])
        guard let type = members["type"]?.text() else { return nil }
        if type == "blanks" { return LayoutStep(kind: .blanks, condition: layout.condition(members["when"], scope)) }
        guard let name = members["name"]?.text() else {
            node.problem("name is missing")
            return nil
        }
        var field = LayoutField(name: name, shape: .text)
        field.isHidden = members["hidden"]?.boolean() ?? false
        var step = LayoutStep(kind: .choice, condition: layout.condition(members["when"], scope))
        step.isOptional = members["optional"]?.boolean() ?? false
        switch type {
        case "word":
            guard word(node, members, name, &step, &field) else { return nil }
        case "time":
            guard time(node, members, &step) else { return nil }
            field.shape = .dateTime
        case "clock":
            step.kind = .clock
            step.reference = literal(members["then"]?.text() ?? "")
        default: numeral(node, members, isDecimal: type == "decimal", &step, &field)
        }
        step.field = layout.field(field, scope)
        return step
    }

    /// Reads a piece without a `type`: `text`, `sum` or `measurements`.
    func piece(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["text", "sum", "digits", "measurements", "when"])
        let condition = layout.condition(members["when"], scope)
        if let text = members["text"] {
            guard let text = text.text(), !text.isEmpty else { return nil }
            var step = LayoutStep(kind: .literal, condition: condition)
            step.reference = literal(text)
            return step
        }
        if let name = members["measurements"]?.text() {
            var step = LayoutStep(kind: .measurements, condition: condition)
            let inner = LayoutReader.Scope()
            step.field = layout.field(LayoutField(name: name, shape: .records), scope)
            for field in MeasurementLine.fields { _ = layout.field(field, inner) }
            step.reference = step.field + 1
            return step
        }
        var step = LayoutStep(kind: .textSum, condition: condition)
        step.reference = literal(members["sum"]?.text() ?? "")
        step.width = Int32(members["digits"]?.integer(2...4) ?? 4)
        return step
    }

    private func literal(_ text: String) -> Int32 {
        layout.plan.literals.append(Array(text.utf8))
        return Int32(layout.plan.literals.count - 1)
    }

    /// Reads a choice of words. Words with the same meaning share one value, and 0 means that the word is absent.
    private func word(
        _ node: ProfileNode, _ members: [String: ProfileNode], _ name: String, _ step: inout LayoutStep,
        _ field: inout LayoutField
    ) -> Bool {
        let words = (members["values"]?.anyMembers() ?? [:]).compactMapValues { $0.text() }
        let names = Set(words.values).sorted()
        guard !words.isEmpty, names.count < 64 else {
            members["type"]?.problem("values names the words, up to 63 of them")
            return false
        }
        for (index, name) in names.enumerated() { field.values[Int64(index + 1)] = name }
        if let absent = members["absent"]?.text() { field.values[0] = absent }
        guard let shift = layout.allocate(6, scope, node) else { return false }
        step.wordShift = Int16(shift)
        step.wordWidth = 6
        step.reference = choices(words.mapValues { name in Int64((names.firstIndex(of: name) ?? 0) + 1) })
        scope.terms[name] = LayoutReader.Term(shift: shift, width: 6, values: field.values)
        return true
    }

    private func choices(_ words: [String: Int64]) -> Int32 {
        layout.plan.choices.append(
            words.map { LayoutPlan.Choice(word: Array($0.key.utf8), value: $0.value) }
                .sorted { $0.word.count > $1.word.count })
        return Int32(layout.plan.choices.count - 1)
    }

    private func time(_ node: ProfileNode, _ members: [String: ProfileNode], _ step: inout LayoutStep) -> Bool {
        guard let text = members["pattern"]?.text(), let size = members["size"]?.integer(8...64) else {
            node.problem("a time needs a pattern, and the size of its text in bytes")
            return false
        }
        do throws(ProfileProblem) {
            layout.plan.patterns.append(try TimePattern(text))
        } catch {
            members["pattern"]?.problem(error.message)
            return false
        }
        step.kind = .textTime
        step.width = Int32(size)
        step.reference = Int32(layout.plan.patterns.count - 1)
        return true
    }

    private func numeral(
        _ node: ProfileNode, _ members: [String: ProfileNode], isDecimal: Bool, _ step: inout LayoutStep,
        _ field: inout LayoutField
    ) {
        step.kind = .numeral
        step.isSigned = isDecimal
        step.isFixed = members["size"] != nil
        step.width = Int32(members["size"]?.integer(1...18) ?? 18)
        FieldReader.range(members["range"], &step)
        step.variants = FieldReader(layout: layout, scope: scope).variants(node, members)
        field.shape = step.variants.isEmpty ? .number : .quantity
        let specials = (members["special"]?.anyMembers() ?? [:]).compactMapValues { $0.text() }
        guard !specials.isEmpty else { return }
        step.reference = choices(
            specials.mapValues { Int64(layout.plan.specials[Int(layout.special(0, $0, node).lowerBound)].name) })
    }
}

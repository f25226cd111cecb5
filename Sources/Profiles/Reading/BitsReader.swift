import HealthModel

/// Reads a word of bits: flags, status bits, and nibbles.
struct BitsReader {
    let layout: LayoutReader
    let scope: LayoutReader.Scope

    private enum OutputForm: String, CaseIterable { case set, members }
    private enum PartOutputForm: String, CaseIterable { case code, text, truth, number }

    func word(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["name", "type", "bits", "show", "others", "as", "when", "order", "peek"])
        guard let type = members["type"]?.text(), let bits = Int(type.dropFirst()), type.hasPrefix("u"), bits % 8 == 0,
            (8...48).contains(bits), let shift = layout.allocate(bits, scope, node), let parts = members["bits"]
        else {
            node.problem("a word of bits has a type from u8 to u48")
            return nil
        }
        var step = LayoutStep(kind: .word, condition: layout.condition(members["when"], scope))
        step.width = Int32(bits / 8)
        step.isBigEndian = members["order"]?.text() == "big"
        step.isPeeked = members["peek"]?.boolean() ?? false
        step.wordShift = Int16(shift)
        step.wordWidth = Int16(bits)
        var known: UInt64 = 0
        var field = LayoutField(name: members["name"]?.text() ?? "", shape: .adjacent)
        let shown = members["show"]?.texts() ?? []
        for part in self.parts(parts) {
            guard Int(part.bits.shift) + Int(part.bits.width) <= bits else {
                parts.problem("'\(part.name)' is outside the \(bits) bits")
                continue
            }
            known |= (1 << UInt64(part.bits.width) - 1) << UInt64(part.bits.shift)
            let term = LayoutReader.Term(
                shift: shift + Int(part.bits.shift), width: Int(part.bits.width), values: part.values)
            scope.terms[part.name] = term
            var part = part
            part.isShown = shown.contains(part.name)
            field.parts.append(part)
        }
        for name in shown where !field.parts.contains(where: { $0.name == name }) {
            members["show"]?.problem("there is no bit '\(name)'")
        }
        field.parts.sort { $0.bits.shift < $1.bits.shift }
        step.reserved = members["others"]?.text() == "ignored" ? 0 : ~known & (1 << UInt64(bits) - 1)
        let start = Int32(layout.plan.parts.count)
        layout.plan.parts += field.parts.map(\.bits).filter { $0.allowed != 0 || $0.required >= 0 }
        step.parts = start..<Int32(layout.plan.parts.count)
        if !field.name.isEmpty { field.shape = members["as"]?.choice(OutputForm.self) == .members ? .members : .set }
        if !field.name.isEmpty || !shown.isEmpty { step.field = layout.field(field, scope) }
        return step
    }

    /// Reads the parts: a list of names from bit 0 on with null for a reserved bit, or an object of names.
    private func parts(_ node: ProfileNode) -> [LayoutField.Part] {
        if case .array = node.value {
            return node.elements().enumerated().compactMap { index, element in
                guard element.value != .null, let name = element.text() else { return nil }
                return LayoutField.Part(name: name, bits: .init(shift: UInt8(clamping: index), width: 1), shape: .truth)
            }
        }
        return node.anyMembers().sorted { $0.key < $1.key }.compactMap { name, node in part(name, node) }
    }

    private func part(_ name: String, _ node: ProfileNode) -> LayoutField.Part? {
        if case .number = node.value {
            guard let bit = node.integer(0...47) else { return nil }
            return LayoutField.Part(name: name, bits: .init(shift: UInt8(bit), width: 1), shape: .truth)
        }
        let members = node.members(["at", "values", "as", "must", "only"])
        let places = (members["at"]?.elements() ?? []).compactMap { $0.integer(0...47) }
        guard let first = places.first, let last = places.last, last >= first else {
            node.problem("at is the first and the last bit, such as [1, 2]")
            return nil
        }
        var part = LayoutField.Part(
            name: name, bits: .init(shift: UInt8(first), width: UInt8(last - first + 1)), shape: first == last ? .truth : .number)
        if let values = members["values"] {
            part.values = FieldReader.names(values)
            part.bits.allowed = FieldReader.allowed(part.values, values)
            part.shape = .code
            part.bits.isClosed = members["only"]?.boolean() ?? false
        }
        if let required = members["must"]?.integer(0...255) { part.bits.required = Int16(required) }
        switch members["as"]?.choice(PartOutputForm.self) {
        case .code: part.shape = .code
        case .text: part.shape = .text
        case .truth: part.shape = .truth
        case .number: part.shape = .number
        case nil: break
        }
        return part
    }
}

/// Reads a field that is computed from other fields.
struct ComputedReader {
    let layout: LayoutReader
    let scope: LayoutReader.Scope

    func step(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members([
            "name", "of", "unit", "scale", "either", "as", "time", "plus", "flags", "constant", "when", "join", "special",
            "missing", "hidden", "divide", "modulo", "total", "minus", "add", "digits",
        ])
        guard let name = members["name"]?.text() else {
            node.problem("name is missing")
            return nil
        }
        var step = LayoutStep(kind: .constant, condition: layout.condition(members["when"], scope))
        var field = LayoutField(name: name, shape: .quantity)
        if let of = members["of"] {
            guard let index = layout.index(of: of, scope) else { return nil }
            step.kind = .product
            step.reference = index
            if let divide = members["divide"]?.integer(2...1_000_000_000) {
                (step.kind, step.operand) = (.quotient, Int32(divide))
            } else if let modulo = members["modulo"]?.integer(2...1_000_000_000) {
                (step.kind, step.operand) = (.remainder, Int32(modulo))
            }
            if step.kind != .product { layout.requireInteger(index, of) }
            step.variants = FieldReader(layout: layout, scope: scope).variants(node, members)
            if members["as"]?.text() == "number" || step.kind != .product && step.variants.isEmpty { field.shape = .number }
        } else if let total = members["total"] {
            step.kind = .total
            step.reference = Int32(layout.plan.totals.count)
            let fields = total.elements().compactMap { layout.index(of: $0, scope) }
            layout.plan.totals.append(
                .init(fields: fields, minus: members["minus"].map { layout.condition($0, scope) }))
            step.variants = FieldReader(layout: layout, scope: scope).variants(node, members)
            if step.variants.isEmpty { field.shape = .number }
        } else if let time = members["time"] {
            guard let index = layout.index(of: time, scope), let minutes = layout.index(of: members["plus"], scope) else {
                return nil
            }
            layout.requireTime(index, time)
            if let plus = members["plus"] { layout.requireMinutes(minutes, plus) }
            step.kind = .timeSum
            step.reference = index
            step.operand = minutes
            field.shape = .dateTime
        } else if let flags = members["flags"] {
            let start = Int32(layout.plan.variants.count)
            layout.plan.variants.append(.init(condition: layout.condition(flags, scope)))
            layout.plan.units.append(.init())
            step.kind = .truth
            step.variants = start..<(start + 1)
            field.shape = .truth
        } else if let join = members["join"] {
            step.kind = .joined
            step.parts = parts(join)
            step.variants = FieldReader(layout: layout, scope: scope).variants(node, members)
            step.specials = FieldReader(layout: layout, scope: scope).specials(members["special"])
            if step.variants.isEmpty { field.shape = .number }
        } else if let word = members["missing"]?.text() {
            step.kind = .missing
            step.variants = FieldReader(layout: layout, scope: scope).variants(node, members)
            step.specials = layout.special(0, word, node)
        } else if let constant = members["constant"] {
            field.shape = .constant(value(constant))
        }
        field.isHidden = members["hidden"]?.boolean() ?? false
        step.field = layout.field(field, scope)
        return step
    }

    private func value(_ node: ProfileNode) -> MetadataValue {
        switch node.value {
        case .boolean(let flag): .boolean(flag)
        case .number: .number(Numeral(coefficient: Int64(node.integer(Int(Int32.min)...Int(Int32.max)) ?? 0)))
        default: .string(node.text() ?? "")
        }
    }

    /// Returns the positions of bits in the word of conditions, the highest first.
    private func parts(_ node: ProfileNode) -> Range<Int32> {
        let start = Int32(layout.plan.parts.count)
        for name in node.elements() {
            guard let text = name.text() else { continue }
            guard let term = scope.terms[text] else {
                name.problem("there are no bits '\(text)' before this")
                continue
            }
            layout.plan.parts.append(.init(shift: UInt8(term.shift), width: UInt8(term.width)))
        }
        let width = layout.plan.parts[Int(start)...].reduce(0) { $0 + Int($1.width) }
        if width > 62 { node.problem("at most 62 bits can be joined, not \(width)") }
        return start..<Int32(layout.plan.parts.count)
    }
}

import Wire

/// Reads a layout's checks on bytes that are not values.
struct GuardReader {
    let layout: LayoutReader
    let scope: LayoutReader.Scope

    private enum Way: String, CaseIterable { case forward, reversed }

    func step(_ kind: String, _ node: ProfileNode) -> LayoutStep? {
        switch kind {
        case "left": left(node)
        case "is": expected(node)
        case "address": address(node)
        case "check": check(node)
        default: masked(node)
        }
    }

    /// Reads `{ name: "form", left: { "13": "atc", "15": "pvvx" } }`.
    private func left(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["left", "name", "when"])
        var names: [Int64: String] = [:]
        for (key, node) in members["left"]?.anyMembers() ?? [:] {
            guard let count = Int64(key), (0...255).contains(count), let name = node.text() else {
                node.problem("the key is a number of bytes, at most 255")
                continue
            }
            names[count] = name
        }
        guard let shift = layout.allocate(8, scope, node), !names.isEmpty else { return nil }
        if let name = members["name"]?.text() {
            scope.terms[name] = LayoutReader.Term(shift: shift, width: 8, values: names)
        }
        var step = LayoutStep(kind: .left, condition: layout.condition(members["when"], scope))
        step.wordShift = Int16(shift)
        step.reference = Int32(layout.plan.sizes.count)
        layout.plan.sizes.append(Set(names.keys.map { Int($0) }))
        return step
    }

    /// Reads `{ is: "AABB" }`.
    private func expected(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["is", "when"])
        guard let bytes = members["is"]?.bytes() else { return nil }
        var step = LayoutStep(kind: .expected, condition: layout.condition(members["when"], scope))
        step.reference = literal(bytes)
        return step
    }

    /// Reads `{ address: "reversed" }`.
    private func address(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["address", "when"])
        guard let way = members["address"]?.choice(Way.self) else { return nil }
        var step = LayoutStep(kind: .address, condition: layout.condition(members["when"], scope))
        step.isReversed = way == .reversed
        return step
    }

    /// Reads `{ check: "xor8", from: 6, start: "20", mask: "1F" }`.
    private func check(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["check", "from", "start", "mask", "when"])
        guard let kind = members["check"]?.choice(LayoutPlan.Check.Kind.self) else { return nil }
        var rule = LayoutPlan.Check(kind: kind)
        rule.from = members["from"]?.integer(0...4096) ?? 0
        if let start = members["start"]?.bytes() { rule.start = start[0] }
        if let mask = members["mask"]?.bytes() { rule.mask = mask[0] }
        var step = LayoutStep(kind: .check, condition: layout.condition(members["when"], scope))
        step.reference = Int32(layout.plan.checks.count)
        layout.plan.checks.append(rule)
        return step
    }

    /// Reads `{ masked: "A0" }` or `{ masked: { field: "key" } }`.
    private func masked(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(["masked", "when"])
        guard let masked = members["masked"] else { return nil }
        var step = LayoutStep(kind: .masked, condition: layout.condition(members["when"], scope))
        if case .object = masked.value {
            guard let field = layout.index(of: masked.members(["field"])["field"], scope) else { return nil }
            step.operand = field
        } else {
            guard let bytes = masked.bytes() else { return nil }
            step.reference = literal(bytes)
        }
        return step
    }

    private func literal(_ bytes: [UInt8]) -> Int32 {
        layout.plan.literals.append(bytes)
        return Int32(layout.plan.literals.count - 1)
    }
}

import HealthModel

/// Reads a field that has a `type`.
struct FieldReader {
    let layout: LayoutReader
    let scope: LayoutReader.Scope

    private static let keys = [
        "name", "type", "order", "when", "unit", "scale", "either", "special", "values", "as", "range", "repeat", "hidden",
        "size", "leave", "length", "reversed", "peek", "optional", "add", "digits", "only", "beyond",
    ]

    func field(_ node: ProfileNode) -> LayoutStep? {
        let members = node.members(Self.keys)
        guard let type = members["type"]?.text() else { return nil }
        guard var step = step(type, members) else {
            members["type"]?.problem(
                "a type is u8 to u48, s8 to s64, m8 to m48, sfloat, float, f32, datetime, utf8, octets or e2e-crc")
            return nil
        }
        step.condition = layout.condition(members["when"], scope)
        step.isBigEndian = members["order"]?.choice(Order.self) == .big
        step.isPeeked = members["peek"]?.boolean() ?? false
        step.repetition = members["repeat"]?.boolean() == true ? .toTheEnd : .once
        if step.isPeeked, step.repetition == .toTheEnd { node.problem("a peeked field stays in place and cannot repeat") }
        step.variants = variants(node, members)
        step.specials = specials(members["special"])
        Self.range(members["range"], &step)
        step.beyond = beyond(members["beyond"], hasRange: members["range"] != nil)
        guard let name = members["name"]?.text() else {
            node.problem("name is missing")
            return nil
        }
        var field = LayoutField(name: name, shape: shape(step, members))
        field.isHidden = members["hidden"]?.boolean() ?? false
        if let values = members["values"] {
            field.values = Self.names(values)
            step.allowed = Self.allowed(field.values, values)
            step.isClosed = members["only"]?.boolean() ?? false
            if step.kind == .integer, step.repetition == .once {
                // Alternatives of one field share their position, because a frame contains only one of them.
                let known = scope.terms[name].flatMap { $0.width == Int(step.width) * 8 ? $0.shift : nil }
                guard let shift = known ?? layout.allocate(Int(step.width) * 8, scope, node) else { return nil }
                step.wordShift = Int16(shift)
                step.wordWidth = Int16(step.width) * 8
                let term = LayoutReader.Term(shift: shift, width: Int(step.width) * 8, values: field.values)
                scope.terms[name] = term
            }
        }
        step.field = layout.field(field, scope)
        return step
    }

    private enum Order: String, CaseIterable { case little, big }
    private enum OutputForm: String, CaseIterable { case number, code, text, truth, instant, quantity, value }

    private func step(_ type: String, _ members: [String: ProfileNode]) -> LayoutStep? {
        var step: LayoutStep
        switch type {
        case "sfloat": step = LayoutStep(kind: .sfloat)
        case "float": step = LayoutStep(kind: .float)
        case "f32": step = LayoutStep(kind: .binaryFloat)
        case "datetime": step = LayoutStep(kind: .dateTime)
        case "utf8": step = LayoutStep(kind: .text)
        case "octets": step = LayoutStep(kind: .bytes)
        case "e2e-crc": step = LayoutStep(kind: .checkCode)
        default:
            guard let bits = Int(type.dropFirst()), bits % 8 == 0, let sign = type.first, "usm".contains(sign),
                (8...(sign == "s" ? 64 : 48)).contains(bits)
            else { return nil }
            step = LayoutStep(kind: .integer)
            step.width = Int32(bits / 8)
            step.isSigned = sign == "s"
            step.isMagnitude = sign == "m"
        }
        if step.kind == .text || step.kind == .bytes {
            step.width = members["size"]?.integer(1...4096).map { Int32($0) } ?? 0
            step.retained = members["leave"]?.integer(1...4096).map { Int32($0) } ?? 0
            step.hasLength = members["length"]?.text() == "u8"
            step.isReversed = members["reversed"]?.boolean() ?? false
        }
        step.isOptional = members["optional"]?.boolean() ?? false
        return step
    }

    private func shape(_ step: LayoutStep, _ members: [String: ProfileNode]) -> LayoutField.Shape {
        if step.repetition == .toTheEnd { return .list }
        switch members["as"]?.choice(OutputForm.self) {
        case .number: return .number
        case .code: return .code
        case .text: return .text
        case .truth: return .truth
        case .instant: return .instant
        case .quantity: return .quantity
        case .value: return .bare
        case nil: break
        }
        switch step.kind {
        case .dateTime: return .dateTime
        case .text, .bytes: return .text
        case .checkCode: return .number
        case .sfloat, .float, .binaryFloat: return .quantity
        default: break
        }
        if members["unit"] != nil || members["either"] != nil { return .quantity }
        return members["values"] != nil ? .code : .number
    }

    /// Reads the minimum and the maximum.
    static func range(_ node: ProfileNode?, _ step: inout LayoutStep) {
        guard let node, node.elements().count == 2 else {
            node?.problem("a range is the least and the greatest value, such as [0, 300]")
            return
        }
        let bounds = node.elements().map { Int64($0.integer(Int(Int32.min)...Int(Int32.max)) ?? 0) }
        guard bounds[0] <= bounds[1] else { return node.problem("the range ends before it begins") }
        (step.minimum, step.maximum) = (bounds[0], bounds[1])
    }

    /// Reads the special word for a value outside of the range, or returns -1 if such a value refuses the frame.
    private func beyond(_ node: ProfileNode?, hasRange: Bool) -> Int16 {
        guard let node, let word = node.text() else { return -1 }
        guard hasRange else {
            node.problem("a field without a range has no value beyond it")
            return -1
        }
        return layout.plan.specials[Int(layout.special(0, word, node).lowerBound)].name
    }

    /// Reads the scale and unit of a field, or the alternatives in `either`.
    func variants(_ node: ProfileNode, _ members: [String: ProfileNode]) -> Range<Int32> {
        let start = Int32(layout.plan.variants.count)
        if let either = members["either"] {
            for node in either.elements() {
                variant(node.members(["when", "unit", "scale", "add", "digits"]))
            }
            if layout.plan.variants.last?.condition != .always { either.problem("the last alternative has no condition") }
        } else if members["unit"] != nil || members["scale"] != nil || members["add"] != nil {
            variant(members.filter { $0.key != "when" })
        }
        return start..<Int32(layout.plan.variants.count)
    }

    private func variant(_ members: [String: ProfileNode]) {
        var variant = LayoutPlan.Variant(condition: layout.condition(members["when"], scope))
        let unit = members["unit"]?.text()
        if let scale = members["scale"], let text = scale.text() {
            if text.hasPrefix("1/"), let divisor = Int(text.dropFirst(2)), let power = Self.powerOfTwo(divisor) {
                variant.binaryPower = power
            } else if let ratio = Self.ratio(text), let digits = members["digits"]?.integer(0...9) {
                (variant.coefficient, variant.divisor, variant.digits) = (ratio.0, ratio.1, Int16(digits))
            } else if let factor = Self.decimal(text) {
                (variant.coefficient, variant.exponent) = factor
            } else {
                scale.problem(
                    "a scale is a text such as 0.005, 1e5, 1/1024 (a power of two up to 65536), or a ratio such as 175/65535 together with digits"
                )
            }
        }
        if let add = members["add"], let text = add.text() {
            if let addend = Self.decimal(text) {
                (variant.addend, variant.addendExponent) = addend
            } else {
                add.problem("the added number is a text such as 500 or -40.5")
            }
        }
        layout.plan.variants.append(variant)
        layout.plan.units.append(.init(printed: unit, ucum: unit.flatMap { try? Unit(ucum: $0) }))
    }

    /// Parses a ratio such as `175/65535`.
    private static func ratio(_ text: String) -> (Int64, Int64)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let numerator = parts[0], let divisor = parts[1], (1...1_000_000_000).contains(divisor),
            numerator.magnitude <= 1_000_000_000, numerator != 0
        else { return nil }
        return (numerator, divisor)
    }

    private static func powerOfTwo(_ number: Int) -> Int? {
        (2...65_536).contains(number) && number & (number - 1) == 0 ? number.trailingZeroBitCount : nil
    }

    private static func decimal(_ text: String) -> (Int64, Int16)? {
        guard let numeral = try? Numeral(text), numeral.isExact, numeral.coefficient != 0, numeral.exponent.magnitude <= 18 else {
            return nil
        }
        // A scale such as 100000 moves the decimal point and adds no digits.
        return numeral.isPlain && numeral.exponent < 0 ? (numeral.coefficient, numeral.exponent) : numeral.reduced
    }

    func specials(_ node: ProfileNode?) -> Range<Int32> {
        let start = Int32(layout.plan.specials.count)
        for (key, node) in (node?.anyMembers() ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let raw = LayoutReader.integer(key), let name = node.text() else {
                node.problem("the key is a raw value, such as 0xFFFF")
                continue
            }
            _ = layout.special(raw, name, node)
        }
        return start..<Int32(layout.plan.specials.count)
    }

    /// Reads names by value: a list that counts from 0 with null for a reserved value, or an object of values.
    static func names(_ node: ProfileNode) -> [Int64: String] {
        var names: [Int64: String] = [:]
        if case .array = node.value {
            for (index, element) in node.elements().enumerated() where element.value != .null {
                names[Int64(index)] = element.text()
            }
            return names
        }
        for (key, element) in node.anyMembers() {
            if let value = LayoutReader.integer(key) {
                names[value] = element.text()
            } else {
                element.problem("the key is a number")
            }
        }
        return names
    }

    static func allowed(_ names: [Int64: String], _ node: ProfileNode) -> UInt64 {
        var allowed: UInt64 = 0
        for value in names.keys {
            if (0...63).contains(value) {
                allowed |= 1 << UInt64(value)
            } else {
                node.problem("an enumeration's values are between 0 and 63")
            }
        }
        return allowed
    }
}

import HealthModel
import Wire

/// Compiles a `layout` to a plan and resolves the names of its flags and fields.
final class LayoutReader {
    /// Bits that conditions can refer to.
    struct Term {
        var shift: Int
        var width: Int
        /// Names of the values, empty for a single bit.
        var values: [Int64: String] = [:]
    }

    /// The names in a frame, or in one kind of record.
    final class Scope {
        var terms: [String: Term] = [:]
        var fields: [String: Int32] = [:]
        /// All fields with the same name, among the objects of a list.
        var namesakes: [String: [Int32]] = [:]
        /// The number of used bits in the word of conditions.
        var used = 0
    }

    var plan = LayoutPlan()
    let root = Scope()
    /// The scopes of records, by the field they fill.
    private(set) var records: [String: Scope] = [:]

    /// The steps of the list that is being compiled.
    private var pending: [LayoutStep] = []

    init() { plan.specialNames = MedicalNumber.Special.allCases.map(\.rawValue) }

    func read(_ node: ProfileNode) {
        plan.root = compile(node, root)
        if plan.root.isEmpty { node.problem("a layout has at least one field") }
    }

    private func compile(_ node: ProfileNode, _ scope: Scope) -> Range<Int> {
        let outer = pending
        pending = []
        for node in node.elements() { if let step = step(node, scope) { pending.append(step) } }
        let start = plan.steps.count
        plan.steps += pending
        pending = outer
        return start..<plan.steps.count
    }

    private static let kinds = [
        "type", "bits", "skip", "records", "objects", "sealed", "of", "time", "flags", "constant", "join", "missing", "text",
        "sum", "measurements", "left", "is", "address", "check", "masked", "total",
    ]

    private func step(_ node: ProfileNode, _ scope: Scope) -> LayoutStep? {
        guard case .object(let object) = node.value else {
            node.problem("a field is an object")
            return nil
        }
        // A word of bits also has a type.
        let kind = object["bits"] != nil ? "bits" : Self.kinds.first { object[$0] != nil }
        switch kind {
        case "type" where TextReader.reads(object["type"]): return TextReader(layout: self, scope: scope).field(node)
        case "text", "sum", "measurements": return TextReader(layout: self, scope: scope).piece(node)
        case "type": return FieldReader(layout: self, scope: scope).field(node)
        case "bits": return BitsReader(layout: self, scope: scope).word(node)
        case "skip":
            let members = node.members(["skip", "when"])
            if case .string("rest")? = members["skip"]?.value {
                return LayoutStep(kind: .rest, condition: condition(members["when"], scope))
            }
            guard let width = members["skip"]?.integer(1...4096) else { return nil }
            return LayoutStep(kind: .skip, condition: condition(members["when"], scope), width: Int32(width))
        case "records":
            let members = node.members(["name", "records", "when"])
            guard let name = members["name"]?.text(), let layout = members["records"] else {
                node.problem("name is missing")
                return nil
            }
            let inner = Scope()
            records[name] = inner
            plan.inner.append(compile(layout, inner))
            var step = LayoutStep(kind: .records, condition: condition(members["when"], scope))
            step.reference = Int32(plan.inner.count - 1)
            step.field = field(LayoutField(name: name, shape: .records), scope)
            return step
        case "objects": return objects(node, scope)
        case "sealed":
            let members = node.members(["sealed", "when"])
            guard let seal = members["sealed"]?.choice(FrameSeal.self), let index = FrameSeal.allCases.firstIndex(of: seal) else {
                return nil
            }
            var step = LayoutStep(kind: .sealed, condition: condition(members["when"], scope))
            step.reference = Int32(index)
            return step
        case "masked"? where pending.count(where: { $0.kind == .masked }) >= Self.maximumMasks:
            // Each mask runs its steps inside those of the previous one.
            node.problem("a layout has at most \(Self.maximumMasks) masks")
            return nil
        case "left"?, "is"?, "address"?, "check"?, "masked"?:
            return GuardReader(layout: self, scope: scope).step(kind ?? "", node)
        case "of", "time", "flags", "constant", "join", "missing", "total":
            return ComputedReader(layout: self, scope: scope).step(node)
        default:
            node.problem("a field needs one of \(Self.kinds.joined(separator: ", "))")
            return nil
        }
    }

    private func objects(_ node: ProfileNode, _ scope: Scope) -> LayoutStep? {
        let members = node.members(["name", "objects", "id", "length", "when"])
        guard let name = members["name"]?.text(), let objects = members["objects"] else {
            node.problem("name is missing")
            return nil
        }
        var list = LayoutPlan.ObjectList()
        list.idWidth = members["id"]?.text() == "u16" ? 2 : 1
        list.hasLength = members["length"]?.text() == "u8"
        if list.idWidth > 1, !list.hasLength { node.problem("objects with ids of two bytes need a length") }
        let inner = Scope()
        records[name] = inner
        var all: [String: Int32] = [:]
        for (key, node) in objects.anyMembers().sorted(by: { $0.key < $1.key }) {
            guard let id = Self.integer(key), (0...(list.idWidth > 1 ? 65_535 : 255)).contains(id) else {
                node.problem("the key is an object's id, such as 0x02")
                continue
            }
            // The fields of each id are separate, even if two have the same name, because they differ in scale and unit. Conditions of
            // readings may refer to the bits of any of them.
            (inner.fields, inner.used) = ([:], 0)
            if !list.hasLength { inner.terms = [:] }
            let steps = compile(node, inner)
            guard !steps.isEmpty, list.hasLength || steps.count == 1 else {
                if !steps.isEmpty { node.problem("an object without a length has one field") }
                continue
            }
            for index in Set(steps.map { plan.steps[$0].field }).sorted() where index >= 0 {
                plan.fields[Int(index)].object = UInt16(id)
                inner.namesakes[plan.fields[Int(index)].name, default: []].append(index)
            }
            all.merge(inner.fields) { $1 }
            list.steps[UInt16(id)] = steps
        }
        if list.hasLength { inner.fields = all }
        plan.objectLists.append(list)
        var step = LayoutStep(kind: .objects, condition: condition(members["when"], scope))
        step.reference = Int32(plan.objectLists.count - 1)
        step.field = field(LayoutField(name: name, shape: .objects), scope)
        return step
    }

    // MARK: Names

    /// Returns the field's index. Alternatives of one field, each under its own condition, share it.
    func field(_ field: LayoutField, _ scope: Scope) -> Int32 {
        if let known = scope.fields[field.name], plan.fields[Int(known)].shape == field.shape { return known }
        plan.fields.append(field)
        let index = Int32(plan.fields.count - 1)
        if !field.name.isEmpty { scope.fields[field.name] = index }
        return index
    }

    func index(of node: ProfileNode?, _ scope: Scope) -> Int32? {
        guard let node, let name = node.text() else { return nil }
        if let index = scope.fields[name] { return index }
        node.problem("there is no field '\(name)' before this")
        return nil
    }

    /// Adds a raw value that is not a number, and its special word.
    func special(_ raw: Int64, _ name: String, _ node: ProfileNode) -> Range<Int32> {
        var known = plan.specialNames.firstIndex(of: name)
        if known == nil {
            if plan.specialNames.count < Self.maximumSpecials {
                plan.specialNames.append(name)
            } else {
                node.problem("a channel has at most \(Self.maximumSpecials) words for values that are not numbers")
                known = 0
            }
        }
        plan.specials.append(.init(raw: raw, name: Int16(known ?? plan.specialNames.count - 1)))
        return Int32(plan.specials.count - 1)..<Int32(plan.specials.count)
    }

    private static let maximumSpecials = 256
    private static let maximumMasks = 8

    /// Checks that a field for a time is a date and time.
    func requireTime(_ field: Int32, _ node: ProfileNode) {
        let kinds: Set<LayoutStep.Kind> = [.dateTime, .timeSum, .textTime]
        if !filling(field).allSatisfy({ kinds.contains($0.kind) }) { node.problem("this field is not a date and time") }
    }

    /// Checks that minutes to be added to a time are a whole number of at most 32 bits. A century needs 26.
    func requireMinutes(_ field: Int32, _ node: ProfileNode) {
        if !filling(field).allSatisfy({ $0.kind == .integer && $0.width <= 4 }) {
            node.problem("minutes are a whole number of 32 bits at most")
        }
    }

    /// Checks that a dividend is a whole number, either read or the result of another division.
    func requireInteger(_ field: Int32, _ node: ProfileNode) {
        let kinds: Set<LayoutStep.Kind> = [.integer, .joined, .quotient, .remainder]
        if !filling(field).allSatisfy({ kinds.contains($0.kind) }) { node.problem("only a whole number can be divided") }
    }

    /// Checks that quarters of an hour are a whole number of one byte.
    func requireQuarters(_ field: Int32, _ node: ProfileNode) {
        if !filling(field).allSatisfy({ $0.kind == .integer && $0.width == 1 }) {
            node.problem("quarters of an hour are a whole number of 8 bits")
        }
    }

    /// Returns the steps compiled so far that fill a field.
    private func filling(_ field: Int32) -> [LayoutStep] { (plan.steps + pending).filter { $0.field == field } }

    /// Reserves bits in the word of conditions.
    func allocate(_ width: Int, _ scope: Scope, _ node: ProfileNode) -> Int? {
        guard scope.used + width <= 64 else {
            node.problem("flags and enumerations of one frame have 64 bits together at most")
            return nil
        }
        defer { scope.used += width }
        return scope.used
    }

    /// Reads `when`: `flag`, `!flag`, `field=name`, `!field=name`, or a list of conditions that must all hold.
    func condition(_ node: ProfileNode?, _ scope: Scope) -> BitCondition {
        var condition = BitCondition.always
        for node in node?.elements() ?? [] {
            guard var text = node.text() else { continue }
            let isNegated = text.hasPrefix("!")
            if isNegated { text.removeFirst() }
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let term = scope.terms[parts[0]] else {
                let known = scope.terms.keys.sorted().joined(separator: ", ")
                node.problem("there is no flag or enumeration '\(parts[0])' before this, expected one of \(known)")
                continue
            }
            let mask = (term.width >= 64 ? UInt64.max : 1 << UInt64(term.width) - 1) << UInt64(term.shift)
            if parts.count == 1 {
                if term.width > 1 {
                    node.problem("'\(parts[0])' has more than two values: write \(parts[0])=name")
                    continue
                }
                condition.mask |= mask
                if !isNegated { condition.value |= mask }
                continue
            }
            var values = term.values.filter { $0.value == parts[1] }.map(\.key)
            if term.values.isEmpty, term.width < 63, let number = Self.integer(parts[1]), number >= 0, number >> term.width == 0 {
                // A value without a name is given as a number.
                values = [number]
            }
            guard let value = values.first, values.count == 1 else {
                node.problem("'\(parts[1])' is not a single value of \(parts[0])")
                continue
            }
            let bits = UInt64(bitPattern: value) << UInt64(term.shift)
            if !isNegated {
                condition.mask |= mask
                condition.value |= bits
            } else if condition.otherMask == 0 {
                condition.otherMask = mask
                condition.otherValue = bits
            } else {
                node.problem("a condition can exclude only one value of an enumeration")
            }
        }
        return condition
    }

    /// Parses `18`, `-128` or `0x1F`.
    static func integer(_ text: String) -> Int64? {
        text.hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
    }
}

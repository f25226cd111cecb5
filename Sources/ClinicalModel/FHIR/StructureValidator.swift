import HealthModel

/// Validates a resource against the structure of a release: known elements, required elements, types, cardinalities, required codes, and
/// references.
///
/// It counts all errors, so that two releases can be compared, and keeps the first one for the message.
struct StructureValidator {
    let structure: Structure
    /// The first error.
    private(set) var fault: ResourceFault?
    private(set) var count = 0
    /// Whether something is present that the release does not allow. If not, elements are only missing.
    private(set) var hasForeign = false
    /// The path from the resource to the current value: nodes with their indexes in a list.
    private var path: [(node: Int, index: Int)] = []
    private var root = ""
    private var isContained = false
    private var contained: [(id: [UInt8], type: [UInt8])] = []
    /// The allowed targets of the current reference.
    private var targets = -1

    private static let missing = "is missing"

    init(_ tape: borrowing JSONTape, type name: String, as structure: Structure) {
        self.structure = structure
        root = name
        guard let number = structure.number(of: name) else {
            (count, hasForeign) = (1, true)
            fault = ResourceFault(name, "is not a type of this release that health records use")
            return
        }
        for resource in tape.list(tape.member("contained", of: 0)) {
            guard let id = tape.member("id", of: resource), let type = tape.member("resourceType", of: resource) else { continue }
            contained.append((Array(tape.bytes(of: id)), Array(tape.bytes(of: type))))
        }
        check(0, number, isResource: true, tape)
    }

    private mutating func report(_ reason: String, _ tape: borrowing JSONTape, name: String? = nil) {
        count += 1
        if reason != Self.missing { hasForeign = true }
        guard fault == nil else { return }
        var text = root
        for (node, index) in path {
            let bytes = tape.name(of: node)
            if !bytes.isEmpty { text += "." + NameText.shown(bytes) }
            if index >= 0 { text += "[\(index)]" }
        }
        if let name { text += "." + name }
        fault = ResourceFault(text, reason)
    }

    // MARK: Objects

    private mutating func check(_ object: Int, _ number: Int, isResource: Bool, _ tape: borrowing JSONTape) {
        guard tape.nodes[object].kind == .object else { return report("is not an object", tape) }
        guard tape.nodes[object].count > 0 else { return report("is empty", tape) }
        let allowed = targets >= 0 ? structure.codeLists[targets] : nil
        targets = -1
        var present: UInt64 = 0
        // The chosen types. A value and its companion `_value…` must have the same type.
        var chosen: (slots: UInt64, names: [(slot: Int, element: Int)]) = (0, [])
        var child = object + 1
        let end = Int(tape.nodes[object].next)
        while child < end {
            defer { child = Int(tape.nodes[child].next) }
            let name = tape.name(of: child)
            let isCompanion = name.first == UInt8(ascii: "_")
            let plain = isCompanion ? UnsafeRawBufferPointer(rebasing: name[1...]) : name
            if isResource, plain.isEqual(to: "resourceType"), !isCompanion { continue }
            let hash = isCompanion ? StableHash.hash(plain) : tape.nodes[child].hash
            guard let index = structure.types[number].element(plain, hash: hash) else {
                report("is not an element of it", tape, name: NameText.shown(name))
                continue
            }
            let slot = structure.types[number].elements[index].slot
            if structure.types[number].slots[slot].utf8.last == UInt8(ascii: "]") {
                if chosen.slots >> UInt64(slot) & 1 != 0, !chosen.names.contains(where: { $0 == (slot, index) }) {
                    report("is present in two types", tape, name: structure.types[number].slots[slot])
                }
                chosen.slots |= 1 << UInt64(slot)
                chosen.names.append((slot, index))
            }
            present |= 1 << UInt64(slot)
            if isCompanion {
                checkCompanion(child, structure.types[number].elements[index], tape)
            } else {
                checkElement(child, structure.types[number].elements[index], in: object, tape)
            }
        }
        let missing = structure.types[number].required & ~present
        if missing != 0 {
            for (slot, name) in structure.types[number].slots.enumerated() where missing >> UInt64(slot) & 1 != 0 {
                report(Self.missing, tape, name: name)
            }
        }
        if structure.types[number].name == "Extension" { checkExtension(object, tape) }
        if structure.types[number].name == "Reference" { checkReference(object, allowed, tape) }
    }

    private mutating func checkElement(_ value: Int, _ element: Structure.Element, in object: Int, _ tape: borrowing JSONTape) {
        path.append((value, -1))
        defer { path.removeLast() }
        guard element.isList else { return checkValue(value, element, tape) }
        guard tape.nodes[value].kind == .array else { return report("is not a list", tape) }
        guard tape.nodes[value].count > 0 else { return report("is empty", tape) }
        path.removeLast()
        var index = 0
        var item = value + 1
        let end = Int(tape.nodes[value].next)
        while item < end {
            path.append((value, index))
            if tape.nodes[item].kind == .null, element.isPrimitive {
                // A null in a list needs a companion object with extensions.
                let sibling = companion(of: value, at: index, in: object, tape)
                if sibling.map({ tape.nodes[$0].kind != .object }) ?? true { report("is null", tape) }
            } else {
                checkValue(item, element, tape)
            }
            path.removeLast()
            index += 1
            item = Int(tape.nodes[item].next)
        }
        path.append((value, -1))
    }

    private func companion(of list: Int, at index: Int, in object: Int, _ tape: borrowing JSONTape) -> Int? {
        var child = object + 1
        let end = Int(tape.nodes[object].next)
        while child < end {
            let name = tape.name(of: child)
            if name.first == UInt8(ascii: "_"), name.dropFirst().elementsEqual(tape.name(of: list)) {
                let items = tape.list(child)
                return index < items.count ? items[index] : nil
            }
            child = Int(tape.nodes[child].next)
        }
        return nil
    }

    private mutating func checkValue(_ value: Int, _ element: Structure.Element, _ tape: borrowing JSONTape) {
        switch element.content {
        case .primitive(let primitive):
            if let reason = primitive.fault(of: value, in: tape) { report(reason, tape) }
        case .code(let list):
            if let reason = Primitive.code.fault(of: value, in: tape) { return report(reason, tape) }
            let bytes = tape.bytes(of: value)
            if bytes.count > 64 || !structure.codeLists[list].contains(Array(bytes)) {
                report("is not a code of its list", tape)
            }
        case .type(let number):
            targets = element.targets
            check(value, number, isResource: false, tape)
        case .resource: checkContained(value, tape)
        }
    }

    /// Checks the companion `_status` of a primitive `status`, with its id and extensions.
    private mutating func checkCompanion(_ value: Int, _ element: Structure.Element, _ tape: borrowing JSONTape) {
        path.append((value, -1))
        defer { path.removeLast() }
        guard element.isPrimitive, let number = structure.number(of: "Element") else {
            return report("is next to a value that is not primitive", tape)
        }
        guard element.isList else { return check(value, number, isResource: false, tape) }
        guard tape.nodes[value].kind == .array else { return report("is not a list", tape) }
        for item in tape.list(value) where tape.nodes[item].kind != .null { check(item, number, isResource: false, tape) }
    }

    // MARK: What is special

    /// Checks a contained resource. If health records use its type, it is validated fully. Otherwise any JSON that FHIR allows is valid.
    private mutating func checkContained(_ value: Int, _ tape: borrowing JSONTape) {
        guard tape.nodes[value].kind == .object else { return report("is not an object", tape) }
        guard let type = tape.text("resourceType", of: value) else { return report(Self.missing, tape, name: "resourceType") }
        guard ResourceTypes.all.contains(type) else {
            return report("is not a resource type of FHIR", tape, name: "resourceType")
        }
        guard !isContained, tape.member("contained", of: value) == nil else {
            return report("contains another resource", tape)
        }
        isContained = true
        defer { isContained = false }
        if let number = structure.number(of: type) {
            check(value, number, isResource: true, tape)
        } else {
            checkPlain(value, tape)
        }
    }

    private mutating func checkPlain(_ value: Int, _ tape: borrowing JSONTape) {
        switch tape.nodes[value].kind {
        case .object, .array:
            guard tape.nodes[value].count > 0 else { return report("is empty", tape) }
            let isArray = tape.nodes[value].kind == .array
            var index = 0
            var child = value + 1
            let end = Int(tape.nodes[value].next)
            while child < end {
                path.append((child, isArray ? index : -1))
                if tape.nodes[child].kind != .null || !isArray { checkPlain(child, tape) }
                path.removeLast()
                index += 1
                child = Int(tape.nodes[child].next)
            }
        case .string: if tape.nodes[value].start == tape.nodes[value].end { report("is empty", tape) }
        case .null: report("is null", tape)
        case .number, .yes, .no: break
        }
    }

    /// An extension has either a value or extensions (ext-1).
    private mutating func checkExtension(_ object: Int, _ tape: borrowing JSONTape) {
        let hasExtensions = tape.member("extension", of: object) != nil
        var hasValue = false
        tape.forEachChild(of: object) { child in
            let name = tape.name(of: child)
            if name.starts(with: "value".utf8) || name.starts(with: "_value".utf8) { hasValue = true }
        }
        if hasValue == hasExtensions {
            report(hasValue ? "has both a value and extensions" : "has neither a value nor extensions", tape)
        }
    }

    private mutating func checkReference(_ object: Int, _ allowed: Set<[UInt8]>?, _ tape: borrowing JSONTape) {
        guard let reference = tape.member("reference", of: object), tape.nodes[reference].kind == .string else { return }
        let bytes = Array(tape.text(reference).utf8)
        if let reason = ReferenceForm.fault(of: bytes, contained: contained, isContained: isContained, allowed: allowed) {
            report(reason, tape, name: "reference")
        }
    }
}

extension Structure.Element {
    /// Whether the values are not objects.
    var isPrimitive: Bool {
        switch content {
        case .primitive, .code: true
        case .type, .resource: false
        }
    }
}

/// The form of a reference (https://hl7.org/fhir/R4/references.html#literal).
enum ReferenceForm {
    /// The error in a reference, or `nil` if it is valid. Valid are `#id` of a contained resource, `Type/id`, `Type/id/_history/1`, a URI
    /// and `Type?query`. The type must be allowed if the reference names one.
    ///
    /// `Type?query` is a conditional reference, which a server resolves when it runs a transaction
    /// (https://hl7.org/fhir/R4/http.html#trules). Records are stored as they are, so it needs no resolution here.
    static func fault(
        of bytes: [UInt8], contained: [(id: [UInt8], type: [UInt8])], isContained: Bool, allowed: Set<[UInt8]>?
    ) -> String? {
        if bytes.first == UInt8(ascii: "#") {
            // The containing resource.
            if bytes.count == 1, isContained { return nil }
            guard let target = contained.first(where: { $0.id.elementsEqual(bytes.dropFirst()) }) else {
                return "refers to a contained resource that is not there"
            }
            return allowed?.contains(target.type) ?? true ? nil : wrongType
        }
        guard !bytes.contains(where: { $0 <= 0x20 }) else { return "is not a reference" }
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(bytes[..<colon]), colon + 1 < bytes.count {
            return nil
        }
        if let mark = bytes.firstIndex(of: UInt8(ascii: "?")) {
            guard ResourceTypes.all.contains(String(decoding: bytes[..<mark], as: UTF8.self)),
                bytes[(mark + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).allSatisfy(
                    isParameter)
            else { return noReference }
            return allowed?.contains(Array(bytes[..<mark])) ?? true ? nil : wrongType
        }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 4, ResourceTypes.all.contains(String(decoding: parts[0], as: UTF8.self)),
            Primitive.isIdentifier(parts[1])
        else { return noReference }
        if parts.count == 4 {
            guard parts[2].elementsEqual("_history".utf8), Primitive.isIdentifier(parts[3]) else { return noReference }
        }
        return allowed?.contains(Array(parts[0])) ?? true ? nil : wrongType
    }

    private static let noReference = "is not a reference (Type/id, Type?query, #id or a URI)"
    private static let wrongType = "refers to a resource of another type"

    /// Whether the text is `name=value`, where the name may have a modifier or a chain (`person:Patient.name`).
    private static func isParameter(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign > bytes.startIndex else { return false }
        return bytes[..<sign].allSatisfy { byte in
            byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || "_.:-".utf8.contains(byte)
        }
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, (first | 0x20) &- UInt8(ascii: "a") < 26 else { return false }
        return bytes.allSatisfy { byte in
            byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }
}

import HealthModel

/// The types of a release, with the name, cardinality and type of each element. It is parsed once from a ``StructureTable``.
final class Structure: Sendable {
    enum Content: Hashable, Sendable {
        case primitive(Primitive)
        /// A code of a required list, by its index in ``Structure/codeLists``.
        case code(Int)
        /// Another type, by its index.
        case type(Int)
        case resource
    }

    /// An element. Each type of a choice is one (`valueQuantity`).
    struct Element: Sendable {
        var name: [UInt8]
        var hash: UInt64
        var content: Content
        var isList: Bool
        /// The allowed targets of a reference, by index in ``Structure/codeLists``. It is -1 if any target is allowed, or if it is not a
        /// reference.
        var targets = -1
        /// The bit that marks its presence. The types of a choice share one.
        var slot: Int
    }

    struct TypeStructure: Sendable {
        var name: String
        var elements: [Element] = []
        /// The names of the slots in a path: `code`, `value[x]`.
        var slots: [String] = []
        var required: UInt64 = 0
        /// A hash table of element indexes by name, with -1 for empty places. Its size is a power of two.
        var places: [Int16] = []

        /// The index of the element with a name, or `nil`.
        @inline(__always) func element(_ name: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
            var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
            while places[place] >= 0 {
                let index = Int(places[place])
                if elements[index].hash == hash, elements[index].name.elementsEqual(name) { return index }
                place = (place + 1) & (places.count - 1)
            }
            return nil
        }
    }

    let types: [TypeStructure]
    let codeLists: [Set<[UInt8]>]
    private let numbers: [String: Int]

    func number(of name: String) -> Int? { numbers[name] }

    /// DSTU2 (FHIR 1.0.2).
    static let dstu2 = Structure(StructureTable.dstu2)
    /// R4 (FHIR 4.0.1).
    static let r4 = Structure(StructureTable.r4)

    init(_ table: String) {
        let rows = StructureTable.rows(of: table)
        var numbers: [String: Int] = [:]
        for (number, row) in rows.enumerated() { numbers[row.name] = number }
        let parents = Dictionary(rows.map { ($0.name, $0) }) { first, _ in first }
        var lists: [Set<[UInt8]>] = []
        var types: [TypeStructure] = []
        for row in rows {
            var chain = [row]
            while let base = parents[chain[0].base] { chain.insert(base, at: 0) }
            var type = TypeStructure(name: row.name)
            for element in chain.flatMap(\.elements) { Self.add(element, to: &type, numbers, &lists) }
            Self.index(&type)
            types.append(type)
        }
        self.types = types
        self.numbers = numbers
        codeLists = lists
    }

    private static func add(
        _ row: StructureTable.Element, to type: inout TypeStructure, _ numbers: [String: Int], _ lists: inout [Set<[UInt8]>]
    ) {
        let slot = type.slots.count
        type.slots.append(row.name + (row.isChoice ? "[x]" : ""))
        if row.isRequired { type.required |= 1 << UInt64(slot) }
        for word in row.types {
            let content: Content
            var targets = -1
            if word.hasPrefix("code(") {
                lists.append(Set(word.dropFirst(5).dropLast().split(separator: ",").map { Array($0.utf8) }))
                content = .code(lists.count - 1)
            } else if word.hasPrefix("Reference("), let reference = numbers["Reference"] {
                lists.append(Set(word.dropFirst(10).dropLast().split(separator: ",").map { Array($0.utf8) }))
                content = .type(reference)
                targets = lists.count - 1
            } else if let primitive = Primitive(rawValue: word) {
                content = .primitive(primitive)
            } else if let number = numbers[word], word != "Resource" {
                content = .type(number)
            } else {
                content = .resource
            }
            let plain = word.prefix { $0 != "(" }
            let suffix = row.isChoice ? plain.prefix(1).uppercased() + plain.dropFirst() : ""
            let name = Array((row.name + suffix).utf8)
            var element = Element(name: name, hash: StableHash.hash(name), content: content, isList: row.isList, slot: slot)
            element.targets = targets
            type.elements.append(element)
        }
    }

    private static func index(_ type: inout TypeStructure) {
        var size = 4
        while size < type.elements.count * 2 { size *= 2 }
        type.places = Array(repeating: -1, count: size)
        for (index, element) in type.elements.enumerated() {
            var place = Int(truncatingIfNeeded: element.hash) & (size - 1)
            while type.places[place] >= 0 { place = (place + 1) & (size - 1) }
            type.places[place] = Int16(index)
        }
    }
}

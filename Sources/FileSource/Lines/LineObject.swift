import HealthModel

/// A JSON object in a line (RFC 8259), by the ranges of its members. Large values are only copied on request.
///
///     let line = try LineObject(octets)
///     let start = try line.text("start")
///     let rows = try line.object("data")?.place("rows")
struct LineObject {
    /// The maximum depth. The reader is recursive, and real lines are flatter.
    static let maximumDepth = 32
    private static let maximumMembers = 4096

    let bytes: UnsafeRawBufferPointer
    let members: [(name: String, place: Range<Int>)]
    private let places: [String: Int]
    /// The path to this object in the line, such as `identity`.
    private let path: String

    /// Parses a line that consists of one object.
    init(_ bytes: UnsafeRawBufferPointer) throws(LineFault) {
        var scanner = LineScanner(bytes)
        let place = try scanner.value()
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw LineFault("there is text after the line's object") }
        guard bytes[place.lowerBound] == UInt8(ascii: "{") else { throw LineFault("the line is not a JSON object") }
        try self.init(bytes, place, path: "")
    }

    /// Parses an object whose text was already validated.
    init(_ bytes: UnsafeRawBufferPointer, _ place: Range<Int>, path: String) throws(LineFault) {
        (self.bytes, self.path) = (bytes, path)
        var scanner = LineScanner(bytes, from: place.lowerBound)
        var members: [(name: String, place: Range<Int>)] = []
        var places: [String: Int] = [:]
        try scanner.forEachMember { (name: JSONString, value: Range<Int>) throws(LineFault) in
            let name = try LineScanner.text(of: bytes, name)
            guard members.count < Self.maximumMembers else {
                throw LineFault("\(path)it has more than \(Self.maximumMembers) members")
            }
            guard places.updateValue(members.count, forKey: name) == nil else {
                throw LineFault("\(path)two members have one name")
            }
            members.append((name, value))
        }
        (self.members, self.places) = (members, places)
    }

    /// The range of a member's value, or `nil` if it is missing or `null`.
    func place(_ name: String) -> Range<Int>? {
        guard let index = places[name], bytes[members[index].place.lowerBound] != UInt8(ascii: "n") else { return nil }
        return members[index].place
    }

    func has(_ name: String) -> Bool { places[name] != nil }

    func text(_ name: String, atMost length: Int = 64 << 10) throws(LineFault) -> String? {
        guard let place = place(name) else { return nil }
        guard bytes[place.lowerBound] == UInt8(ascii: "\"") else { throw fault(name, "it is not a text") }
        guard place.count <= length else { throw fault(name, "it is too long") }
        return try LineScanner.text(of: bytes, place)
    }

    func number(_ name: String) throws(LineFault) -> Numeral? {
        guard let place = place(name) else { return nil }
        guard let number = LineScanner.number(of: bytes, place) else { throw fault(name, "it is not a number") }
        return number
    }

    /// Returns the first of several numbers that is present.
    func number(firstOf names: String...) throws(LineFault) -> Numeral? {
        for name in names { if let numeral = try number(name) { return numeral } }
        return nil
    }

    func integer(_ name: String) throws(LineFault) -> Int64? {
        guard let place = place(name) else { return nil }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[place]), as: UTF8.self)
        guard let number = Int64(text) else { throw fault(name, "it is not a whole number") }
        return number
    }

    func flag(_ name: String) throws(LineFault) -> Bool? {
        guard let place = place(name) else { return nil }
        switch bytes[place.lowerBound] {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw fault(name, "it is neither true nor false")
        }
    }

    func object(_ name: String) throws(LineFault) -> LineObject? {
        guard let place = place(name) else { return nil }
        guard bytes[place.lowerBound] == UInt8(ascii: "{") else { throw fault(name, "it is not an object") }
        return try LineObject(bytes, place, path: "\(path)\(name): ")
    }

    func list(_ name: String, atMost count: Int = 4096) throws(LineFault) -> [Range<Int>]? {
        guard let place = place(name) else { return nil }
        guard bytes[place.lowerBound] == UInt8(ascii: "[") else { throw fault(name, "it is not a list") }
        var scanner = LineScanner(bytes, from: place.lowerBound)
        var elements: [Range<Int>] = []
        let tooMany = fault(name, "it has more than \(count) elements")
        try scanner.forEachElement { (element: Range<Int>) throws(LineFault) in
            guard elements.count < count else { throw tooMany }
            elements.append(element)
        }
        return elements
    }

    func objects(_ name: String, atMost count: Int = 4096) throws(LineFault) -> [LineObject] {
        var objects: [LineObject] = []
        for place in try list(name, atMost: count) ?? [] {
            guard bytes[place.lowerBound] == UInt8(ascii: "{") else { throw fault(name, "an element is not an object") }
            objects.append(try LineObject(bytes, place, path: "\(path)\(name): "))
        }
        return objects
    }

    func texts(_ name: String, atMost count: Int = 4096) throws(LineFault) -> [String] {
        var texts: [String] = []
        for place in try list(name, atMost: count) ?? [] {
            guard bytes[place.lowerBound] == UInt8(ascii: "\"") else { throw fault(name, "an element is not a text") }
            texts.append(try LineScanner.text(of: bytes, place))
        }
        return texts
    }

    func fault(_ name: String, _ reason: String) -> LineFault { LineFault("\(path)\(name): \(reason)") }
}

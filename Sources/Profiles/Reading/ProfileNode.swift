import Wire

/// One place in a profile's document, with its key path. Reading it notes every problem and continues.
struct ProfileNode {
    /// Collects the problems of one document.
    final class Log {
        private(set) var problems: [ProfileProblem] = []
        func note(_ path: String, _ message: String) { problems.append(ProfileProblem(path, message)) }

        /// Returns each open place of a draft once, without the problems that follow from it.
        func problems(asideFromOpen open: [String]) -> [ProfileProblem] {
            open.map { ProfileProblem($0, "replace \(ProfileSuggestion.open)") }
                + problems.filter { problem in
                    problem.keyPath.isEmpty || !open.contains { $0.hasPrefix(problem.keyPath) }
                }
        }
    }

    let value: JSONValue
    let path: String
    let log: Log

    init(_ value: JSONValue, path: String = "", log: Log) {
        self.value = value
        self.path = path
        self.log = log
    }

    func problem(_ message: String) { log.note(path, message) }

    private func mismatch(_ wanted: String) { problem("\(wanted) is expected here, not \(value.kind)") }

    /// Returns the members of an object. An unknown key is a problem that lists the known keys.
    func members(_ known: [String]) -> [String: ProfileNode] {
        let members = anyMembers()
        for key in members.keys.sorted() where !known.contains(key) {
            members[key]?.problem("unknown key, expected one of \(known.joined(separator: ", "))")
        }
        return members
    }

    /// Returns the members of an object whose keys are names that the profile's author chose.
    func anyMembers() -> [String: ProfileNode] {
        guard case .object(let object) = value else {
            mismatch("an object")
            return [:]
        }
        var members: [String: ProfileNode] = [:]
        for (key, value) in object { members[key] = ProfileNode(value, path: path.isEmpty ? key : "\(path).\(key)", log: log) }
        return members
    }

    /// The key paths of places that a draft leaves open, in the order of their keys.
    var open: [String] {
        guard value.contains(ProfileSuggestion.open) else { return [] }
        switch value {
        case .array: return elements().flatMap(\.open)
        case .object: return anyMembers().sorted { $0.key < $1.key }.flatMap(\.value.open)
        default: return [path]
        }
    }

    /// Returns the elements of a list. Any other value counts as a list of one element.
    func elements() -> [ProfileNode] {
        guard case .array(let array) = value else { return [self] }
        return array.enumerated().map { ProfileNode($1, path: "\(path)[\($0)]", log: log) }
    }

    func text() -> String? {
        if case .string(let text) = value { return text }
        mismatch("a text")
        return nil
    }

    /// At least one byte, in hexadecimal digits.
    func bytes() -> [UInt8]? {
        guard let text = text() else { return nil }
        guard let bytes = HexadecimalText.bytes(text), !bytes.isEmpty else {
            problem("bytes of two hexadecimal digits each are expected here")
            return nil
        }
        return bytes
    }

    func texts() -> [String] { elements().compactMap { $0.text() } }

    func integer(_ range: ClosedRange<Int>) -> Int? {
        guard case .number(let number) = value, number == number.rounded(), let integer = Int(exactly: number) else {
            mismatch("a whole number")
            return nil
        }
        guard range.contains(integer) else {
            problem("must be from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return integer
    }

    func boolean() -> Bool? {
        if case .boolean(let flag) = value { return flag }
        mismatch("true or false")
        return nil
    }

    /// Reads one of several fixed words.
    func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> Choice? where Choice.RawValue == String {
        guard let text = text() else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        problem("must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        return nil
    }
}

/// The types of a release as readable text: `Type < Base: elements`. A line that begins with two blanks continues the previous one.
///
///     name?Type    none or one              name!Type    one
///     name*Type    any number, a list       name+Type    one or more, a list
///     name[x]?A|B  one of several types, `nameA` or `nameB`
///     code(a,b)    one of these codes: HL7's binding is required
///     Reference(A) refers to a resource of this type
enum StructureTable {
    struct Element {
        var name: String
        var isChoice: Bool
        var isList: Bool
        var isRequired: Bool
        var types: [String]
    }

    struct Row {
        var name: String
        var base: String
        var elements: [Element]
    }

    static func rows(of table: String) -> [Row] {
        var lines: [String] = []
        for line in table.split(separator: "\n") {
            if line.hasPrefix("  "), let last = lines.popLast() {
                // The types of a choice may span several lines.
                lines.append(last + " " + line.drop { $0 == " " })
            } else {
                lines.append(String(line))
            }
        }
        return lines.map { line in
            let words = String(line.replacing("| ", with: "|")).split(separator: " ").map(String.init)
            let elements = words.dropFirst(3).compactMap(element)
            return Row(name: words[0], base: words[2].filter { $0 != ":" }, elements: elements)
        }
    }

    private static func element(_ word: String) -> Element? {
        let listMarks: Set<Character> = ["*", "+"]
        let requiredMarks: Set<Character> = ["!", "+"]
        let marks: Set<Character> = ["?", "!", "*", "+"]
        guard let mark = word.firstIndex(where: { marks.contains($0) }) else { return nil }
        let name = word[..<mark]
        return Element(
            name: name.hasSuffix("[x]") ? String(name.dropLast(3)) : String(name), isChoice: name.hasSuffix("[x]"),
            isList: listMarks.contains(word[mark]), isRequired: requiredMarks.contains(word[mark]),
            types: word[word.index(after: mark)...].split(separator: "|").map(String.init))
    }
}

import FoundationEssentials

/// Files next to the tests.
enum TestFile {
    static func data(_ path: String, testFile: String = #filePath) throws -> Data {
        let folder = URL(filePath: testFile).deletingLastPathComponent()
        return try Data(contentsOf: folder.appending(path: path))
    }

    static func json<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value {
        try JSONDecoder().decode(type, from: data(path))
    }

    /// The rows of a CSV file as dictionaries by the header's names. Quoted cells contain no line breaks.
    static func csv(_ path: String) throws -> [[String: String]] {
        let lines = String(decoding: try data(path), as: UTF8.self).split(whereSeparator: \.isNewline).map(cells)
        guard let header = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
    }

    private static func cells(_ line: Substring) -> [String] {
        var cells = [""]
        var quoted = false
        for character in line {
            if character == "\"" {
                quoted.toggle()
            } else if character == ",", !quoted {
                cells.append("")
            } else {
                cells[cells.count - 1].append(character)
            }
        }
        return cells
    }
}

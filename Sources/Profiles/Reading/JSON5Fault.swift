import HealthModel

/// A syntax error in JSON5: its line, its column, and the expected token.
///
///     JSON5Fault.find(in: bytes)  // "line 3, column 8: ':' is expected after the key"
package struct JSON5Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    package var line: Int
    /// The column in characters, from 1.
    package var column: Int
    /// The expected token, or a description of the error.
    package var expected: String

    package var description: String { "line \(line), column \(column): \(expected)" }

    /// Returns the first syntax error, or nil if the text is JSON5. Call it before Foundation's decoder, which traps on a key that is not
    /// UTF-8.
    package static func find(in bytes: [UInt8]) -> JSON5Fault? {
        do throws(JSON5Fault) {
            _ = try parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    static func parse(_ bytes: [UInt8]) throws(JSON5Fault) -> JSONValue {
        if let index = bytes.withUnsafeBytes(UTF8Text.firstFault) {
            throw JSON5Fault(bytes, index, "this is not UTF-8")
        }
        var parser = JSON5Parser(bytes)
        do throws(JSON5Parser.Stop) {
            return try parser.document()
        } catch {
            throw JSON5Fault(bytes, error.index, error.expected)
        }
    }

    private init(_ bytes: [UInt8], _ index: Int, _ expected: String) {
        let before = bytes[..<min(index, bytes.count)]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = String(decoding: before[start...], as: UTF8.self).count + 1
        self.expected = expected
    }
}

import Glibc
import Pipeline

/// Reads the locations of a track in their usual form, which is faster than the XML parser:
///
///     <trkpt lon="-2.600010" lat="51.440020"><ele>25.5</ele><time>2020-01-01T00:00:00Z</time>
///       <extensions><speed>3.1</speed><course>120</course><hAcc>2</hAcc><vAcc>3</vAcc></extensions></trkpt>
///
/// Names have no prefix and occur once, in any order. Texts and values are visible ASCII without `& < > "`. Everything else is left to
/// the parser, including all errors. The parser would return the same rows for every location that is read here.
struct PlainLocations {
    /// The reason why it stopped.
    enum Stop {
        /// Something else comes next.
        case other
        /// The bytes end within a location.
        case cut
    }

    /// The maximum length of a location in bytes.
    static let maximumLength = 4096
    private static let maximumTextLength = 64

    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private var index = 0
    private var lines = 0
    private var texts = [UnsafeRawBufferPointer](repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: GPXRow.count)
    private var isCut = false

    private init(_ bytes: UnsafePointer<UInt8>, count: Int) { (self.bytes, self.count) = (bytes, count) }

    /// Reads locations from the front of `bytes` and appends a row for each.
    ///
    /// - Parameter line: the line of the first byte. It is set to the line after the last location.
    /// - Returns: the number of bytes that were read.
    static func take(
        _ bytes: UnsafeRawBufferPointer, into rows: inout ExportRows, line: inout Int
    ) -> (taken: Int, stop: Stop) {
        guard let start = bytes.baseAddress else { return (0, .cut) }
        var locations = PlainLocations(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        var taken = 0
        while let began = locations.next() {
            locations.put(into: &rows, line + began, isFirst: taken == 0)
            taken = locations.index
            line += locations.lines
            locations.lines = 0
        }
        return (taken, locations.isCut ? .cut : .other)
    }

    private func put(into rows: inout ExportRows, _ line: Int, isFirst: Bool) {
        let name: StaticString = "trkpt"
        rows.begin(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), columns: GPXRow.count)
        for column in 1..<GPXRow.count where !texts[column].isEmpty { rows.set(column, texts[column]) }
        rows.end(Place(.line, line), isJoined: !isFirst)
    }

    /// Reads a location.
    ///
    /// - Returns: the number of lines between the first byte and its beginning, or `nil` if there is none.
    private mutating func next() -> Int? {
        for column in texts.indices { texts[column] = UnsafeRawBufferPointer(start: nil, count: 0) }
        skipBlanks()
        let line = lines
        guard take("<trkpt"), attributes() else { return nil }
        var isInExtensions = false
        while true {
            skipBlanks()
            guard take(UInt8(ascii: "<")) else { return nil }
            guard index < count else {
                isCut = true
                return nil
            }
            if bytes[index] == UInt8(ascii: "/") {
                guard isInExtensions else { return take("/trkpt>") ? line : nil }
                guard take("/extensions>") else { return nil }
                isInExtensions = false
                continue
            }
            guard let name = text(until: UInt8(ascii: ">")) else { return nil }
            index += 1
            if name.isText("extensions") {
                guard !isInExtensions else { return nil }
                isInExtensions = true
                continue
            }
            guard let column = GPXRow.column(ofElement: name), texts[column].isEmpty,
                let value = text(until: UInt8(ascii: "<")), take("</"), take(name), take(UInt8(ascii: ">"))
            else { return nil }
            texts[column] = value
        }
    }

    /// Reads the attributes of the position, up to the end of the tag.
    private mutating func attributes() -> Bool {
        while true {
            let before = index
            skipBlanks()
            if index < count, bytes[index] == UInt8(ascii: ">") {
                index += 1
                return true
            }
            guard index > before, take("l") else { return false }
            let isLatitude = index < count && bytes[index] == UInt8(ascii: "a")
            let column = isLatitude ? GPXRow.latitude : GPXRow.longitude
            guard take(isLatitude ? "at=\"" : "on=\""), texts[column].isEmpty, let value = text(until: UInt8(ascii: "\"")) else {
                return false
            }
            texts[column] = value
            index += 1
        }
    }

    /// Skips blanks except a lone carriage return, which the parser would count as a line break.
    private mutating func skipBlanks() {
        while index < count {
            switch bytes[index] {
            case 0x0A: lines += 1
            case 0x20, 0x09: break
            default: return
            }
            index += 1
        }
        isCut = true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < count else {
            isCut = true
            return false
        }
        guard bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func take(_ text: StaticString) -> Bool {
        take(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func take(_ text: UnsafeRawBufferPointer) -> Bool {
        guard index + text.count <= count else {
            isCut = true
            return false
        }
        // A loop, because a call would be slower for a few bytes.
        for offset in 0..<text.count where bytes[index + offset] != text[offset] { return false }
        index += text.count
        return true
    }

    /// Reads a non-empty text up to a byte, which is not skipped.
    private mutating func text(until end: UInt8) -> UnsafeRawBufferPointer? {
        let start = index
        while index < count, index - start <= Self.maximumTextLength {
            let byte = bytes[index]
            // One comparison covers digits, `-`, `.` and `:`, which are the most frequent bytes.
            if byte &- UInt8(ascii: "-") <= UInt8(ascii: ":") - UInt8(ascii: "-") {
                index += 1
                continue
            }
            if byte == end { return index > start ? UnsafeRawBufferPointer(start: bytes + start, count: index - start) : nil }
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "&"), byte != UInt8(ascii: "<"), byte != UInt8(ascii: ">"),
                byte != UInt8(ascii: "\"")
            else { return nil }
            index += 1
        }
        isCut = index == count
        return nil
    }
}

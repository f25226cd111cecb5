import HealthModel
import Pipeline

/// Recognizes and reads the CSV files of electrocardiograms in an export of the Health app (`electrocardiograms/ecg_….csv`).
package enum ElectrocardiogramFile {
    static let maximumLine = 4096
    /// The number of bytes that are examined to recognize a file.
    private static let decidingLength = 8 << 10

    /// Whether a file begins with the header of an electrocardiogram, in any language, and continues with numbers.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(decidingLength) { recognises($0) }
    }

    private static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        var lines = ElectrocardiogramLines()
        var header = ElectrocardiogramHeader()
        var isFound = false
        try? lines.read(Array(beginning)[...]) { line, number in
            guard !isFound else { return }
            if ElectrocardiogramHeader.isNumber(line) {
                isFound = (try? header.read(at: Place(.line, number))) != nil
                throw SourceError(.malformed, "")
            }
            guard header.append(line) else { throw SourceError(.malformed, "") }
        }
        return isFound
    }

    /// Passes each line to `handle` as a frame.
    ///
    /// - Returns: whether the last line has a line break.
    @discardableResult
    static func forEachLine(in input: any ByteInput, received: Instant, _ handle: (RawFrame) throws -> Void) throws -> Bool {
        var lines = ElectrocardiogramLines()
        func give(_ line: ArraySlice<UInt8>, _ number: Int) throws {
            try line.withUnsafeBytes { bytes in
                try handle(
                    RawFrame(
                        payload: .bytes(bytes), place: Place(.line, number), received: received,
                        channel: ElectrocardiogramRow.channel))
            }
        }
        try input.forEachPiece(of: 64 << 10) { try lines.read(Array($0)[...], give) }
        return try lines.end(give)
    }
}

/// Splits bytes into lines that end with LF, CR LF or CR.
struct ElectrocardiogramLines {
    private var line: [UInt8] = []
    private var number = 1
    private var followsReturn = false
    private var isFirst = true

    mutating func read(_ part: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        var start = part.startIndex
        for index in part.indices {
            let byte = part[index]
            guard byte == 0x0A || byte == 0x0D else {
                followsReturn = false
                continue
            }
            if byte == 0x0A, followsReturn {
                (followsReturn, start) = (false, index + 1)
                continue
            }
            followsReturn = byte == 0x0D
            try give(part[start..<index], body)
            start = index + 1
        }
        line.append(contentsOf: part[start...])
        try bound(line.count)
    }

    /// - Returns: whether the last line has a line break.
    mutating func end(_ body: (ArraySlice<UInt8>, Int) throws -> Void) throws -> Bool {
        guard !line.isEmpty else { return true }
        try give([], body)
        return false
    }

    private mutating func give(_ rest: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, Int) throws -> Void) throws {
        try bound(line.count + rest.count)
        line.append(contentsOf: rest)
        if isFirst { line.removeFirst(ByteOrderMark.lengthUTF8(line)) }
        isFirst = false
        try body(line[...], number)
        line.removeAll(keepingCapacity: true)
        number += 1
    }

    private func bound(_ length: Int) throws(SourceError) {
        guard length <= ElectrocardiogramFile.maximumLine else {
            throw SourceError(
                .malformed, "a line is longer than \(ElectrocardiogramFile.maximumLine) bytes", at: Place(.line, number))
        }
    }
}

/// Reads the CSV file of an electrocardiogram line by line, for ``ElectrocardiogramInterpreter``.
package struct ElectrocardiogramFileSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes each line to `handle`, and then a row for the end. Without a final line break, the last voltage may be truncated.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let isWhole = try ElectrocardiogramFile.forEachLine(
            in: imported.input, received: imported.received, handle)
        let row = TextRow()
        let end = ElectrocardiogramRow.end
        row.cells = [UnsafeRawBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)]
        var frame = imported.frame(.row(row), at: Place(.line, 1), ElectrocardiogramRow.channel)
        frame.isProvisional = !isWhole
        try handle(frame)
    }
}

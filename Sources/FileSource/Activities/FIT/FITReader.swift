import Pipeline

/// Splits a FIT file into its messages. The file has a header, definitions mixed with data, and a checksum.
///
///     header       size (12 or 14), protocol, profile (2), bytes of data (4), ".FIT", checksum of the header (2, if it is 14 long)
///     definition   01dx nnnn, reserved, byte order, message (2), fields: number, size, type; if d: the same for developer fields
///     data         0000 nnnn, the fields
///     data         1nnt tttt, the fields: the previous message's time with its five lowest bits replaced by t
///     checksum     2
///
/// Source: Garmin's FIT protocol, as fitdecode 0.11.0 (MIT) reads it. A file can contain several FIT files in sequence, each with its own
/// header and checksum.
struct FITReader {
    private let input: any ByteInput
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var start = 0
    private var end = 0
    private var checksum = FITChecksum()
    private var offset = 0
    private var definitions = [FITMessage.Definition?](repeating: nil, count: 16)
    private var time: UInt64?

    init(_ input: any ByteInput) { self.input = input }

    /// An event of the reader, in file order.
    enum Event {
        case message(FITMessage)
        /// A FIT file ended, and its checksum is right.
        case end
        /// A FIT file is damaged. Discard its messages.
        case broken(SourceError)
    }

    /// Passes each message to `body` with the offset of its first byte, and the end of each FIT file. If a FIT file is damaged, reading
    /// continues with the next one, which its header locates.
    ///
    /// - Throws: errors of `body`, and ``SourceError`` if the bytes cannot be read.
    mutating func forEachEvent(_ body: (Event, Int) throws -> Void) throws {
        var isFirst = true
        while try isMore() || isFirst {
            isFirst = false
            definitions = Array(repeating: nil, count: 16)
            time = nil
            var rest: Int
            do throws(SourceError) {
                rest = try header()
            } catch {
                try body(.broken(try pass(error, to: nil)), offset)
                continue
            }
            let end = offset + rest + 2
            var failure: SourceError?
            while rest > 0, failure == nil {
                let place = offset
                let next: FITMessage?
                do throws(SourceError) {
                    next = try message(&rest)
                } catch {
                    failure = try pass(error, to: end)
                    break
                }
                if let next { try body(.message(next), place) }
            }
            if failure == nil {
                do throws(SourceError) {
                    try check()
                } catch {
                    failure = try pass(error, to: end)
                }
            }
            try body(failure.map { .broken($0) } ?? .end, offset)
        }
    }

    private mutating func check() throws(SourceError) {
        let computed = checksum.value
        let reported = try take(2)
        guard reported == [UInt8(computed & 0xFF), UInt8(computed >> 8)] else {
            throw damage("it is damaged: its checksum is wrong (nothing was imported)")
        }
    }

    /// Skips to the end of a damaged FIT file.
    ///
    /// - Parameter end: the offset of its end, or `nil` if it is unknown. The rest of the file is then skipped too.
    private mutating func pass(_ damage: SourceError, to end: Int?) throws(SourceError) -> SourceError {
        guard damage.kind == .malformed else { throw damage }
        while offset < end ?? .max, try isMore() {
            let length = min((end ?? .max) - offset, self.end - start)
            start += length
            offset += length
        }
        return damage
    }

    /// - Returns: the number of data bytes.
    private mutating func header() throws(SourceError) -> Int {
        let place = offset
        checksum = FITChecksum()
        let size = Int(try take(1)[0])
        guard size == 12 || size == 14 else { throw SourceError(.malformed, "it is not a FIT file", at: Place(.byte, place)) }
        let bytes = try take(11)
        guard bytes[7...] == [0x2E, 0x46, 0x49, 0x54] else {
            throw SourceError(.malformed, "it is not a FIT file", at: Place(.byte, place))
        }
        if size == 14 {
            let computed = checksum.value
            let reported = try take(2)
            // Some programs leave the checksum out.
            guard reported == [0, 0] || reported == [UInt8(computed & 0xFF), UInt8(computed >> 8)] else {
                throw damage("its header is damaged: the checksum is wrong")
            }
        }
        return bytes[3..<7].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func message(_ rest: inout Int) throws(SourceError) -> FITMessage? {
        let head = try take(1, of: &rest)[0]
        guard head & 0x80 == 0 else {
            guard let last = time else { throw damage("a time offset has no time before it") }
            // The five lowest bits of a time after the previous one.
            let next = (last & ~0x1F) | UInt64(head & 0x1F)
            time = next < last ? next + 0x20 : next
            return try data(Int(head >> 5 & 3), &rest, headerTime: time)
        }
        guard head & 0x40 != 0 else { return try data(Int(head & 0x0F), &rest, headerTime: nil) }
        let fixed = try take(5, of: &rest)
        guard fixed[1] <= 1 else { throw damage("a definition has an unknown byte order") }
        let isBigEndian = fixed[1] == 1
        let message = isBigEndian ? UInt16(fixed[2]) << 8 | UInt16(fixed[3]) : UInt16(fixed[3]) << 8 | UInt16(fixed[2])
        var definition = FITMessage.Definition(message: message, isBigEndian: isBigEndian, fields: [], developers: [], length: 0)
        for _ in 0..<fixed[4] {
            let field = try take(3, of: &rest)
            definition.fields.append(FITMessage.Field(number: field[0], size: Int(field[1]), type: field[2]))
            definition.length += Int(field[1])
        }
        if head & 0x20 != 0 {
            for _ in 0..<(try take(1, of: &rest)[0]) {
                let field = try take(3, of: &rest)
                definition.developers.append(
                    FITMessage.DeveloperField(number: field[0], size: Int(field[1]), index: field[2]))
                definition.length += Int(field[1])
            }
        }
        definitions[Int(head & 0x0F)] = definition
        return nil
    }

    private mutating func data(_ local: Int, _ rest: inout Int, headerTime: UInt64?) throws(SourceError) -> FITMessage {
        guard let definition = definitions[local] else { throw damage("a message has no definition") }
        let message = FITMessage(definition, ArraySlice(try take(definition.length, of: &rest)), headerTime: headerTime)
        if let own = message.time { time = own }
        return message
    }

    private func damage(_ reason: String) -> SourceError { SourceError(.malformed, reason, at: Place(.byte, offset)) }

    private mutating func take(_ count: Int, of rest: inout Int) throws(SourceError) -> [UInt8] {
        guard count <= rest else { throw damage("a message is longer than the data that its header announces") }
        rest -= count
        return try take(count)
    }

    /// Returns the next bytes. A message has at most some hundred thousand.
    private mutating func take(_ count: Int) throws(SourceError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            guard try isMore() else { throw damage("the file ends in the middle (nothing was imported)") }
            let length = min(count - bytes.count, end - start)
            bytes += buffer[start..<start + length]
            start += length
        }
        offset += count
        checksum.add(bytes)
        return bytes
    }

    private mutating func isMore() throws(SourceError) -> Bool {
        guard start == end else { return true }
        let input = self.input
        let count: Result<Int, SourceError> = buffer.withUnsafeMutableBytes { room in
            do throws(SourceError) {
                return .success(try input.read(into: room))
            } catch {
                return .failure(error)
            }
        }
        (start, end) = (0, try count.get())
        return end > 0
    }
}

/// The checksum of FIT files: CRC-16 with the reflected polynomial 0x8005 and the initial value 0.
struct FITChecksum {
    private(set) var value: UInt16 = 0

    private static let table: [UInt16] = (0..<256).map { (byte: UInt16) -> UInt16 in
        var value = byte
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xA001 : value >> 1 }
        return value
    }

    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { value = value >> 8 ^ Self.table[Int((value ^ UInt16(byte)) & 0xFF)] }
    }
}

import HealthModel
import Wire

extension FrameDecoder {
    /// Removes the framing, then decodes the content.
    func decode(_ bytes: UnsafeRawBufferPointer, framedBy framing: Framing, into frame: inout DecodedFrame) throws(FrameError) {
        let range: Range<Int>
        do throws(FramingFault) {
            range = try framing.content(of: bytes).get()
        } catch {
            throw FrameError(error)
        }
        let content = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard plan.isPacked else { return try decodeContent(content, into: &frame) }
        let outcome = Self.unpacked(content).withUnsafeBytes { bytes -> Result<Void, FrameError> in
            do throws(FrameError) {
                return .success(try decodeContent(bytes, into: &frame))
            } catch {
                // The byte with the highest bits was removed.
                let offset = error.offset > 0 ? error.offset + 1 : 0
                return .failure(FrameError(reason: error.reason, offset: offset, field: error.field))
            }
        }
        try outcome.get()
    }

    /// Restores the highest bits of seven bytes from the second byte, which contains them (CMS50D+ protocol 7).
    private static func unpacked(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard bytes.count > 2 else { return Array(bytes) }
        var unpacked = [bytes[0]]
        for (index, byte) in bytes.dropFirst(2).enumerated() {
            let bit: UInt8 = index < 7 ? bytes[1] >> UInt8(index) & 1 : 0
            unpacked.append(byte & 0x7F | bit << 7)
        }
        return unpacked
    }

    /// Reads one piece of a line of text.
    func line(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        switch step.kind {
        case .literal: try literal(step, &reader)
        case .choice: try choice(step, &reader, &word, record, &frame)
        case .numeral: try numeral(step, &reader, word, record, &frame)
        case .textTime:
            guard let bytes = reader.readBytes(Int(step.width)) else { throw failure(.truncated, step, at: offset) }
            guard let wall = plan.patterns[Int(step.reference)].parse(bytes)?.wall, let time = DeviceDateTime(wall) else {
                throw failure(.noSuchTime, step, at: offset)
            }
            frame.entries.append(.init(kind: .dateTime, field: step.field, raw: time.packed, record: record))
        case .clock: try clock(step, &reader, record, &frame)
        case .blanks: while reader.next == UInt8(ascii: " ") { _ = reader.readBytes(1) }
        case .textSum: try textSum(step, &reader)
        default: try measurements(step, &reader, &frame)
        }
    }

    private func literal(_ step: LayoutStep, _ reader: inout ByteReader) throws(FrameError) {
        for byte in plan.literals[Int(step.reference)] {
            guard let next = reader.next else { throw FrameError(reason: .truncated, offset: reader.offset, field: "") }
            guard next == byte else { throw FrameError(reason: .unreadable, offset: reader.offset, field: "") }
            _ = reader.readBytes(1)
        }
    }

    /// Returns the value of the longest word that matches at this position.
    private func match(_ choices: [LayoutPlan.Choice], _ reader: inout ByteReader) -> Int64? {
        for choice in choices {
            guard let window = reader.window(choice.word.count) else { continue }
            var ahead = window
            if ahead.readBytes(choice.word.count)?.elementsEqual(choice.word) == true {
                _ = reader.readBytes(choice.word.count)
                return choice.value
            }
        }
        return nil
    }

    private func choice(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        guard let value = match(plan.choices[Int(step.reference)], &reader) else {
            if step.isOptional { return }
            throw failure(reader.isAtEnd ? .truncated : .unreadable, step, at: reader.offset)
        }
        word |= UInt64(value) << UInt64(step.wordShift)
        frame.entries.append(.init(kind: .number, field: step.field, raw: value, coefficient: value, record: record))
    }

    private func numeral(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        var entry = DecodedFrame.Entry(kind: .number, field: step.field, variant: variant(step, word), record: record)
        if step.reference >= 0, let special = match(plan.choices[Int(step.reference)], &reader) {
            entry.kind = .special
            entry.special = Int16(special)
            frame.entries.append(entry)
            return
        }
        var scan = NumeralScan(isDecimal: step.isSigned)
        while scan.count < Int(step.width), let next = reader.next, scan.take(next) { _ = reader.readBytes(1) }
        guard scan.isWhole, !step.isFixed || scan.count == Int(step.width) else {
            throw failure(reader.isAtEnd ? .truncated : .unreadable, step, at: reader.isAtEnd ? offset : reader.offset)
        }
        guard (step.minimum...step.maximum).contains(scan.coefficient) else { throw failure(.prohibited, step, at: offset) }
        entry.raw = scan.coefficient
        (entry.coefficient, entry.exponent) = (scan.coefficient, scan.exponent)
        frame.entries.append(entry)
    }

    /// Reads a time in the form `HH:MM:SS`.
    private func clock(
        _ step: LayoutStep, _ reader: inout ByteReader, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        if step.isOptional, reader.next.map({ $0 &- 0x30 > 9 }) ?? true { return }
        guard let bytes = reader.readBytes(8) else { throw failure(.truncated, step, at: offset) }
        let digits = bytes.map { Int($0) - 0x30 }
        let isNumber = digits.indices.allSatisfy { $0 % 3 == 2 ? bytes[$0] == UInt8(ascii: ":") : (0...9).contains(digits[$0]) }
        guard isNumber else { throw failure(.unreadable, step, at: offset) }
        guard digits[0] * 10 + digits[1] < 24, digits[3] < 6, digits[6] < 6 else { throw failure(.noSuchTime, step, at: offset) }
        frame.texts.append(String(decoding: bytes, as: UTF8.self))
        frame.entries.append(.init(kind: .text, field: step.field, text: Int32(frame.texts.count - 1), record: record))
        try literal(step, &reader)
    }

    /// Reads a text, then the sum of all bytes before that text in hexadecimal digits.
    private func textSum(_ step: LayoutStep, _ reader: inout ByteReader) throws(FrameError) {
        let sum = reader.readBytes(since: 0).reduce(0) { $0 &+ Int($1) }
        try literal(step, &reader)
        let offset = reader.offset
        let count = Int(step.width)
        guard let bytes = reader.readBytes(count) else { throw FrameError(reason: .truncated, offset: offset, field: "") }
        let expected = String(sum & (1 << (4 * count) - 1), radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: max(0, count - expected.utf8.count)) + expected
        guard bytes.elementsEqual(padded.utf8) else { throw FrameError(reason: .checkCode, offset: offset, field: "") }
    }
}

/// Reads a numeral byte by byte: digits and, for a decimal, a leading sign and one point.
struct NumeralScan {
    let isDecimal: Bool
    private(set) var count = 0
    private(set) var coefficient: Int64 = 0
    private(set) var exponent: Int16 = 0
    private var digits = 0
    private var hasPoint = false
    private var isNegative = false

    init(isDecimal: Bool) { self.isDecimal = isDecimal }

    /// Whether the bytes so far are a complete numeral.
    var isWhole: Bool { digits > 0 }

    /// Accepts a byte, or returns false if it is not part of a numeral.
    mutating func take(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard digits < 18 else { return false }
            let digit = Int64(byte - UInt8(ascii: "0"))
            coefficient = coefficient * 10 + (isNegative ? -digit : digit)
            digits += 1
            if hasPoint { exponent -= 1 }
        case UInt8(ascii: "+") where isDecimal && count == 0: break
        case UInt8(ascii: "-") where isDecimal && count == 0: isNegative = true
        case UInt8(ascii: ".") where isDecimal && digits > 0 && !hasPoint: hasPoint = true
        default: return false
        }
        count += 1
        return true
    }
}

import HealthModel
import Wire

/// Decodes the frames of one channel by its compiled layout.
///
///     var frame = DecodedFrame()
///     try decoder.decode(bytes, into: &frame)
///     decoder.numeral("heart_rate", in: frame)   // 72
///     decoder.fieldsJSON(frame)                  // {"heart_rate":{"value":72,"unit":"/min"}, …}
///
/// A strict decoder refuses a frame with bits or values that Bluetooth reserves for future use. Otherwise they are ignored, an
/// enumeration's value has no name, and ``DecodedFrame/hasReserved`` is set.
///
/// A strict decoder also refuses a frame that ends within its last repeat or record, for example because it is longer than the link's MTU.
/// Otherwise its whole values count, and ``DecodedFrame/cutOff`` names the rest.
package struct FrameDecoder: Sendable {
    let plan: LayoutPlan
    package let isStrict: Bool
    /// The keys and addresses that decrypt encrypted frames.
    package var secrets: FrameSecrets

    init(plan: LayoutPlan, isStrict: Bool, secrets: FrameSecrets = FrameSecrets()) {
        self.plan = plan
        self.isStrict = isStrict
        self.secrets = secrets
    }

    /// Decodes a whole frame. The frame's buffers are reused, so a stream of frames allocates only once.
    ///
    /// - Throws: ``FrameError`` with the offset of the first field that is wrong.
    package func decode(_ bytes: UnsafeRawBufferPointer, into frame: inout DecodedFrame) throws(FrameError) {
        frame.removeAll()
        if let framing = plan.framing { return try decode(bytes, framedBy: framing, into: &frame) }
        try decodeContent(bytes, into: &frame)
    }

    func decodeContent(_ bytes: UnsafeRawBufferPointer, into frame: inout DecodedFrame) throws(FrameError) {
        var reader = ByteReader(bytes)
        var word: UInt64 = 0
        try run(plan.root, &reader, &word, record: -1, &frame)
        frame.word = word
        if !reader.isAtEnd {
            // Bytes after the known fields may belong to a future flag. Without such a flag the frame is damaged.
            guard frame.mayBeLonger else { throw FrameError(reason: .overlong, offset: reader.offset, field: "") }
        }
    }

    func name(_ step: LayoutStep) -> String {
        let name = step.field >= 0 ? plan.fields[Int(step.field)].name : ""
        return name.isEmpty && step.kind == .word ? "a word of flags" : name
    }

    func failure(_ reason: FrameError.Reason, _ step: LayoutStep, at offset: Int) -> FrameError {
        FrameError(reason: reason, offset: offset, field: name(step))
    }

    /// Runs steps. `record` is the number of the record they belong to.
    func run(
        _ steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let start = reader.offset
        for index in steps {
            let step = plan.steps[index]
            guard step.condition.matches(word) else { continue }
            switch step.kind {
            case .integer, .word:
                repeat {
                    if isCut(step, Int(step.width), &reader, &frame) { break }
                    try integer(step, &reader, &word, record, &frame)
                } while step.repetition == .toTheEnd && !reader.isAtEnd
            case .sfloat, .float:
                repeat {
                    if isCut(step, step.kind == .sfloat ? 2 : 4, &reader, &frame) { break }
                    try medicalNumber(step, &reader, word, record, &frame)
                } while step.repetition == .toTheEnd && !reader.isAtEnd
            case .dateTime:
                let offset = reader.offset
                guard let time = DeviceDateTime.read(&reader) else { throw failure(.truncated, step, at: offset) }
                guard time.isValid else { throw failure(.noSuchTime, step, at: offset) }
                frame.entries.append(.init(kind: .dateTime, field: step.field, raw: time.packed, record: record))
            case .text, .bytes:
                try text(step, &reader, record, &frame)
            case .skip:
                guard reader.readBytes(Int(step.width)) != nil else { throw failure(.truncated, step, at: reader.offset) }
            case .checkCode:
                if step.isOptional, reader.isAtEnd { continue }
                let expected = CheckCode.endToEnd(reader.readBytes(since: start))
                let offset = reader.offset
                guard let code = reader.unsigned(2) else { throw failure(.truncated, step, at: offset) }
                guard code == UInt64(expected) else { throw failure(.checkCode, step, at: offset) }
                frame.entries.append(
                    .init(kind: .number, field: step.field, raw: Int64(code), coefficient: Int64(code), record: record))
            case .records: try records(step, &reader, &frame)
            case .objects: try objects(step, &reader, &frame)
            case .sealed:
                try open(step, steps: (index + 1)..<steps.upperBound, &reader, &word, record, &frame)
                return
            case .binaryFloat: try binaryFloat(step, &reader, word, record, &frame)
            case .rest:
                frame.restAt = reader.offset
                _ = reader.readBytes(reader.remaining)
            case .left, .expected, .address, .check:
                try guarded(step, steps: 0..<0, &reader, &word, record, &frame)
            case .masked:
                try guarded(step, steps: (index + 1)..<steps.upperBound, &reader, &word, record, &frame)
                return
            case .product, .timeSum, .truth, .constant, .joined, .missing, .quotient, .remainder, .total:
                try compute(step, word, record, at: reader.offset, &frame)
            case .literal, .choice, .numeral, .textTime, .clock, .blanks, .textSum, .measurements:
                try line(step, &reader, &word, record, &frame)
            }
        }
    }

    @inline(__always) func variant(_ step: LayoutStep, _ word: UInt64) -> Int32 {
        for index in step.variants where plan.variants[Int(index)].condition.matches(word) { return index }
        return -1
    }

    @inline(__always) private func integer(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        let savedReader = reader
        let width = Int(step.width)
        let raw: Int64
        if step.isSigned {
            guard let value = reader.signed(width, bigEndian: step.isBigEndian) else {
                throw failure(.truncated, step, at: offset)
            }
            raw = value
        } else {
            guard let value = reader.unsigned(width, bigEndian: step.isBigEndian) else {
                throw failure(.truncated, step, at: offset)
            }
            raw = step.isMagnitude ? Self.magnitude(value, width) : Int64(bitPattern: value)
        }
        if step.isPeeked { reader = savedReader }
        let bits = UInt64(bitPattern: raw)
        if bits & step.reserved != 0 {
            try reserved(step, offset, &frame)
            frame.mayBeLonger = true
        }
        for index in step.parts {
            let part = plan.parts[Int(index)]
            let value = part.value(of: bits)
            if part.required >= 0, value != UInt64(part.required) { throw failure(.notThisFormat, step, at: offset) }
            if part.allowed != 0, part.allowed >> value & 1 == 0 {
                if part.isClosed { throw failure(.notThisFormat, step, at: offset) }
                try reserved(step, offset, &frame)
            }
        }
        if step.wordShift >= 0 {
            let mask: UInt64 = step.wordWidth >= 64 ? .max : 1 << UInt64(step.wordWidth) - 1
            word |= (bits & mask) << UInt64(step.wordShift)
        }
        guard step.field >= 0 else { return }
        guard step.kind == .integer else {
            frame.entries.append(.init(kind: .word, field: step.field, raw: raw, record: record))
            return
        }
        var entry = DecodedFrame.Entry(kind: .number, field: step.field, raw: raw, variant: variant(step, word), record: record)
        for index in step.specials where plan.specials[Int(index)].raw == raw {
            entry.kind = .special
            entry.special = plan.specials[Int(index)].name
        }
        if entry.kind == .number, raw < step.minimum || raw > step.maximum {
            guard step.beyond >= 0 else { throw failure(.prohibited, step, at: offset) }
            entry.kind = .special
            entry.special = step.beyond
        }
        if entry.kind == .number {
            if step.allowed != 0, bits > 63 || step.allowed >> bits & 1 == 0 {
                if step.isClosed { throw failure(.notThisFormat, step, at: offset) }
                try reserved(step, offset, &frame)
                entry.kind = .special
                entry.special = LayoutPlan.reservedName
            }
            (entry.coefficient, entry.exponent) = try scaled(raw, 0, entry.variant, step, offset)
        }
        frame.entries.append(entry)
    }

    /// Decodes sign and magnitude. The highest bit is the sign.
    private static func magnitude(_ value: UInt64, _ width: Int) -> Int64 {
        let sign: UInt64 = 1 << UInt64(8 * width - 1)
        return value & sign == 0 ? Int64(value) : -Int64(value & (sign - 1))
    }

    private func reserved(_ step: LayoutStep, _ offset: Int, _ frame: inout DecodedFrame) throws(FrameError) {
        if isStrict { throw failure(.reserved, step, at: offset) }
        frame.hasReserved = true
    }

    /// Applies the scale. The result is exact, because both factors are a whole number times a power of ten.
    @inline(__always) func scaled(
        _ coefficient: Int64, _ exponent: Int16, _ variant: Int32, _ step: LayoutStep, _ offset: Int
    ) throws(FrameError) -> (Int64, Int16) {
        guard variant >= 0 else { return (coefficient, exponent) }
        let scale = plan.variants[Int(variant)]
        if scale.binaryPower > 0 {
            // n / 2^k is n × 5^k × 10^-k. Factors of two in n would only add trailing zeros.
            if coefficient == 0 { return (0, exponent) }
            let power = max(0, scale.binaryPower - coefficient.trailingZeroBitCount)
            let whole = coefficient >> Int64(scale.binaryPower - power)
            let (product, overflow) = whole.multipliedReportingOverflow(by: Self.powersOfFive[power])
            let (places, tooMany) = exponent.subtractingReportingOverflow(Int16(power))
            if overflow || tooMany { throw failure(.prohibited, step, at: offset) }
            return try added(product, places, scale, step, offset)
        }
        if scale.divisor > 0 {
            guard exponent == 0, let quotient = Self.rounded(coefficient, scale) else {
                throw failure(.prohibited, step, at: offset)
            }
            return try added(quotient, -scale.digits, scale, step, offset)
        }
        let (product, overflow) = coefficient.multipliedReportingOverflow(by: scale.coefficient)
        let (places, tooMany) = exponent.addingReportingOverflow(scale.exponent)
        if overflow || tooMany { throw failure(.prohibited, step, at: offset) }
        return try added(product, places, scale, step, offset)
    }

    /// Returns a number times a ratio, in units of its last digit, or nil on overflow. Halves are rounded away from zero.
    private static func rounded(_ coefficient: Int64, _ scale: LayoutPlan.Variant) -> Int64? {
        let (product, overflow) = coefficient.multipliedReportingOverflow(by: scale.coefficient)
        let (shifted, tooMany) = product.multipliedReportingOverflow(by: powersOfTen[Int(scale.digits)])
        guard !overflow, !tooMany else { return nil }
        let (quotient, remainder) = shifted.quotientAndRemainder(dividingBy: scale.divisor)
        guard remainder.magnitude >= scale.divisor.magnitude - remainder.magnitude else { return quotient }
        return quotient + shifted.signum()
    }

    @inline(__always) private func added(
        _ coefficient: Int64, _ exponent: Int16, _ scale: LayoutPlan.Variant, _ step: LayoutStep, _ offset: Int
    ) throws(FrameError) -> (Int64, Int16) {
        guard scale.addend != 0 else { return (coefficient, exponent) }
        guard let sum = Self.sum((coefficient, exponent), (scale.addend, scale.addendExponent)) else {
            throw failure(.prohibited, step, at: offset)
        }
        return sum
    }

    /// Returns the sum of two decimals with the digits of the finer one, or nil if it does not fit into an integer.
    static func sum(_ one: (Int64, Int16), _ other: (Int64, Int16)) -> (Int64, Int16)? {
        let exponent = min(one.1, other.1)
        func aligned(_ number: (Int64, Int16)) -> Int64? {
            let places = Int(number.1) - Int(exponent)
            if number.0 == 0 { return 0 }
            guard places <= 18 else { return nil }
            let (product, overflow) = number.0.multipliedReportingOverflow(by: powersOfTen[places])
            return overflow ? nil : product
        }
        guard let first = aligned(one), let second = aligned(other) else { return nil }
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? nil : (sum, exponent)
    }

    private static let powersOfTen: [Int64] = (0...18).map { power in (0..<power).reduce(1) { product, _ in product * 10 } }

    private static let powersOfFive: [Int64] = (0...16).map { power in (0..<power).reduce(1) { product, _ in product * 5 } }

    private func medicalNumber(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        guard let raw = reader.unsigned(step.kind == .sfloat ? 2 : 4, bigEndian: step.isBigEndian) else {
            throw failure(.truncated, step, at: offset)
        }
        guard step.field >= 0 else { return }
        var entry = DecodedFrame.Entry(
            kind: .number, field: step.field, raw: Int64(raw), variant: variant(step, word), record: record)
        let number =
            step.kind == .sfloat
            ? MedicalNumber(sfloat: UInt16(truncatingIfNeeded: raw)) : MedicalNumber(float: UInt32(truncatingIfNeeded: raw))
        switch number {
        case .decimal(let mantissa, let exponent):
            (entry.coefficient, entry.exponent) = try scaled(Int64(mantissa), Int16(exponent), entry.variant, step, offset)
        case .special(let special):
            entry.kind = .special
            entry.special = LayoutPlan.name(of: special)
        }
        frame.entries.append(entry)
    }

    /// Reads an IEEE 754 float as the shortest decimal that converts back to the same float.
    private func binaryFloat(
        _ step: LayoutStep, _ reader: inout ByteReader, _ word: UInt64, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        guard let raw = reader.unsigned(4, bigEndian: step.isBigEndian) else { throw failure(.truncated, step, at: offset) }
        var entry = DecodedFrame.Entry(
            kind: .number, field: step.field, raw: Int64(raw), variant: variant(step, word), record: record)
        let float = Float(bitPattern: UInt32(truncatingIfNeeded: raw))
        if float.isFinite, let numeral = try? Numeral("\(float)") {
            (entry.coefficient, entry.exponent) = try scaled(
                numeral.reduced.0, numeral.reduced.1, entry.variant, step, offset)
        } else {
            entry.kind = .special
            entry.special = LayoutPlan.name(
                of: float.isNaN ? .notANumber : float < 0 ? .negativeInfinity : .positiveInfinity)
        }
        frame.entries.append(entry)
    }

    private func text(
        _ step: LayoutStep, _ reader: inout ByteReader, _ record: Int32, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let savedReader = reader
        let offset = reader.offset
        var width = step.width == 0 ? reader.remaining - Int(step.retained) : Int(step.width)
        if step.hasLength {
            guard let length = reader.unsigned(1) else { throw failure(.truncated, step, at: offset) }
            width = Int(length)
        }
        guard let bytes = reader.readBytes(width) else { throw failure(.truncated, step, at: offset) }
        if step.isPeeked { reader = savedReader }
        guard step.field >= 0 else { return }
        if step.kind == .bytes {
            frame.texts.append(
                step.isReversed ? HexadecimalText.text(bytes.reversed()) : HexadecimalText.text(bytes))
        } else {
            // Some devices pad their texts with zeros to a fixed size, or send uninitialized memory after the zero.
            frame.texts.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
        frame.entries.append(
            .init(kind: .text, field: step.field, text: Int32(frame.texts.count - 1), record: record))
    }
}

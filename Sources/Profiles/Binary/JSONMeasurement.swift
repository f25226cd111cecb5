/// Reads a measurement from one flat JSON object and keeps the digits of its number (RFC 8259).
///
/// Keys other than `type`, `value`, `unit` and `time` are ignored. Nested objects and lists are refused.
struct JSONMeasurement {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    /// The range of each key's value, without quotes.
    private var values: [String: Range<Int>] = [:]

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func item() throws(FrameError) -> MeasurementLine.Item {
        var reader = self
        try reader.read()
        return try reader.measurement()
    }

    private func measurement() throws(FrameError) -> MeasurementLine.Item {
        for key in ["type", "value", "unit"] where values[key] == nil {
            throw FrameError(reason: .truncated, offset: bytes.count, field: key)
        }
        let value = values["value"] ?? 0..<0
        var scan = NumeralScan(isDecimal: true)
        for index in value where !scan.take(bytes[index]) { throw FrameError(reason: .unreadable, offset: index, field: "value") }
        guard scan.isWhole else { throw FrameError(reason: .unreadable, offset: value.lowerBound, field: "value") }
        func text(_ key: String) -> String? { values[key].map { String(decoding: bytes[$0], as: UTF8.self) } }
        let item = MeasurementLine.Item(
            type: text("type") ?? "", coefficient: scan.coefficient, exponent: scan.exponent, unit: text("unit") ?? "",
            time: text("time"))
        func place(_ key: String) -> Int { values[key]?.lowerBound ?? 0 }
        try item.check(typeAt: place("type"), unitAt: place("unit"), timeAt: place("time"))
        return item
    }

    private mutating func read() throws(FrameError) {
        try expect("{")
        if peek() == UInt8(ascii: "}") {
            index += 1
        } else {
            repeat { try member() } while try separator()
        }
        guard peek() == nil else { throw FrameError(reason: .overlong, offset: index, field: "") }
    }

    private mutating func member() throws(FrameError) {
        guard peek() == UInt8(ascii: "\"") else { throw fault() }
        let key = String(decoding: bytes[try string()], as: UTF8.self)
        try expect(":")
        let value = try peek() == UInt8(ascii: "\"") ? string() : word()
        guard values.updateValue(value, forKey: key) == nil else {
            throw FrameError(reason: .unreadable, offset: value.lowerBound, field: "")
        }
    }

    /// Reads a string without its quotes. Escapes are not resolved, because the keys and values in use have none.
    private mutating func string() throws(FrameError) -> Range<Int> {
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < bytes.count else { throw FrameError(reason: .truncated, offset: bytes.count, field: "") }
        index += 1
        return start..<index - 1
    }

    /// Reads a number, true, false or null.
    private mutating func word() throws(FrameError) -> Range<Int> {
        let start = index
        while index < bytes.count, !",}] \t".utf8.contains(bytes[index]) {
            guard !"{[\"".utf8.contains(bytes[index]) else { throw fault() }
            index += 1
        }
        guard index > start else { throw fault() }
        return start..<index
    }

    /// Whether another member follows.
    private mutating func separator() throws(FrameError) -> Bool {
        let next = peek()
        guard next == UInt8(ascii: ",") || next == UInt8(ascii: "}") else { throw fault() }
        index += 1
        return next == UInt8(ascii: ",")
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(FrameError) {
        guard peek() == UInt8(ascii: character) else { throw fault() }
        index += 1
    }

    /// The next byte that is not blank.
    private mutating func peek() -> UInt8? {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
        return index < bytes.count ? bytes[index] : nil
    }

    private func fault() -> FrameError {
        FrameError(reason: index < bytes.count ? .unreadable : .truncated, offset: min(index, bytes.count), field: "")
    }
}

import HealthModel

/// Reads a measurement from one flat JSON object and keeps the digits of its number.
///
/// Keys other than `type`, `value`, `unit` and `time` are ignored. Nested objects and lists are refused.
struct JSONMeasurement {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func item() throws(FrameError) -> MeasurementLine.Item {
        let values = try values()
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

    /// The range of each key's value, without quotation marks. A word is taken as it is, so that a fault in the value is named. Escapes are not resolved, because the keys and values in use have none.
    private func values() throws(FrameError) -> [String: Range<Int>] {
        var reader = JSONReader<FrameError>(bytes, checks: .structure, maximumDepth: 1)
        var values: [String: Range<Int>] = [:]
        reader.skipBlanks()
        try reader.open("{")
        while let name = try reader.nextName(after: values.count) {
            try reader.colon()
            let start = reader.index
            let value: Range<Int>
            switch try reader.kind() {
            case .object, .array: throw reader.fault(.value)
            case .string: value = try reader.string().range
            default:
                while !reader.isAtEnd, !",}] \t".utf8.contains(bytes[reader.index]) { reader.index += 1 }
                value = start..<reader.index
            }
            guard !value.isEmpty || bytes[start] == UInt8(ascii: "\""),
                values.updateValue(value, forKey: name.text(in: bytes)) == nil
            else { throw FrameError(reason: .unreadable, offset: value.lowerBound, field: "") }
        }
        reader.skipBlanks()
        guard reader.isAtEnd else { throw FrameError(reason: .overlong, offset: reader.index, field: "") }
        return values
    }
}

extension FrameError: JSONFailure {
    package init(_ fault: JSONFault) {
        self.init(reason: fault.isEnd ? .truncated : .unreadable, offset: fault.index, field: "")
    }
}

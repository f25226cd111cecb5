import HealthModel
import Wire

/// One line in a form that a microcontroller can print without knowing a device's format. See `docs/how-to/serial.md`.
///
///     heartRate=72 /min; oxygenSaturation=97 %*06
///     heartRate,72,/min,2026-11-20T06:31:00Z*2A
///     {"type":"heartRate","value":72,"unit":"/min"}
///
/// After `*` follows the exclusive or of all bytes before it, in two hexadecimal digits. It may be missing. A line that begins with `#` is
/// a comment. No type of the catalogue ends with the name of another type, so a line without its beginning is never mistaken for another
/// line.
struct MeasurementLine {
    struct Item {
        var type: String
        var coefficient: Int64
        var exponent: Int16
        var unit: String
        var time: String?
    }

    /// The fields of each item, in this order.
    static let fields = [
        LayoutField(name: "type", shape: .text), LayoutField(name: "value", shape: .bare),
        LayoutField(name: "unit", shape: .text),
        LayoutField(name: "time", shape: .text),
    ]

    private static let maximumItems = 16

    let bytes: UnsafeRawBufferPointer
    private let end: Int

    /// - Throws: ``FrameError`` if the check code is wrong.
    init(_ bytes: UnsafeRawBufferPointer) throws(FrameError) {
        self.bytes = bytes
        // An incomplete check code is an error.
        if bytes.suffix(2).contains(UInt8(ascii: "*")) { throw FrameError(reason: .checkCode, offset: bytes.count, field: "") }
        guard bytes.count >= 3, bytes[bytes.count - 3] == UInt8(ascii: "*"), bytes.first != UInt8(ascii: "{") else {
            end = bytes.count
            return
        }
        end = bytes.count - 3
        let sum = bytes[..<end].reduce(0) { $0 ^ $1 }
        guard UInt8(String(decoding: bytes[(end + 1)...], as: UTF8.self), radix: 16) == sum else {
            throw FrameError(reason: .checkCode, offset: end + 1, field: "")
        }
    }

    /// Returns the line's measurements, or an empty list for a comment or a blank line.
    func items() throws(FrameError) -> [Item] {
        guard let first = (0..<end).first(where: { bytes[$0] != 0x20 && bytes[$0] != 0x09 }), bytes[first] != UInt8(ascii: "#")
        else { return [] }
        if bytes[first] == UInt8(ascii: "{") { return [try JSONMeasurement(bytes).item()] }
        let sign = (first..<end).first { bytes[$0] == UInt8(ascii: "=") || bytes[$0] == UInt8(ascii: ",") }
        guard let sign else { throw FrameError(reason: .unreadable, offset: first, field: "type") }
        guard bytes[sign] == UInt8(ascii: "=") else { return [try row(0..<end)] }
        var items: [Item] = []
        var start = 0
        while start < end {
            let stop = (start..<end).first { bytes[$0] == UInt8(ascii: ";") } ?? end
            items.append(try pair(start..<stop))
            start = stop + 1
        }
        guard items.count <= Self.maximumItems else { throw FrameError(reason: .overlong, offset: end, field: "") }
        return items
    }

    /// Parses `heartRate=72 /min`.
    private func pair(_ range: Range<Int>) throws(FrameError) -> Item {
        guard let sign = range.first(where: { bytes[$0] == UInt8(ascii: "=") }) else {
            throw FrameError(reason: .unreadable, offset: range.lowerBound, field: "type")
        }
        let value = trimmed(sign + 1..<range.upperBound)
        let blank = value.first { bytes[$0] == UInt8(ascii: " ") } ?? value.upperBound
        return try item(
            trimmed(range.lowerBound..<sign), value.lowerBound..<blank, trimmed(blank..<value.upperBound), time: nil)
    }

    /// Parses `heartRate,72,/min` and an optional time.
    private func row(_ range: Range<Int>) throws(FrameError) -> Item {
        var cells: [Range<Int>] = []
        var start = range.lowerBound
        for index in range where bytes[index] == UInt8(ascii: ",") {
            cells.append(trimmed(start..<index))
            start = index + 1
        }
        cells.append(trimmed(start..<range.upperBound))
        guard (3...4).contains(cells.count) else {
            throw FrameError(
                reason: cells.count < 3 ? .truncated : .overlong, offset: range.upperBound, field: cells.count < 3 ? "unit" : "")
        }
        return try item(cells[0], cells[1], cells[2], time: cells.count == 4 ? cells[3] : nil)
    }

    private func item(_ type: Range<Int>, _ value: Range<Int>, _ unit: Range<Int>, time: Range<Int>?) throws(FrameError) -> Item {
        var scan = NumeralScan(isDecimal: true)
        for index in value where !scan.take(bytes[index]) { throw FrameError(reason: .unreadable, offset: index, field: "value") }
        guard scan.isWhole else { throw FrameError(reason: .truncated, offset: value.lowerBound, field: "value") }
        let item = Item(
            type: text(type), coefficient: scan.coefficient, exponent: scan.exponent, unit: text(unit), time: time.map(text))
        try item.check(typeAt: type.lowerBound, unitAt: unit.lowerBound, timeAt: time?.lowerBound ?? 0)
        return item
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, bytes[first] <= 0x20 { range = first + 1..<range.upperBound }
        while let last = range.last, bytes[last] <= 0x20 { range = range.lowerBound..<last }
        return range
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension MeasurementLine.Item {
    /// Returns the unit for a code. UCUM comes first. HealthKit's strings are used only if UCUM has no such code, so `%` is always UCUM's.
    static func unit(_ code: String) -> Unit? {
        code.utf8.count > 128 ? nil : (try? Unit(ucum: code)) ?? (try? Unit(healthKit: code))
    }

    /// - Throws: ``FrameError`` if the type is not in the catalogue, the unit does not fit the type, or the time is invalid.
    func check(typeAt: Int, unitAt: Int, timeAt: Int) throws(FrameError) {
        guard let known = SampleType(type) else { throw FrameError(reason: .prohibited, offset: typeAt, field: "type") }
        guard let unit = Self.unit(unit), (try? known.conversion(from: unit)) != nil else {
            throw FrameError(reason: .prohibited, offset: unitAt, field: "unit")
        }
        if let time, (try? Timestamp(iso8601: time)) == nil {
            throw FrameError(reason: .noSuchTime, offset: timeAt, field: "time")
        }
    }
}

extension FrameDecoder {
    /// Reads the rest of the line.
    func measurements(_ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame) throws(FrameError) {
        guard let bytes = reader.readBytes(reader.remaining) else { return }
        for (number, item) in try MeasurementLine(bytes).items().enumerated() {
            let record = Int32(number)
            frame.entries.append(.init(kind: .record, field: step.field, record: record))
            func text(_ text: String, _ index: Int32) {
                frame.texts.append(text)
                frame.entries.append(
                    .init(kind: .text, field: step.reference + index, text: Int32(frame.texts.count - 1), record: record))
            }
            text(item.type, 0)
            frame.entries.append(
                .init(
                    kind: .number, field: step.reference + 1, raw: item.coefficient, coefficient: item.coefficient,
                    exponent: item.exponent, record: record))
            text(item.unit, 2)
            if let time = item.time { text(time, 3) }
        }
    }
}

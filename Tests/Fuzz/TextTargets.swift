import HealthModel
import Pipeline

@testable import BlueZSource
@testable import Hub

/// Short texts and messages.
enum TextTargets {
    /// Text that a user or a file contains. The first byte selects its kind.
    static func texts(_ input: [UInt8]) {
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        switch (input.first ?? 0) % 6 {
        case 0:
            if let unit = try? Unit(ucum: text) {
                precondition((try? Unit(ucum: unit.code)) == unit, "what is printed can be read")
                _ = try? SampleType("heartRate")?.conversion(from: unit)
            }
        case 1:
            if let unit = try? Unit(healthKit: text) {
                precondition((try? Unit(ucum: unit.code)) == unit, "what is printed can be read")
            }
        case 2:
            if let numeral = try? Numeral(text) {
                precondition((try? Numeral(numeral.text)) == numeral, "what is printed can be read")
                let canonical = try? Numeral(numeral.canonicalText)
                precondition(
                    canonical.map { $0.doubleValue == numeral.doubleValue && $0.canonicalText == numeral.canonicalText } ?? true,
                    "one number has one canonical text")
            }
        case 3:
            if let time = try? Timestamp(iso8601: text) {
                let printed = time.wall.description + (time.offset?.description ?? "")
                precondition((try? Timestamp(iso8601: printed)) == time, "what is printed can be read")
                _ = time.instant?.description
            }
        case 4:
            if let predicate = try? SamplePredicate(text), predicate.description.utf8.count <= SamplePredicate.maximumLength {
                let again = try? SamplePredicate(predicate.description)
                precondition(again?.description == predicate.description, "what is printed can be read")
            }
        default:
            if let metadata = try? Metadata(json: text) {
                precondition((try? Metadata(json: metadata.json)) == metadata, "what is printed can be read")
            }
        }
    }

    /// A zone's compiled file, or the rule at its end.
    static func zones(_ input: [UInt8]) {
        let rules =
            (try? TimeZoneRules(identifier: "Test/Zone", tzif: input))
            ?? (try? TimeZoneRules(posix: String(decoding: input, as: UTF8.self)))
        guard let rules else { return }
        for year in stride(from: -50, through: 500, by: 7) {
            let instant = Instant(microseconds: Int64(year) * 31_556_952_000_000)
            _ = rules.offset(at: instant)
        }
    }

    /// Properties that bluetoothd may report of a device.
    static func adverts(_ input: [UInt8]) {
        var rest = input[...]
        let parts = (0..<4).map { _ -> [UInt8] in
            let count = min(Int(rest.first ?? 0), max(rest.count - 1, 0))
            defer { rest = rest.dropFirst(count + 1) }
            return Array(rest.dropFirst().prefix(count))
        }
        let company = UInt16(truncatingIfNeeded: parts[0].reduce(0) { $0 &* 256 &+ Int($1) })
        let properties: ObjectTree.Properties = [
            "ServiceData": .options([String(decoding: parts[1], as: UTF8.self): .bytes(parts[2])]),
            "ManufacturerData": .dictionary(
                key: "q", value: "v", [.init(.uint16(company), .variant(.bytes(parts[3]))), .init(.string("x"), .byte(1))]),
        ]
        for (_, data) in AdvertisedData.all(in: properties) { precondition(data.count <= input.count) }
        _ = BluetoothUUID(String(decoding: input, as: UTF8.self))
    }

    /// A line on the status socket, from either side.
    static func status(_ input: [UInt8]) {
        _ = try? StatusMessage.question(input)
        guard let status = StatusMessage.answer(input)?.status else { return }
        precondition(StatusMessage.answer(StatusMessage.line(status).dropLast())?.status == status, "what is said can be heard")
    }
}

import BlueZSource
import HealthModel
import Pipeline

/// A report on an unsupported device, for the author of its profile: a capture of its advertisements and messages, and the
/// services that it offers.
///
/// It does not identify the owner. The address is replaced, also within frames, and so is the name unless it is requested. The
/// report contains no store, person or time of day. The measured values are in the frames and cannot be removed because the
/// format is unknown. ``sentence`` warns of that.
package struct DeviceRequest: Sendable {
    /// The explanation for a person who receives the report.
    package static let sentence =
        "frames of one device as it sent them, with its measurements. Its address and name are replaced, and there is no other personal data"
    private static let address = "00:00:00:00:00:00"
    private static let name = "device"
    private static let placeholderPerson = "00000000-0000-0000-0000-000000000000"
    /// The shortest name that is replaced. A shorter one would match frames by chance.
    private static let shortestName = 4

    private let survey: DeviceSurvey
    private let own: BluetoothAddress
    private let keepsName: Bool

    /// - Parameters: - address: the device's address, which is replaced. - keepsName: whether to keep the name. Many devices can
    ///   only be distinguished by name.
    package init(_ survey: DeviceSurvey, of address: BluetoothAddress, keepsName: Bool) {
        (self.survey, own, self.keepsName) = (survey, address, keepsName)
    }

    /// The lines of the report, in the form that ``CapturedFrames`` reads.
    package var lines: [String] {
        var head = CaptureHead(person: Self.placeholderPerson, zone: TimeZoneRules(fixed: .utc))
        head.content = Self.sentence
        var lines = [CaptureText.line(head)]
        var device = CaptureLine(.device, time: 0, uptime: 0, device: 1)
        var about = CapturedDevice(unknown: Self.address, name: Self.name, person: Self.placeholderPerson)
        var description = CapturedDescription(nil)
        if keepsName { description.name = survey.name }
        about.description = description
        about.services = survey.services.map(\.description)
        about.offers = survey.characteristics.map { "\($0.service)/\($0.uuid) " + $0.flags.joined(separator: " ") }
        device.about = about
        lines.append(CaptureText.line(device))
        for (number, frame) in survey.frames.enumerated() {
            let (seconds, attoseconds) = frame.after.components
            let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
            var line = CaptureLine(.frame, time: microseconds, uptime: microseconds * 1000, device: 1)
            line.channel = frame.channel
            line.bytes = Self.hexadecimal(anonymous(frame.bytes))
            (line.place, line.number) = (Place.Kind.record.rawValue, number + 1)
            lines.append(CaptureText.line(line))
        }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the bytes without the name and the address. Many devices advertise their address, in either byte order.
    func anonymous(_ bytes: [UInt8]) -> [UInt8] {
        let address = own.description.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        var result = Self.replace(address, by: 0, in: bytes)
        result = Self.replace(address.reversed(), by: 0, in: result)
        if !keepsName, let name = survey.name.map({ Array($0.utf8) }), name.count >= Self.shortestName {
            result = Self.replace(name, by: UInt8(ascii: "x"), in: result)
        }
        return result
    }

    private static func replace(_ part: [UInt8], by byte: UInt8, in bytes: [UInt8]) -> [UInt8] {
        guard !part.isEmpty, bytes.count >= part.count else { return bytes }
        var result = bytes
        for start in 0...(bytes.count - part.count) where bytes[start..<(start + part.count)].elementsEqual(part) {
            for index in start..<(start + part.count) { result[index] = byte }
        }
        return result
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }.joined()
    }
}

extension CapturedDevice {
    /// Creates a device that was not adopted and has no profile.
    init(unknown address: String, name: String, person: String) {
        (self.address, key, self.name, self.person) = (address, address, name, person)
        (profiles, adopted, zone, sealed) = ([], 0, "UTC", false)
        (hasRecords, readingsPerSecond) = (false, FloodCap.defaultLimit)
        (clockKnown, clockFromStamps) = (false, false)
    }
}

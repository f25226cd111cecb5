import HealthModel

/// The forms of dates and times in FHIR.
enum DateForms {
    /// Whether the text is a date: `2012`, `2012-05`, `2012-05-15`.
    static func isDate(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == 4 || bytes.count == 7 || bytes.count == 10 else { return false }
        guard let year = number(bytes, 0, 4) else { return false }
        guard bytes.count > 4 else { return true }
        guard bytes[4] == UInt8(ascii: "-"), let month = number(bytes, 5, 2), (1...12).contains(month) else { return false }
        guard bytes.count > 7 else { return true }
        guard bytes[7] == UInt8(ascii: "-"), let day = number(bytes, 8, 2) else { return false }
        return day >= 1 && day <= Calendar.daysInMonth(month, year: year)
    }

    static func isDateTime(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.count <= 10 ? isDate(bytes) : isInstant(bytes) }

    /// Whether the text is an instant: `2012-05-15T08:00:00.5+02:00`.
    static func isInstant(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 20, isDate(UnsafeRawBufferPointer(rebasing: bytes[..<10])), bytes[10] == UInt8(ascii: "T") else {
            return false
        }
        let zone: Int
        if bytes[bytes.count - 1] == UInt8(ascii: "Z") {
            zone = bytes.count - 1
        } else {
            zone = bytes.count - 6
            guard bytes[zone] == UInt8(ascii: "+") || bytes[zone] == UInt8(ascii: "-"), bytes[zone + 3] == UInt8(ascii: ":"),
                let hours = number(bytes, zone + 1, 2), let minutes = number(bytes, zone + 4, 2), hours <= 14, minutes < 60
            else { return false }
        }
        guard zone > 11 else { return false }
        return isTime(UnsafeRawBufferPointer(rebasing: bytes[11..<zone]))
    }

    /// Whether the text is a time: `08:00:00` with an optional fraction. A leap second is allowed.
    static func isTime(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 8, bytes[2] == UInt8(ascii: ":"), bytes[5] == UInt8(ascii: ":"),
            let hour = number(bytes, 0, 2), let minute = number(bytes, 3, 2), let second = number(bytes, 6, 2),
            hour < 24, minute < 60, second <= 60
        else { return false }
        guard bytes.count > 8 else { return true }
        return bytes[8] == UInt8(ascii: ".") && bytes.count > 9 && bytes.count <= 40
            && bytes[9...].allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ length: Int) -> Int? {
        var number = 0
        for byte in bytes[start..<(start + length)] {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }

    /// Returns the instant of a text that ``isInstant(_:)`` accepts.
    static func instant(_ bytes: UnsafeRawBufferPointer) -> Instant? { (try? Timestamp(iso8601: bytes))?.instant }
}

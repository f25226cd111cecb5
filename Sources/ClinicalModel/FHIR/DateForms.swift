import HealthModel

/// The forms of dates and times in FHIR.
enum DateForms {
    /// Whether the text is a date: `2012`, `2012-05`, `2012-05-15`.
    static func isDate(_ octets: UnsafeRawBufferPointer) -> Bool {
        guard octets.count == 4 || octets.count == 7 || octets.count == 10 else { return false }
        guard let year = number(octets, 0, 4) else { return false }
        guard octets.count > 4 else { return true }
        guard octets[4] == UInt8(ascii: "-"), let month = number(octets, 5, 2), (1...12).contains(month) else { return false }
        guard octets.count > 7 else { return true }
        guard octets[7] == UInt8(ascii: "-"), let day = number(octets, 8, 2) else { return false }
        return day >= 1 && day <= Calendar.daysInMonth(month, year: year)
    }

    /// Whether the text is a date or an instant.
    static func isDateTime(_ octets: UnsafeRawBufferPointer) -> Bool { octets.count <= 10 ? isDate(octets) : isInstant(octets) }

    /// Whether the text is an instant: `2012-05-15T08:00:00.5+02:00`.
    static func isInstant(_ octets: UnsafeRawBufferPointer) -> Bool {
        guard octets.count >= 20, isDate(UnsafeRawBufferPointer(rebasing: octets[..<10])), octets[10] == UInt8(ascii: "T") else {
            return false
        }
        let zone: Int
        if octets[octets.count - 1] == UInt8(ascii: "Z") {
            zone = octets.count - 1
        } else {
            zone = octets.count - 6
            guard octets[zone] == UInt8(ascii: "+") || octets[zone] == UInt8(ascii: "-"), octets[zone + 3] == UInt8(ascii: ":"),
                let hours = number(octets, zone + 1, 2), let minutes = number(octets, zone + 4, 2), hours <= 14, minutes < 60
            else { return false }
        }
        guard zone > 11 else { return false }
        return isTime(UnsafeRawBufferPointer(rebasing: octets[11..<zone]))
    }

    /// Whether the text is a time: `08:00:00` with an optional fraction. A leap second is allowed.
    static func isTime(_ octets: UnsafeRawBufferPointer) -> Bool {
        guard octets.count >= 8, octets[2] == UInt8(ascii: ":"), octets[5] == UInt8(ascii: ":"),
            let hour = number(octets, 0, 2), let minute = number(octets, 3, 2), let second = number(octets, 6, 2),
            hour < 24, minute < 60, second <= 60
        else { return false }
        guard octets.count > 8 else { return true }
        return octets[8] == UInt8(ascii: ".") && octets.count > 9 && octets.count <= 40
            && octets[9...].allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
    }

    private static func number(_ octets: UnsafeRawBufferPointer, _ start: Int, _ length: Int) -> Int? {
        var number = 0
        for octet in octets[start..<(start + length)] {
            let digit = octet &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }

    /// Returns the instant of a text that ``isInstant(_:)`` accepts.
    static func instant(_ octets: UnsafeRawBufferPointer) -> Instant? { (try? Timestamp(iso8601: octets))?.instant }
}

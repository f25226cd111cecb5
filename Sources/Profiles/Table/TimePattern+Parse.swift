import HealthModel

extension TimePattern {
    /// Parses a time. Returns nil if the text does not fit the pattern or the day or time does not exist.
    func parse(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        if isISO8601 {
            // A time with text added before or after it, as spreadsheets and people do, is not accepted.
            return try? Timestamp(iso8601: bytes)
        }
        if let unixScale { return Self.unixTime(bytes, scale: unixScale) }
        var cursor = Cursor(bytes: bytes)
        var parts = Parts()
        for token in tokens where !cursor.take(token, &parts) { return nil }
        guard cursor.index == bytes.count else { return nil }
        return parts.timestamp
    }

    /// Parses up to 19 digits of a count since 1970. A fraction, which JSON may have, is accepted only for seconds.
    private static func unixTime(_ bytes: UnsafeRawBufferPointer, scale: Int64) -> Timestamp? {
        guard (1...26).contains(bytes.count) else { return nil }
        let digits = bytes.prefix { $0 &- UInt8(ascii: "0") < 10 }
        guard (1...19).contains(digits.count) else { return nil }
        var count: Int64 = 0
        for digit in digits {
            let (high, isTooLarge) = count.multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return nil }
            let (sum, overflows) = high.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflows else { return nil }
            count = sum
        }
        var fraction: Int64 = 0
        let rest = bytes.dropFirst(digits.count)
        if let point = rest.first {
            guard point == UInt8(ascii: "."), scale < 1_000_000_000, (2...7).contains(rest.count) else { return nil }
            for position in 1...6 {
                let index = rest.startIndex + position
                let digit = index < rest.endIndex ? rest[index] &- UInt8(ascii: "0") : 0
                guard digit < 10 else { return nil }
                fraction = fraction * 10 + Int64(digit)
            }
        }
        // Accept times up to the year 9999.
        guard count / scale < 253_402_300_800 else { return nil }
        let microseconds = scale > 1_000_000 ? count / (scale / 1_000_000) : count * (1_000_000 / scale)
        return Timestamp(wall: WallTime(microseconds: microseconds + fraction / scale), offset: .utc)
    }

    private struct Parts {
        var year = 0
        var month = 0
        var day = 0
        var hour = 0
        var minute = 0
        var second = 0
        var microseconds = 0
        var isTwelveHours = false
        var isAfternoon = false
        var offset: ZoneOffset?

        var timestamp: Timestamp? {
            guard HealthModel.Calendar.isValid(year: year, month: month, day: day), minute < 60, second < 60 else { return nil }
            var hour = hour
            if isTwelveHours {
                guard (1...12).contains(hour) else { return nil }
                // 12:05 AM is five minutes past midnight.
                hour = hour % 12 + (isAfternoon ? 12 : 0)
            }
            guard hour < 24 else { return nil }
            let days = HealthModel.Calendar.days(year: year, month: month, day: day)
            let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
            return Timestamp(wall: WallTime(microseconds: seconds * 1_000_000 + Int64(microseconds)), offset: offset)
        }
    }

    private struct Cursor {
        let bytes: UnsafeRawBufferPointer
        var index = 0

        mutating func take(_ token: Token, _ parts: inout Parts) -> Bool {
            switch token {
            case .literal(let byte):
                guard index < bytes.count, bytes[index] == byte else { return false }
                index += 1
                return true
            case .blanks: return takeBlanks()
            case .year4: return takeNumber(4...4) { parts.year = $0 }
            case .year2: return takeNumber(2...2) { parts.year = 2000 + $0 }
            case .number(let field, let digits):
                return takeNumber(digits) {
                    switch field {
                    case .month: parts.month = $0
                    case .day: parts.day = $0
                    case .hour24: parts.hour = $0
                    case .hour12:
                        parts.hour = $0
                        parts.isTwelveHours = true
                    case .minute: parts.minute = $0
                    case .second: parts.second = $0
                    }
                }
            case .fraction:
                let first = index
                guard takeNumber(1...9, { parts.microseconds = $0 }) else { return false }
                // Convert to microseconds: truncate further digits and add missing zeros.
                for _ in 0..<max(0, index - first - 6) { parts.microseconds /= 10 }
                for _ in 0..<max(0, 6 - (index - first)) { parts.microseconds *= 10 }
                return true
            case .meridiem:
                guard index + 1 < bytes.count, bytes[index + 1] | 0x20 == UInt8(ascii: "m") else { return false }
                let letter = bytes[index] | 0x20
                guard letter == UInt8(ascii: "a") || letter == UInt8(ascii: "p") else { return false }
                parts.isAfternoon = letter == UInt8(ascii: "p")
                index += 2
                return true
            case .monthName:
                guard let month = takeMonth() else { return false }
                parts.month = month
                return true
            case .offset:
                var end = index
                while end < bytes.count, bytes[end] > 0x20 { end += 1 }
                guard let offset = ZoneOffset(String(decoding: bytes[index..<end], as: UTF8.self)) else { return false }
                parts.offset = offset
                index = end
                return true
            }
        }

        private mutating func takeNumber(_ digits: ClosedRange<Int>, _ assign: (Int) -> Void) -> Bool {
            var number = 0
            var count = 0
            while count < digits.upperBound, index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
                number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
                index += 1
                count += 1
            }
            guard count >= digits.lowerBound else { return false }
            assign(number)
            return true
        }

        /// Skips blanks, including the non-breaking ones that some systems put before AM and PM (U+00A0, U+202F).
        private mutating func takeBlanks() -> Bool {
            let first = index
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: " ") {
                    index += 1
                } else if index + 1 < bytes.count, bytes[index] == 0xC2, bytes[index + 1] == 0xA0 {
                    index += 2
                } else if index + 2 < bytes.count, bytes[index] == 0xE2, bytes[index + 1] == 0x80, bytes[index + 2] == 0xAF {
                    index += 3
                } else {
                    break
                }
            }
            return index > first
        }

        /// Parses an English month, short (`Sep`, `Sept`) or whole, with or without a period.
        private mutating func takeMonth() -> Int? {
            var end = index
            while end < bytes.count, (bytes[end] | 0x20) &- UInt8(ascii: "a") < 26 { end += 1 }
            let word = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
            guard word.count >= 3,
                let month = Self.months.firstIndex(where: { name in
                    word.count <= name.utf8.count
                        && (word.count == 3 || word.count == name.utf8.count || (name == "september" && word.count == 4))
                        && zip(word, name.utf8).allSatisfy { $0 | 0x20 == $1 }
                })
            else { return nil }
            index = end
            if index < bytes.count, bytes[index] == UInt8(ascii: ".") { index += 1 }
            return month + 1
        }

        private static let months = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
            "december",
        ]
    }
}

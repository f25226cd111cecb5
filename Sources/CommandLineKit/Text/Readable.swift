/// Formats numbers for people, independent of the locale. Programs use CSV and JSON instead.
package enum Readable {
    /// A size in powers of 1000: `512 B`, `1.2 MB`.
    package static func bytes(_ count: Int) -> String {
        var value = Double(count.magnitude)
        var units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"][...]
        // 999.95 kB would be shown as 1000.0 kB.
        while units.count > 1, value >= (units.first == "B" ? 1000 : 999.95) {
            value /= 1000
            units = units.dropFirst()
        }
        let unit = units.first ?? ""
        let sign = count < 0 ? "-" : ""
        return unit == "B" ? "\(sign)\(Int(value)) B" : "\(sign)\(tenths(value)) \(unit)"
    }

    /// A whole number in groups of three: `1,234,567`.
    package static func count(_ count: Int) -> String {
        let digits = Array(String(count.magnitude))
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// A number of things: `1 sample`, `1,234 samples`.
    package static func count(_ count: Int, _ noun: String) -> String { "\(self.count(count)) \(noun)\(count == 1 ? "" : "s")" }

    /// A rate per second: `12,345/s`, or `1.5/s` below ten. Returns `–` if no time has passed.
    package static func rate(_ count: Int, inNanoseconds nanoseconds: UInt64) -> String {
        guard nanoseconds > 0 else { return "–" }
        let rate = Double(count) * 1e9 / Double(nanoseconds)
        guard rate < 1e15 else { return "–" }
        return (rate < 9.95 ? tenths(rate) : self.count(Int(rate.rounded()))) + "/s"
    }

    /// A duration: `850 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`, `3 d 04 h`.
    package static func duration(nanoseconds: UInt64) -> String {
        let milliseconds = rounded(nanoseconds, to: 1_000_000)
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let seconds = rounded(nanoseconds, to: 1_000_000_000)
        if milliseconds < 59_950 { return "\(tenths(Double(milliseconds) / 1000)) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(twoDigits(seconds % 60)) s" }
        let minutes = seconds / 60
        if minutes < 24 * 60 { return "\(minutes / 60) h \(twoDigits(minutes % 60)) min" }
        return "\(minutes / 60 / 24) d \(twoDigits(minutes / 60 % 24)) h"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func rounded(_ value: UInt64, to unit: UInt64) -> UInt64 {
        value / unit + (value % unit >= unit / 2 ? 1 : 0)
    }

    private static func twoDigits(_ value: UInt64) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }
}

/// The conversion of values to coordinates of a drawing.
enum Coordinate {
    /// A whole number of pixels, at most 100,000 from the origin. It is 0 if the value is infinite or not a number.
    static func pixels(_ value: Double) -> Int { value.isFinite ? Int(min(max(value.rounded(), -100_000), 100_000)) : 0 }

    /// The same with one decimal: `12.5`.
    static func tenths(_ value: Double) -> String {
        let tenths = pixels(value * 10)
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// The same with two decimals: `12.25`.
    static func hundredths(_ value: Double) -> String {
        let hundredths = pixels(value * 100)
        let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
        return "\(hundredths < 0 ? "-" : "")\(whole)" + (rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)")
    }
}

/// The conversion of values to coordinates of a drawing.
enum Coordinate {
    /// A whole number of pixels, at most 100,000 from the origin. It is 0 if the value is infinite or not a number.
    static func pixels(_ value: Double) -> Int { value.isFinite ? Int(min(max(value.rounded(), -100_000), 100_000)) : 0 }
}

/// A range of values, both ends within: `70..180`, `..70`, `180..`.
public struct ValueRange: Hashable, Sendable, CustomStringConvertible {
    /// The lowest value, or `nil` if unbounded.
    public var low: Double?
    /// The highest value, or `nil` if unbounded.
    public var high: Double?

    /// - Returns: `nil` if both bounds are missing, or if the lower bound is above the upper one.
    public init?(_ low: Double?, _ high: Double?) {
        guard low != nil || high != nil, low ?? -.infinity <= high ?? .infinity else { return nil }
        (self.low, self.high) = (low, high)
    }

    /// Parses two numbers with two dots between them. One may be missing.
    public init?(_ text: some StringProtocol) {
        guard let dots = text.firstRange(of: "..") else { return nil }
        let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
        func number(_ part: some StringProtocol) -> Double? {
            Double(String(part)).flatMap { $0.isFinite ? $0 : nil }
        }
        let (low, high) = (number(first), number(last))
        guard first.isEmpty || low != nil, last.isEmpty || high != nil else { return nil }
        self.init(low, high)
    }

    /// Whether a value lies within.
    public func contains(_ value: Double) -> Bool { value >= low ?? -.infinity && value <= high ?? .infinity }

    public var description: String {
        func text(_ number: Double?) -> String {
            number.map { $0 == $0.rounded() && $0.magnitude < 1e15 ? "\(Int64($0))" : "\($0)" } ?? ""
        }
        return "\(text(low))..\(text(high))"
    }
}

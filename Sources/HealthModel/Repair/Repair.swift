/// A repair of wrongly stored samples. It makes new samples, and the old ones remain as tombstones.
///
///     Repair.unit(try Unit(ucum: "[degF]")).text  // "unit [degF]"
public enum Repair: Hashable, Sendable {
    /// Reinterprets the received numeral in another unit: 98 read as °C becomes 98 °F = 36.67 °C.
    case unit(Unit)
    /// The numeral as received, times a factor: 3040 % becomes 30.40 % by 0.01.
    case scale(Numeral)
    /// Moves start and end by this number of microseconds.
    case shift(Int64)
    /// The same time on the wall clock, in another zone.
    case zone(TimeZoneRules)
    /// Another person's.
    case person(String)
    /// Changes the type, for example of fat mass that was stored as body mass.
    case type(SampleType)

    /// The canonical text. A repaired sample's identity hashes it together with the old UUID, and it is the same on every hub.
    public var text: String {
        switch self {
        case .unit(let unit): "unit \(unit.code)"
        case .scale(let factor): "scale \(factor.canonicalText)"
        case .shift(let offset): "shift \(offset)"
        case .zone(let rules): "zone \(rules.identifier)"
        case .person(let person): "subject \(person)"
        case .type(let type): "type \(type.id)"
        }
    }

    /// Reads the canonical text. Returns `nil` for a zone, whose rules the text does not contain, and for any other text.
    public init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "unit":
            guard let unit = try? Unit(ucum: parts[1]) else { return nil }
            self = .unit(unit)
        case "scale":
            guard let factor = try? Numeral(parts[1]) else { return nil }
            self = .scale(factor)
        case "shift":
            guard let offset = Int64(parts[1]) else { return nil }
            self = .shift(offset)
        case "subject": self = .person(parts[1])
        case "type":
            guard let type = SampleType(parts[1]) else { return nil }
            self = .type(type)
        default: return nil
        }
    }

    /// A readable description of a stored repair's text.
    public static func words(of text: String) -> String {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return text }
        switch parts[0] {
        case "unit": return "read as \(parts[1])"
        case "scale": return "times \(parts[1])"
        case "shift": return "moved by \(duration(Int64(parts[1]) ?? 0))"
        case "zone": return "local times read in \(parts[1])"
        case "subject": return "assigned to \(parts[1])"
        case "type": return "made \(parts[1])"
        case "complete": return "completed from a duplicate"
        default: return text
        }
    }

    /// The units of a duration, longest first, with their text form.
    private static let durations: [(text: String, microseconds: Int64)] = [
        ("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1),
    ]

    /// Parses `+1h`, `-5h30min`, `+0.5s` to microseconds. Returns `nil` for any other text, for zero, and beyond 200 years.
    public static func duration(_ text: some StringProtocol) -> Int64? {
        var rest = String(text)
        let sign: Int64 = rest.hasPrefix("-") ? -1 : 1
        if rest.hasPrefix("-") || rest.hasPrefix("+") { rest.removeFirst() }
        guard !rest.isEmpty, rest.utf8.count < 40 else { return nil }
        var total = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let letters = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let number = Double(digits), let unit = durations.first(where: { $0.text == letters }) else { return nil }
            total += number * Double(unit.microseconds)
            rest = String(rest.dropFirst(digits.count + letters.count))
        }
        guard total >= 1, total < 200 * 366 * 86_400e6 else { return nil }
        return sign * Int64(total.rounded())
    }

    /// A duration as ``duration(_:)-(StringProtocol)`` reads it: `+1h30min`.
    public static func duration(_ microseconds: Int64) -> String {
        var rest = microseconds.magnitude
        var text = microseconds < 0 ? "-" : "+"
        for unit in durations where rest >= UInt64(unit.microseconds) {
            text += "\(rest / UInt64(unit.microseconds))\(unit.text)"
            rest %= UInt64(unit.microseconds)
        }
        return text.utf8.count == 1 ? "+0s" : text
    }
}

extension SampleIdentity {
    /// The identity of a repaired sample. The old UUID and the repair's text replace time and value, so that the same repair on two hubs
    /// makes the same sample.
    ///
    /// - Parameters:
    ///   - series: The series of the repaired sample.
    ///   - start: The start of the repaired sample, in microseconds.
    public init(series: SeriesKey, start: Int64, repaired old: SampleIdentity, by repair: String) {
        self.init(series: series, start: start, message: "repair\n\(old)\n\(repair)\n")
    }
}

extension Numeral {
    /// The product. Its digits are exact if 18 of them suffice, or else those of the nearest Double.
    public func times(_ factor: Numeral) -> Numeral? {
        if isExact, factor.isExact {
            let (one, other) = (reduced, factor.reduced)
            let (coefficient, overflow) = one.coefficient.multipliedReportingOverflow(by: other.coefficient)
            let exponent = Int(one.exponent) + Int(other.exponent)
            if !overflow, coefficient.magnitude < 1_000_000_000_000_000_000, exponent <= 0, exponent > -300 {
                return Numeral(coefficient: coefficient, exponent: Int16(exponent))
            }
            if !overflow, exponent > 0, exponent < 18 {
                let (whole, tooLarge) = coefficient.multipliedReportingOverflow(
                    by: (0..<exponent).reduce(1) { power, _ in power * 10 })
                if !tooLarge, whole.magnitude < 1_000_000_000_000_000_000 { return Numeral(coefficient: whole) }
            }
        }
        let product = doubleValue * factor.doubleValue
        return product.isFinite ? try? Numeral(product.description) : nil
    }
}

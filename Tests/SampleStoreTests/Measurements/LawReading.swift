import HealthModel

/// A person in the sequences.
enum LawPerson: String, Hashable, CaseIterable {
    case me = "6d1f6e7c-2f0a-4a0e-9a52-0f8f6f3f2b11"
    case anna = "9e107d9d-372b-4a82-9e6d-1b6a8f0d2c3e"
    case unassigned
}

/// A source with its device. Two devices of one maker are one, unless their serial numbers differ.
struct LawSeries: Hashable {
    var source: String
    var maker: String?
    var serial: String?
    /// Whether its times have no seconds.
    var isToMinutes: Bool

    var deviceKey: String { maker.map { [$0, serial].compactMap { $0 }.joined(separator: "-") } ?? "" }

    static let all = [
        LawSeries(source: "scale", maker: "Acme", serial: "1", isToMinutes: false),
        LawSeries(source: "app", maker: "Acme", serial: nil, isToMinutes: true),
        LawSeries(source: "bolt", maker: "Bolt", serial: "9", isToMinutes: false),
        LawSeries(source: "diary", maker: nil, serial: nil, isToMinutes: true),
        LawSeries(source: "spare", maker: "Acme", serial: "2", isToMinutes: false),
    ]

    enum Relation { case same, unknown, different }

    func relation(_ other: LawSeries) -> Relation {
        guard let maker, let otherMaker = other.maker else { return .unknown }
        guard maker == otherMaker else { return .different }
        if let serial, let otherSerial = other.serial, serial != otherSerial { return .different }
        return .same
    }
}

/// Whether two readings are one measurement.
enum LawRelation { case none, same, unsure }

/// A number with its unit, as written in a file.
struct LawValue: Hashable {
    var numeral: String
    var unit: String

    static let pound = "[lb_av]"
    static let all = [
        LawValue(numeral: "80.15", unit: "kg"), LawValue(numeral: "80.1", unit: "kg"), LawValue(numeral: "80.2", unit: "kg"),
        LawValue(numeral: "176.7", unit: pound), LawValue(numeral: "75.3", unit: "kg"), LawValue(numeral: "166", unit: pound),
        LawValue(numeral: "176.7", unit: "kg"), LawValue(numeral: "700", unit: "kg"), LawValue(numeral: "1543.2", unit: pound),
    ]

    private var kilograms: Double { unit == Self.pound ? 0.45359237 : 1 }
    private var number: Double { Double(numeral) ?? .nan }
    var decimals: Int { numeral.firstIndex(of: ".").map { numeral.distance(from: $0, to: numeral.endIndex) - 1 } ?? 0 }
    var significant: Int { numeral.filter { $0 != "." }.count }

    /// The value in kilograms.
    var canonical: Double { number * kilograms }
    /// The last digit's worth in kilograms.
    var step: Double { (0..<decimals).reduce(kilograms) { step, _ in step / 10 } }
    /// No person weighs that, in no unit.
    var isImplausible: Bool { canonical > 600 }

    /// Whether two values agree in as many digits as the less precise one has.
    ///
    /// It is unsure if both could be the same value, and are not within half a digit of the less precise one (80.2 kg and 176.7 lb).
    func agrees(_ other: LawValue) -> LawRelation {
        let difference = abs(canonical - other.canonical)
        if difference <= max(step, other.step) / 2 + 1e-9 { return .same }
        return unit != other.unit && difference <= (step + other.step) / 2 + 1e-9 ? .unsure : .none
    }

    /// The number times a factor of a half, which is written without a rounding.
    var halved: LawValue {
        let digits = Int(numeral.filter { $0 != "." }) ?? 0
        let text = String(digits * 5)
        let keys = decimals + 1
        let padded = String(repeating: "0", count: max(0, keys + 1 - text.count)) + text
        let cut = padded.index(padded.endIndex, offsetBy: -keys)
        return LawValue(numeral: "\(padded[..<cut]).\(padded[cut...])", unit: unit)
    }
}

/// A row of a file. Two equal ones are the same reading.
struct LawReading: Hashable, CustomStringConvertible {
    var series: Int
    var person: LawPerson
    /// Seconds after the beginning of the first day.
    var start: Int
    var value: LawValue
    var record: String?
    var version: Int = 1

    var source: LawSeries { LawSeries.all[series] }
    var day: Int { start / 86_400 }

    var description: String {
        let clock = "day \(day) \(start % 86_400 / 60 % 60):\(start % 60)"
        let id = record.map { " \($0) version \(version)" } ?? ""
        return "\(source.source)\(person == .me ? "" : " of \(person)") \(clock) \(value.numeral) \(value.unit)\(id)"
    }

    /// Whether the times are those of one measurement. The times of the grid are equal or far apart.
    func isAtTime(of other: LawReading) -> Bool {
        source.isToMinutes || other.source.isToMinutes ? start / 60 == other.start / 60 : start == other.start
    }

    var shown: LawShown {
        LawShown(person: person, value: (value.canonical * 1e6).rounded() / 1e6, start: start, source: source.source)
    }
}

/// The part of a live sample that is compared.
struct LawShown: Hashable, Comparable, CustomStringConvertible {
    var person: LawPerson
    var value: Double
    var start: Int
    var source: String

    var description: String {
        "\(source) of \(person) day \(start / 86_400) \(start % 86_400 / 60 % 60):\(start % 60) \(value) kg"
    }

    static func < (one: LawShown, other: LawShown) -> Bool { one.description < other.description }
}

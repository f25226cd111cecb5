/// The table of sample types, in the files named `Catalogue+…`. It has one row per type, with cells between bars and `-` for nothing.
/// Category types have their own table. The columns of quantity types are:
///
/// - id: HealthKit's identifier without its prefix. Our own types are named in the same style.
/// - unit: the canonical unit, a UCUM code.
/// - HealthKit unit: the unit in HealthKit's headers. Its `%` is the ratio, and its `count` also stands for kg/m2 and /h.
/// - style: `sum` cumulative, `mean` discrete arithmetic, `weighted` by time, `level` equivalent continuous level.
/// - iOS: the version that introduced the type.
/// - possible: the range that physics or the quantity's definition allows for anyone, in the canonical unit. `0...` excludes negative
///   values. These bounds are wide, so that data in a wrong unit is accepted and can be repaired: 98.2 mistaken for Celsius, 159.6 for
///   stones, 175 for feet.
/// - plausible: the range of living people, with a margin. A value outside it causes a warning, not an error.
///
/// Reasons for some bounds: arterial pressures up to 480 mm[Hg] have been measured (MacDougall 1985), so the limit is 500. A heart beats up
/// to 300 times a minute, and a rate of 0 means that the sensor has no contact. An oxygen saturation above 100 % is impossible, while a
/// perfusion index above 100 % is possible because it is a ratio of two signals. A heart rate recovery is a difference and may be negative.
enum Catalogue {
    struct Entry: Sendable {
        var kind = SampleKind.quantity
        let id: String
        var healthKitIdentifier: String?
        let displayName: String
        var dimensionName: String
        let healthKitUnit: String?
        let unit: Unit
        let aggregation: AggregationStyle
        let since: String?
        var possible: ClosedRange<Double>?
        let plausible: ClosedRange<Double>?
        let codes: Codes
        var values: CategoryValues?
    }

    struct Codes: Sendable {
        var loinc: String?
        var mdc: (code: Int, name: String)?
        var fhirUnits: [String] = []
    }

    static let entries: [Entry] = {
        let codes = readCodes()
        let theirs = [body, vitals, activity, nutrition, environment].flatMap { rows($0, columns: 8) }
        return theirs.map { healthKitEntry($0, codes: codes) }
            + rows(vitalgate, columns: 6).map { vitalgateEntry($0, codes: codes) } + categoryEntries
            + objectEntries
    }()

    /// An entry that is not copied to read a part of it.
    final class Row: Sendable {
        let entry: Entry

        init(_ entry: Entry) { self.entry = entry }
    }

    /// The ``entries``, in their order.
    static let rows = entries.map(Row.init)

    /// The indices into ``entries``, by id and by HealthKit's identifier.
    static let indices: [String: UInt16] = {
        var result: [String: UInt16] = [:]
        for (index, entry) in entries.enumerated() {
            result[entry.id] = UInt16(index)
            if let identifier = entry.healthKitIdentifier { result[identifier] = UInt16(index) }
        }
        return result
    }()

    /// The dimension of a unit in words, if ``Dimension/description`` says less.
    private static let dimensionNames = [
        "kcal": "energy", "min": "time", "ms": "time", "Cel": "temperature", "%": "fraction", "[ppm]": "fraction (volume)",
        "mg/dL": "mass concentration", "ug/m3": "mass concentration", "mmol/L": "substance concentration",
        "mm[Hg]": "pressure", "hPa": "pressure", "kg": "mass", "g": "mass", "kg/m2": "mass per area", "m": "length",
        "cm": "length", "m/s": "speed", "/min": "frequency", "/h": "event rate (events per hour of sleep)", "W": "power",
        "kcal/d": "power", "mL": "volume", "L": "volume", "L/min": "volume flow rate",
        "mL/kg/min": "volume flow rate per mass", "kcal/kg/h": "energy per mass and time", "S": "electric conductance",
        "Ohm": "electric impedance", "dB[SPL]": "sound pressure level (A-weighted)", "[iU]": "arbitrary biological units",
        "1": "count", "1{score}": "ordinal score 1-10", "1{uvindex}": "dimensionless index", "1{flights}": "count",
        "1{puff}": "count", "1{drinks}": "count", "1{falls}": "count", "1{pushes}": "count", "1{steps}": "count",
        "1{strokes}": "count",
    ]

    /// The parsed units, which many types share.
    private static let units: [String: Unit] = dimensionNames.keys.reduce(into: [:]) { $0[$1] = try? Unit(ucum: $1) }

    /// Stops the program at its first use of the catalogue. A row that cannot be read must not vanish.
    private static func wrong(_ row: [String?], _ reason: String) -> Never {
        preconditionFailure("the catalogue's row \(row.first.flatMap { $0 } ?? "-"): \(reason)")
    }

    private static let styles: [String: AggregationStyle] = [
        "sum": .cumulative, "mean": .discreteArithmetic, "weighted": .discreteTemporallyWeighted,
        "level": .discreteEquivalentContinuousLevel,
    ]

    /// The identifiers that differ from the capitalised id.
    private static let identifiers = ["uvExposure": "UVExposure", "vo2Max": "VO2Max"]

    static let identifierPrefix = "HKQuantityTypeIdentifier"
    static let categoryPrefix = "HKCategoryTypeIdentifier"

    /// Splits a table byte by byte. Every command reads these tables first, and splitting by characters takes ten times as long.
    private static func rows(_ table: String, columns: Int) -> [[String?]] {
        table.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().map { line in
            line.split(separator: UInt8(ascii: "|")).map { cell in
                let start = cell.drop { $0 == UInt8(ascii: " ") }
                let end = start.lastIndex { $0 != UInt8(ascii: " ") }.map(start.index(after:)) ?? start.startIndex
                let text = String(Substring(start[..<end]))
                return text == "-" ? nil : text
            }
        }.map { row in
            if row.count != columns { wrong(row, "it has \(row.count) cells instead of \(columns)") }
            return row
        }
    }

    private static func readCodes() -> [String: Codes] {
        var result: [String: Codes] = [:]
        for row in rows(codes, columns: 4) {
            guard let id = row[0] else { continue }
            let mdc = row[2]?.split(separator: " ") ?? []
            var codes = Codes(loinc: row[1], fhirUnits: row[3]?.split(separator: " ").map(String.init) ?? [])
            if mdc.count == 2, let code = Int(mdc[0]) { codes.mdc = (code, String(mdc[1])) }
            result[id] = codes
        }
        return result
    }

    private static func healthKitEntry(_ row: [String?], codes: [String: Codes]) -> Entry {
        guard let id = row[0] else { wrong(row, "it has no id") }
        let name = identifiers[id] ?? id.capitalised
        return entry(
            row: [row[0], row[1], row[3], row[5], row[6], row[7]], healthKitIdentifier: identifierPrefix + name,
            healthKitUnit: row[2], since: row[4].map { "iOS " + $0 }, codes: codes)
    }

    private static func vitalgateEntry(_ row: [String?], codes: [String: Codes]) -> Entry {
        entry(row: row, healthKitIdentifier: nil, healthKitUnit: nil, since: nil, codes: codes)
    }

    private static var categoryEntries: [Entry] {
        var lists: [String: [(value: Int, names: [String])]] = [:]
        for row in rows(categoryValues, columns: 2) {
            if let list = row[0], let cases = row[1] { lists[list] = numbered(cases) }
        }
        // Many types share the same list.
        var known: [String: CategoryValues] = [:]
        return rows(categories, columns: 3).map { row in
            guard let id = row[0], let names = row[1] else { wrong(row, "it has no id or no values") }
            let values =
                known[names]
                ?? CategoryValues(
                    names.split(separator: " ").map(String.init).map { name in
                        guard let list = lists[name] else { wrong(row, "there is no list \(name)") }
                        return (name, list)
                    })
            known[names] = values
            return category(
                id, identifier: categoryPrefix + id.capitalised, values: values,
                since: row[2].map { "iOS " + $0 })
        }
    }

    /// Parses numbers with their names: `1=pause 2=resume/resumed`.
    static func numbered(_ cells: String) -> [(value: Int, names: [String])] {
        cells.split(separator: " ").compactMap { cell in
            let parts = cell.split(separator: "=")
            guard parts.count == 2, let value = Int(parts[0]) else { return nil }
            return (value, parts[1].split(separator: "/").map(String.init))
        }
    }

    /// The types that are neither quantities nor categories.
    private static var objectEntries: [Entry] {
        rows(objects, columns: 5).map { row in
            guard let id = row[0], let kind = row[1].flatMap({ SampleKind(named: $0) }) else {
                wrong(row, "it has no id or no kind")
            }
            let values =
                kind == .workout
                ? CategoryValues([("", numbered(workoutActivities))], prefix: workoutPrefix) : row[4].map(ObjectValues.list)
            var entry = category(id, identifier: row[2] ?? "", values: values, since: row[3].map { "iOS " + $0 })
            (entry.kind, entry.dimensionName, entry.healthKitIdentifier) = (kind, kind.name, row[2])
            if let possible = numbers[id] { entry.possible = possible }
            return entry
        }
    }

    /// The range of an object's number for types without a list: the valence of a state of mind, and sums of seven and nine answers of 0 to
    /// 3.
    private static let numbers: [String: ClosedRange<Double>] = ["stateOfMind": -1...1, "gad7": 0...21, "phq9": 0...27]

    static let workoutEventValues = CategoryValues([("", numbered(workoutEvents))], prefix: "HKWorkoutEventType")
    private static let workoutPrefix = "HKWorkoutActivityType"

    /// A category type. One that this version does not know has no list of values and accepts any number that is not negative.
    static func category(_ id: String, identifier: String, values: CategoryValues?, since: String?) -> Entry {
        let numbers = values?.cases.map { Double($0.value) } ?? []
        return Entry(
            kind: .category, id: id, healthKitIdentifier: identifier, displayName: words(of: id, identifier),
            dimensionName: "category",
            healthKitUnit: nil, unit: .one, aggregation: .none, since: since,
            possible: (numbers.min() ?? 0)...(numbers.max() ?? Double(Int32.max)), plausible: nil, codes: Codes(), values: values)
    }

    /// A quantity type that this version does not know, so neither its unit nor its limits.
    static func unknownQuantity(_ id: String) -> Entry {
        let identifier = identifierPrefix + id.capitalised
        return Entry(
            kind: .quantity, id: id, healthKitIdentifier: identifier, displayName: words(of: id, identifier),
            dimensionName: "unknown",
            healthKitUnit: nil, unit: .one, aggregation: .none, since: nil, plausible: nil, codes: Codes())
    }

    /// The id in words: `Apple Stand Hour` for `appleStandHour`. No source has the names that Apple's Health app shows.
    ///
    /// An id that HealthKit's identifier has in capitals is an abbreviation: `CDA`, or `GAD-7` with a number.
    private static func words(of id: String, _ identifier: String) -> String {
        if identifier.hasSuffix(id.uppercased()) {
            let letters = id.uppercased().prefix { $0.isLetter }
            return letters.count == id.count ? String(letters) : "\(letters)-\(id.dropFirst(letters.count))"
        }
        var text = ""
        for character in id {
            if character.isUppercase, text.last?.isLowercase == true { text.append(" ") }
            text.append(text.isEmpty ? Character(character.uppercased()) : character)
        }
        return text
    }

    static func entry(
        row: [String?], healthKitIdentifier: String?, healthKitUnit: String?, since: String?, codes: [String: Codes]
    ) -> Entry {
        guard let id = row[0], let code = row[1], let name = row[5] else { wrong(row, "it has no id, unit or name") }
        guard let style = row[2].flatMap({ styles[$0] }) else { wrong(row, "its style is not one of \(styles.keys.sorted())") }
        guard let unit = units[code] ?? (try? Unit(ucum: code)) else { wrong(row, "\(code) is not a unit of UCUM") }
        func range(_ cell: String?) -> ClosedRange<Double>? {
            guard let cell else { return nil }
            guard let range = Self.range(cell) else { wrong(row, "\(cell) is not a range") }
            return range
        }
        return Entry(
            id: id, healthKitIdentifier: healthKitIdentifier, displayName: name,
            dimensionName: dimensionNames[code] ?? unit.dimension.description,
            healthKitUnit: healthKitUnit, unit: unit, aggregation: style, since: since, possible: range(row[3]),
            plausible: range(row[4]), codes: codes[id] ?? Codes())
    }

    /// Parses `0.3...650`, or `0...` without an upper bound.
    private static func range(_ text: String) -> ClosedRange<Double>? {
        guard let dots = text.firstRange(of: "..."), let lower = Double(text[..<dots.lowerBound]) else { return nil }
        let end = text[dots.upperBound...]
        guard let upper = end.isEmpty ? .greatestFiniteMagnitude : Double(end), lower <= upper else { return nil }
        return lower...upper
    }
}

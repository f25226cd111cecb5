import HealthAnswers
import HealthModel
import SampleStore

/// The page's format for values and units.
struct PageValues {
    let texts: PageTexts
    let units: @Sendable (SampleType) -> Unit?

    /// The unit of a type: the requested one, or the person's preferred one, or the type's own.
    func unit(of type: SampleType, asked: String? = nil) -> Unit {
        if let asked, let unit = try? Unit(written: asked), (try? conversion(of: type, to: unit)) != nil { return unit }
        return units(type) ?? type.canonicalUnit
    }

    func conversion(of type: SampleType, to unit: Unit) throws(UnitError) -> UnitConversion {
        try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
    }

    /// A number with as many digits as are significant.
    static func text(_ value: Double) -> String { text(value, places: places(of: value, in: nil)) }

    /// A number in a unit with as many digits as are significant. A scale and a thermometer have a decimal also above 100.
    static func text(_ value: Double, in unit: Unit) -> String { text(value, places: places(of: value, in: unit)) }

    /// The UCUM codes of units whose first decimal always matters: kilograms, pounds, and degrees.
    private static let finer: Set<String> = ["kg", "[lb_av]", "[degF]", "Cel"]

    /// The number of significant decimals of a number.
    private static func places(of value: Double, in unit: Unit?) -> Int {
        let magnitude = abs(value)
        if magnitude >= 100, magnitude < 1000, let unit, finer.contains(unit.code) { return 1 }
        return magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 || magnitude == 0 ? 2 : 3
    }

    /// A number with at most this many decimals, up to 3.
    static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "–" }
        let magnitude = abs(value)
        let scale = [1.0, 10, 100, 1000][min(max(places, 0), 3)]
        guard magnitude < 1e15 else { return "\(value)" }
        let whole = Int64((magnitude * scale).rounded())
        let (front, rest) = (whole / Int64(scale), whole % Int64(scale))
        var text = grouped(front)
        if rest > 0 {
            var digits = String(repeating: "0", count: places - "\(rest)".count) + "\(rest)"
            while digits.hasSuffix("0") { digits.removeLast() }
            text += PageLocale.decimal + digits
        }
        return (value < 0 && whole > 0 ? "−" : "") + text
    }

    /// The difference of two amounts in the type's unit on the page, with its sign and the digits of the amounts: `−0.6 kg`.
    func change(from: Double, to: Double, of type: SampleType) -> String {
        let unit = unit(of: type)
        guard let conversion = try? conversion(of: type, to: unit) else { return "–" }
        let (first, last) = (conversion(from), conversion(to))
        let text = Self.text(last - first, places: min(1, Self.places(of: last, in: unit)))
        let signed = text == "0" ? "±0" : text.hasPrefix("−") ? text : "+" + text
        let symbol = symbol(unit)
        return symbol.isEmpty ? signed : "\(signed) \(symbol)"
    }

    /// A number with thousands separators, such as `4,744`.
    static func grouped(_ number: Int64) -> String {
        let digits = Array("\(number)")
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += PageLocale.group }
            text.append(digit)
        }
        return text
    }

    /// A camel-case name as words: `systolicOver` becomes `Systolic over`, and `asleepREM` becomes `Asleep REM`.
    static func words(_ name: String) -> String {
        let letters = Array(name)
        var text = ""
        for (index, letter) in letters.enumerated() {
            let followsCapital = index > 0 && letters[index - 1].isUppercase
            if letter.isUppercase, !text.isEmpty, !followsCapital { text += " " }
            // An abbreviation keeps its capitals.
            let isAbbreviation =
                letter.isUppercase && (followsCapital || index + 1 < letters.count && letters[index + 1].isUppercase)
            text += text.isEmpty ? letter.uppercased() : isAbbreviation ? String(letter) : letter.lowercased()
        }
        return text
    }

    /// The displayed value and its unit, if it has one: an amount, a category's case, `124/79`, a workout's duration.
    func shown(_ sample: Sample, in store: SampleStore) throws(StoreError) -> (value: String, unit: String) {
        let type = sample.origin.type
        switch type.kind {
        case .quantity: return amount(sample.value, of: type)
        // A type with a single case, such as a mindful session, is shown by its duration.
        case .category where type.caseName(of: sample.value) == "notApplicable":
            let duration = duration(from: sample.start, to: sample.end)
            return (duration.isEmpty ? name(of: type) : duration, "")
        case .category, .electrocardiogram, .visionPrescription:
            return (caseName(of: sample) ?? texts("value.unknown"), "")
        case .workout:
            let activity = caseName(of: sample) ?? name(of: type)
            return (activity, duration(from: sample.start, to: sample.end))
        case .correlation:
            guard let pressure = try BloodPressure(sample, in: store) else {
                let count = (try? sample.body?.decoded(as: Correlation.self))?.objects.count ?? 0
                return (texts("value.samples", "\(count)"), "")
            }
            let unit = unit(of: .bloodPressureSystolic)
            return (pressure.text(try? conversion(of: .bloodPressureSystolic, to: unit)), symbol(unit))
        case .audiogram: return (texts("lab.results"), "")
        case .workoutRoute, .heartbeatSeries:
            let duration = duration(from: sample.start, to: sample.end)
            return (duration.isEmpty ? name(of: type) : duration, "")
        case .activitySummary, .stateOfMind, .medicationDoseEvent, .scoredAssessment, .clinicalRecord, .document:
            let content = content(of: sample) ?? ""
            return (content.isEmpty ? name(of: type) : content, "")
        }
    }

    /// The digits of a numeral with the decimal sign of the page's language, without separators.
    static func local(_ numeral: String) -> String { numeral.replacing(".", with: PageLocale.decimal) }

    func amount(_ value: Double, of type: SampleType) -> (value: String, unit: String) {
        let unit = unit(of: type)
        guard let conversion = try? conversion(of: type, to: unit) else { return (Self.text(value), "") }
        return (Self.text(conversion(value), in: unit), symbol(unit))
    }

    /// What an object's body contains, in a few words.
    private func content(of sample: Sample) -> String? {
        let body = sample.body
        switch sample.origin.kind {
        case .activitySummary:
            guard let summary = try? body?.decoded(as: ActivitySummary.self) else { return nil }
            if let energy = SampleType("activeEnergyBurned"),
                let burned = summary.activeEnergyBurned?.value(in: energy.canonicalUnit, of: energy)
            {
                let (value, unit) = amount(burned, of: energy)
                return "\(value) \(unit)"
            }
            return (summary.moveTime ?? summary.exerciseTime ?? summary.standHours).map { amount in
                "\(Self.text(amount.numeral.doubleValue)) \(amount.unit.map { symbol($0) } ?? texts("rings.hours"))"
            }
        case .stateOfMind:
            return (try? body?.decoded(as: StateOfMind.self))?.labels.map { texts.name(of: $0, in: .mood) }
                .joined(separator: ", ")
        case .medicationDoseEvent:
            let name = (try? body?.decoded(as: MedicationDoseEvent.self))?.medication ?? ""
            return [name, caseName(of: sample) ?? ""].filter { !$0.isEmpty }.joined(separator: " · ")
        case .scoredAssessment:
            let risk = (try? body?.decoded(as: ScoredAssessment.self))?.risk
            return [Self.text(sample.value), risk.map { texts.name(of: $0, in: .risk) }].compactMap(\.self).joined(
                separator: " · ")
        case .clinicalRecord:
            guard let record = try? body?.decoded(as: ClinicalRecord.self) else { return nil }
            let result = record.result.flatMap { result in result.quantity.map { Self.local($0.text) } ?? result.text }
            return [record.displayName, result].compactMap(\.self).joined(separator: " · ")
        case .document: return (try? body?.decoded(as: ClinicalDocument.self))?.title
        default: return nil
        }
    }

    /// A duration, such as `1 h 5 min`, `1 h`, or `5 min`.
    func duration(from start: Instant, to end: Instant) -> String {
        let minutes = (end.microseconds - start.microseconds) / 60_000_000
        guard minutes > 0 else { return "" }
        let (hours, rest) = (minutes / 60, minutes % 60)
        if hours == 0 { return texts("time.minutes", "\(rest)") }
        return rest == 0 ? texts("time.wholeHours", Self.grouped(hours)) : texts("time.hours", Self.grouped(hours), "\(rest)")
    }

    /// The case of a category or the activity of a workout, such as `Running`.
    private func caseName(of sample: Sample) -> String? {
        sample.origin.type.caseName(of: sample.value).map(texts.caseName)
    }

    func name(of type: SampleType) -> String { texts.name(of: type) }
}

/// The page's format for times.
struct PageTimes {
    let zone: TimeZoneRules
    let now: Instant
    let texts: PageTexts

    private func parts(_ instant: Instant, hasSeconds: Bool = false) -> (date: Substring, time: Substring) {
        // The text is like 2026-11-20T06:31:00.000000.
        let text = instant.wallTime(at: zone.offset(at: instant)).description
        return (text.prefix(10), text.dropFirst(11).prefix(hasSeconds ? 8 : 5))
    }

    /// A date as browsers and addresses have it, such as `2026-11-20`. For texts, use ``day(_:)`` or ``written(_:)``.
    func date(_ instant: Instant) -> String { String(parts(instant).date) }

    /// A time of day, such as `06:31`.
    func clock(_ instant: Instant) -> String { String(parts(instant).time) }

    /// A time in a short form: `06:31`, `yesterday, 06:31`, `20 Nov, 06:31`, `20 Nov 2024, 06:31`.
    func text(_ instant: Instant, hasSeconds: Bool = false) -> String {
        let (date, time) = parts(instant, hasSeconds: hasSeconds)
        let today = parts(now).date
        if date == today { return String(time) }
        if date == parts(Instant(microseconds: now.microseconds - 86_400_000_000)).date {
            return texts("time.yesterday", String(time))
        }
        return texts("time.at", day(instant), String(time))
    }

    /// A day such as `20 Nov`, with the year if it is not the current one.
    func day(_ instant: Instant) -> String {
        let text = written(date(instant))
        return date(instant).prefix(4) == parts(now).date.prefix(4) ? String(text.dropLast(5)) : text
    }

    /// A date that a record contains, in words with its year: `20 Nov 2024` of `2024-11-20`, `Nov 2024` of `2024-11`. A text with a time
    /// is an instant. Any other text is returned as it is.
    func written(_ date: String) -> String {
        if date.utf8.count > 10 { return Instant(iso8601: date, zone: zone).map { text($0) } ?? date }
        let parts = date.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }
        guard numbers.count == parts.count, parts.count > 1, parts.count < 4, (1...12).contains(numbers[1]) else { return date }
        let month = texts("month.\(numbers[1])")
        return (parts.count == 2 ? month : texts("time.day", "\(numbers[2])", month)) + " " + parts[0]
    }

    /// The time of a sample: the own date of a health record, such as the day of a test, the morning after a night, or else the start.
    func text(of sample: Sample) -> String {
        if let date = Self.recordDate(of: sample) { return written(date) }
        return text(StatisticsQuery.isNightly(sample.origin.type) ? sample.end : sample.start)
    }

    /// The time of a sample as an element. See ``text(of:)``.
    func element(of sample: Sample, hasSeconds: Bool = false) -> HTML {
        if let date = Self.recordDate(of: sample) { return KindPage.cell(written(date)) }
        return element(StatisticsQuery.isNightly(sample.origin.type) ? sample.end : sample.start, hasSeconds: hasSeconds)
    }

    private static func recordDate(of sample: Sample) -> String? {
        guard sample.origin.kind == .clinicalRecord else { return nil }
        return (try? sample.body?.decoded(as: ClinicalRecord.self))?.date
    }

    /// A time element with a machine-readable value.
    func element(_ instant: Instant, hasSeconds: Bool = false) -> HTML {
        "<time datetime=\"\(instant.description)\">\(text(instant, hasSeconds: hasSeconds))</time>"
    }
}

import HealthAnswers
import HealthModel

/// The facts on a card besides the value, as short phrases such as `Usually 4,744 by now`.
struct CardFacts {
    let all: [String]

    init(_ today: TypeToday, _ call: PageCall) {
        let (values, texts, type) = (call.values, call.texts, today.type)
        var facts: [String] = []
        if let typical = today.soFar?.typical?.median {
            let (value, unit) = values.amount(typical, of: type)
            facts.append(texts("card.usual", Self.joined(value, unit)))
        }
        if today.night != nil, let typical = today.typical {
            facts.append(texts("card.usualNight", SleepNight.text(Int64(typical.median), values)))
        }
        if let category = today.pressure.flatMap({ PressureKind.category(of: $0, call) }) { facts.append(category) }
        if let range = Self.range(today, values) { facts.append(texts("card.range", range)) }
        for change in today.changes {
            let text = values.change(from: change.from, to: change.to, of: type)
            facts.append(texts(change.days == 7 ? "card.week" : "card.month", text))
        }
        for nap in today.naps {
            let ends = [nap.start, nap.end].map { call.times.clock(Instant(microseconds: $0)) }
            facts.append(texts("sleep.nap", ends.joined(separator: "–"), SleepNight.text(nap.asleep, values)))
        }
        if let times = today.glucose {
            let unit = values.unit(of: type)
            let conversion = try? values.conversion(of: type, to: unit)
            let ends = [GlucoseTimes.range.low, GlucoseTimes.range.high].map {
                PageValues.text(conversion?($0) ?? $0, places: unit.code == "mmol/L" ? 1 : 0)
            }
            let range = Self.joined(ends.joined(separator: "–"), values.symbol(unit))
            facts.append(texts("card.inRange", range, GlucoseDay.percent(times.inRange, texts)))
        }
        all = facts
    }

    /// Today's lowest and highest value, such as `48–131 /min`. `nil` for fewer than two readings.
    private static func range(_ today: TypeToday, _ values: PageValues) -> String? {
        guard let day = today.day, day.count > 1, let low = day.minimum, let high = day.maximum, low < high else { return nil }
        let (first, last) = (values.amount(low, of: today.type), values.amount(high, of: today.type))
        return joined("\(first.value)–\(last.value)", last.unit)
    }

    static func joined(_ value: String, _ unit: String) -> String { unit.isEmpty ? value : "\(value) \(unit)" }
}

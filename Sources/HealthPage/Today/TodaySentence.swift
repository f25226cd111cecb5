import HealthAnswers
import HealthModel

/// The words of the facts at the top of Today, in the language and the units of the page.
struct TodaySentence {
    let facts: [TodayFact]
    let call: PageCall

    /// The sentence header: the time, the greeting with the first fact, and the further facts.
    var html: HTML {
        let (texts, now) = (call.texts, call.now)
        let days = CalendarIntervals(.day, zone: call.zone)
        let weekday = texts("weekday.\(days.weekday(of: days.index(of: now)) + 1)")
        let shownValue = sentences
        let title = [greeting, shownValue.first].compactMap { $0 }.joined(separator: " ")
        let more = shownValue.dropFirst().joined(separator: " ")
        return """
            <div class="lead"><p class="when">\(texts("today.when", weekday, call.times.day(now), call.times.clock(now)))</p>
            <h1>\(title.isEmpty ? texts("today.title") : title)</h1>
            \(HTML.choose(!more.isEmpty, "<p class=\"more\">\(more)</p>"))</div>
            """
    }

    var sentences: [String] { facts.map(text) }

    private var greeting: String? {
        let hour = Int(call.times.clock(call.now).prefix(2)) ?? 12
        guard let name = call.personName, hour < 11 || hour >= 18 else { return nil }
        return call.texts(hour < 11 ? "today.morning" : "today.evening", name)
    }

    private func amount(_ value: Double, _ type: SampleType) -> String {
        let (number, unit) = call.values.amount(value, of: type)
        return CardFacts.joined(number, unit)
    }

    /// A difference without its sign, such as `0.5 °C`.
    private func difference(_ from: Double, _ to: Double, _ type: SampleType) -> String {
        let text = call.values.change(from: from, to: to, of: type)
        return String(text.drop { "+−±".contains($0) })
    }

    private func text(_ fact: TodayFact) -> String {
        let (texts, values) = (call.texts, call.values)
        switch fact {
        case .slept(let asleep, let difference):
            let slept = SleepNight.text(asleep, values)
            guard let difference else { return texts("fact.slept", slept) }
            if difference == 0 { return texts("fact.sleptUsual", slept) }
            return texts(
                difference > 0 ? "fact.sleptLonger" : "fact.sleptShorter", slept, SleepNight.text(abs(difference), values))
        case .nightMissing: return texts("fact.nightMissing")
        case .total(let type, let sum, let until, let typical):
            let time = call.times.clock(until)
            guard let typical else { return texts("fact.total", amount(sum, type), time) }
            return texts("fact.totalUsual", amount(sum, type), time, values.amount(typical, of: type).value)
        case .goalReached(let type, let sum, let goal):
            return texts("fact.goal", values.amount(sum, of: type).value, amount(goal, type))
        case .asUsual(let types):
            let names = types.map { values.name(of: $0) }
            return names.count == 1
                ? texts("fact.usual", names[0])
                : texts("fact.usualBoth", names.dropLast().joined(separator: ", "), names[names.count - 1])
        case .mornings(let type, let change):
            return texts(change < 0 ? "fact.falling" : "fact.rising", values.name(of: type), difference(0, change, type))
        case .pressure(let systolic, let diastolic):
            let type = SampleType.bloodPressureSystolic
            let unit = values.unit(of: type)
            let numbers = [systolic, diastolic].map { value in
                PageValues.text(
                    (try? values.conversion(of: type, to: unit)(value)) ?? value, places: unit.code == "mm[Hg]" ? 0 : 1)
            }
            return texts("fact.pressure", CardFacts.joined(numbers.joined(separator: "/"), values.symbol(unit)))
        case .lowGlucose(let limit, let length):
            return texts("fact.lowGlucose", amount(limit, .bloodGlucose), SleepNight.text(length, values))
        case .temperature(let value, let time, let earlier):
            let (shownValue, at) = (amount(value, .bodyTemperature), call.times.text(time))
            guard let earlier else { return texts("fact.temperature", shownValue, at) }
            let change = difference(earlier.value, value, .bodyTemperature)
            let key =
                abs(value - earlier.value) < 0.05
                ? "fact.temperatureSame" : value < earlier.value ? "fact.temperatureLower" : "fact.temperatureHigher"
            return texts(key, shownValue, at, change, call.times.text(earlier.time))
        case .silence(let time, let source): return texts("fact.silence", call.times.text(time), source)
        }
    }
}

import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The people side by side, for the keeper: the facts of today, the latest values, and the button that shows a person's page.
enum PersonCards {
    /// The highest numbers of people and of values.
    private static let (maximumPeople, maximumValues) = (6, 4)
    private static let day: Int64 = 86_400_000_000
    /// The types that are shown first.
    private static let main = [
        "bodyTemperature", "sleepAnalysis", "stepCount", "bloodGlucose", "bloodPressure", "bodyMass", "heartRate",
    ]

    static func html(_ people: [(person: String, name: String)], _ call: PageCall) throws -> HTML {
        guard people.count > 1 else { return "" }
        let reader = try call.ownerReader()
        let cards: [HTML] = try people.prefix(maximumPeople).map { person, name in
            let today = try TrustedReadings.today(reader, of: person, call)
            let types = try today.types(of: person, at: call.now)
            // The facts for which the person's own settings are not needed.
            let facts = try today.facts(
                of: types, person: person, at: call.now, goals: [:], isDoubtful: { _ in true },
                source: { TypeCard.source(of: $0, call.texts) })
            let ranks = Dictionary(main.enumerated().map { ($1, $0) }) { first, _ in first }
            let recent = types.filter {
                call.now.microseconds - $0.latest.sample.end.microseconds < day && $0.type.kind != .workoutRoute
            }
            .enumerated().sorted {
                (ranks[$0.element.type.id] ?? .max, $0.offset) < (ranks[$1.element.type.id] ?? .max, $1.offset)
            }.map(\.element).prefix(maximumValues)
            let rows: [HTML] = try recent.map { try row($0, reader, call) }
            let sentences = TodaySentence(facts: facts, call: call).sentences.prefix(2).joined(separator: " ")
            return """
                <li class="card"><header><span class="face b">\(name.prefix(1).uppercased())</span><h2>\(name)</h2></header>
                <p>\(sentences.isEmpty ? call.texts("people.nothing") : sentences)</p><ul class="rows">\(rows)</ul>
                \(person == call.session?.person ? own(call) : PeoplePage.switching(person, name, call))</li>

                """
        }
        return "<ul class=\"cards wide\">\(cards)</ul>"
    }

    private static func own(_ call: PageCall) -> HTML { "<p class=\"src\">\(call.texts("people.shown"))</p>" }

    private static func row(_ each: TypeToday, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let sample = each.latest.sample
        let value = try TypeCard.value(of: sample, each.night.map(SleepNight.init), each.total, reader, call)
        let time = each.night.map { call.times.element(Instant(microseconds: $0.end)) } ?? call.times.element(of: sample)
        return """
            <li class="\(each.type.family.rawValue)">\(Icon(each.type).html)<span class="grow">\(call.values.name(of: each.type))\
            <small class="s">\(time)</small></span><span class="val"><b>\(value.value)</b> <small class="s">\(value.unit)</small></span></li>

            """
    }
}

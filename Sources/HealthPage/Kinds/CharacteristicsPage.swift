import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page of what is known about a person besides readings: date of birth, blood type, and medications.
enum CharacteristicsPage {
    static let routes = [PageRoute(method: "GET", path: "characteristics", answer: page)]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let history = try call.records().characteristics()
        let today = call.times.date(call.now)
        let facts = CharacteristicType.allCases.compactMap { type -> (String, String?)? in
            guard let value = history.value(of: type, on: today)?.value, value != "notSet" else { return nil }
            let text =
                type == .dateOfBirth
                ? born(value, today, call) : texts["characteristic.value." + value] ?? PageValues.words(value)
            return (texts("characteristic." + type.rawValue), text)
        }
        let medications = try MedicationKind.list(call.reader(), call)
        let body: HTML = """
            <h1>\(texts("characteristic.title"))</h1>
            \(facts.isEmpty ? "<p>\(texts("characteristic.none"))</p>" : KindPage.facts(facts))
            <h2>\(texts("medication.title"))</h2>
            \(medications.text.isEmpty ? "<p>\(texts("medication.none"))</p>" : medications)
            """
        return .page(PageLayout(call: call, title: texts("characteristic.title")).whole(body))
    }

    /// A date of birth with the age in years.
    private static func born(_ date: String, _ today: String, _ call: PageCall) -> String {
        let (birth, now) = (date.split(separator: "-").compactMap { Int($0) }, today.split(separator: "-").compactMap { Int($0) })
        guard birth.count == 3, now.count == 3, date <= today else { return call.times.written(date) }
        let hadBirthday = (now[1], now[2]) >= (birth[1], birth[2])
        return call.texts("characteristic.age", call.times.written(date), "\(now[0] - birth[0] - (hadBirthday ? 0 : 1))")
    }
}

import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The routes for activity rings and characteristics.
enum PersonRoutes {
    static let summaries = Route(
        method: "GET", path: "/v1/activity-summaries", name: "activitySummaries", summary: "List activity rings by day.",
        discussion: """
            The same days as 'vitalgate rings'. If a source reported a summary of the day, it is returned unchanged. Otherwise the rings \
            are computed from samples, and derived is true.
            """,
        parameters: [.from, .to, .person, .zone, .limit(maximum, "Maximum number of days (default: \(maximum)).")],
        isSlow: true, answers: [.json, .ndjson], key: "activitySummaries", problems: [422], answer: summaries)

    static let characteristics = Route(
        method: "GET", path: "/v1/characteristics", name: "characteristics",
        summary: "List characteristics of people: date of birth, biological sex, blood type, skin type, wheelchair use.",
        parameters: [
            .person, .zone, Parameter(name: "on", form: .times, help: "Day for which they are valid (default: today)."),
        ],
        answers: [.json, .ndjson], key: "characteristics", problems: [422], answer: characteristics)

    /// The maximum number of days in an answer, about ten years.
    private static let maximum = 3660

    @Sendable private static func summaries(_ call: Call) throws -> HTTPResponse {
        let (reader, zone) = (try call.reader(), try call.zone())
        let (range, me) = (try call.range(zone), reader.store.owner)
        let query = ActivityQuery(
            zone: zone, from: range.from, to: range.to, person: try call.person(reader.store),
            priority: call.core.settings.priority)
        let (line, sampleLine) = (ActivityLine(zone: zone, me: me), SampleLine(me: me))
        var (objects, rest) = ([[UInt8]](), call.number("limit") ?? maximum)
        if rest == 0 { return call.list(objects) }
        try reader.store.activity.days(query) { days in
            for (day, summary) in days.prefix(rest) {
                reader.countRead("activitySummary", of: day.person)
                var bytes: [UInt8] = []
                if let summary {
                    sampleLine.append(summary.sample, ingest: nil, seq: nil, to: &bytes)
                    bytes.removeLast()
                } else {
                    bytes = line.object(day).closed
                }
                objects.append(bytes)
            }
            rest -= min(rest, days.count)
            return rest > 0
        }
        return call.list(objects)
    }

    @Sendable private static func characteristics(_ call: Call) throws -> HTTPResponse {
        let (reader, zone) = (try call.reader(), try call.zone())
        let (store, personID) = (reader.store, try call.person(reader.store))
        let day = try call.instant("on", zone) ?? call.core.settings.now()
        let date = zone.date(of: day)
        var objects: [[UInt8]] = []
        for person in try store.people.peopleWithCharacteristics() where personID == nil || person == personID {
            let history = try store.people.characteristics(of: person)
            for type in CharacteristicType.allCases {
                guard let entry = history.entry(of: type, on: date) else { continue }
                let object = JSONObject([
                    "subject": person == store.owner ? "me" : person, "type": type.rawValue, "value": entry.value?.value,
                    "from": entry.from,
                ])
                reader.countRead(type.rawValue, of: person)
                objects.append(object.closed)
            }
        }
        return call.list(objects)
    }
}

extension Call {
    /// An answer with JSON objects, either one a line or as a list under the route's key.
    func list(_ objects: [[UInt8]]) -> HTTPResponse {
        let end = Array("\n".utf8)
        guard form == .json, let key else { return HTTPResponse(type: form.type, objects.flatMap { $0 + end }) }
        let list = Array(objects.joined(separator: Array(",\n".utf8)))
        return HTTPResponse(type: form.type, Array("{\"\(key)\":[".utf8) + list + Array("]}\n".utf8))
    }
}

import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The card with today's rings. It is omitted if there is no activity.
enum RingsCard {
    private static let radii = [40, 30, 20]

    /// Uses the daily goals that the person set on the page for rings without a reported goal.
    private static func setGoals(of day: inout ActivityDay, _ call: PageCall) throws {
        let goals = try call.records().goals()
        func goal(_ id: String, _ unit: Unit?) -> Double? {
            guard let type = SampleType(id), let goal = goals[type], goal.span == .day, let unit else { return nil }
            return try? call.values.conversion(of: type, to: unit)(goal.value)
        }
        day.move.goal = day.move.goal ?? goal(day.movesByTime ? "appleMoveTime" : "activeEnergyBurned", day.move.unit)
        day.exercise.goal = day.exercise.goal ?? goal("appleExerciseTime", day.exercise.unit)
    }

    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let query = ActivityQuery.today(
            call.now, zone: call.zone, person: try call.person().person, priority: call.core.settings.priority)
        var day: ActivityDay?
        try reader.store.activity.days(query) { reported in
            day = reported.last?.day ?? day
            return true
        }
        guard var day, day.move.value != nil || day.exercise.value != nil || day.stand.value != nil else { return "" }
        try setGoals(of: &day, call)
        let texts = call.texts
        let rings = [("rings.move", day.move), ("rings.exercise", day.exercise), ("rings.stand", day.stand)]
        let circles: [HTML] = zip(rings, radii).enumerated().map { index, each in
            let length = 628 * each.1 / 100
            let filled = Coordinate.pixels(Double(length) * min(max(each.0.1.fraction ?? 0, 0), 1))
            return """
                <circle class="way ring\(index)" cx="50" cy="50" r="\(each.1)"/>\
                <circle class="ring\(index)" cx="50" cy="50" r="\(each.1)" stroke-dasharray="\(filled) \(length)" transform="rotate(-90 50 50)"/>
                """
        }
        let labels: [String] = rings.compactMap { key, ring in
            guard let value = ring.value else { return nil }
            let unit = ring.unit.map { call.values.symbol($0) } ?? texts("rings.hours")
            let amount = PageValues.text(value) + (ring.goal.map { " / " + PageValues.text($0) } ?? "")
            return "\(texts(key)) \(amount) \(unit)"
        }
        // Without goals there is nothing to fill.
        let drawing: HTML =
            rings.contains { $0.1.fraction != nil }
            ? "<svg viewBox=\"0 0 100 100\" aria-hidden=\"true\" focusable=\"false\">\(circles)</svg>" : ""
        let lines: [HTML] = labels.map { "<li>\($0)</li>" }
        return """
            <li class="card w4 activity"><header>\(Icon.activity.html)<h2>\(texts("rings.title"))</h2></header><div class="rings">\(drawing)<ul>\(lines)</ul></div></li>
            """
    }
}

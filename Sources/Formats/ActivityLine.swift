import HealthModel

/// The rings of a day as a line of NDJSON, if derived from samples, or as a row of CSV, for any day.
///
/// {"kind":"activitySummary","date":"2026-11-20","zone":"Europe/Berlin","subject":"me","activeEnergyBurned":{"value":420.5,"unit":"kcal"},
/// "activeEnergyBurnedGoal":null,"exerciseTime":{"value":31.0,"unit":"min"},"exerciseTimeGoal":null,"standHours":2,"standHoursGoal":null,
///      "stepCount":{"value":870.0,"unit":"1{steps}"},"derived":true}
///
/// A move ring that counts minutes has `moveTime` instead of `activeEnergyBurned`. A wheelchair user has `rollHours` and `pushCount`
/// instead of `standHours` and `stepCount`. Fields without samples are `null`.
package struct ActivityLine: Sendable {
    private let zone: TimeZoneRules
    private let me: String

    /// - Parameters:
    ///   - zone: The time zone of the days.
    ///   - me: The person that is written as `me`.
    package init(zone: TimeZoneRules, me: String) { (self.zone, self.me) = (zone, me) }

    package func object(_ day: ActivityDay) -> JSONObject {
        var object = JSONObject([
            "kind": SampleKind.activitySummary.name, "date": day.date, "zone": zone.identifier, "subject": person(day),
        ])
        set(day.movesByTime ? "moveTime" : "activeEnergyBurned", day.move, in: &object)
        set("exerciseTime", day.exercise, in: &object)
        let stand = day.usesWheelchair ? "rollHours" : "standHours"
        object.set(stand, day.stand.value.flatMap { Int(exactly: $0) })
        object.set(stand + "Goal", day.stand.goal.flatMap { Int(exactly: $0) })
        let count = day.usesWheelchair ? "pushCount" : "stepCount"
        set(count, value: day.steps, unit: SampleType(count)?.canonicalUnit, in: &object)
        object.set("derived", day.isDerived)
        return object
    }

    private func set(_ name: String, _ ring: ActivityDay.Ring, in object: inout JSONObject) {
        set(name, value: ring.value, unit: ring.unit, in: &object)
        set(name + "Goal", value: ring.goal, unit: ring.unit, in: &object)
    }

    private func set(_ name: String, value: Double?, unit: Unit?, in object: inout JSONObject) {
        guard let value else { return object.set(name, String?.none) }
        let amount = JSONObject(["value": value, "unit": unit?.code])
        object.set(name, amount)
    }

    private func person(_ day: ActivityDay) -> String { day.person == me ? "me" : day.person }

    /// The names of a row's cells.
    package static let columns = [
        "date", "zone", "subject", "move", "moveGoal", "moveUnit", "exercise", "exerciseGoal", "exerciseUnit", "stand",
        "standGoal", "steps", "pushes", "derived",
    ]

    /// The cells under ``columns``, empty if there is no value.
    package func cells(_ day: ActivityDay) -> [String] {
        func text(_ number: Double?) -> String { number.map(\.description) ?? "" }
        func whole(_ number: Double?) -> String { number.map { Int(exactly: $0).map(\.description) ?? $0.description } ?? "" }
        var cells = [day.date, zone.identifier, person(day)]
        for ring in [day.move, day.exercise] { cells += [text(ring.value), text(ring.goal), ring.unit?.code ?? ""] }
        cells += [whole(day.stand.value), whole(day.stand.goal)]
        cells += day.usesWheelchair ? ["", text(day.steps)] : [text(day.steps), ""]
        return cells + [day.isDerived ? "true" : "false"]
    }
}

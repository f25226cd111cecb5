import Formats
import HealthModel
import Pipeline
import SampleStore

/// Describes alerts for receivers outside of the store.
///
///     {"event":"began","id":"1a2b3c4d-12","alert":3,"subject":"me","person":"me","type":"bloodGlucose","condition":"below",
///      "limit":70,"unit":"mg/dL","value":62,"time":"2026-11-20T06:31:00Z","text":"Blood Glucose is below 70 mg/dL"}
public struct AlertText {
    private let store: SampleStore
    /// Returns the unit that the user wants for a type.
    private let unit: (SampleType) -> Unit?
    private let words: AlertWords

    /// Creates texts for the alerts of a store.
    ///
    /// - Parameters:
    ///   - words: The words of the user's language.
    ///   - unit: Returns the unit that the user wants for a type. The default is the type's own.
    public init(_ store: SampleStore, words: AlertWords = .english, unit: @escaping (SampleType) -> Unit? = { _ in nil }) {
        (self.store, self.words, self.unit) = (store, words, unit)
    }

    /// The beginning of the ids. Two stores that send to one receiver have different ones.
    private var prefix: String { String(store.identifier.filter { $0 != "-" }.prefix(8)) }

    /// Returns the message for an event, with the value of the reading if it still exists.
    public func message(_ event: AlertEvent) throws -> AlertMessage {
        let (kind, id): (AlertMessage.Event, String) = (event.kind == .began ? .began : .ended, "\(prefix)-\(event.id)")
        var object = JSONObject()
        object.set("event", kind.rawValue)
        object.set("id", id)
        try describe(event.alert, in: &object)
        let value = event.alert.condition == .missing ? nil : try self.value(event.alert, at: event.time)
        object.set("value", value)
        object.set("time", event.time.description)
        object.set("text", try sentence(event.alert, isMet: event.kind == .began))
        return AlertMessage(id: id, event: kind, json: object.closed)
    }

    /// Returns a message that tests a delivery.
    public func test(at now: Instant) -> AlertMessage {
        let id = "\(prefix)-test-\(UUIDText.random().prefix(8))"
        var object = JSONObject()
        object.set("event", AlertMessage.Event.test.rawValue)
        object.set("id", id)
        object.set("time", now.description)
        object.set("text", words.text(.test))
        return AlertMessage(id: id, event: .test, json: object.closed)
    }

    /// Returns the state of an alert.
    public func state(_ alert: Alert) throws -> AlertState {
        var object = JSONObject()
        object.set("state", alert.raised == nil ? "OFF" : "ON")
        try describe(alert, in: &object)
        object.set("since", alert.raised?.description)
        return AlertState(alert: alert.id, title: try title(alert), json: object.closed)
    }

    private func describe(_ alert: Alert, in object: inout JSONObject) throws {
        let (limit, unit) = try amount(alert.bound, of: alert)
        object.set("alert", Int(alert.id))
        object.set("subject", alert.subject == store.subject ? "me" : alert.subject)
        object.set("person", try store.people.names()[alert.subject])
        object.set("type", alert.type.id)
        object.set("condition", alert.condition.rawValue)
        object.set("limit", limit)
        object.set("unit", unit)
    }

    /// Returns the value of the reading at a time, or `nil` if it was deleted.
    private func value(_ alert: Alert, at time: Instant) throws -> Double? {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [alert.type], from: time, to: Instant(microseconds: time.microseconds + 1), subject: alert.subject,
                limit: 1))
        defer { cursor.close() }
        return try cursor.next().map { try amount($0.sample.value, of: alert).value }
    }

    /// A value in the unit that the user wants, or hours.
    private func amount(_ value: Double, of alert: Alert) throws -> (value: Double, unit: String) {
        guard alert.condition != .missing else { return (value, "h") }
        let (converted, unit) = try converted(value, of: alert.type)
        return (converted, unit.code)
    }

    private func converted(_ value: Double, of type: SampleType) throws -> (value: Double, unit: Unit) {
        let canonical = type.canonicalUnit
        guard let unit = unit(type), unit.code != canonical.code else { return (value, canonical) }
        let converted = try canonical.conversion(to: unit, molarMass: type.molarMass)(value)
        // A conversion there and back may change the last digits.
        return ((converted * 10_000).rounded() / 10_000, unit)
    }

    // MARK: Words

    /// The person is named unless it is the store's own.
    private func prefix(_ alert: Alert) throws -> String {
        guard alert.subject != store.subject, let name = try store.people.names()[alert.subject] else { return "" }
        return "\(name): "
    }

    private func limit(_ alert: Alert) throws -> String {
        guard alert.condition != .missing else { return words.hours(alert.bound) }
        let (value, unit) = try converted(alert.bound, of: alert.type)
        return words.amount(value, unit)
    }

    /// The condition in words, such as `Blood Glucose below 70 mg/dL`.
    private func title(_ alert: Alert) throws -> String {
        let phrase: AlertWords.Phrase =
            switch alert.condition {
            case .above: .aboveTitle
            case .below: .belowTitle
            case .missing: .missingTitle
            }
        return try prefix(alert) + words.text(phrase, words.name(of: alert.type), limit(alert))
    }

    private func sentence(_ alert: Alert, isMet: Bool) throws -> String {
        let phrase: AlertWords.Phrase =
            switch alert.condition {
            case .above: isMet ? .aboveBegan : .aboveEnded
            case .below: isMet ? .belowBegan : .belowEnded
            case .missing: isMet ? .missingBegan : .missingEnded
            }
        return try prefix(alert) + words.text(phrase, words.name(of: alert.type), limit(alert))
    }
}

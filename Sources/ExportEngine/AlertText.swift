import Formats
import HealthModel
import Pipeline
import SampleStore

/// Describes alerts for receivers outside of the store.
///
///     {"event":"began","id":"1a2b3c4d-12","alert":3,"subject":"me","person":"me","type":"bloodGlucose","condition":"below",
///      "limit":70,"unit":"mg/dL","value":62,"time":"2026-11-20T06:31:00Z","text":"Blood Glucose is below 70 mg/dL"}
package struct AlertText {
    private let store: SampleStore
    /// Returns the unit that the user wants for a type.
    private let unit: (SampleType) -> Unit?
    private let words: AlertWords

    /// Creates texts for the alerts of a store.
    ///
    /// - Parameters:
    ///   - words: The words of the user's language.
    ///   - unit: Returns the unit that the user wants for a type. The default is the type's own.
    package init(_ store: SampleStore, words: AlertWords = .english, unit: @escaping (SampleType) -> Unit? = { _ in nil }) {
        (self.store, self.words, self.unit) = (store, words, unit)
    }

    /// The beginning of the ids. Two stores that send to one receiver have different ones.
    private var prefix: String { String(store.identifier.filter { $0 != "-" }.prefix(8)) }

    /// Returns the message for an event, with the value of the reading if it still exists.
    package func message(_ event: AlertEvent) throws -> AlertMessage {
        let (kind, id): (AlertMessage.Event, String) = (event.kind == .began ? .began : .ended, "\(prefix)-\(event.id)")
        var object = JSONObject(["event": kind.rawValue, "id": id])
        try describe(event.alert, in: &object)
        let value = event.alert.condition == .missing ? nil : try self.value(event)
        object.set([
            "value": value, "time": event.time.description, "noticed": event.noticed.description, "late": event.isLate,
            "doubtful": event.isDoubtful, "text": try sentence(event),
        ])
        return AlertMessage(id: id, event: kind, json: object.closed)
    }

    /// Returns one message for many events that a receiver missed, with the alerts in the order of their first event.
    ///
    /// - Parameter events: In order, not empty.
    package func summary(_ events: [AlertEvent]) throws -> AlertMessage {
        var alerts: [Int64] = []
        var counts: [Int64: (alert: Alert, began: Int, first: Instant, last: Instant)] = [:]
        for event in events {
            if counts[event.alert.id] == nil { alerts.append(event.alert.id) }
            var count = counts[event.alert.id] ?? (event.alert, 0, event.time, event.time)
            count.began += event.kind == .began ? 1 : 0
            (count.first, count.last) = (min(count.first, event.time), max(count.last, event.time))
            counts[event.alert.id] = count
        }
        let (first, last) = (events.map(\.noticed).min(), events.map(\.noticed).max())
        var (list, words): ([JSONObject], [String]) = ([], [])
        for id in alerts {
            guard let count = counts[id] else { continue }
            var object = JSONObject()
            try describe(count.alert, in: &object)
            object.set("began", count.began)
            object.set("raised", count.alert.raised != nil)
            object.set("from", count.first.description)
            object.set("to", count.last.description)
            list.append(object)
            words.append(try title(count.alert) + (count.began > 1 ? " (\(count.began))" : ""))
        }
        let id = "\(prefix)-\(events.first?.id ?? 0)-\(events.last?.id ?? 0)"
        let object = JSONObject([
            "event": AlertMessage.Event.summary.rawValue, "id": id, "time": last?.description, "from": first?.description,
            "to": last?.description, "messages": events.count, "alerts": list,
            "text": words.isEmpty ? "" : self.words.text(.summary, words.joined(separator: ", ")),
        ])
        return AlertMessage(id: id, event: .summary, json: object.closed)
    }

    package func evaluation(_ event: AlertMessage.Event, at now: Instant) -> AlertMessage {
        let id = "\(prefix)-\(event.rawValue)-\(now.microseconds)"
        let object = JSONObject([
            "event": event.rawValue, "id": id, "time": now.description, "text": words.text(event == .failed ? .failed : .resumed),
        ])
        return AlertMessage(id: id, event: event, json: object.closed)
    }

    /// Returns a message about the backups at a location.
    ///
    /// - Parameters:
    ///   - phrase: What is wrong, or ``AlertWords/Phrase/backupWell``.
    ///   - days: The age that the phrase names.
    ///   - since: The time of the last good backup, from which the id is made, so that a repeated message has the same one.
    package func backup(
        _ location: String, _ phrase: AlertWords.Phrase, days: Int, since: Instant?, at now: Instant
    ) -> AlertMessage {
        let id = "\(prefix)-\(phrase.rawValue)-\(location)-\(since?.microseconds ?? 0)"
        let object = JSONObject([
            "event": AlertMessage.Event.backup.rawValue, "id": id, "time": now.description, "location": location,
            "raised": phrase != .backupWell, "lastGood": since?.description, "text": words.text(phrase, location, "\(days)"),
        ])
        return AlertMessage(id: id, event: .backup, json: object.closed)
    }

    package func test(at now: Instant) -> AlertMessage {
        let id = "\(prefix)-test-\(UUIDText.random().prefix(8))"
        let object = JSONObject([
            "event": AlertMessage.Event.test.rawValue, "id": id, "time": now.description, "text": words.text(.test),
        ])
        return AlertMessage(id: id, event: .test, json: object.closed)
    }

    package func state(_ alert: Alert) throws -> AlertState {
        var object = JSONObject(["state": alert.raised == nil ? "OFF" : "ON"])
        try describe(alert, in: &object)
        object.set(["since": alert.raised?.description, "acknowledged": alert.acknowledged?.description])
        return AlertState(alert: alert.id, title: try title(alert), json: object.closed)
    }

    private func describe(_ alert: Alert, in object: inout JSONObject) throws {
        let (limit, unit) = try amount(alert.bound, of: alert)
        object.set([
            "alert": Int(alert.id), "subject": alert.person == store.owner ? "me" : alert.person,
            "person": try store.people.names()[alert.person], "type": alert.type.id, "condition": alert.condition.rawValue,
            "limit": limit, "unit": unit, "device": ifPresent(try alert.device.map { try store.devices.names()[$0] ?? $0 }),
        ])
    }

    /// Returns the value of the reading, or `nil` if it was deleted or rejected.
    private func value(_ event: AlertEvent) throws -> Double? {
        let (alert, time) = (event.alert, event.time)
        if event.isDoubtful {
            let quarantined = try store.quarantine.doubtful(at: time, type: alert.type, of: alert.person)
            if let quarantined { return try amount(quarantined.stored.sample.value, of: alert).value }
        }
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [alert.type], from: time, to: Instant(microseconds: time.microseconds + 1), person: alert.person,
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
        guard alert.person != store.owner, let name = try store.people.names()[alert.person] else { return "" }
        return "\(name): "
    }

    /// The type, with the device if only its readings are missing.
    private func name(_ alert: Alert) throws -> String {
        let name = words.name(of: alert.type)
        return try alert.device.map { "\(name) (\(try store.devices.names()[$0] ?? $0))" } ?? name
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
        return try prefix(alert) + words.text(phrase, name(alert), limit(alert))
    }

    private func sentence(_ event: AlertEvent) throws -> String {
        let (alert, isRaised) = (event.alert, event.kind == .began)
        let phrase: AlertWords.Phrase =
            switch alert.condition {
            case .above where isRaised: event.isDoubtful ? .aboveMaybe : event.isLate ? .aboveWas : .aboveBegan
            case .above: .aboveEnded
            case .below where isRaised: event.isDoubtful ? .belowMaybe : event.isLate ? .belowWas : .belowBegan
            case .below: .belowEnded
            case .missing: isRaised ? .missingBegan : .missingEnded
            }
        return try prefix(alert) + words.text(phrase, name(alert), limit(alert))
    }
}

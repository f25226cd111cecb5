import HealthModel
import Pipeline

/// Reads the cells of ``ActivityRow``.
struct ActivityTexts {
    let row: TextRow
    let place: Place
    /// Whether times are ISO 8601 texts, as in XML. Otherwise they are seconds since 1970.
    let isXML: Bool

    func text(_ column: Int) -> String? {
        let text = ExportText.shown(row[column])
        return text.isEmpty ? nil : text
    }

    /// - Throws: ``Refusal`` if the cell is not a valid number.
    func number(_ column: Int, _ name: StaticString, atMost limit: Double = 1e9) throws(Refusal) -> Numeral? {
        let text = row[column]
        guard !text.isEmpty else { return nil }
        guard let numeral = try? Numeral(parsing: text), numeral.doubleValue.magnitude <= limit else {
            throw Refusal("the \(name) is not a possible number", at: place)
        }
        return numeral
    }

    /// Returns a duration of at least 0, in microseconds.
    func length(_ column: Int, _ name: StaticString) throws(Refusal) -> Int64? {
        guard let seconds = try number(column, name)?.doubleValue else { return nil }
        guard seconds >= 0 else { throw Refusal("the \(name) is below 0", at: place) }
        return Int64((seconds * 1e6).rounded())
    }

    /// - Throws: ``Refusal`` if the time is missing, is not valid, or has no time zone.
    func time(_ column: Int, of element: StaticString) throws(Refusal) -> (instant: Instant, offset: ZoneOffset?) {
        let text = row[column]
        guard !text.isEmpty else { throw Refusal("the \(element) has no time", at: place) }
        guard isXML else {
            guard let seconds = try number(column, "time", atMost: 1e11)?.doubleValue else {
                throw Refusal("the \(element) has no time", at: place)
            }
            return (Instant(microseconds: Int64((seconds * 1e6).rounded())), nil)
        }
        guard let timestamp = try? Timestamp(iso8601: text) else {
            throw Refusal("the time of the \(element) is not in ISO 8601", at: place)
        }
        guard let instant = timestamp.instant else { throw Refusal("the time of the \(element) has no zone", at: place) }
        // All programs write UTC, so it is not the zone of the person.
        return (instant, timestamp.offset == .utc ? nil : timestamp.offset)
    }
}

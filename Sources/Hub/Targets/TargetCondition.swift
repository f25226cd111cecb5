import HealthModel
import SampleStore

/// The `where` of a target: the condition for samples that go there.
struct TargetCondition: Sendable {
    let text: String
    private let path: String

    /// - Parameter path: The key in the configuration, for errors.
    /// - Throws: ``ConfigurationError`` if the condition contains a relative time such as `-7d`. It would pass other samples each day, and
    ///   samples that no longer pass would remain at the target.
    init(_ text: String, path: String) throws(ConfigurationError) {
        (self.text, self.path) = (text, path)
        var relative: String?
        let utc = TimeZoneRules(fixed: .utc)
        _ = try? SamplePredicate(
            text,
            instant: { time in
                let instant = Instant(written: time, now: Instant(seconds: 0), zone: utc)
                if instant != nil, Instant(iso8601: time, zone: utc) == nil { relative = relative ?? time }
                return instant
            })
        guard let relative else { return }
        throw ConfigurationError(
            "'\(path)': '\(relative)' changes with the time of day, and readings that no longer pass would stay at the target: write a date"
        )
    }

    /// The condition with its dates and people resolved.
    struct Resolved {
        var predicate: SamplePredicate
        /// The condition, followed by the instants of local times and by the people's ids. It changes if the zone or a person's name gives the
        /// condition another meaning.
        var text: String
    }

    /// - Parameter types: The types that go to the target.
    /// - Throws: ``ConfigurationError`` if the condition is invalid.
    func resolved(in store: SampleStore, zone: TimeZoneRules, types: Set<SampleType>) throws -> Resolved {
        var meanings: Set<String> = []
        let utc = TimeZoneRules(fixed: .utc)
        do {
            let predicate = try SamplePredicate(
                text,
                instant: { time in
                    let instant = Instant(iso8601: time, zone: zone)
                    if let instant, Instant(iso8601: time, zone: utc) != instant { meanings.insert("\(time) is \(instant)") }
                    return instant
                },
                person: { name in
                    let person = try? StoreAccess.person(name, in: store)
                    if let person, person != store.owner, person != name { meanings.insert("\(name) is \(person)") }
                    return person
                })
            try predicate.check(for: types)
            guard !predicate.asksForOthers else {
                throw ConfigurationError(
                    "'\(path)': a target's condition cannot use fromWorkout or inCorrelation")
            }
            return Resolved(predicate: predicate, text: ([text] + meanings.sorted()).joined(separator: "; "))
        } catch let error as PredicateError {
            throw ConfigurationError("'\(path)': \(error.description)")
        }
    }
}

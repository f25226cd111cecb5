import HealthModel
import Pipeline
import SampleStore

/// What became of an object that was to be saved.
public struct SavedObject: Hashable, Sendable {
    /// Where it ended.
    public enum Outcome: Hashable, Sendable {
        /// It is in the store.
        case stored
        /// It was there already, was deleted once, or is an edition of a record that is not greater than the one known: nothing was changed.
        case alreadyKnown
        /// It can't be true, such as a body temperature of 98 °C: it is held until a person has judged it (`vitalgate quarantine`).
        case held
    }

    /// The UUID that it goes by.
    public var uuid: SampleIdentity
    /// What became of it.
    public var outcome: Outcome
    /// What was saved with it: a correlation's objects, a workout's routes.
    public var parts: [SavedObject]

    /// An object's end.
    public init(uuid: SampleIdentity, outcome: Outcome, parts: [SavedObject] = []) {
        (self.uuid, self.outcome, self.parts) = (uuid, outcome, parts)
    }

    fileprivate init(_ sample: GatedSample, _ outcome: SampleOutcome, parts: [SavedObject] = []) {
        let own: Outcome =
            switch outcome {
            case .stored: .stored
            case .duplicate, .refused: .alreadyKnown
            case .quarantined: .held
            }
        self.init(uuid: sample.sample.identity, outcome: own, parts: parts)
    }
}

extension HealthStore {
    /// Saves an object; it is durable once this returns.
    ///
    /// - Throws: ``HealthStoreError/refused(object:reason:)``, ``HealthStoreError/openedForReading``, `StoreError`.
    @discardableResult
    public func save(_ object: HealthObject) async throws -> SavedObject {
        let saved = try await save([object])
        return saved[0]
    }

    /// Saves objects in one transaction: all of them, or, where one is refused, none. They are durable once this returns.
    ///
    /// - Returns: what became of each, in the order given.
    /// - Throws: ``HealthStoreError/refused(object:reason:)``, ``HealthStoreError/openedForReading``, `StoreError`.
    @discardableResult
    public func save(_ objects: [HealthObject]) async throws -> [SavedObject] {
        guard let source else { throw HealthStoreError.openedForReading }
        guard !objects.isEmpty else { return [] }
        let (person, zone, received) = (person, zone, now())
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: received)
        let day = days.start(of: today).microseconds..<days.start(of: today + 1).microseconds
        return try await write { store in
            let readings = ObjectReadings(
                source: source, person: person, zone: zone, received: received, aliases: try store.aliases())
            let earliest = try store.earliestPermittedDates()
            var made: [ObjectReadings.Made] = []
            for (index, object) in objects.enumerated() {
                let samples = try readings.made(of: object, at: index)
                for sample in samples.all.map(\.sample) {
                    guard let date = earliest[sample.origin.type], sample.end < date else { continue }
                    throw HealthStoreError.refused(
                        object: index, reason: "\(sample.origin.type.id): it ended before the earliest date that the store keeps")
                }
                made.append(samples)
            }
            var description = IngestDescription(
                kind: .save, name: source.name, zone: zone.identifier, received: received.microseconds)
            // As HealthKit has it for the objects of an app.
            description.replacesAcrossDevices = true
            let outcomes: [SampleOutcome]
            do {
                outcomes = try store.save(made.flatMap(\.all), as: description, within: day)
            } catch let error as RefusedObject {
                var ends = 0
                let object = made.firstIndex { one in
                    ends += one.all.count
                    return error.index < ends
                }
                throw HealthStoreError.refused(object: object ?? 0, reason: error.fault.description)
            }
            var rest = outcomes[...]
            return made.map { object in
                let parts = object.parts.map { SavedObject($0, rest.removeFirst()) }
                return SavedObject(object.own, rest.removeFirst(), parts: parts)
            }
        }
    }
}

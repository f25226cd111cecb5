import HealthModel
import Pipeline
import SampleStore

/// The result of saving one object.
public struct SavedObject: Hashable, Sendable {
    /// The result of saving.
    public enum Outcome: Hashable, Sendable {
        /// The object is in the store.
        case stored
        /// The object is a known duplicate, was deleted before, or has a sync version that is not greater than the known one.
        /// Nothing was changed.
        case alreadyKnown
        /// The value is implausible, such as a body temperature of 98 °C. It is quarantined until a person decides (`vitalgate
        /// quarantine`).
        case quarantined
    }

    /// The object's UUID.
    public var uuid: SampleIdentity
    /// The result of saving.
    public var outcome: Outcome
    /// The results for the parts: a correlation's objects, a workout's routes.
    public var parts: [SavedObject]

    /// Creates a result.
    public init(uuid: SampleIdentity, outcome: Outcome, parts: [SavedObject] = []) {
        (self.uuid, self.outcome, self.parts) = (uuid, outcome, parts)
    }

    fileprivate init(_ sample: GatedSample, _ outcome: SampleOutcome, parts: [SavedObject] = []) {
        let own: Outcome =
            switch outcome {
            case .stored: .stored
            case .duplicate, .refused: .alreadyKnown
            case .quarantined: .quarantined
            }
        self.init(uuid: sample.sample.identity, outcome: own, parts: parts)
    }
}

extension HealthStore {
    /// Saves an object. It is durable when this returns.
    ///
    /// - Throws: ``HealthStoreError/refused(object:reason:)``, ``HealthStoreError/openedForReading``, `StoreError`.
    @discardableResult
    public func save(_ object: HealthObject) async throws -> SavedObject {
        let saved = try await save([object])
        return saved[0]
    }

    /// Saves objects in one transaction. If one is refused, none is saved. They are durable when this returns.
    ///
    /// - Returns: The result for each object, in the given order.
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
                source: source, person: person, zone: zone, received: received, aliases: try store.devices.aliases())
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
            // HealthKit does the same for an app's objects.
            description.replacesAcrossDevices = true
            let outcomes: [SampleOutcome]
            do {
                outcomes = try store.samples.save(made.flatMap(\.all), as: description, within: day)
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

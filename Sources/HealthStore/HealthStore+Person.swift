import HealthModel
import Pipeline
import SampleStore

extension HealthStore {
    /// Returns a characteristic of a person, such as date of birth, biological sex, blood type, skin type, wheelchair use, or the
    /// move ring's unit.
    ///
    /// - Parameters:
    ///   - type: The characteristic.
    ///   - person: A UUID. By default, the store's own person.
    ///   - date: The day, such as `2026-11-20`. By default, today in the store's zone.
    /// - Returns: The value on that day, or `nil` if it is not known.
    public func characteristic(
        _ type: CharacteristicType, of person: String? = nil, on date: String? = nil
    ) async throws -> Characteristic? {
        let (person, date) = (person ?? self.person, date ?? today)
        return try await readers.read { store in try store.people.characteristics(of: person).value(of: type, on: date) }
    }

    /// Sets a characteristic of a person from a day on. Earlier days keep their value.
    ///
    /// - Parameters:
    ///   - type: The characteristic.
    ///   - value: The new value, or `nil` for not known.
    ///   - person: A UUID. By default, the store's own person.
    ///   - date: The first day with this value, such as `2026-11-20`. By default, today in the store's zone.
    /// - Throws: `StoreError` of the kind `invalid` for an invalid date.
    public func setCharacteristic(
        _ type: CharacteristicType, to value: Characteristic?, of person: String? = nil, from date: String? = nil
    ) async throws {
        let (person, date, recorded) = (person ?? self.person, date ?? today, now())
        try await write { store in try store.people.set(type, to: value, of: person, from: date, recorded: recorded) }
    }

    /// Saves a medication of a person. It replaces a medication of the same name. ``UserAnnotatedMedicationQueryDescriptor``
    /// returns them.
    ///
    /// - Parameters:
    ///   - medication: The medication, identified by its name.
    ///   - person: A UUID. By default, the store's own person.
    /// - Throws: `StoreError` of the kind `invalid` for an empty name or one that is too long, or
    ///   ``HealthStoreError/openedForReading``.
    public func save(_ medication: UserAnnotatedMedication, of person: String? = nil) async throws {
        let person = person ?? self.person
        try await write { store in try store.people.save(medication, of: person) }
    }

    /// Removes a medication. Its dose events are kept.
    ///
    /// - Parameters:
    ///   - name: The medication's name.
    ///   - person: A UUID. By default, the store's own person.
    /// - Returns: Whether the person had the medication.
    @discardableResult
    public func removeMedication(named name: String, of person: String? = nil) async throws -> Bool {
        let person = person ?? self.person
        return try await write { store in try store.people.removeMedication(name, of: person) }
    }

    /// The display units of types: those that the store was opened with, or else those of its locale's region, or else the types'
    /// own units. Stored values do not depend on them.
    public func preferredUnits(for types: Set<SampleType>) -> [SampleType: Unit] {
        var units: [SampleType: Unit] = [:]
        for type in types { units[type] = unitPreferences[type] ?? regionalUnits?.unit(of: type) ?? type.canonicalUnit }
        return units
    }

    /// The earliest date that a saved object of a type may have. Retention (`vitalgate store prune`) has removed objects that ended
    /// before it. A date before 1971 is rejected because it comes from a clock that was not set.
    public func earliestPermittedSampleDate(for type: SampleType) async throws -> Instant {
        let dates = try await readers.read { store in try store.earliestPermittedDates() }
        return max(dates[type] ?? Normaliser.earliest, Normaliser.earliest)
    }

    private var today: String { zone.date(of: now()) }
}

import HealthModel
import Pipeline
import SampleStore

extension HealthStore {
    /// What is so of a person and is no sample: date of birth, biological sex, blood type, skin type, use of a wheelchair, what the move ring counts.
    ///
    /// - Parameters:
    ///   - type: which of these.
    ///   - person: a UUID; the store's own person, where none is given.
    ///   - date: the day of which it is asked, `2026-11-20`; today in the store's zone, where none is given.
    /// - Returns: `nil` where nothing is known.
    public func characteristic(
        _ type: CharacteristicType, of person: String? = nil, on date: String? = nil
    ) async throws -> Characteristic? {
        let (person, date) = (person ?? self.person, date ?? today)
        return try await readers.read { store in try store.characteristics(of: person).value(of: type, on: date) }
    }

    /// Says what is so of a person from a day on; what was said before keeps its own days.
    ///
    /// - Parameters:
    ///   - type: of what.
    ///   - value: `nil` that nothing is known of it.
    ///   - person: a UUID; the store's own person, where none is given.
    ///   - date: the first day on which it is so, `2026-11-20`; today in the store's zone, where none is given.
    /// - Throws: `StoreError` of the kind `invalid` for a date that is none.
    public func setCharacteristic(
        _ type: CharacteristicType, to value: Characteristic?, of person: String? = nil, from date: String? = nil
    ) async throws {
        let (person, date, said) = (person ?? self.person, date ?? today, now())
        try await write { store in try store.set(type, to: value, of: person, from: date, said: said) }
    }

    /// Notes a medication of a person; one of the same name is what is said now. ``UserAnnotatedMedicationQueryDescriptor`` asks for them.
    ///
    /// - Parameters:
    ///   - medication: with its name, by which it is told apart.
    ///   - person: a UUID; the store's own person, where none is given.
    /// - Throws: `StoreError` of the kind `invalid` for an empty name, or one that is too long; ``HealthStoreError/openedForReading``.
    public func save(_ medication: UserAnnotatedMedication, of person: String? = nil) async throws {
        let person = person ?? self.person
        try await write { store in try store.save(medication, of: person) }
    }

    /// Forgets a medication; what was told of its doses stays.
    ///
    /// - Parameters:
    ///   - name: as it was noted.
    ///   - person: a UUID; the store's own person, where none is given.
    /// - Returns: whether the person had it.
    @discardableResult
    public func removeMedication(named name: String, of person: String? = nil) async throws -> Bool {
        let person = person ?? self.person
        return try await write { store in try store.removeMedication(name, of: person) }
    }

    /// The units that amounts of types are to be shown in: those that the store was opened with, else those of its locale's region, else the types' own. They change nothing that is stored.
    public func preferredUnits(for types: Set<SampleType>) -> [SampleType: Unit] {
        var units: [SampleType: Unit] = [:]
        for type in types { units[type] = unitPreferences[type] ?? regionalUnits?.unit(of: type) ?? type.canonicalUnit }
        return units
    }

    /// The earliest date that objects of a type may have to be saved: what ended before it has been removed by retention (`vitalgate store prune`), and what began before 1971 is
    /// a clock's that was not set.
    public func earliestPermittedSampleDate(for type: SampleType) async throws -> Instant {
        let dates = try await readers.read { store in try store.earliestPermittedDates() }
        return max(dates[type] ?? Normaliser.earliest, Normaliser.earliest)
    }

    private var today: String { zone.date(of: now()) }
}

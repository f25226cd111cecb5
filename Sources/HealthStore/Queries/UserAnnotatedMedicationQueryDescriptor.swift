import HealthModel
import SampleStore

/// A query for a person's medications, like HealthKit's `HKUserAnnotatedMedicationQueryDescriptor`.
///
///     let taken = try await UserAnnotatedMedicationQueryDescriptor(isArchived: false).result(for: store)
///     let doses = SampleQueryDescriptor(predicate: taken[0].doses)
public struct UserAnnotatedMedicationQueryDescriptor: Sendable {
    /// Whether to return only archived medications, or only others. `nil` returns both.
    public var isArchived: Bool?
    /// Whether to return only medications with a schedule, or only others. `nil` returns both.
    public var hasSchedule: Bool?
    /// The maximum number of medications.
    public var limit: Int?
    /// The person's UUID, or `nil` for the store's own person.
    public var person: String?

    /// Creates a query for medications.
    public init(isArchived: Bool? = nil, hasSchedule: Bool? = nil, limit: Int? = nil, person: String? = nil) {
        (self.isArchived, self.hasSchedule, self.limit, self.person) = (isArchived, hasSchedule, limit, person)
    }

    /// The medications, sorted by name.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [UserAnnotatedMedication] {
        let (query, person) = (self, person ?? store.person)
        return try await store.readers.read { store in
            let found = try store.people.medications(of: person).filter {
                (query.isArchived ?? $0.isArchived) == $0.isArchived && (query.hasSchedule ?? $0.hasSchedule) == $0.hasSchedule
            }
            return Array(found.prefix(max(query.limit ?? .max, 0)))
        }
    }
}

extension UserAnnotatedMedication {
    /// A predicate for the dose events of the medication.
    public var doses: SamplePredicate {
        .and([.types([.medicationDoseEvent]), .comparison(.object(.medication), .equal, .text(name))])
    }
}

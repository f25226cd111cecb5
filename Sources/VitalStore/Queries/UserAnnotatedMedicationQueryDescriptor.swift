import HealthModel
import SampleStore

/// Asks for a person's medications, as HealthKit's `HKUserAnnotatedMedicationQueryDescriptor`.
///
///     let taken = try await UserAnnotatedMedicationQueryDescriptor(isArchived: false).result(for: store)
///     let doses = SampleQueryDescriptor(predicate: taken[0].doses)
public struct UserAnnotatedMedicationQueryDescriptor: Sendable {
    /// Only those that are archived, or only those that are not; all where it is `nil`.
    public var isArchived: Bool?
    /// Only those with a schedule, or only those without; all where it is `nil`.
    public var hasSchedule: Bool?
    /// At most so many.
    public var limit: Int?
    /// A UUID; the store's own person, where none is given.
    public var person: String?

    /// Asks for medications.
    public init(isArchived: Bool? = nil, hasSchedule: Bool? = nil, limit: Int? = nil, person: String? = nil) {
        (self.isArchived, self.hasSchedule, self.limit, self.person) = (isArchived, hasSchedule, limit, person)
    }

    /// They, by name.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [UserAnnotatedMedication] {
        let (query, person) = (self, person ?? store.person)
        return try await store.readers.read { store in
            let found = try store.medications(of: person).filter {
                (query.isArchived ?? $0.isArchived) == $0.isArchived && (query.hasSchedule ?? $0.hasSchedule) == $0.hasSchedule
            }
            return Array(found.prefix(max(query.limit ?? .max, 0)))
        }
    }
}

extension UserAnnotatedMedication {
    /// Met by the samples that tell a dose of it.
    public var doses: SamplePredicate {
        .and([.types([.medicationDoseEvent]), .comparison(.object(.medication), .equal, .text(name))])
    }
}

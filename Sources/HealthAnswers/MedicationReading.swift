import HealthModel
import SampleStore

package struct MedicationReading: Sendable {
    package let name: String
    /// What the person recorded about it, or `nil` if only doses are known.
    package let medication: UserAnnotatedMedication?
    /// The doses, newest first.
    package let doses: [Sample]
    /// The number of doses by status, such as `taken`.
    package let counts: [String: Int]

    private static let maximum = 5000

    /// The medications of a person with their doses from a time on, sorted by name. Archived ones are last.
    ///
    /// - Parameters:
    ///   - known: The recorded medications of the person.
    ///   - own: A reader of the person's samples.
    package static func all(
        of person: String, from: Instant, recorded known: [UserAnnotatedMedication], doses own: SampleStore
    ) throws(StoreError) -> [MedicationReading] {
        var doses: [String: [Sample]] = [:]
        if let type = SampleType("medicationDoseEvent") {
            let cursor = try own.samples.cursor(
                matching: SampleQuery(types: [type], from: from, person: person, descending: true, limit: maximum))
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample {
                guard let name = (try? sample.body?.decoded(as: MedicationDoseEvent.self))?.medication else { continue }
                doses[name, default: []].append(sample)
            }
        }
        let names = Set(known.map(\.name)).union(doses.keys)
        let readings = names.map { name in
            let own = doses[name] ?? []
            let counts = Dictionary(grouping: own) { $0.origin.type.caseName(of: $0.value) ?? "" }.mapValues(\.count)
            return MedicationReading(name: name, medication: known.first { $0.name == name }, doses: own, counts: counts)
        }
        return readings.sorted { one, other in
            let (first, second) = (one.medication?.isArchived ?? false, other.medication?.isArchived ?? false)
            return first == second ? one.name < other.name : second
        }
    }
}

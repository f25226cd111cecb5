import HealthModel
import SampleStore
import Testing

@testable import HealthStore

/// A person's medications, and their doses.
@Suite(.timeLimit(.minutes(15))) struct MedicationTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    @Test func queriesMedicationsByAnnotation() async throws {
        let ibuprofen = UserAnnotatedMedication(
            name: "Ibuprofen 400 mg", generalForm: .tablet,
            codes: [Coding(system: "http://www.nlm.nih.gov/research/umls/rxnorm", code: "310965")], nickname: "headache")
        let insulin = UserAnnotatedMedication(name: "Insulin glargine", generalForm: .injection, hasSchedule: true)
        let old = UserAnnotatedMedication(name: "Amoxicillin", generalForm: .capsule, isArchived: true, hasSchedule: true)
        for medication in [ibuprofen, insulin, old] { try await store.save(medication) }
        typealias Query = UserAnnotatedMedicationQueryDescriptor
        #expect(try await Query().result(for: store) == [old, ibuprofen, insulin])
        #expect(try await Query(isArchived: false).result(for: store) == [ibuprofen, insulin])
        #expect(try await Query(isArchived: false, hasSchedule: true).result(for: store) == [insulin])
        #expect(try await Query(limit: 1).result(for: store) == [old])
        let other = "00000000-0000-4000-8000-000000000001"
        #expect(try await Query(person: other).result(for: store).isEmpty)
        // The same name again replaces the medication of this person.
        var archived = insulin
        archived.isArchived = true
        try await store.save(archived)
        try await store.save(insulin, of: other)
        #expect(try await Query(isArchived: true).result(for: store) == [old, archived])
        #expect(try await Query(person: other).result(for: store) == [insulin])
        #expect(try await store.removeMedication(named: "Amoxicillin"))
        #expect(try await !store.removeMedication(named: "Amoxicillin"))
        #expect(try await Query().result(for: store) == [ibuprofen, archived])
        #expect(try SampleStore(path: test.path, access: .read).check(deep: true).isEmpty)
    }

    @Test func itsDosesAreTheSamplesThatNameIt() async throws {
        let medication = UserAnnotatedMedication(name: "Ibuprofen 400 mg")
        let doses = ["Ibuprofen 400 mg", "Ibuprofen"].enumerated().map { index, name in
            HealthObject.object(
                .medicationDoseEvent, number: Numeral(coefficient: 4), saying: MedicationDoseEvent(medication: name),
                from: TestHealth.time(Int64(index)))
        }
        try await store.save(doses)
        let found = try await SampleQueryDescriptor(predicate: medication.doses).result(for: store)
        let names = try found.map { try $0.sample.body?.decoded(as: MedicationDoseEvent.self).medication }
        #expect(names == ["Ibuprofen 400 mg"])
    }

    @Test(arguments: ["", String(repeating: "a", count: 501)])
    func aNameHasAnEnd(_ name: String) async throws {
        await #expect(throws: StoreError.self) { try await store.save(UserAnnotatedMedication(name: name)) }
        await #expect(throws: StoreError.self) {
            try await store.save(UserAnnotatedMedication(name: "Aspirin", nickname: name + String(repeating: "b", count: 501)))
        }
    }

    /// HealthKit's names, as its header has them.
    @Test func formsAreHealthKits() {
        let header = """
            Capsule Cream Device Drops Foam Gel Inhaler Injection Liquid Lotion Ointment Patch Powder Spray Suppository Tablet Topical Unknown
            """
        #expect(header.lowercased().split(separator: " ").map(String.init) == MedicationGeneralForm.allCases.map(\.rawValue))
    }
}

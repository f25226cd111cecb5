import FoundationEssentials
import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import HealthStore

/// Opening a store, and the properties of its person.
@Suite struct HealthStoreTests {
    @Test func createsMissingStoreOnlyOnRequest() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        #expect(await thrown(StoreError.self) { _ = try HealthStore(path: path) }?.kind == .missing)
        let access = HealthStore.Access.write(as: TestHealth.source)
        #expect(await thrown(StoreError.self) { _ = try HealthStore(path: path, access: access) }?.kind == .missing)
        let store = try HealthStore(path: path, access: access, creating: true)
        #expect(folder.mode("store.db") == 0o600)
        #expect(try HealthStore(path: path).person == store.person)
    }

    @Test func readOnlyStoreRejectsWrites() async throws {
        let test = try TestHealth()
        let reader = try test.another()
        #expect(
            await thrown(HealthStoreError.self) { try await reader.save(TestHealth.steps(1, 5)) } == .openedForReading)
        #expect(
            await thrown(HealthStoreError.self) { try await reader.deleteObjects(matching: .everything) } == .openedForReading)
        #expect(
            await thrown(HealthStoreError.self) { try await reader.setCharacteristic(.bloodType, to: nil) } == .openedForReading)
    }

    @Test func characteristicsHoldFromTheirDay() async throws {
        let test = try TestHealth()
        #expect(try await test.store.characteristic(.wheelchairUse) == nil)
        try await test.store.setCharacteristic(.wheelchairUse, to: Characteristic(.wheelchairUse, "yes"), from: "2026-11-10")
        #expect(try await test.another().characteristic(.wheelchairUse)?.value == "yes")
        #expect(try await test.store.characteristic(.wheelchairUse, on: "2026-11-09") == nil)
        #expect(
            await thrown(StoreError.self) {
                try await test.store.setCharacteristic(.bloodType, to: nil, from: "yesterday")
            }?.kind == .invalid)
    }

    @Test func preferredUnitsReplaceDefaults() throws {
        let test = try TestHealth()
        let inches = try Unit(ucum: "[in_i]")
        let store = try HealthStore(path: test.path, unitPreferences: [.distanceWalkingRunning: inches])
        #expect(
            store.preferredUnits(for: [.distanceWalkingRunning, .heartRate])
                == [.distanceWalkingRunning: inches, .heartRate: SampleType.heartRate.canonicalUnit])
    }

    @Test func datesAndInstantsAreTheSame() {
        let instant = Instant(microseconds: 1_795_172_400_123_456)
        #expect(Instant(Date(instant)) == instant)
        #expect(Instant(Date(timeIntervalSince1970: -1.5)) == Instant(microseconds: -1_500_000))
        #expect(Instant(Date(timeIntervalSince1970: 1e300)) > instant)
        #expect(Instant(Date(timeIntervalSince1970: .nan)) == Instant(microseconds: 0))
    }

    @Test func zonesByName() throws {
        #expect(TimeZoneRules.named("UTC") == TimeZoneRules(fixed: .utc))
        #expect(TimeZoneRules.named("+01:00")?.offset(at: TestHealth.now).seconds == 3600)
        #expect(TimeZoneRules.named("Europe/Berlin")?.offset(at: TestHealth.now).seconds == 3600)
        for name in ["", "/etc/localtime", "../../../etc/localtime", "Europe", "Nowhere/At all", "Europe/Berlin\0"] {
            #expect(TimeZoneRules.named(name) == nil, "\(name)")
        }
    }
}

import HealthModel
import Pipeline
import Testing

@testable import SampleStore

/// A change of several statements is written completely or not at all. A trigger simulates the kill between two of them.
@Suite struct AtomicWritesTests {
    static let device = AdoptedDevice(
        address: "serial:1", key: "serial:1", profiles: ["generic-lines"], name: "scale", person: Origin.unassigned, adopted: 1)
    static let use = SharedUse(person: TestStore.person, weights: 50...65)

    static func fail(_ when: String, _ test: TestStore) throws {
        try test.execute("CREATE TEMP TRIGGER cut BEFORE \(when) BEGIN SELECT RAISE(ABORT, 'cut'); END")
    }

    @Test func aDeviceIsForgottenWhole() throws {
        try TestStore.with { test in
            try test.store.devices.save(Self.device)
            try test.store.devices.assign(device: Self.device.address, to: Origin.unassigned, sharedBy: [Self.use])
            try Self.fail("DELETE ON main.shared_use", test)
            #expect(throws: StoreError.self) { try test.store.devices.forget(device: Self.device.address) }
            #expect(try test.store.devices.adopted().map(\.sharedBy) == [[Self.use]])
        }
    }

    @Test func deviceWritesAreAtomic() throws {
        try TestStore.with { test in
            try test.store.devices.save(Self.device)
            try test.store.devices.assign(device: Self.device.address, to: Origin.unassigned, sharedBy: [Self.use])
            try Self.fail("DELETE ON main.shared_use", test)
            var own = Self.device
            own.person = TestStore.person
            #expect(throws: StoreError.self) { try test.store.devices.save(own) }
            #expect(try test.store.devices.adopted().map(\.person) == [Origin.unassigned])
        }
    }

    @Test func comparisonAndReleaseAreAtomic() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("80.1", at: 60, rule: .clockUnknown)])
            try Self.fail("INSERT ON main.ingest", test)
            let comparison = ClockComparison(device: NearDuplicateTests.scale.key, shown: 0, received: 0, ahead: nil)
            #expect(throws: StoreError.self) {
                try test.store.devices.save(comparison, description: TestStore.description(.release))
            }
            #expect(try test.store.devices.clockComparisons(of: NearDuplicateTests.scale.key) == [])
        }
    }

    /// Shared rows that a failed change created are not reused.
    @Test func aFailedChangeLeavesNothingToShare() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("999", at: 60, rule: .impossible)])
            #expect(throws: StoreError.self) {
                try test.store.quarantine.accept([1, 99], description: TestStore.description(.accept))
            }
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try test.samples().count == 1)
        }
    }
}

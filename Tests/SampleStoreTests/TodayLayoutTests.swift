import HealthModel
import SampleStore
import Testing

/// The arrangement of Today's cards, in the settings of the store.
@Suite struct TodayLayoutTests {
    private static let anna = "99999999-2222-4333-8444-555555555555"

    @Test func eachPersonHasTheirOwn() throws {
        try TestStore.with { test in
            let store = try test.store
            #expect(try store.people.todayLayout(of: TestStore.person) == .standard)
            let layout = TodayLayout(order: ["group.vitals", "bloodGlucose", "heartRate"], hidden: ["heartRate", "rings"])
            try store.people.save(layout, of: TestStore.person)
            try store.people.save(TodayLayout(hidden: ["stepCount"]), of: Self.anna)
            #expect(try store.people.todayLayout(of: TestStore.person) == layout)
            #expect(try store.people.todayLayout(of: Self.anna) == TodayLayout(hidden: ["stepCount"]))
            try store.people.save(.standard, of: TestStore.person)
            #expect(try store.people.todayLayout(of: TestStore.person) == .standard)
        }
    }

    @Test func keysHaveBounds() throws {
        try TestStore.with { test in
            let store = try test.store
            for layout in [
                TodayLayout(order: [""]), TodayLayout(order: ["a\nb"]), TodayLayout(hidden: ["ä"]),
                TodayLayout(order: ["a", "a"]),
                TodayLayout(order: [String(repeating: "a", count: 101)]), TodayLayout(order: (0...1000).map { "k\($0)" }),
                TodayLayout(hidden: Set((0...1000).map { "k\($0)" })),
            ] {
                #expect(throws: StoreError.self) { try store.people.save(layout, of: TestStore.person) }
            }
            #expect(try store.people.todayLayout(of: TestStore.person) == .standard)
            try store.people.save(TodayLayout(order: (0..<1000).map { "k\($0)" }), of: TestStore.person)
        }
    }

    @Test func erasureRemovesIt() throws {
        try TestStore.with { test in
            let store = try test.store
            try store.people.save(Person(id: Self.anna, name: "Anna"))
            for person in [Self.anna, TestStore.person] { try store.people.save(TodayLayout(hidden: ["rings"]), of: person) }
            _ = try store.erasure.erase(Self.anna, at: TestStore.received)
            #expect(try store.people.todayLayout(of: Self.anna) == .standard)
            #expect(try store.people.todayLayout(of: TestStore.person).hidden == ["rings"])
        }
    }
}

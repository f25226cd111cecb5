import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// An object names others only to those who may read them.
@Suite struct ReadableReferencesTests {
    private func reader(_ test: TestStore, _ types: [String], named name: String, from: Instant? = nil) throws -> SampleStore {
        let client = try test.store.clients.add(named: name, purpose: "a test", at: RestrictionTests.now)
        for id in types {
            let type = try #require(ObjectType(id))
            try test.store.clients.set(
                Grant(person: TestStore.person, type: type, reading: from.map { .from($0) } ?? .all, mayWrite: false),
                of: client,
                at: RestrictionTests.now)
        }
        return try RestrictionTests.restricted(test, to: client)
    }

    private func object(_ id: String, _ body: SampleBody, at hour: Int64, lasting length: Int64 = 0) throws -> GatedSample {
        let type = try RestrictionTests.type(id)
        let start = Instant(microseconds: RestrictionTests.origin + hour * RestrictionTests.hour)
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: type, source: SourceRevision(id: "watch", name: "Watch", version: nil),
                device: nil),
            numeral: Numeral(coefficient: id == "workout" ? 37 : 0), unit: .one,
            time: .instants(start: start, end: Instant(microseconds: start.microseconds + length * 1_000_000), offset: .utc),
            body: body, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private func line(_ uuid: SampleIdentity, _ reader: SampleStore) throws -> String {
        TestStore.line(try #require(try reader.samples.sample(uuid)).sample)
    }

    @Test func correlationListsReadableObjects() throws {
        try TestStore.with { test in
            let (high, low) = (
                try SampleMaker(.bloodPressureSystolic)("121", at: 0),
                try SampleMaker(.bloodPressureDiastolic).local(2)("79", at: 7200)
            )
            let names = [high, low].map(\.sample.identity)
            let pressure = try object("bloodPressure", try SampleBody(encoding: Correlation(objects: names)), at: 0)
            try test.keep([high, low, pressure])
            let uuid = pressure.sample.identity
            for (types, reported) in [
                (["bloodPressureSystolic", "bloodPressureDiastolic"], names), (["bloodPressureSystolic"], [names[0]]),
                (["bloodPressureDiastolic"], [names[1]]), ([], []),
            ] {
                let reader = try reader(test, types + ["bloodPressure"], named: types.joined(separator: "-") + "x")
                for name in names {
                    #expect(try line(uuid, reader).contains(name.description) == reported.contains(name), "\(types)")
                }
                // As well in changes and lists.
                let answers = try Answers(of: reader, asked: [uuid], people: [TestStore.person])
                for (key, lines) in answers.reported {
                    for name in names where !reported.contains(name) {
                        #expect(!lines.joined().contains(name.description), "\(key) \(types)")
                    }
                }
            }
            // A sample that the client could read before its deletion can still be named.
            try test.delete(high)
            let reader = try reader(test, ["bloodPressure", "bloodPressureSystolic"], named: "later")
            #expect(try line(uuid, reader).contains(names[0].description))
            #expect(try line(uuid, test.store).contains(names[1].description))
        }
    }

    @Test func workoutHidesUnreadableRoute() throws {
        try TestStore.with { test in
            var writer = PointsWriter(columns: WorkoutRoute.columns)
            try writer.append([try Numeral("0"), try Numeral("51.4"), try Numeral("5.4"), nil, nil, nil, nil, nil])
            let (points, content) = try writer.end()
            let plain = try object("workout", try SampleBody(encoding: Workout()), at: 3, lasting: 60)
            let route = try object(
                "workoutRoute",
                try SampleBody(
                    encoding: WorkoutRoute(points: points, workout: plain.sample.identity.description), content: content), at: 3,
                lasting: 60)
            let workout = try object(
                "workout", try SampleBody(encoding: Workout(routes: [route.sample.identity.description])), at: 4, lasting: 60)
            try test.keep([plain, route, workout])
            let (both, one, other) = (
                try reader(test, ["workout", "workoutRoute"], named: "both"), try reader(test, ["workout"], named: "one"),
                try reader(test, ["workoutRoute"], named: "other")
            )
            #expect(try line(workout.sample.identity, both).contains(route.sample.identity.description))
            #expect(try !line(workout.sample.identity, one).contains(route.sample.identity.description))
            #expect(try line(route.sample.identity, both).contains(plain.sample.identity.description))
            #expect(try !line(route.sample.identity, other).contains(plain.sample.identity.description))
            // Its points are all there.
            let shown = try #require(try other.samples.sample(route.sample.identity)?.sample.body)
            let packed = try #require(route.sample.body).bytes.drop { $0 != 0 }
            #expect(shown.bytes.drop { $0 != 0 } == packed && packed.count > 10)
        }
    }

    /// The UUID of a sample's replacement belongs to another person, or is before the readable range.
    @Test func deletionHidesUnreadableReplacement() throws {
        try TestStore.with { test in
            let sample = try SampleMaker(.bodyMass)("71", at: 0)
            try test.keep([sample])
            _ = try test.store.people.assign([sample.sample.identity], to: RestrictionTests.other, now: TestStore.later)
            let mine = try reader(test, ["bodyMass"], named: "mine")
            func successors(_ store: SampleStore) throws -> [String?] {
                var found: [String?] = []
                try store.changes.read(after: .beginning, types: nil) { change, _ in
                    if case .deleted(let deleted) = change { found.append(deleted.replacedBy) }
                }
                return found
            }
            let new = try #require(try test.identities().first)
            #expect(try successors(test.store) == [new.description])
            #expect(try successors(mine) == [nil])
            guard case .deleted(_, let successor)? = try mine.samples.lookup(sample.sample.identity) else {
                Issue.record("it is not told of at all")
                return
            }
            #expect(successor == nil)
            let both = try #require(try test.store.clients.client(named: "mine"))
            try test.store.clients.set(
                Grant(person: RestrictionTests.other, type: ObjectType(.bodyMass), reading: .all, mayWrite: false), of: both,
                at: RestrictionTests.now)
            #expect(try successors(mine) == [new.description])
        }
    }
}

import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Random stores and grants: a restricted reader answers as a store does that has only what may be read.
@Suite struct RandomGrantTests {
    private static let people = [TestStore.person, RestrictionTests.other]
    private static let types = ["heartRate", "stepCount", "bodyMass", "cda", "activitySummary", "biologicalSex"]

    private struct Case {
        var generator: SeededGenerator
        let client: Client
        /// By subject and type.
        var grants: [String: Grant] = [:]
        var named: Set<SampleIdentity> = []

        init(seed: UInt64, client: Client) {
            generator = SeededGenerator(seed: seed)
            self.client = client
        }

        mutating func choose<Element>(_ choices: [Element]) -> Element {
            choices[Int(generator.next() % UInt64(choices.count))]
        }

        /// Few times, few values, so that the same stretch has what may be read and what may not.
        mutating func sample(_ number: Int) throws -> GatedSample {
            let type = choose(["heartRate", "heartRate", "stepCount", "bodyMass", "cda"])
            let (person, source) = (choose(RandomGrantTests.people), choose(["strap", "phone", client.source]))
            let hour = choose([0, 1, 2, 30, 31])
            guard type != "cda" else {
                return try RestrictionTests.condition("c\(number)", at: hour, person: person, source: source, type: type)
            }
            let maker = try SampleMaker(try RestrictionTests.type(type), source: source, sourceName: source, person: person)
            // No two sources report the same instant, because each store has its own order for those.
            let second: Double = source == "strap" ? 0 : source == "phone" ? 1 : 2
            let made = choose([0, 2]) == 0 ? maker : maker.local(2)
            return try made(
                choose(["60", "61", "62"]), at: Double(hour) * 3600 + second, lasting: type == "stepCount" ? 5400 : 0,
                ordinal: UInt32(number))
        }

        mutating func grant(_ test: TestStore, among samples: [GatedSample]) throws {
            for person in RandomGrantTests.people {
                for id in RandomGrantTests.types where choose([true, true, false]) {
                    let type = try #require(ObjectType(id))
                    let from = Instant(microseconds: RestrictionTests.origin + RestrictionTests.hour * choose([0, 1, 2, 31]))
                    var reading = choose([Grant.Reading.none, .all, .from(from)])
                    var objects: [SampleIdentity] = []
                    if type.isAskedByObject {
                        reading = choose([Grant.Reading.none, .objects(future: false), .objects(future: true)])
                        if reading != .none {
                            let own = samples.filter { $0.sample.origin.person == person && $0.sample.origin.type.id == id }
                            for one in own where choose([true, false]) { objects.append(one.sample.identity) }
                        }
                    }
                    let grant = Grant(
                        person: person, type: type, reading: reading, mayWrite: choose([true, false]) && !type.isReadOnly)
                    try test.store.clients.set(grant, objects: objects, of: client, at: RestrictionTests.now)
                    grants[person + id] = grant
                    named.formUnion(objects)
                }
            }
        }

        /// The person's intention, written out.
        func mayRead(_ sample: Sample, isLater: Bool) -> Bool {
            guard let grant = grants[sample.origin.person + sample.origin.type.id] else { return false }
            if grant.mayWrite, sample.origin.source.id == client.source { return true }
            switch grant.reading {
            case .none: return false
            case .from(let start): return sample.start >= start
            case .objects(let future): return named.contains(sample.identity) || (future && isLater)
            }
        }
    }

    @Test(arguments: 0..<24) func restrictedReaderEqualsReducedStore(seed: UInt64) throws {
        try TestStore.with { test in
            let client = try test.store.clients.add(named: "random", purpose: "a test", at: RestrictionTests.now)
            var random = Case(seed: seed, client: client)
            let early = try (0..<30).map { try random.sample($0) }
            let late = try (30..<60).map { try random.sample($0) }
            var deleted: [GatedSample] = []
            for sample in early + late where random.choose([true, false, false, false]) { deleted.append(sample) }
            try test.keepExactly(early, client: client)
            try random.grant(test, among: early)
            try test.keepExactly(late, client: client)
            for sample in deleted { try test.delete(sample) }
            for person in Self.people {
                try test.store.people.set(
                    .biologicalSex, to: Characteristic(.biologicalSex, "female"), of: person, from: "2026-01-01",
                    recorded: RestrictionTests.now)
            }
            let visible = [
                early.filter { random.mayRead($0.sample, isLater: false) },
                late.filter { random.mayRead($0.sample, isLater: true) },
            ]
            let all = early + late
            let asked = all.map(\.sample.identity)
            let reader = try RestrictionTests.restricted(test, to: client)
            let reported = try Answers(of: reader, asked: asked, people: Self.people)
            try TestStore.with { filtered in
                for batch in visible { try filtered.keepExactly(batch) }
                let retained = Set(visible.joined().map(\.sample.identity))
                for sample in deleted where retained.contains(sample.sample.identity) { try filtered.delete(sample) }
                for person in Self.people {
                    guard let grant = random.grants[person + "biologicalSex"], grant.reading != .none else { continue }
                    try filtered.store.people.set(
                        .biologicalSex, to: Characteristic(.biologicalSex, "female"), of: person, from: "2026-01-01",
                        recorded: RestrictionTests.now)
                }
                var expected = try Answers(of: filtered.store, asked: asked, people: Self.people)
                // The days are a type of their own, which ringsNeedAGrantOfTheirOwn tries.
                expected.reported["rings"] = reported.reported["rings"]
                expected.reported["ring subjects"] = reported.reported["ring subjects"]
                for key in Set(expected.reported.keys).union(reported.reported.keys).sorted() {
                    #expect(reported.reported[key] ?? [] == expected.reported[key] ?? [], "\(key)")
                }
            }
        }
    }
}

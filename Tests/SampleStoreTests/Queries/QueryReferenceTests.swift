import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Random small stores (coarse times, equal ones, back-dated, deleted, repaired, reported in other units) and random queries, compared with
/// all samples filtered and sorted in memory.
@Suite struct QueryReferenceTests {
    static let epoch: Int64 = 1_767_225_600_000_000

    /// A store's samples by the plainest way there is: every row of every series.
    static func everything(_ store: SampleStore) throws -> [(series: Int64, stored: StoredSample)] {
        let decoder = SampleDecoder(connection: store.connection)
        var all: [(series: Int64, stored: StoredSample)] = []
        let rows = try Statement(
            store.connection, "SELECT \(SampleDecoder.columns), series FROM sample ORDER BY start, series, seq")
        while try rows.step() { all.append((rows.integer(10), try decoder.decode(rows, series: rows.integer(10)))) }
        return all
    }

    private struct Store {
        var random: SeededGenerator

        /// Two people, two sources, with and without devices, and instants and intervals on a grid of ten seconds.
        mutating func batch() throws -> [GatedSample] {
            var makers: [SampleMaker] = []
            for person in [TestStore.person, "unassigned"] {
                for source in ["a", "b"] {
                    let device = source == "b" ? Device(key: "k", model: "M") : nil
                    makers.append(try SampleMaker(source: source, sourceName: "S", device: device, person: person))
                    makers.append(try SampleMaker(.stepCount, source: source, sourceName: "S", person: person))
                    makers.append(
                        try SampleMaker(.bodyTemperature, source: source, sourceName: "T", version: "1.10", person: person))
                }
            }
            makers.append(try SampleMaker(try #require(SampleType(category: "sleepAnalysis")), source: "a"))
            var batch: [GatedSample] = []
            for _ in 0..<Int.random(in: 20...60, using: &random) {
                let maker = try #require(makers.randomElement(using: &random)).local(Int.random(in: 0...1, using: &random))
                let lasts = [SampleType.heartRate, .bodyTemperature].contains(maker.origin.type)
                let time = Double(Int.random(in: 0..<8, using: &random)) * 10 + (maker.skew == 0 ? 0 : 3600)
                batch.append(
                    try maker(
                        "\(Int.random(in: 1...3, using: &random))", at: time,
                        lasting: lasts ? 0 : Double(Int.random(in: 0..<3, using: &random)) * 10,
                        ordinal: UInt32.random(in: 0..<2, using: &random),
                        metadata: Int.random(in: 0..<3, using: &random) == 0
                            ? Metadata([("wasUserEntered", .boolean(Bool.random(using: &random)))]) : nil))
            }
            return batch
        }

        /// A cuff's frames: some without their second half.
        mutating func frames() throws -> [GatedSample] {
            var batch: [GatedSample] = []
            for index in 0..<Int.random(in: 0...5, using: &random) {
                let (group, time) = (UInt64(index / 2 + 1), Double(index / 2) * 10)
                let device = Device(key: "cuff")
                let high = try SampleMaker(.bloodPressureSystolic, source: "c", device: device)
                let low = try SampleMaker(.bloodPressureDiastolic, source: "c", device: device)
                batch.append(try high("12\(index)", at: time, group: group))
                if Int.random(in: 0..<4, using: &random) > 0 { batch.append(try low("8\(index)", at: time, group: group)) }
            }
            return batch
        }

        mutating func correlation(of objects: [GatedSample], _ type: String, at second: Double) throws -> GatedSample {
            let start = Instant(microseconds: QueryReferenceTests.epoch + Int64(second * 1e6))
            let reading = Reading(
                origin: Origin(
                    person: TestStore.person, type: try #require(SampleType(type)), source: SourceRevision(id: "a", name: "A"),
                    device: nil),
                numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc),
                body: try SampleBody(encoding: Correlation(objects: objects.map(\.sample.identity))), place: Place(.line, 1))
            return try #require(
                try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
        }
    }

    private struct Conditions {
        var random: SeededGenerator
        let all: [(series: Int64, stored: StoredSample)]
        let workout: SampleIdentity

        mutating func one<Element>(_ list: [Element]) throws -> Element { try #require(list.randomElement(using: &random)) }

        mutating func leaf() throws -> SamplePredicate {
            let time = Instant(microseconds: QueryReferenceTests.epoch + Int64.random(in: -1..<10, using: &random) * 10_000_000)
            let comparison = try one([.equal, .notEqual, .below, .atMost, .above, .atLeast] as [SamplePredicate.Comparison])
            let equality = try one([.equal, .notEqual] as [SamplePredicate.Comparison])
            switch Int.random(in: 0..<14, using: &random) {
            case 0: return .types([try one([.heartRate, .stepCount, .bodyTemperature, .bloodPressureSystolic])])
            case 1: return .comparison(.start, comparison, .instant(time))
            case 2: return .comparison(.end, comparison, .instant(time))
            case 3:
                let until = Instant(microseconds: time.microseconds + 20_000_000)
                let options = try one([[], .strictStartDate, .strictEndDate] as [SamplePredicate.TimeOptions])
                return .predicateForSamples(withStart: time, end: until, options: options)
            case 4: return .comparison(.value, comparison, .number(Numeral(coefficient: 2), nil))
            case 5: return .comparison(.value, comparison, .number(Numeral(coefficient: 36), try Unit(ucum: "[degF]")))
            case 6: return .comparison(.source(try one([.id, .name])), equality, .text(try one(["a", "S"])))
            case 7: return .comparison(.device(.model), equality, try one([.present, .text("M")]))
            case 8: return .person(try one([TestStore.person, "unassigned"]))
            case 9: return .comparison(.metadata("wasUserEntered"), equality, try one([.present, .any("true", nil, nil)]))
            case 10:
                let some = try (0..<3).map { _ in try one(all).stored.uuid }
                return .uuids(Set(some))
            case 11: return .comparison(.inCorrelation, equality, .present)
            case 12:
                let whole = try one(all.filter { $0.stored.sample.origin.kind == .correlation } + all.prefix(1))
                return .comparison(.inCorrelation, equality, .text("\(whole.stored.uuid)"))
            default: return .comparison(.fromWorkout, equality, .text("\(workout)"))
            }
        }

        mutating func tree(_ depth: Int) throws -> SamplePredicate {
            guard depth > 0 else { return try leaf() }
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: return .and([try tree(depth - 1), try tree(depth - 1)])
            case 2, 3: return .or([try tree(depth - 1), try tree(depth - 1)])
            case 4: return .not(try tree(depth - 1))
            default: return try leaf()
            }
        }

        mutating func order() throws -> [SampleOrder] {
            let fields: [SamplePredicate.Field] = [
                .value, .end, .duration, .type, .source(.id), .device(.model), .metadata("wasUserEntered"), .start, .zone,
            ]
            return try (0..<Int.random(in: 0...3, using: &random)).map { _ in
                SampleOrder(try one(fields), descending: Bool.random(using: &random))
            }
        }
    }

    /// What only a store knows, by looking at everything.
    private struct Knowledge {
        var correlated: Set<SampleIdentity> = []
        /// The samples that a correlation names and that are of its person.
        var members: [SampleIdentity: Set<SampleIdentity>] = [:]
        /// All that it names.
        var named: [SampleIdentity: Set<SampleIdentity>] = [:]
        var workout: Sample?

        init(_ all: [(series: Int64, stored: StoredSample)], becomes: [SampleIdentity: SampleIdentity]) throws {
            for (_, stored) in all {
                if stored.sample.origin.kind == .workout { workout = stored.sample }
                guard stored.sample.origin.kind == .correlation else { continue }
                let named = try #require(try stored.sample.body?.decoded(as: Correlation.self)).objects
                let own = Set(
                    all.lazy.map(\.stored.sample).filter { $0.origin.person == stored.sample.origin.person }.map(\.identity))
                self.named[stored.uuid] = Set(named.compactMap { SampleIdentity($0) }.map { becomes[$0] ?? $0 })
                members[stored.uuid] = self.named[stored.uuid]?.intersection(own)
                correlated.formUnion(members[stored.uuid] ?? [])
            }
            // Frames with both halves, of which no stored correlation names one.
            for (_, high) in all where high.sample.origin.type == .bloodPressureSystolic {
                guard let low = Self.partner(of: high, all), !correlated.contains(high.uuid), !correlated.contains(low.uuid)
                else { continue }
                derived.append((high, low))
            }
            correlated.formUnion(derived.flatMap { [$0.high.uuid, $0.low.uuid] })
        }

        var derived: [(high: StoredSample, low: StoredSample)] = []

        static func partner(of high: StoredSample, _ all: [(series: Int64, stored: StoredSample)]) -> StoredSample? {
            func same(_ type: SampleType) -> [StoredSample] {
                all.map(\.stored).filter {
                    $0.sample.origin.type == type && $0.sample.group == high.sample.group && $0.sample.start == high.sample.start
                }.sorted { $0.seq < $1.seq }
            }
            guard let turn = same(.bloodPressureSystolic).firstIndex(where: { $0.uuid == high.uuid }) else { return nil }
            let lows = same(.bloodPressureDiastolic)
            return turn < lows.count ? lows[turn] : nil
        }

        /// The condition in words that a sample alone answers.
        func known(_ predicate: SamplePredicate) -> SamplePredicate {
            switch predicate {
            case .and(let parts): return .and(parts.map(known))
            case .or(let parts): return .or(parts.map(known))
            case .not(let inner): return .not(known(inner))
            case .comparison(.inCorrelation, let comparison, .present):
                return comparison == .equal ? .uuids(correlated) : .not(.uuids(correlated))
            case .comparison(.inCorrelation, let comparison, .text(let text)):
                let own = SampleIdentity(text).flatMap { members[$0] } ?? []
                return comparison == .equal ? .uuids(own) : .not(.uuids(own))
            case .comparison(.fromWorkout, let comparison, .text):
                guard let workout else { return .or([]) }
                let during = SamplePredicate.and([
                    .or(["quantity", "category"].map { .comparison(.kind, .equal, .text($0)) }), .person(workout.origin.person),
                    .comparison(.source(.id), .equal, .text(workout.origin.source.id)),
                    .comparison(.start, .below, .instant(workout.end)),
                    .or([
                        .comparison(.start, .atLeast, .instant(workout.start)),
                        .comparison(.end, .above, .instant(workout.start)),
                    ]),
                ])
                return comparison == .equal ? during : .not(during)
            default: return predicate
            }
        }
    }

    private static func precedes(_ one: SampleOrder.Key, _ other: SampleOrder.Key, _ descending: Bool) -> Bool? {
        func rank(_ key: SampleOrder.Key) -> (Int, Double, String) {
            switch key {
            case .integer(let number): (0, Double(number), "")
            case .number(let number): (0, number, "")
            case .text(let text): (1, 0, text)
            case .missing: (2, 0, "")
            }
        }
        let (left, right) = (rank(one), rank(other))
        if left == right { return nil }
        if left.0 == 2 || right.0 == 2 { return right.0 == 2 }
        return (left < right) != descending
    }

    @Test func matchesFilteringInMemory() throws {
        var (given, limited, narrowed, derived) = (0, 0, 0, 0)
        for seed in UInt64(0)..<16 {
            try TestStore.with { test in
                var maker = Store(random: SeededGenerator(seed: 100 + seed))
                let (batch, frames) = (try maker.batch(), try maker.frames())
                try test.keep(batch, frames)
                try test.keep([
                    try maker.correlation(of: Array(batch.prefix(2)), "food", at: 20),
                    try maker.correlation(of: Array(frames.prefix(2)), "bloodPressure", at: 30),
                ])
                let workout = try SampleMaker(try #require(SampleType("workout")), source: "a")(
                    "37", at: 20, lasting: 20, body: try SampleBody(encoding: Workout()))
                try test.keep([workout])
                var deleted: [SampleIdentity] = []
                for gated in batch + frames where Int.random(in: 0..<8, using: &maker.random) == 0 {
                    guard try test.store.samples.sample(gated.sample.identity) != nil else { continue }
                    deleted.append(gated.sample.identity)
                }
                if !deleted.isEmpty { try test.store.samples.delete(deleted, description: TestStore.description(.delete)) }
                var becomes: [SampleIdentity: SampleIdentity] = [:]
                let repaired = try test.migrate(
                    TestStore.request(RepairTests.fahrenheit, .bodyTemperature, ambiguous: true) { $0.source = "a" })
                if let repairID = repaired.repairID { becomes = try test.pairs(of: repairID) }

                let all = try Self.everything(test.store)
                let knowledge = try Knowledge(all, becomes: becomes)
                var conditions = Conditions(
                    random: SeededGenerator(seed: 900 + seed), all: all, workout: workout.sample.identity)
                for round in 0..<50 {
                    let predicate = try conditions.tree(Int.random(in: 0...3, using: &conditions.random))
                    var query = SampleQuery(predicate, order: try conditions.order())
                    if round % 3 == 0 { query.limit = Int.random(in: 0...8, using: &conditions.random) }
                    let known = knowledge.known(predicate)
                    var expected = all.filter { known.matches($0.stored.sample) }
                    // The newest first: the whole order turned round.
                    if query.descending {
                        expected.sort {
                            ($0.stored.sample.start, -$0.series, $0.stored.seq) > (
                                $1.stored.sample.start, -$1.series, $1.stored.seq
                            )
                        }
                    } else if !query.order.isEmpty {
                        let ranked = expected.enumerated().sorted { one, other in
                            for order in query.order {
                                let keys = (order.key(of: one.element.stored.sample), order.key(of: other.element.stored.sample))
                                if let decided = Self.precedes(keys.0, keys.1, order.descending) { return decided }
                            }
                            return one.offset < other.offset
                        }
                        expected = ranked.map(\.element)
                    }
                    let wanted = expected.prefix(query.limit ?? .max).map(\.stored.uuid)
                    let cursor = try test.store.samples.cursor(matching: query)
                    var found: [SampleIdentity] = []
                    while let next = try cursor.next() { found.append(next.uuid) }
                    #expect(found == Array(wanted), "seed \(seed): \(predicate) by \(query.order)")
                    given += found.count
                    if query.limit == found.count { limited += 1 }
                    if cursor.scanned.reduce(0, +) < all.count { narrowed += 1 }
                    cursor.close()
                }
                // Correlations derived from frames, in addition to stored samples.
                var query = SampleQuery(types: [DerivedCorrelations.type])
                query.derivesCorrelations = true
                let pairs = try test.samples(query).map { Set(OwnedObjects.named(by: $0.sample)) }
                let stored = knowledge.named.filter { uuid, _ in
                    all.contains { $0.stored.uuid == uuid && $0.stored.sample.origin.type == DerivedCorrelations.type }
                }
                #expect(Set(pairs) == Set(stored.values).union(knowledge.derived.map { [$0.high.uuid, $0.low.uuid] }))
                #expect(pairs.count == stored.count + knowledge.derived.count)
                derived += knowledge.derived.count
            }
        }
        #expect(given > 1500 && limited > 30 && narrowed > 150 && derived > 4, "\(given) \(limited) \(narrowed) \(derived)")
    }
}

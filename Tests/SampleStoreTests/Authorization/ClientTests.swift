import HealthModel
import Testing

@testable import SampleStore

/// A client and its requests.
@Suite struct ClientTests {
    private static let now = TestStore.received

    private static func later(_ seconds: Int64) -> Instant { Instant(microseconds: now.microseconds + seconds * 1_000_000) }

    @Test func tokenIsValidUntilRevokedOrExpired() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(
                named: "page", purpose: "shows a page", policy: "https://example.org/p", at: Self.now)
            let other = try store.clients.add(named: "other", purpose: "a test", expires: Self.later(50), at: Self.now)
            let first = try store.clients.makeToken(for: client, at: Self.now)
            let short = try store.clients.makeToken(for: client, expires: Self.later(10), at: Self.now)
            let others = try store.clients.makeToken(for: other, at: Self.now)
            #expect(first.utf8.count == 64 && first != short)
            #expect(try store.clients.client(bearing: first, at: Self.now) == client)
            #expect(try store.clients.client(bearing: others, at: Self.now) == other)
            #expect(try store.clients.client(bearing: others, at: Self.later(50)) == nil)
            #expect(try store.clients.client(bearing: short, at: Self.later(9)) == client)
            #expect(try store.clients.client(bearing: short, at: Self.later(10)) == nil)
            for wrong in [
                "", "0", String(first.dropLast()), first + "0", first.uppercased() + "x", String(repeating: "a", count: 100_000),
            ] {
                #expect(try store.clients.client(bearing: wrong, at: Self.now) == nil)
            }
            #expect(try store.clients.validTokens(of: client, at: Self.now) == 2)
            let fresh = try store.clients.makeToken(for: client, revokingOthers: true, at: Self.later(1))
            #expect(try store.clients.client(bearing: first, at: Self.later(1)) == nil)
            #expect(try store.clients.client(bearing: fresh, at: Self.later(1)) == client)
            #expect(try store.clients.revokeTokens(of: client, at: Self.later(2)) == 1)
            #expect(try store.clients.client(bearing: fresh, at: Self.later(2)) == nil)
            // The token itself is nowhere.
            let retained = try store.connection.integer(
                "SELECT count(*) FROM token WHERE digest = ? OR digest = ?", .text(first), .blob(Array(first.utf8)))
            #expect(retained == 0)
            try store.clients.remove(other)
            #expect(try store.clients.client(bearing: others, at: Self.now) == nil)
        }
    }

    @Test func clientNeedsNameAndPurpose() throws {
        try TestStore.with { test in
            let store = try test.store
            for (name, purpose) in [
                ("", "x"), ("x", ""), ("a\nb", "x"), ("x", "a\u{1B}b"), (String(repeating: "x", count: 65), "x"),
            ] {
                #expect(throws: StoreError.self) { try store.clients.add(named: name, purpose: purpose, at: Self.now) }
            }
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            #expect(throws: StoreError.self) { try store.clients.add(named: "x", purpose: "z", at: Self.now) }
            #expect(try store.clients.all() == [client])
            try test.reopen()
            #expect(try test.store.clients.all() == [client])
        }
    }

    /// A clock that was set back makes nothing last longer than it was to.
    @Test func clockSetBackExtendsNoAccess() throws {
        try TestStore.with { test in
            let store = try test.store
            let day: Int64 = 86_400
            let client = try store.clients.add(named: "page", purpose: "a test", expires: Self.later(20 * day), at: Self.later(0))
            let (short, long) = (
                try store.clients.makeToken(for: client, expires: Self.later(12 * day), at: Self.later(10 * day)),
                try store.clients.makeToken(for: client, at: Self.later(10 * day))
            )
            for (time, isShort, isLong) in [
                (9 * day, false, true), (10 * day - 5, true, true), (11 * day, true, true), (12 * day, false, true),
                (20 * day, false, false), (-day, false, false),
            ] {
                #expect(try (store.clients.client(bearing: short, at: Self.later(time)) != nil) == isShort, "\(time)")
                #expect(try (store.clients.client(bearing: long, at: Self.later(time)) != nil) == isLong, "\(time)")
            }
        }
    }

    /// It shows whether a request was answered, and not the answer.
    @Test func requestStatusHidesDecision() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            let (heart, mass) = (ObjectType(SampleType.heartRate), ObjectType(SampleType.bodyMass))
            let wish = AuthorizationRequest(person: TestStore.person, read: [heart], write: [mass])
            #expect(try store.clients.status(of: wish, for: client) == .shouldRequest)
            try store.clients.request(wish, for: client, at: Self.now)
            #expect(try store.clients.openRequests(of: client) == [wish])
            #expect(try store.clients.status(of: wish, for: client) == .shouldRequest)
            for (type, reading) in [(heart, Grant.Reading.none), (mass, .all)] {
                try store.clients.set(
                    Grant(person: TestStore.person, type: type, reading: reading, mayWrite: false), of: client, at: Self.now)
            }
            #expect(try store.clients.status(of: wish, for: client) == .unnecessary)
            #expect(try store.clients.openRequests(of: client).isEmpty)
            try store.clients.request(wish, for: client, at: Self.later(5))
            #expect(try store.clients.openRequests(of: client).isEmpty, "nobody is asked twice")
            #expect(throws: StoreError.self) {
                try store.clients.request(AuthorizationRequest(person: TestStore.person), for: client, at: Self.now)
            }
        }
    }

    @Test func aClinicalTypeIsNeverGrantedAsAWhole() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            let record = try #require(ObjectType("conditionRecord"))
            let unknown = try SampleMaker()("60", at: 0).sample.identity
            #expect(record.isAskedByObject)
            let refused: [(ObjectType, Grant.Reading, [SampleIdentity])] = [
                (record, .all, []), (ObjectType(SampleType.heartRate), .objects(future: true), []),
                (record, .objects(future: false), [unknown]), (record, .none, [unknown]),
            ]
            for (type, reading, objects) in refused {
                #expect(throws: StoreError.self) {
                    try store.clients.set(
                        Grant(person: TestStore.person, type: type, reading: reading, mayWrite: false), objects: objects,
                        of: client, at: Self.now)
                }
            }
            #expect(try store.clients.grants(of: client).isEmpty)
        }
    }

    /// The person answered one right. The other stays as it was granted, object by object, and is still pending.
    @Test func theOtherRightStaysAsItIs() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            let type = ObjectType(SampleType.heartRate)
            let asked = AuthorizationRequest(person: TestStore.person, read: [type], write: [type])
            try store.clients.request(asked, for: client, at: Self.now)
            let from = Grant.Reading.from(Self.now)
            try store.clients.set(
                Grant(person: TestStore.person, type: type, reading: from, mayWrite: false), accesses: [.read], of: client,
                at: Self.now)
            #expect(
                try store.clients.openRequests(of: client) == [AuthorizationRequest(person: TestStore.person, write: [type])])
            #expect(try store.clients.status(of: asked, for: client) == .shouldRequest)
            try store.clients.set(
                Grant(person: TestStore.person, type: type, reading: .none, mayWrite: true), accesses: [.write], of: client,
                at: Self.now)
            #expect(
                try store.clients.grants(of: client).map(\.reading) == [from]
                    && store.clients.grants(of: client).map(\.mayWrite) == [true])
            #expect(try store.clients.status(of: asked, for: client) == .unnecessary)
        }
    }

    /// The missing type is not named.
    @Test func requiredTypesFailTogether() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            let ids = ["conditionRecord", "allergyRecord", "labResultRecord"]
            let types = try ids.map { try #require(ObjectType($0)) }
            var reported: Set<String> = []
            func fails(_ required: [ObjectType]) -> Bool {
                do throws(StoreError) {
                    try store.clients.require(Set(required), of: TestStore.person, for: client)
                    return false
                } catch {
                    reported.insert(error.message)
                    return true
                }
            }
            for type in types {
                #expect(fails(types))
                try store.clients.set(
                    Grant(person: TestStore.person, type: type, reading: .objects(future: true), mayWrite: false), of: client,
                    at: Self.now)
            }
            #expect(!fails(types))
            #expect(reported.count == 1)
            #expect(fails(Array(types.dropLast())))
        }
    }

    @Test func theLedgerOfReadsCountsByDay() throws {
        try TestStore.with { test in
            let store = try test.store
            let client = try store.clients.add(named: "x", purpose: "y", at: Self.now)
            let entry = ReadEntry(person: TestStore.person, type: "heartRate", day: "2026-11-20", count: 3)
            let grant = Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .all, mayWrite: false)
            try store.clients.set(grant, of: client, at: Self.now)
            try store.enterReads([entry], readBy: client)
            try store.enterReads([entry], readBy: client)
            #expect(try store.clients.readLedger(of: client).map(\.count) == [6])
            // Reads that are counted after a withdrawal happened before it. There is nothing to count for a person who never granted
            // anything.
            try store.clients.set(
                Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .none, mayWrite: false), of: client,
                at: Self.now)
            try store.enterReads(
                [entry, ReadEntry(person: RestrictionTests.other, type: "heartRate", day: "2026-11-20", count: 1)],
                readBy: client)
            #expect(try store.clients.readLedger(of: client).map(\.count) == [9])
            try store.clients.remove(client)
            try store.enterReads([entry], readBy: client)
            #expect(try store.connection.integer("SELECT count(*) FROM read_by") == 0)
        }
    }
}

import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct PageSessionTests {
    static let now = Instant(seconds: 1_800_000_000)

    private func later(_ seconds: Int64) -> Instant { Instant(microseconds: Self.now.microseconds + seconds * 1_000_000) }

    @Test func codesAndSessionsExpire() throws {
        try TestStore.with { test in
            let store = try test.store
            let (late, code) = (
                try store.pageSessions.makeCode(for: TestStore.person, at: Self.now),
                try store.pageSessions.makeCode(for: TestStore.person, at: Self.now)
            )
            #expect(code.count == 19 && code != late)
            #expect(try store.pageSessions.open(with: late, at: later(600)) == nil)
            #expect(try store.pageSessions.isCode(code, at: later(599)))
            let (session, token) = try #require(try store.pageSessions.open(with: code.lowercased(), at: later(599)))
            #expect(try store.pageSessions.open(with: code, at: later(599)) == nil)
            #expect(try !store.pageSessions.isCode(code, at: later(599)))
            #expect(session.person == TestStore.person && token.count == 64)
            #expect(try store.pageSessions.session(bearing: token, at: later(600)) == session)
            #expect(try store.pageSessions.session(bearing: token.uppercased(), at: later(600)) == nil)
            #expect(try store.pageSessions.session(bearing: "", at: later(600)) == nil)
            #expect(try store.pageSessions.session(bearing: token, at: later(599 + 30 * 86_400)) == nil)
            // A clock that was set back by days opens nothing that was over.
            #expect(try store.pageSessions.session(bearing: token, at: later(-86_400)) == nil)
            #expect(try store.pageSessions.end(session.id + 1) == 0)
            #expect(try store.pageSessions.end(session.id) == 1)
            #expect(try store.pageSessions.session(bearing: token, at: later(600)) == nil)
        }
    }

    @Test func aPersonHasTwentySessionsAtMost() throws {
        try TestStore.with { test in
            for _ in 0..<22 {
                let code = try test.store.pageSessions.makeCode(for: TestStore.person, at: Self.now)
                _ = try test.store.pageSessions.open(with: code, at: Self.now)
            }
            #expect(try test.store.pageSessions.all(at: Self.now).map(\.id) == Array(3...22))
            #expect(try test.store.pageSessions.end() == 20)
        }
    }

    /// A person's view is that of a client who may read everything of theirs, and nothing of others.
    @Test func personSeesOnlyOwnData() throws {
        try TestStore.with { test in
            let samples = try RestrictionTests.everything(test)
            let record = try #require(samples.first { $0.sample.origin.kind == .clinicalRecord }).sample.identity
            for person in [TestStore.person, RestrictionTests.other] {
                let client = try test.store.clients.add(named: person, purpose: "a test", at: Self.now)
                let types = SampleType.all.map { ObjectType($0) } + CharacteristicType.allCases.map { ObjectType($0) }
                for type in types {
                    let grant = Grant(
                        person: person, type: type, reading: type.isAskedByObject ? .objects(future: true) : .all,
                        mayWrite: false)
                    let isRecord = type.id == "conditionRecord" && person == TestStore.person
                    try test.store.clients.set(grant, objects: isRecord ? [record] : [], of: client, at: Self.now)
                }
                let own = try test.another(.read)
                try own.restrict(toPerson: person)
                let asked = samples.map(\.sample.identity)
                let people = [TestStore.person, RestrictionTests.other]
                let expected = try Answers(
                    of: try RestrictionTests.restricted(test, to: client), asked: asked, people: people)
                #expect(try Answers(of: own, asked: asked, people: people) == expected)
                #expect(expected.reported["samples"]?.isEmpty == false)
                #expect(try Answers.family(own).allSatisfy { $0 == 0 })
            }
            let anonymous = try test.another(.read)
            try anonymous.restrict(toPerson: "' OR 1 = 1 --")
            #expect(try anonymous.samples.latest { _ in true }.isEmpty)
        }
    }

    @Test func useRenewsSession() throws {
        try TestStore.with { test in
            let sessions = try test.store.pageSessions
            let (session, token) = try #require(
                try sessions.open(with: sessions.makeCode(for: TestStore.person, at: Self.now), at: Self.now))
            #expect(try !sessions.renew(session, at: later(3600)))
            #expect(try sessions.renew(session, at: later(20 * 86_400)))
            let renewed = try #require(try sessions.session(bearing: token, at: later(45 * 86_400)))
            #expect(renewed.id == session.id && renewed.expires == later(50 * 86_400))
            #expect(try sessions.session(bearing: token, at: later(50 * 86_400)) == nil)
            #expect(try !sessions.renew(renewed, at: later(51 * 86_400)))
            try sessions.show(RestrictionTests.other, in: renewed)
            let switched = try #require(try sessions.session(bearing: token, at: later(45 * 86_400)))
            #expect(switched.person == RestrictionTests.other && switched.opener == TestStore.person)
            try sessions.show(TestStore.person, in: switched)
            #expect(try sessions.session(bearing: token, at: later(45 * 86_400)) == renewed)
            try sessions.show(RestrictionTests.other, in: renewed)
            // The person who logged in is logged out of every browser.
            #expect(try sessions.end(of: TestStore.person) == 1)
        }
    }
}

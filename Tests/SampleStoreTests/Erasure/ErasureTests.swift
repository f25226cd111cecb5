import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// No byte of an erased person remains, and everything of the others does.
@Suite struct ErasureTests {
    /// All bytes of the store's files.
    static func bytes(_ test: TestStore) throws -> [UInt8] {
        var all: [UInt8] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: test.folder.path).sorted() {
            all += try test.folder.read(name)
        }
        return all
    }

    private static func contains(_ all: [UInt8], _ needle: [UInt8]) -> Bool { all.contains(needle) }

    /// Every text and blob of every row, of the minimum length of a search term, with each fractional number as SQLite writes it.
    static func cells(_ test: TestStore) throws -> Set<[UInt8]> {
        let connection = try test.store.connection
        let tables = try Statement(connection, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        var names: [String] = []
        while try tables.step() { names.append(tables.text(0)) }
        var cells: Set<[UInt8]> = []
        for name in names {
            let columns = try Statement(connection, "SELECT name FROM pragma_table_info('\(name)')")
            while try columns.step() {
                let column = columns.text(0)
                let rows = try Statement(connection, "SELECT \(column), typeof(\(column)) FROM \(name)")
                while try rows.step() {
                    switch rows.text(1) {
                    case "text", "blob": cells.insert(Array(rows.blob(0)))
                    case "real": cells.insert(withUnsafeBytes(of: rows.real(0).bitPattern.bigEndian) { Array($0) })
                    default: break
                    }
                }
            }
        }
        return cells.filter { $0.count >= 6 }
    }

    @Test func everyTableIsKnown() throws {
        try TestStore.with { test in
            let statement = try Statement(
                test.store.connection,
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
            var names: Set<String> = []
            while try statement.step() { names.insert(statement.text(0)) }
            #expect(names == Set(Erasure.treatments.keys))
        }
    }

    @Test func refusesUnknownTables() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            try test.execute("CREATE TABLE diary(subject TEXT, entry TEXT)")
            let before = try test.lines()
            let errors = [
                thrown(StoreError.self) { _ = try test.store.erasure.counts(of: ErasedPerson.person) },
                thrown(StoreError.self) { try erase(person) },
            ]
            for error in errors { #expect(error?.kind == .newer && error?.message.contains("'diary'") == true) }
            #expect(try test.lines() == before)
            try test.execute("DROP TABLE diary")
        }
    }

    @discardableResult
    private func erase(_ person: ErasedPerson, notified: Set<String> = []) throws -> (ingest: Int64, count: Int) {
        try person.test.store.erasure.erase(ErasedPerson.person, notified: notified, at: TestStore.later)
    }

    @Test func erasesAllBytes() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            #expect(try test.store.check(deep: true) == [])
            let (before, filled) = (try Self.cells(test), try Self.bytes(test))
            for word in person.words { #expect(Self.contains(filled, Array(word.utf8)), "\(word) was never there") }
            let others = try others(test)
            #expect(try summarized(test) == [ErasedPerson.person, TestStore.person])
            try erase(person)
            #expect(try summarized(test) == [TestStore.person])
            let (after, left) = (try Self.cells(test), try Self.bytes(test))
            #expect(try self.others(test) == others)
            for word in person.words { #expect(!Self.contains(left, Array(word.utf8)), "\(word)") }
            let deleted = before.subtracting(after).filter { cell in !after.contains { Self.contains($0, cell) } }
            #expect(deleted.count > 80)
            for cell in deleted where Self.contains(left, cell) {
                Issue.record("still there: \(String(decoding: cell.prefix(60), as: UTF8.self)) \(cell.prefix(60))")
            }
            for sample in person.hers {
                let identity = sample.sample.identity
                for needle in [Array(identity.description.utf8), identity.storedHash] where Self.contains(left, needle) {
                    Issue.record("still there: \(sample.sample.origin.type.id) \(identity)")
                }
            }
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.store.erasure.counts(of: ErasedPerson.person).isEmpty)
            #expect(try !test.store.erasure.isUnfinished)
        }
    }

    /// Of whom there are summaries.
    private func summarized(_ test: TestStore) throws -> [String] {
        let statement = try Statement(
            test.store.connection,
            "SELECT DISTINCT subject FROM summary JOIN series ON id = series WHERE series IN (SELECT series FROM summarized) ORDER BY 1"
        )
        var people: [String] = []
        while try statement.step() { people.append(statement.text(0)) }
        return people
    }

    /// All data of the other person, by every path.
    private func others(_ test: TestStore) throws -> Answers {
        let reader = try test.another(.read)
        try reader.restrict(toPerson: TestStore.person)
        var answers = try Answers(
            of: reader, asked: try test.identities(SampleQuery(person: TestStore.person)), people: [TestStore.person])
        // A weighing of hers was the other's by mistake. The remains of that are erased, too.
        answers.reported["changes"]?.removeAll { $0.hasPrefix("- ") && $0.contains("57.6875") }
        return answers
    }

    @Test func erasureKeepsOtherPeople() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            let store = try test.store
            try erase(person)
            #expect(try store.people.all().map(\.name) == ["Ben"])
            #expect(try store.people.medications(of: TestStore.person).map(\.name) == ["Tablets"])
            #expect(try store.people.characteristics(of: TestStore.person).entries.count == 1)
            #expect(try Set(store.clients.grants(of: person.client).map(\.person)) == [TestStore.person])
            #expect(try store.clients.readLedger(of: person.client).map(\.person) == [TestStore.person])
            #expect(try store.clients.openRequests(of: person.client).map(\.person) == [TestStore.person])
            #expect(try store.pageSessions.all(at: RestrictionTests.now).map(\.person) == [TestStore.person])
            #expect(try store.sources.orders() == [SourceOrder(type: .heartRate, names: ["Strap"])])
            #expect(try store.targets.setAside(by: "archive").map(\.uuid) == [person.mine[0].sample.identity])
            let devices = try store.devices.adopted()
            #expect(
                devices.map(\.key) == ["scale", "shared"] && devices.map(\.person) == [Origin.unassigned, Origin.unassigned])
            #expect(devices[0].sharedBy.map(\.person) == [TestStore.person] && devices[1].users.map(\.number) == [2])
            // The ledger records that a person was erased, and keeps the entries of the others. Their files keep their names.
            let accounts = try store.ledger.accounts()
            #expect(accounts.last?.kind == .erase && accounts.last?.name == nil)
            #expect(accounts.contains { $0.name == "mine.csv" })
            #expect(throws: StoreError.self) {
                try store.ledger.undo(try #require(accounts.last).id, forget: false, description: TestStore.description(.undo))
            }
            // A sample that was hers by mistake can no longer be assigned to her.
            let crossed = try store.repairs.all().filter { $0.state == "applied" && $0.repair.contains(TestStore.person) }
            #expect(crossed.count == 1)
            let error = thrown(StoreError.self) { try test.undo(try #require(crossed.first).id) }
            #expect(error?.message.contains("erased") == true, "\(String(describing: error))")
            // What repaired both of them repaired the other, and can be undone.
            let fahrenheit = try #require(try store.repairs.all().first { $0.repair == RepairTests.fahrenheit.text })
            #expect(fahrenheit.repaired == 1 && fahrenheit.matched == 1)
            #expect(try test.undo(fahrenheit.id) == 1)
            // The same file again is new.
            try test.keep([person.hers[1]])
            #expect(try test.identities(SampleQuery(person: ErasedPerson.person)) == [person.hers[1].sample.identity])
        }
    }

    /// A reader that could read some of it starts again. One that could not notices nothing.
    @Test func readersLearnOfErasure() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            let (informed, unauthorized) = (
                try RestrictionTests.restricted(test, to: person.client),
                try RestrictionTests.restricted(test, to: person.unauthorized)
            )
            // One that may read the records that come, and has seen none.
            let future = try test.store.clients.add(named: "future", purpose: "a test", at: RestrictionTests.now)
            try test.store.clients.set(
                Grant(
                    person: ErasedPerson.person, type: try #require(ObjectType("conditionRecord")),
                    reading: .objects(future: true),
                    mayWrite: false), of: future, at: RestrictionTests.now)
            let waiting = try RestrictionTests.restricted(test, to: future)
            let last = try test.store.changes.latestAnchor()
            for reader in [informed, unauthorized, waiting] {
                #expect(try reader.changes.knows(last) && reader.changes.knows(person.stale))
            }
            try erase(person)
            for anchor in [last, person.stale] {
                #expect(
                    try !informed.changes.knows(anchor) && unauthorized.changes.knows(anchor) && waiting.changes.knows(anchor)
                        && !test.store.changes.knows(anchor))
            }
            #expect(try informed.changes.knows(try informed.changes.latestAnchor()))
        }
    }

    /// A target that received the deletions continues. One that did not refuses the erasure, or stops later.
    @Test func notifiedTargetsContinue() throws {
        for isReported in [true, false] {
            try TestStore.with { test in
                let person = try ErasedPerson(test)
                let store = try test.store
                #expect(try store.erasure.deleteAll(of: ErasedPerson.person, at: TestStore.later) > 10)
                #expect(try test.identities(SampleQuery(person: ErasedPerson.person)).isEmpty)
                #expect(throws: StoreError.self) { try erase(person, notified: ["archive"]) }
                var target = try #require(try store.targets.target("archive"))
                try store.changes.read(after: target.anchor, types: nil) { target.anchor = $1 }
                try store.targets.save(target)
                try erase(person, notified: isReported ? ["archive"] : [])
                let after = try #require(try store.targets.target("archive"))
                #expect(try store.changes.knows(after.anchor) == isReported)
                #expect(after.words == nil)
            }
        }
    }

    /// Rows are removed at once. If the process ends before the bytes are, the next one continues.
    @Test func resumesAfterInterruption() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            _ = try test.store.erasure.eraseRows(of: ErasedPerson.person, notified: [], at: TestStore.later)
            let again = try test.another()
            #expect(try again.erasure.isUnfinished)
            #expect(try again.check().contains { $0.contains("interrupted") })
            #expect(try again.erasure.counts(of: ErasedPerson.person).isEmpty)
            try again.erasure.finish()
            let left = try Self.bytes(test)
            for word in person.words { #expect(!Self.contains(left, Array(word.utf8)), "\(word)") }
            #expect(try !test.store.erasure.isUnfinished)
        }
    }

    @Test func errorNamesOpenReaders() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            let reader = try test.another(.read)
            let cursor = try reader.samples.cursor(matching: SampleQuery())
            _ = try cursor.next()
            try test.store.waiting(atMost: .milliseconds(10)) {
                let error = thrown(StoreError.self) { try erase(person) }
                #expect(error?.kind == .busy, "\(String(describing: error))")
            }
            cursor.close()
            #expect(try test.store.erasure.isUnfinished)
            try test.store.erasure.finish()
            for word in person.words { #expect(try !Self.contains(Self.bytes(test), Array(word.utf8)), "\(word)") }
        }
    }

    /// Another process that writes knows rows by number that are gone now.
    @Test func otherWritersLookUpRowsAgain() throws {
        try TestStore.with { test in
            let other = try test.another()
            let (hers, mine) = (
                try SampleMaker(source: "only", sourceName: "Only here", person: ErasedPerson.person),
                try SampleMaker(source: "only", sourceName: "Only here")
            )
            func keep(_ sample: GatedSample) throws {
                let ingest = try other.beginIngest(TestStore.description())
                _ = try ingest.store([sample])
                _ = try ingest.finish(at: TestStore.received.microseconds)
            }
            try keep(try hers("61", at: 0))
            _ = try test.store.erasure.erase(ErasedPerson.person, at: TestStore.later)
            try keep(try mine("62", at: 0))
            try keep(try hers("63", at: 0))
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.samples().map(\.sample.origin.source.name) == ["Only here", "Only here"])
        }
    }

    /// An import that runs while its person is erased brings nothing back, and leaves the store whole.
    @Test func endsRunningImportOfPerson() throws {
        try TestStore.with { test in
            let other = try test.another()
            let (hers, mine) = (try SampleMaker(person: ErasedPerson.person), try SampleMaker())
            let ingest = try other.beginIngest(TestStore.description())
            #expect(try ingest.store([try hers("61", at: 0)]) == [.stored])
            _ = try test.store.erasure.erase(ErasedPerson.person, at: TestStore.later)
            #expect(throws: StoreError.self) { try ingest.store([try hers("62", at: 60)]) }
            #expect(throws: StoreError.self) { try ingest.finish(at: 0) }
            #expect(try test.samples().isEmpty)
            #expect(try test.store.check(deep: true) == [])
            let next = try other.beginIngest(TestStore.description())
            #expect(try next.store([try mine("63", at: 0)]) == [.stored])
            _ = try next.finish(at: 0)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A running service has counted reads of the person's data and records them now.
    @Test func laterReadCountsOmitPerson() throws {
        try TestStore.with { test in
            let person = try ErasedPerson(test)
            try erase(person)
            let entries = [ErasedPerson.person, TestStore.person].map {
                ReadEntry(person: $0, type: "heartRate", day: "2026-01-02", count: 1)
            }
            try test.store.enterReads(entries, readBy: person.client)
            #expect(try Set(test.store.clients.readLedger(of: person.client).map(\.person)) == [TestStore.person])
            #expect(try !Self.contains(Self.bytes(test), Array(ErasedPerson.person.utf8)))
        }
    }

    private static func version(_ version: Int64, _ numeral: String, of person: String) throws -> GatedSample {
        try SampleMaker(.bodyMass, person: person)(numeral, at: 0, record: RecordIdentifier(id: "r", version: version))
    }

    /// The erased person had the first version of the record, or had it for a while. The other one may have the same version.
    @Test(arguments: [ErasedPerson.person, TestStore.person], [false, true])
    func keepsVersionOfAssignedRecord(first person: String, hasOwn: Bool) throws {
        try TestStore.with { test in
            let (store, other) = (try test.store, ErasedPerson.person)
            try store.people.save(Person(id: other, name: "Anna"))
            try test.keep([try Self.version(1, "80", of: person)])
            func assign(to person: String) throws {
                _ = try store.people.assign(try test.identities(), to: person, now: TestStore.later)
            }
            if person != other { try assign(to: other) }
            if hasOwn {
                let ids = try test.identities()
                try test.keep([try Self.version(1, "79", of: TestStore.person)])
                _ = try store.people.assign(ids, to: TestStore.person, now: TestStore.later)
            } else {
                try assign(to: TestStore.person)
            }
            let expected = try test.samples().map(\.sample.value)
            #expect(expected == (hasOwn && person == other ? [79] : [80]))
            _ = try store.erasure.erase(other, at: TestStore.later)
            #expect(try test.samples().map(\.sample.value) == expected)
            #expect(try store.check(deep: true) == [])
            try test.keep([try Self.version(2, "81", of: TestStore.person)])
            #expect(try test.samples().map(\.sample.value) == [81])
            #expect(try store.check(deep: true) == [])
        }
    }

    /// The higher version was assigned to the erased person. The lower one was a sample before, or never was one.
    @Test(arguments: [false, true]) func lowerVersionOfErasedOneComesForward(arrivesLater: Bool) throws {
        try TestStore.with { test in
            let (store, other) = (try test.store, ErasedPerson.person)
            try store.people.save(Person(id: other, name: "Anna"))
            let lower = try Self.version(1, "80", of: TestStore.person)
            if !arrivesLater { try test.keep([lower]) }
            try test.keep([try Self.version(2, "81", of: TestStore.person)])
            _ = try store.people.assign(try test.identities(), to: other, now: TestStore.later)
            if arrivesLater { try test.keep([lower]) }
            #expect(try test.samples().map(\.sample.value) == [81])
            _ = try store.erasure.erase(other, at: TestStore.later)
            #expect(try test.samples().map(\.sample.value) == [80])
            #expect(try test.keep([lower]).outcomes == [[.duplicate]])
            #expect(try store.check(deep: true) == [])
        }
    }

    @Test func erasedOwnerGetsNewIdentifier() throws {
        let test = try TestStore()
        let person = try ErasedPerson(test)
        _ = try test.store.erasure.erase(TestStore.person, at: TestStore.later)
        let left = try Self.bytes(test)
        #expect(!Self.contains(left, Array(TestStore.person.utf8)))
        let again = try test.another(.read)
        #expect(again.owner != TestStore.person && UUIDText.isValid(again.owner))
        #expect(try again.check(deep: true) == [])
        #expect(try test.identities(SampleQuery(person: ErasedPerson.person)).count > 10)
        withExtendedLifetime(person) {}
        #expect(throws: StoreError.self) { try test.store.erasure.erase(Origin.unassigned, at: TestStore.later) }
    }
}

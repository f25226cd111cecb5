import ExportTesting
import FleetProtocol
import HealthModel
import NATSKit
import Pipeline
import Testing

@testable import FleetCollector
@testable import FleetExport
@testable import PostgreSQLExport

/// The tables of a fleet in PostgreSQL, and the broker's users that follow from them.
@Suite struct FleetDatabaseTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings
    private let fleet: FleetDatabase
    private let subject: FleetSubject

    init() throws {
        test = try ExportedStore()
        let settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "f" + test.store.identifier)
        let context = try ExportContext(name: "x", store: "x", me: Origin.unassigned, now: { ExportedStore.received })
        #expect { try FleetDatabase(settings) } throws: { ($0 as? DeliveryError)?.kind == .unfit }
        _ = try PostgreSQLExporter(settings, context: context).create()
        _ = try FleetDatabase.create(settings)
        (self.settings, fleet) = (settings, try FleetDatabase(settings))
        subject = try #require(FleetSubject(fleet: "study"))
    }

    private func code(_ name: String, seconds: Int = 3600) throws -> EnrollmentCode {
        let code = try #require(EnrollmentCode.random())
        try fleet.add(codeWith: code.key.publicText, name: name, seconds: seconds)
        return code
    }

    private func code(replacing hub: EnrolledHub) throws -> EnrollmentCode {
        let code = try #require(EnrollmentCode.random())
        try fleet.add(codeWith: code.key.publicText, replacing: hub, seconds: 3600)
        return code
    }

    private func key() throws -> NKey { try #require(NKey.random()) }

    @discardableResult
    private func join(_ code: EnrollmentCode, _ store: String, _ key: NKey) throws -> String {
        try fleet.join(JoinRequest(store: store, key: key.publicText), code: code.key.publicText).name
    }

    @Test func everyColumnHasAComment() throws {
        _ = try FleetDatabase.create(settings)
        let connection = try PostgreSQLConnection(settings)
        let bare = try connection.run(
            """
            SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname LIKE 'fleet%' AND attnum > 0
                AND (col_description(attrelid, attnum) IS NULL OR obj_description(attrelid, 'pg_class') IS NULL)
            """, [settings.schema])
        #expect(bare.isEmpty)
        #expect(try connection.run("SELECT max(number) FROM \(settings.schema).fleet_version") == [["1"]])
    }

    @Test func aCodeIsForOneHubAndOneHour() throws {
        let (ward, other) = (try key(), try key())
        let code = try code("ward")
        #expect(try join(code, "a", ward) == "ward")
        // The reply was lost.
        #expect(try join(code, "a", ward) == "ward")
        let expired = try self.code("late", seconds: 0)
        let unknown = try #require(EnrollmentCode.random())
        for (wrong, store, key) in [(code, "b", other), (expired, "b", other), (unknown, "b", other)] {
            #expect { try join(wrong, store, key) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        }
        #expect(throws: DeliveryError.self) { try self.code("ward") }
        #expect(try fleet.hubs().map(\.name) == ["ward"])
        // The code itself is nowhere in the database.
        let rows = try PostgreSQLConnection(settings).run("SELECT key, name, used_by FROM \(settings.schema).fleet_code")
        #expect(rows.count == 2 && !rows.joined().contains(code.text))

        // A new hub gets the name of one that was revoked, and the revoked one can come back only with a code for it.
        let first = try #require(try fleet.hubs().first)
        #expect(try fleet.revoke(first) && !fleet.revoke(first))
        // It cannot come back with the code that it has used.
        #expect { try join(code, "a", ward) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        #expect(try fleet.hubs().allSatisfy(\.isRevoked))
        #expect(try join(self.code("ward"), "b", other) == "ward")
        #expect { try join(self.code("ward 2"), "a", ward) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        let revoked = try #require(try fleet.hubs().first { $0.store == "a" })
        #expect(try join(self.code(replacing: revoked), "a", ward) == revoked.name)
        #expect(try Set(fleet.hubs().map(\.store)) == ["a", "b"])
        #expect(try fleet.hubs().allSatisfy { !$0.isRevoked })
    }

    /// The identifier of a store is not secret. It is in each message, and on each copy of the card.
    @Test func codeDoesNotGrantAnotherHubsIdentity() throws {
        let (ward, copy) = (try key(), try key())
        try join(code("ward 3"), "a", ward)
        for (name, key) in [("ward 9", copy), ("ward 9", ward)] {
            #expect { try join(self.code(name), "a", key) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        }
        #expect(try fleet.hubs().map { $0.name + " " + $0.store } == ["ward 3 a"])
        // The refused request does not use the code up.
        let code = try code("ward 4")
        #expect { try join(code, "a", copy) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        #expect(try join(code, "b", key()) == "ward 4")
        // The copy is named. A revoked hub can come back with a new key, but only with a code that was made for it.
        #expect(try fleet.hubs().first { $0.store == "a" }?.otherMachine == "a copy that tried to join as 'ward 4'")
        let first = try #require(try fleet.hubs().first { $0.store == "a" })
        #expect(try fleet.revoke(first))
        for name in ["ward 5", "ward 3"] {
            #expect { try join(self.code(name), "a", copy) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        }
        #expect { try join(self.code(replacing: first), "c", copy) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        #expect(try join(self.code(replacing: first), "a", copy) == "ward 3")
    }

    @Test func ordersAreNumberedAndComeOneByOne() throws {
        try join(code("ward"), "a", key())
        let hub = try #require(try fleet.hubs().first)
        let signer = try key().key
        func add(_ kind: FleetOrder.Kind, _ arguments: [String] = []) throws -> Int64 {
            try fleet.add(kind, arguments, for: hub) { $0.sign(with: signer, for: "a", of: subject) }
        }
        #expect(try add(.adopt, ["x", "--name", "a \"b\" {c,d} \\ é"]) == 1)
        #expect(try add(.verify) == 2)
        func report(_ order: Int64, _ code: Int? = nil, refused: Int64? = nil) throws -> [FleetOrder] {
            var report = HubReport(
                version: "1", lastChange: 5, waiting: 1, quarantined: 2, order: order,
                result: code.map { OrderResult(code: $0, output: "{}") })
            report.refused = refused
            (report.lowestBattery, report.silentDevices) = (12, 3)
            return try fleet.enter(report, of: "a")
        }
        let first = try #require(try report(0).first)
        #expect(first.number == 1 && first.arguments == ["x", "--name", "a \"b\" {c,d} \\ é"])
        #expect(first.isSigned(by: signer.publicKey, for: "a", of: subject))
        #expect(try report(1, 0).map(\.number) == [2])
        // A report that arrives twice changes nothing.
        #expect(try report(1, 7).map(\.number) == [2])
        #expect(try report(2, 65) == [])
        #expect(try fleet.orders(of: hub, limit: 10).map(\.code) == [65, 0])
        // The database was restored, and the hub is ahead of it.
        try PostgreSQLConnection(settings).run("DELETE FROM \(settings.schema).fleet_order")
        #expect(try add(.verify) == 3)
        let seen = try #require(try fleet.hubs().first)
        #expect((seen.lowestBattery, seen.silentDevices) == (12, 3))
        #expect((seen.lastOrder, seen.openOrders, seen.waiting, seen.quarantined) == (2, 1, 1, 2))
        // An order that the hub has refused does not come again, and later ones do.
        #expect(try add(.verify) == 4)
        #expect(try report(2, refused: 3).map(\.number) == [4])
        #expect(try fleet.orders(of: hub, limit: 10).map(\.isRefused) == [false, true])
        // A forged number leaves no room for the next.
        try PostgreSQLConnection(settings).run(
            "INSERT INTO \(settings.schema).fleet_order(hub, number, kind, arguments) VALUES(\(hub.id), 9223372036854775807, '', '{}')"
        )
        #expect { try add(.verify) } throws: { ($0 as? DeliveryError)?.kind == .refused }
        // A hub that has not joined with a code gets no orders.
        #expect(
            try fleet.enter(HubReport(version: "1", lastChange: 0, waiting: 0, quarantined: 0, order: 0, result: nil), of: "b")
                == [])
    }

    /// The marks of the deliveries decide which machine is the hub's. A report of another one does not count.
    @Test func copiesAndRestorations() throws {
        try join(code("ward"), "a", key())
        func report(_ machine: String, version: String = "1", restored: Int64? = nil) throws -> [FleetOrder] {
            var report = HubReport(version: version, lastChange: 5, waiting: 0, quarantined: 0, order: 0, result: nil)
            report.machine = HubReport.Machine(id: machine, name: "machine \(machine)")
            report.restored = restored
            return try fleet.enter(report, of: "a")
        }
        func hub() throws -> EnrolledHub { try #require(try fleet.hubs().first) }
        let signer = try key().key
        _ = try fleet.add(.verify, [], for: hub()) { $0.sign(with: signer, for: "a", of: subject) }
        // Nothing was delivered yet.
        #expect(try report("1").count == 1)
        let exporter = PostgreSQLExporter(
            settings,
            context: try ExportContext(name: "center", store: "a", me: Origin.unassigned, now: { ExportedStore.received }))
        #expect(
            try exporter.claim(
                TargetMark(identity: "", count: 1, anchor: "0", holder: StoreHolder(id: "1", name: "machine 1"), time: nil)))
        #expect(try report("1").count == 1 && hub().otherMachine == nil)
        #expect(try report("2", version: "2").isEmpty)
        #expect(try hub().version == "1" && hub().machine == "machine 1" && hub().otherMachine == "machine 2")
        #expect(try hub().otherSeen != nil)
        // The store has moved to the other machine, which claims the mark.
        #expect(
            try exporter.claim(
                TargetMark(identity: "", count: 2, anchor: "0", holder: StoreHolder(id: "2", name: "machine 2"), time: nil)))
        #expect(try report("2", version: "2").count == 1 && hub().version == "2" && hub().machine == "machine 2")

        // Each restoration counts once, however often it is reported.
        #expect(try hub().epoch == 0 && hub().restored == nil)
        for _ in 0..<2 { _ = try report("2", restored: 1_700_000_000_000_001) }
        #expect(try hub().epoch == 1 && hub().restored == "2023-11-14T22:13:20Z")
        _ = try report("2")
        #expect(try hub().epoch == 1 && hub().restored == "2023-11-14T22:13:20Z")
        _ = try report("2", restored: 1_700_000_000_000_002)
        #expect(try hub().epoch == 2)
    }

    /// With required sealing, only hubs that have joined may send, each with its own key. Otherwise a hub that the broker lets in without a
    /// code may send too.
    @Test func onlyJoinedHubsHaveAccess() throws {
        let (hub, other) = (try key(), try key())
        try join(code("ward"), "a", hub)
        let requests: [(store: String, sender: RequestSender)] = [
            ("a", .hub(hub.publicText)), ("a", .hub(other.publicText)), ("a", .unnamed), ("a", .unsealed),
            ("b", .hub(other.publicText)),
            ("b", .unnamed), ("b", .unsealed),
        ]
        func refused(required: Bool) throws -> [Bool] {
            try fleet.refusals(of: requests, requiresEnrollment: required).map { $0 != nil }
        }
        #expect(try refused(required: true) == [false, true, true, true, true, true, true])
        #expect(try refused(required: false) == [false, true, true, false, false, false, false])
        #expect(try fleet.revoke(try #require(try fleet.hubs().first)))
        #expect(try refused(required: false) == [true, true, true, true, false, false, false])
        let refusals = try fleet.refusals(of: requests, requiresEnrollment: true)
        #expect(refusals.map { $0?.isLasting } == [true, true, true, true, false, false, false])
    }

    /// The operator erases a person for all hubs. Later readings of the person are left out, until the person is readmitted.
    @Test func theOperatorErasesAPerson() throws {
        let person = test.origin.person
        var sample = try test.sample(60, at: 0).sample
        let own = sample
        sample.origin = Origin(
            person: "22222222-2222-4333-8444-555555555555", type: sample.origin.type, source: sample.origin.source)
        sample.identity = sample.identity(ordinal: 0)
        let (deleted, foreign) = (try test.sample(61, at: 5).sample, sample)
        func deliver(_ changes: [SampleChange], from store: String) throws -> Int {
            let context = try ExportContext(name: "x", store: store, me: person, now: { ExportedStore.received })
            return try PostgreSQLExporter(settings, context: context).deliver(ExportBatch(changes: changes))
        }
        func added(_ sample: Sample) -> SampleChange { .added(StoredSample(sample: sample, ingest: 0, seq: 0)) }
        for store in ["a", "b"] { #expect(try deliver([added(own), added(deleted), added(foreign)], from: store) == 0) }
        #expect(try deliver([.deleted(StoredDeletion(sample: deleted, replacedBy: nil, ingest: 0, seq: 0))], from: "b") == 0)
        #expect(try fleet.contents(of: person) == (3, ["a", "b"]))

        try fleet.erase(person: person)
        #expect(try fleet.contents(of: person) == (0, []))
        let connection = try PostgreSQLConnection(settings)
        for table in ["sample", "deletion", "superseded", "record", "participant"] {
            let rows = try connection.run("SELECT 1 FROM \(settings.schema).\(table) WHERE subject = $1", [person])
            #expect(rows.isEmpty, "\(table)")
        }
        #expect(try connection.run("SELECT count(*) FROM \(settings.schema).sample") == [["1"]])
        let dump = try connection.run("SELECT e::text FROM \(settings.schema).erased e").joined()
        #expect(dump.count == 1 && !dump.contains { $0?.contains(person) == true })

        #expect(try deliver([added(own), added(foreign)], from: "a") == 1)
        #expect(try fleet.contents(of: person).rows == 0)
        #expect(try fleet.readmit(person: person) && !fleet.readmit(person: person))
        #expect(try deliver([added(own)], from: "a") == 0)
        #expect(try fleet.contents(of: person) == (1, ["a"]))
    }

    /// A session that has locked rows stops an erasure, which has changed nothing then: a delivery that does not end, or an administrator who
    /// looks at rows or tables.
    @Test(arguments: [
        "LOCK TABLE {}.lock IN ROW SHARE MODE", "SELECT 1 FROM {}.sample FOR UPDATE", "LOCK TABLE {}.day IN SHARE MODE",
        "LOCK TABLE {}.fleet_order IN SHARE MODE",
    ]) func lockedRowsStopErasure(lock: String) throws {
        let person = test.origin.person
        let context = try ExportContext(name: "x", store: "a", me: person, now: { ExportedStore.received })
        let sample = try test.sample(60, at: 0).sample
        func deliver() throws -> Int {
            try PostgreSQLExporter(settings, context: context).deliver(
                ExportBatch(changes: [.added(StoredSample(sample: sample, ingest: 0, seq: 0))]))
        }
        #expect(try deliver() == 0)
        let open = try PostgreSQLConnection(settings)
        try open.run("BEGIN; \(lock.replacing("{}", with: settings.schema))")
        try fleet.connection.run("SET lock_timeout = 100")
        let expected = "nothing was erased: another session has locked these rows or tables for too long (SQLSTATE 55P03)"
        #expect { try fleet.erase(person: person) } throws: { "\($0)" == expected }
        try open.run("COMMIT")
        // A person of whom something was erased would be refused.
        #expect(try deliver() == 0)
        #expect(try fleet.contents(of: person) == (1, ["a"]))
        try fleet.erase(person: person)
        #expect(try deliver() == 1)
        #expect(try fleet.contents(of: person) == (0, []))
    }

    /// The broker lets each hub send only as itself, and hear only its own replies. A collector refuses a revoked hub at once.
    @Test func hubSendsOnlyUnderOwnName() throws {
        let (hub, collector) = (try key(), try key())
        try join(code("ward"), test.store.identifier, hub)
        let keys = try fleet.keys()
        let users = BrokerUsers(collectors: [collector.publicText], hubs: keys.hubs, codes: keys.codes)
        let broker = try NATSServer([users.text(subject)])
        func connection(_ key: NKey, _ client: String) throws -> NATSConnection {
            var settings = NATSSettings(
                servers: [broker.url], credentials: .seed(public: key.publicText, seed: key.seedText), name: client)
            settings.replies = subject.replies(to: client)
            return try NATSConnection(settings, .once)
        }
        let service = try CollectorService(
            NATSSettings(
                servers: [broker.url], credentials: .seed(public: collector.publicText, seed: collector.seedText), name: "c"),
            subject, database: settings, workers: 1, now: { ExportedStore.received }, onFailure: { _, _ in })
        defer { service.stop() }
        let own = test.store.identifier
        let find = FleetRequest(target: "center", me: test.store.owner, task: .find).bytes
        func reply(_ key: NKey, as client: String, to store: String) throws -> FleetReply? {
            let request = try #require(subject.requests(of: store))
            return FleetReply(bytes: try connection(key, client).request(request, find, milliseconds: 2000))
        }
        guard case .found = try reply(hub, as: own, to: own) else {
            Issue.record("the hub was refused")
            return
        }
        #expect(throws: NATSError.self) { try reply(hub, as: own, to: "another") }
        // Replies of another hub never reach it.
        #expect(throws: NATSError.self) { try reply(hub, as: "another", to: own) }
        #expect { try connection(try key(), "stranger") } throws: { ($0 as? NATSError)?.kind == .unauthorised }

        #expect(try fleet.revoke(try #require(try fleet.hubs().first)))
        guard case .failure(let error) = try reply(hub, as: own, to: own) else {
            Issue.record("the hub was not refused")
            return
        }
        #expect(error.kind == .unauthorised && error.isLasting)
        #expect(try fleet.keys().hubs.isEmpty)
    }

    // MARK: Studies

    /// The operator's view of a study: its people, hubs, readers, and copy.
    @Test func studiesOfTheOperator() throws {
        let (anna, ben) = ("aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002")
        try join(try code("ward"), "a", try key())
        try fleet.add(study: "sleep")
        #expect { try fleet.add(study: "sleep") } throws: { "\($0)".contains("already") }
        for change: () throws -> Void in [
            { try fleet.withdraw(anna, from: "other") }, { try fleet.remove(study: "other") },
            { try fleet.set(reader: "nobody", of: "sleep", mayRead: true) },
            { try fleet.add(StudyConsent(person: anna, version: "1", from: "2026-02-01", until: "2026-01-01"), to: "sleep") },
            { try fleet.add(StudyConsent(person: anna, version: "1", from: "2026-02-30"), to: "sleep") },
        ] {
            #expect { try change() } throws: { ($0 as? DeliveryError)?.kind == .refused }
        }
        #expect(try fleet.stores()["ward"] == "a")
        try fleet.set(hubWith: "a", in: "sleep", takesPart: true)
        try fleet.set(reader: "vitalgate", of: "sleep", mayRead: true)
        try fleet.add(StudyConsent(person: anna, version: "1", from: "2026-01-01", until: "2026-03-31"), to: "sleep")
        try fleet.add(StudyConsent(person: anna, version: "2", from: "2026-04-01"), to: "sleep")
        try fleet.add(StudyConsent(person: ben, version: "2"), to: "sleep")
        var study = FleetStudy(
            name: "sleep", hubs: ["ward"], participants: 2, withdrawn: 0, readers: ["vitalgate"], place: nil)
        #expect(try fleet.studies() == [study])
        // The end of a consent.
        try fleet.add(StudyConsent(person: anna, version: "2", from: "2026-04-01", until: "2026-06-30"), to: "sleep")
        let consents = try fleet.consents(in: "sleep")
        #expect(consents.map(\.version) == ["1", "2", "2"])
        #expect(consents.map(\.until) == ["2026-03-31", "2026-06-30", nil])
        try fleet.withdraw(anna, from: "sleep")
        // This person has no consent.
        try fleet.withdraw("aaaaaaaa-0000-4000-8000-000000000003", from: "sleep")
        (study.participants, study.withdrawn) = (1, 2)
        #expect(try fleet.studies() == [study])
        let place = "\(settings.schema)_sleep"
        #expect(try fleet.copy("sleep", to: place) == 0)
        #expect(try fleet.studies().first?.place == place)

        // No consent of an erased person is recorded.
        try fleet.erase(person: ben)
        #expect(try fleet.studies().first?.participants == 0)
        #expect(throws: DeliveryError.self) { try fleet.add(StudyConsent(person: ben, version: "2"), to: "sleep") }
        #expect(throws: DeliveryError.self) { try fleet.withdraw(ben, from: "sleep") }
        try fleet.set(reader: "vitalgate", of: "sleep", mayRead: false)
        try fleet.set(hubWith: "a", in: "sleep", takesPart: false)
        try fleet.remove(study: "sleep")
        #expect(try fleet.studies().isEmpty)
        #expect(try PostgreSQLConnection(settings).run("SELECT to_regnamespace($1)", [place]) == [[nil]])
    }
}

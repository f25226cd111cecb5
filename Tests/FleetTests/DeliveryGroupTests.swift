import ExportTesting
import FleetProtocol
import HealthModel
import NATSKit
import Pipeline
import Testing

@testable import FleetCollector
@testable import PostgreSQLExport

/// Deliveries of several hubs that a collector writes in one transaction.
@Suite struct DeliveryGroupTests {
    private let test: ExportedStore
    private let database: PostgreSQLSettings
    private let collector: Collector
    private let stores = ["one", "two", "three"]

    init() throws {
        test = try ExportedStore()
        database = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "g" + test.store.identifier)
        let context = try ExportContext(name: "x", store: "x", me: Origin.unassigned, now: { ExportedStore.received })
        _ = try PostgreSQLExporter(database, context: context).create()
        _ = try FleetDatabase.create(database)
        collector = Collector(database, now: { ExportedStore.received })
        for store in stores {
            let replies = replies([request(.claim(mark(1)), of: store)])
            guard case .claimed(true) = replies.first else {
                Issue.record("it was not claimed")
                return
            }
        }
    }

    private func mark(_ count: Int64) -> TargetMark {
        TargetMark(identity: "i", count: count, anchor: "\(count)", holder: StoreHolder(id: "h", name: ""))
    }

    private func request(_ task: FleetRequest.Task, of store: String) -> ReceivedRequest {
        ReceivedRequest(bytes: FleetRequest(target: "center", me: test.store.owner, task: task).bytes, store: store)
    }

    /// A delivery of readings, made at these seconds.
    private func delivery(
        _ count: Int64, _ seconds: [Int], of store: String, name: String = "strap"
    ) throws -> ReceivedRequest {
        let changes = try seconds.map { second in
            var sample = try test.sample(60, at: second).sample
            if name != "strap" {
                sample.origin = Origin(
                    person: sample.origin.person, type: sample.origin.type, source: SourceRevision(id: "s", name: name))
                sample.identity = sample.identity(ordinal: 0)
            }
            return SampleChange.added(StoredSample(sample: sample, ingest: 0, seq: 0))
        }
        var batch = ExportBatch(changes: changes)
        batch.mark = mark(count)
        return request(.deliver(batch), of: store)
    }

    private func replies(_ requests: [ReceivedRequest]) -> [FleetReply] {
        var replies: [(Int, FleetReply)] = []
        collector.carryOut(requests) { replies.append(($0, $1)) }
        #expect(replies.map(\.0).sorted() == Array(requests.indices))
        return replies.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// What each reply is: a receipt, another answer, or the kind of its failure.
    private func words(_ replies: [FleetReply]) -> [String] {
        replies.map { reply in
            switch reply {
            case .receipt: "receipt"
            case .failure(let error): "\(error.kind)"
            default: "answer"
            }
        }
    }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(database).run(text.replacing("{}", with: database.schema))
    }

    @Test func deliveriesAreOneTransaction() throws {
        let sent = try replies([
            delivery(2, [1, 2], of: "one"), delivery(2, [3], of: "two"), delivery(3, [4, 5], of: "one"),
            delivery(2, [2, 6], of: "three"),
        ])
        #expect(words(sent) == ["receipt", "receipt", "receipt", "receipt"])
        #expect(try sql("SELECT count(*), count(DISTINCT xmin::text) FROM {}.sample") == [["6", "1"]])
        #expect(try sql("SELECT count(*) FROM {}.sample WHERE cardinality(hubs) = 2") == [["1"]])
        #expect(try sql("SELECT store, count FROM {}.progress JOIN {}.hub ON id = hub ORDER BY id").count == 3)
    }

    /// Requests of one hub are carried out in their order, also around those that are not deliveries.
    @Test func requestsStayInOrder() throws {
        let sent = try replies([
            delivery(2, [1], of: "one"), request(.find, of: "one"), delivery(3, [2], of: "one"), delivery(2, [3], of: "two"),
        ])
        #expect(words(sent) == ["receipt", "answer", "receipt", "receipt"])
        guard case .found(let found) = sent[1] else { return }
        #expect(found?.mark?.count == 2)
    }

    /// A delivery that fails keeps no other one from being stored, wherever it is in the group.
    @Test(arguments: 0..<3) func aBadDeliveryStopsNoOther(place: Int) throws {
        let isWrong = try delivery(7, [9], of: "three")
        let isRefused = try delivery(2, [8], of: "three", name: "a\u{0}b")
        for (bad, words) in [(isWrong, "unreachable"), (isRefused, "refused")] {
            let count: Int64 = words == "refused" ? 3 : 2
            var group = try [delivery(count, [Int(count) * 10], of: "one"), delivery(count, [Int(count) * 10 + 1], of: "two")]
            group.insert(bad, at: place)
            var expected = ["receipt", "receipt"]
            expected.insert(words, at: place)
            #expect(self.words(replies(group)) == expected)
        }
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["4"]])
        #expect(try sql("SELECT sum(count) FROM {}.progress") == [["7"]])
    }

    /// A hub that was shut out is refused, and the others of the group are not.
    @Test func aRevokedHubIsRefusedAlone() throws {
        _ = try sql("INSERT INTO {}.fleet_hub(name, store, key, revoked) VALUES('w', 'two', 'k', now())")
        let sent = try replies([delivery(2, [1], of: "one"), delivery(2, [2], of: "two"), delivery(2, [3], of: "three")])
        #expect(words(sent) == ["receipt", "unauthorised", "receipt"])
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["2"]])
    }

    /// A delivery under the name of a hub that another one has sealed is refused, and the others of the group are not.
    @Test func aForeignSealIsRefusedAlone() throws {
        _ = try sql("INSERT INTO {}.fleet_hub(name, store, key) VALUES('v', 'one', 'UA'), ('w', 'two', 'UB')")
        for (count, sender) in [(Int64(2), RequestSender.hub("UC")), (3, .unnamed)] {
            var group = try [
                delivery(count, [10 + Int(count)], of: "one"), delivery(2, [9], of: "two"),
                delivery(count, [20 + Int(count)], of: "three"),
            ]
            (group[0].sender, group[1].sender) = (.hub("UA"), sender)
            #expect(words(replies(group)) == ["receipt", "unauthorised", "receipt"])
        }
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["4"]])
    }

    /// Every delivery of a group fails at once if the database is not there. They do not wait one after the other.
    @Test func withoutTheDatabase() throws {
        var nowhere = database
        nowhere.host = "/nowhere"
        var kinds: [String] = []
        try Collector(nowhere, now: { ExportedStore.received }).carryOut([
            delivery(2, [1], of: "one"), delivery(2, [2], of: "two"),
        ]) { kinds += words([$1]) }
        #expect(kinds == ["unreachable", "unreachable"])
    }
}

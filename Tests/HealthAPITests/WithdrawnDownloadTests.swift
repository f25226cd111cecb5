import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI

/// A download that is under way.
@Suite struct WithdrawnDownloadTests {
    /// More than sockets and the server hold of an answer.
    private static let samples = 40_000

    private func begun(_ served: ServedStore) throws -> RawClient {
        try served.add(Array(repeating: 60, count: Self.samples), from: 1_700_000_000)
        let client = try #require(RawClient(served.service.address, receiveBuffer: 4096))
        client.send(
            "GET /v1/samples?types=heartRate&format=ndjson HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n"
        )
        _ = client.read(until: "heartRate")
        return client
    }

    @Test(arguments: [true, false]) func endsWithTheGrantOrTheToken(byToken: Bool) throws {
        let served = try ServedStore()
        let client = try begun(served)
        // It is in the ledger already.
        #expect(try served.store.clients.readLedger(of: served.watch).first?.count ?? 0 > 0)
        if byToken {
            try served.revoke()
        } else {
            try served.grant("heartRate", reading: .none, mayWrite: false, to: served.watch)
        }
        let rest = client.readAll()
        #expect(rest.count < 4_000_000)
        #expect(!rest.suffix(5).elementsEqual("0\r\n\r\n".utf8))
    }

    @Test func downloadContinuesWhileGranted() throws {
        let served = try ServedStore()
        let client = try begun(served)
        // Another client's grant is nothing to this one.
        try served.grant("bodyMass", reading: .all, mayWrite: true)
        let rest = client.readAll()
        #expect(rest.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        #expect(try served.store.clients.readLedger(of: served.watch).map(\.count) == [Self.samples])
    }

    @Test func recordsListingsAsReads() throws {
        let served = try ServedStore()
        try served.add([60])
        for path in ["types", "sources", "devices"] { #expect(try served.get("/v1/\(path)").status == 200) }
        #expect(try served.store.clients.readLedger(of: served.watch).map(\.type) == ["heartRate"])
        #expect(try served.store.clients.readLedger(of: served.watch).map(\.count) == [3])
    }
}

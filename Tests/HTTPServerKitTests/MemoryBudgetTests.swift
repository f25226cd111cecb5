import HTTPServerTesting
import Testing

@testable import HTTPServerKit

@Suite struct MemoryBudgetTests {
    @Test func noGroupTakesTheMemoryOfAnother() throws {
        let budget = MemoryBudget(maximum: 800)
        var shares: [MemoryBudget.Share] = []
        func take(_ count: Int, _ payer: Payer) -> Bool {
            guard let share = budget.reserve(count, for: payer) else { return false }
            shares.append(share)
            return true
        }
        #expect(take(100, .unauthenticated) && !take(1, .unauthenticated))
        // One person or client has half of the shared memory.
        #expect(take(100, .person("a")) && !take(1, .person("a")))
        #expect(take(100, .person("b")) && !take(1, .person("c")))
        #expect(take(250, .client("a")) && !take(1, .client("a")))
        #expect(take(250, .client("b")) && !take(1, .client("c")))
        shares.removeAll()
        // The last quarter is for payers without memory.
        #expect(take(50, .person("a")) && take(50, .person("a")) && take(40, .person("b")) && take(10, .person("b")))
        #expect(!take(10, .person("b")) && take(50, .person("c")) && !take(1, .person("d")))
        shares.removeAll()
        #expect(take(100, .unauthenticated) && take(100, .person("a")) && take(250, .client("c")))
    }

    /// Unsent responses are bounded. Further requests are asked to come again.
    @Test func limitsMemoryOfUnreadResponses() throws {
        var settings = ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0))
        // Strangers have an eighth: two of the answers, which have 60,000 bytes each.
        settings.answerMemory = 8 * 130_000
        let server = try HTTPServer(settings, TestHandler())
        let clients = try (0..<2).map { _ in
            let client = try #require(RawClient(server.address, receiveBuffer: 1024))
            client.send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = client.read(until: "heart")
            return client
        }
        let other = try #require(RawClient(server.address))
        let answer = try #require(other.get("/long"))
        #expect(answer.status == 503 || answer.body.count == 60_000)
        #expect(other.get("/")?.status == 200)
        withExtendedLifetime(clients) {}
    }
}

import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthPage

/// Grants on the page: from a day on, and clinical records one by one.
@Suite struct PageGrantTests {
    let served: ServedStore
    let cookie: String
    private let client: Client
    private let bearer: String

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
        client = try served.store.clients.add(named: "asker", purpose: "Charts", at: ServedStore.now)
        bearer = "Authorization: Bearer \(try served.store.clients.makeToken(for: client, at: ServedStore.now))\r\n"
    }

    private func page() throws -> String { try #require(try served.client().get("/page/clients", cookie)).text }

    private func post(_ body: String, _ cookie: String? = nil) throws -> Int {
        try PageTests.post(served, "/page/clients/\(client.id)", body, cookie ?? self.cookie).status
    }

    private func ask(_ types: ObjectType...) throws {
        let request = AuthorizationRequest(person: ServedStore.person, read: Set(types))
        try served.store.clients.request(request, for: client, at: ServedStore.now)
    }

    /// The samples of a type that the client can read.
    private func reads(_ type: String) throws -> String {
        try #require(try served.client().get("/v1/samples?types=\(type)&format=ndjson", bearer)).text
    }

    /// The page of a type shows which programs read it, and lets another one read it.
    @Test func aTypeIsGrantedOnItsPage() throws {
        try served.add(numerals: ["71"], of: "bodyMass", every: 60)
        func type() throws -> String { try #require(try served.client().get("/page/type/bodyMass", cookie)).text }
        #expect(try type().contains("id=\"grant\(client.id)\"") && reads("bodyMass").isEmpty)
        let answer = try PageTests.post(served, "/page/clients/\(client.id)", "do=grant&type=bodyMass&then=type", cookie)
        #expect(answer.headers["location"] == "/page/type/bodyMass")
        let granted = try type()
        #expect(granted.contains("Read: Yes") && !granted.contains("id=\"grant\(client.id)\""))
        #expect(try !reads("bodyMass").isEmpty)
    }

    @Test func aGrantBeginsWithADay() throws {
        // 21 and 22 September, 14:13.
        try served.add(numerals: ["61", "62"], of: "heartRate", every: 86_400)
        try ask(ObjectType(.heartRate))
        #expect(try page().contains("name=\"from.heartRate\" value=\"\""))
        let answer = "do=answer&asked=read.heartRate&yes=read.heartRate&from.heartRate="
        for day in ["2026-02-30", "yesterday", "-7d", "2026-09-22T00:00:00Z", "x"] {
            #expect(try post(answer + day) == 400, "\(day)")
        }
        #expect(try post(answer + "2026-09-22") == 303)
        #expect(try !reads("heartRate").contains("\"value\":61.0") && reads("heartRate").contains("\"value\":62.0"))
        #expect(try page().contains("name=\"from.heartRate\" value=\"2026-09-22\""))
        // Made more, and all, and less again.
        let change = "do=read&type=heartRate&from.heartRate="
        #expect(try post(change + "2026-09-21") == 303)
        #expect(try reads("heartRate").contains("\"value\":61.0"))
        #expect(try post(change + "2026-09-23") == 303)
        #expect(try reads("heartRate").isEmpty)
        #expect(try post(change) == 303)
        #expect(try reads("heartRate").split(separator: "\n").count == 2)
        #expect(try served.store.clients.grants(of: client).first?.reading == .all)
    }

    @Test func aTimeWithinADayStays() throws {
        let noon = Instant(seconds: 1_790_000_000)
        try served.store.clients.set(
            Grant(person: ServedStore.person, type: ObjectType(.heartRate), reading: .from(noon), mayWrite: false), of: client,
            at: ServedStore.now)
        #expect(try page().contains("value=\"2026-09-21\""))
        #expect(try post("do=read&type=heartRate&from.heartRate=2026-09-21") == 303)
        #expect(try served.store.clients.grants(of: client).first?.reading == .from(noon))
    }

    @Test func doesNotExtendMissingGrant() throws {
        try served.add([61])
        // A client that never asked.
        #expect(try post("do=read&type=heartRate&from.heartRate=") == 400)
        try ask(ObjectType(.heartRate))
        #expect(try post("do=read&type=heartRate&from.heartRate=") == 400)
        // Nor by another person.
        #expect(try post("do=answer&asked=read.heartRate&yes=read.heartRate") == 303)
        #expect(try post("do=read&type=heartRate&from.heartRate=", PageTests.cookie(served, as: PageTests.other)) == 404)
    }

    @Test func allowsChangingEmptyGrant() throws {
        try served.add([61])
        try ask(ObjectType(.heartRate), ObjectType(.bodyMass))
        #expect(try post("do=answer&asked=read.heartRate&asked=read.bodyMass") == 303)
        #expect(try reads("heartRate").isEmpty)
        // A type that is requested again is not pending, and is listed as refused.
        try ask(ObjectType(.heartRate))
        #expect(try page().contains("Change your answer") && page().contains("value=\"read.heartRate\""))
        #expect(try post("do=answer&asked=read.heartRate&asked=read.bodyMass&yes=read.heartRate") == 303)
        #expect(try !reads("heartRate").isEmpty)
        #expect(try !page().contains("name=\"asked\" value=\"read.heartRate\""))
        #expect(try page().contains("name=\"asked\" value=\"read.bodyMass\""))
        // The same for a withdrawn type.
        #expect(try post("do=withdraw&type=heartRate") == 303)
        #expect(try page().contains("name=\"asked\" value=\"read.heartRate\""))
    }

    @Test func listsOnlyClientsWithRequests() throws {
        // Except to the owner of the hub, who added it.
        #expect(try page().contains("asker") && page().contains("Charts"))
        try ask(ObjectType(.heartRate))
        #expect(try page().contains("asker"))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !#require(try served.client().get("/page/clients", theirs)).text.contains("asker"))
        // An answer for a client that never asked does not reveal it either. It is the same as for a client that does not exist.
        for body in ["do=withdraw&type=heartRate", "do=answer&asked=read.heartRate&yes=read.heartRate"] {
            #expect(try post(body, theirs) == 404)
            #expect(try PageTests.post(served, "/page/clients/999999", body, theirs).status == 404)
        }
        #expect(try !#require(try served.client().get("/page/clients", theirs)).text.contains("asker"))
        #expect(try served.store.clients.grants(of: client).isEmpty)
    }

    @Test func aTypeIsGrantedWithoutARequest() throws {
        try served.add([61])
        _ = try served.addRecord("Flu")
        let text = try page()
        #expect(text.contains("<option value=\"heartRate\">") && !text.contains("<option value=\"immunizationRecord\">"))
        // Clinical records are granted one by one, after a request.
        #expect(try post("do=grant&type=immunizationRecord") == 400)
        #expect(try post("do=grant&type=nothing") == 400)
        #expect(try post("do=grant&type=heartRate", PageTests.cookie(served, as: PageTests.other)) == 404)
        #expect(try served.store.clients.grants(of: client).isEmpty)
        #expect(try post("do=grant&type=heartRate") == 303)
        #expect(try reads("heartRate").contains("\"value\":61.0"))
        #expect(try served.store.clients.grants(of: client).map(\.person) == [ServedStore.person])
    }

    @Test func recordsAreGrantedOneByOne() throws {
        let (flu, mumps) = (try served.addRecord("Flu <b>"), try served.addRecord("Mumps", at: 1_790_100_000))
        let type = try #require(ObjectType("immunizationRecord"))
        try ask(type)
        let asked = try page()
        #expect(asked.contains("Flu &lt;b&gt;") && asked.contains("value=\"\(mumps.description)\""))
        // No word grants them all.
        #expect(!asked.contains("name=\"yes\" value=\"read.immunizationRecord\""))
        #expect(try reads("immunizationRecord").isEmpty)
        let shown = "shown.immunizationRecord=\(flu.description)&shown.immunizationRecord=\(mumps.description)"
        #expect(
            try post("do=answer&asked=read.immunizationRecord&\(shown)&object.immunizationRecord=\(flu.description)") == 303)
        #expect(try reads("immunizationRecord").contains("Flu") && !reads("immunizationRecord").contains("Mumps"))
        #expect(
            try page().contains("value=\"\(flu.description)\" checked")
                && !page().contains("value=\"\(mumps.description)\" checked"))
        // A later record is not granted, unless the person included future ones.
        try served.addRecord("Measles", at: 1_790_200_000)
        #expect(try !reads("immunizationRecord").contains("Measles"))
        #expect(
            try post(
                "do=read&type=immunizationRecord&\(shown)&object.immunizationRecord=\(mumps.description)&future=immunizationRecord"
            ) == 303)
        #expect(try reads("immunizationRecord").contains("Mumps") && !reads("immunizationRecord").contains("Flu"))
        #expect(try !reads("immunizationRecord").contains("Measles"))
        let rubella = try served.addRecord("Rubella", at: 1_790_300_000)
        #expect(try reads("immunizationRecord").contains("Rubella"))
        // Records that arrived while the form was open stay as they are.
        #expect(try post("do=read&type=immunizationRecord&\(shown)") == 303)
        #expect(try reads("immunizationRecord").contains("Rubella") && !reads("immunizationRecord").contains("Mumps"))
        #expect(try page().contains("value=\"\(rubella.description)\" checked"))
        #expect(try post("do=read&type=immunizationRecord&shown.immunizationRecord=\(rubella.description)") == 303)
        #expect(try reads("immunizationRecord").isEmpty)
    }

    /// More than a page lists: those that it leaves out stay granted.
    @Test func keepsGrantsOfUnlistedSamples() throws {
        let first = try served.addRecord("first")
        for number in 1...200 { try served.addRecord("later \(number)", at: 1_790_000_000 + Int64(number) * 3600) }
        let type = try #require(ObjectType("immunizationRecord"))
        try served.store.clients.set(
            Grant(person: ServedStore.person, type: type, reading: .objects(future: false), mayWrite: false), objects: [first],
            of: client, at: ServedStore.now)
        let text = try page()
        #expect(!text.contains(first.description) && text.contains("Only the newest 200 records are listed."))
        let shown = text.matches(of: #/name="shown.immunizationRecord" value="([^"]*)"/#).map(\.output.1)
        #expect(Set(shown).count == 200)
        let body = "do=read&type=immunizationRecord&" + shown.map { "shown.immunizationRecord=\($0)" }.joined(separator: "&")
        #expect(try post(body + "&object.immunizationRecord=\(shown[0])") == 303)
        #expect(try reads("immunizationRecord").split(separator: "\n").count == 2)
        #expect(try reads("immunizationRecord").contains("\"first\""))
    }
}

import HealthModel
import Pipeline
import SampleStore
import Testing

/// Clients, their tokens and grants, in a shell.
@Suite struct ClientsCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    private func grants() throws -> [String] {
        try folder.vitalgate("clients", "grants", "page", "--format", "ndjson").lines
    }

    @Test func fromAddingToRemoving() throws {
        let added = try folder.vitalgate("clients", "add", "page", "--purpose", "Charts", "--policy", "https://example.org/p")
        #expect(added.status == 0 && added.output.count == 65, "\(added.errors)")
        let listed = try folder.vitalgate("clients", "list", "--format", "ndjson").output
        #expect(listed.contains(#""purpose":"Charts""#) && listed.contains(#""tokens":1"#))
        #expect(!listed.contains(added.output.dropLast()))
        let fresh = try folder.vitalgate("clients", "token", "page", "--revoke")
        #expect(fresh.output.count == 65 && fresh.output != added.output)
        #expect(try folder.vitalgate("clients", "list", "--format", "ndjson").output.contains(#""tokens":1"#))
        #expect(try folder.vitalgate("clients", "revoke", "page").errors.contains("1 token revoked"))
        #expect(try folder.vitalgate("clients", "add", "page", "--purpose", "Charts").status == 65)
        #expect(try folder.vitalgate("clients", "forget", "page").status == 0)
        #expect(try folder.vitalgate("clients", "list", "--format", "ndjson").lines.isEmpty)
        #expect(try folder.vitalgate("clients", "grants", "page").status == 65)
    }

    /// Saves a weight as a client does over HTTP.
    private func save(_ mass: String, on day: Int64, as name: String) throws {
        let store = try SampleStore(path: folder.store, access: .write)
        let client = try #require(try store.clients.client(named: name))
        let time = Instant(seconds: 1_772_359_200 + day * 86_400)
        let reading = Reading(
            origin: Origin(
                person: store.owner, type: .bodyMass, source: SourceRevision(id: client.source, name: name), device: nil),
            numeral: try Numeral(mass), unit: SampleType.bodyMass.canonicalUnit,
            time: .instants(start: time, end: time, offset: nil), place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: time)
        _ = try store.clients.save(
            samples, by: client, ClientRequest(key: nil, bytes: []), at: time, within: time.microseconds..<Int64.max)
    }

    /// An export contains the samples of clients. They are recognized, but no file adds any.
    @Test func importsNoSampleForAClient() throws {
        #expect(try folder.vitalgate("clients", "add", "page", "--purpose", "Charts").status == 0)
        #expect(try folder.vitalgate("clients", "grant", "page", "--write", "bodyMass").status == 0)
        try save("80", on: 0, as: "page")
        let file = folder.path("all.ndjson")
        #expect(try folder.vitalgate("export", "--to", file).status == 0)
        let again = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(again.status == 0 && again.output.contains(#""stored":0"#), "\(again.output)")
        let forged = try folder.write(
            "page (client.1)",
            #"{"type":"bodyMass","start":"2026-03-05T10:00:00Z","value":81,"unit":"kg","source":{"id":"client.1","name":"page"}}"#
                + "\n")
        let run = try folder.vitalgate("import", forged)
        #expect(run.status == 65 && run.errors.contains("its source is a client of this hub"), "\(run.errors)")
        #expect(try !folder.vitalgate("query", "bodyMass").output.contains("81"))
        // Posts of a client continue the entry with its name.
        #expect(try folder.vitalgate("ledger", "list").output.contains("page (client.1) (file)"))
    }

    /// The samples of a client, under its own source, are deleted with it on request.
    @Test func removesClientWithSamples() throws {
        for (day, (name, mass)) in zip(Int64(0)..., [("page", "80"), ("other", "81")]) {
            #expect(try folder.vitalgate("clients", "add", name, "--purpose", "Charts").status == 0)
            #expect(try folder.vitalgate("clients", "grant", name, "--write", "bodyMass").status == 0)
            try save(mass, on: day, as: name)
        }
        let before = try folder.vitalgate("query", "all", "--format", "ndjson").lines.count
        #expect(try folder.vitalgate("clients", "forget", "other").status == 0)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == before)
        let run = try folder.vitalgate("clients", "forget", "page", "--delete")
        #expect(run.status == 0 && run.errors.contains("1 sample"), "\(run.errors)")
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == before - 1)
        #expect(try folder.vitalgate("query", "bodyMass", "--from", "2026-03-02", "--to", "2026-03-03").output.contains("81"))
    }

    @Test func halvesOfAGrantAreChangedApart() throws {
        #expect(try folder.vitalgate("clients", "add", "page", "--purpose", "Charts").status == 0)
        #expect(try grants().isEmpty)
        func run(_ arguments: String...) throws { #expect(try folder.vitalgate(["clients"] + arguments).status == 0) }
        try run("grant", "page", "--read", "heartRate,biologicalSex")
        try run("grant", "page", "--write", "heartRate")
        try run("grant", "page", "--read", "conditionRecord", "--future")
        #expect(
            try grants() == [
                #"{"subject":"me","type":"biologicalSex","read":"all","write":false}"#,
                #"{"subject":"me","type":"conditionRecord","read":"some and future","write":false}"#,
                #"{"subject":"me","type":"heartRate","read":"all","write":true}"#,
            ])
        try run("withdraw", "page", "--read", "heartRate")
        #expect(try grants().last == #"{"subject":"me","type":"heartRate","read":"no","write":true}"#)
        try run("withdraw", "page", "--write", "heartRate")
        #expect(try grants().last == #"{"subject":"me","type":"heartRate","read":"no","write":false}"#)
    }

    /// A clinical type is not granted by its name alone, and nothing is by a word for all.
    @Test func grantsOnlyNamedTypes() throws {
        #expect(try folder.vitalgate("clients", "add", "page", "--purpose", "Charts").status == 0)
        for arguments in [
            [], ["--read", "all"], ["--read", "conditionRecord"],
            ["--read", "conditionRecord", "--from", "2026-01-01", "--future"],
            ["--read", "heartRate", "--future"], ["--read", "conditionRecord", "--objects", "x"], ["--read", ""],
        ] {
            #expect(try folder.vitalgate(["clients", "grant", "page"] + arguments).status == 64, "\(arguments)")
        }
        #expect(try folder.vitalgate("clients", "add", "other").status == 64)
        #expect(try grants().isEmpty)
    }
}

import HealthModel
import Testing

/// A person's export has everything that the store has of them, of every kind that there is.
@Suite struct EverythingAboutMeTests {
    private let objects: ObjectStore
    private var folder: TestFolder { objects.folder }

    init() throws {
        objects = try ObjectStore.filled()
        let csv = """
            time,type,value,unit,end,source,device,subject
            2026-11-20T07:00:00Z,bodyMass,71.50,kg,,Scale,S-17,
            2026-11-20T07:01:00Z,bodyMass,57,kg,,Scale,S-17,\(Family.guest)

            """
        try #require(try folder.vitalgate("import", folder.write("more.csv", csv)).status == 0)
        let sleep = #"{"type":"sleepAnalysis","start":"2026-11-19T23:00:00Z","end":"2026-11-20T06:30:00Z","case":"asleepCore"}"#
        try #require(try folder.vitalgate("import", folder.write("night.ndjson", sleep + "\n")).status == 0)
    }

    private func uuids(_ lines: [String]) throws -> Set<String> { Set(try lines.compactMap { try JSON($0)["uuid"].text }) }

    @Test func eachFormHasOrNamesEverything() throws {
        let own = try folder.vitalgate("query", "all", "--person", "me", "--format", "ndjson").lines
        let kinds = Set(try own.compactMap { try JSON($0)["kind"].text })
        // A new kind has to be added to this store.
        #expect(kinds == Set(SampleKind.allCases.map(\.name)))
        for name in ["me.ndjson", "me.csv", "me.xml", "me.zip", "wide.csv"] {
            let form = name == "wide.csv" ? ["--format", "wide"] : []
            let run = try folder.vitalgate(["export", "--to", folder.path(name), "--person", "me"] + form)
            #expect(run.status == 0, "\(run)")
            // The content and the reported omissions together are everything.
            let numbers = run.errors.split(separator: "\n").compactMap { line -> Int? in
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(where: { $0.hasPrefix("sample") || $0.hasPrefix("left") }) else { return nil }
                return words[index].hasPrefix("left") ? Int(words[index + 2]) : Int(words[index - 1])
            }
            #expect(numbers.reduce(0, +) == own.count, "\(name): \(run.errors)")
        }
        let lines = folder.text("me.ndjson").split(separator: "\n").map(String.init)
        #expect(try uuids(lines) == uuids(own))
        let rows = folder.text("me.csv").split(whereSeparator: \.isNewline).dropFirst()
        #expect(Set(rows.map { String($0.prefix(36)) }) == (try uuids(own)))
        for text in ["me.ndjson", "me.csv", "wide.csv", "me.xml"] {
            #expect(!folder.text(text).contains(Family.guest), "\(text)")
        }
    }

    /// Lines are complete: another store that imports them has the same content, to the byte of each document.
    @Test func linesReadBackAreTheSame() throws {
        try folder.vitalgate("export", "--to", folder.path("me.ndjson"), "--person", "me")
        let back = folder.path("back.db")
        try folder.write("config.json5", "{ subject: '\(ObjectStore.person)' }\n")
        let run = try folder.vitalgate(["import", folder.path("me.ndjson")], store: back)
        #expect(run.status == 0, "\(run)")
        let own = try folder.vitalgate(["query", "all", "--person", "me", "--format", "ndjson"]).lines
        let again = try folder.vitalgate(["query", "all", "--format", "ndjson"], store: back).lines
        #expect(try uuids(own) == uuids(again))
        for (name, uuid) in objects.uuids {
            let (first, second) = (
                try folder.vitalgate(["show", uuid, "--format", "ndjson"]),
                try folder.vitalgate(["show", uuid, "--format", "ndjson"], store: back)
            )
            #expect(first.status == second.status, "\(name)")
        }
        for name in ["record", "document"] {
            let (first, second) = (
                try folder.vitalgate(["show", objects[name], "--raw"]),
                try folder.vitalgate(["show", objects[name], "--raw"], store: back)
            )
            #expect(first.output == second.output && first.output.contains(name == "record" ? "Grüße" : "Summary"), "\(name)")
        }
    }
}

import Testing

/// Names are for people, and nowhere but in the store.
@Suite struct PeopleCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    private func names() throws -> [String] {
        try folder.vitalgate("people", "list", "--format", "ndjson").lines.compactMap { try JSON($0)["name"].text }
    }

    @Test func addRenameRemove() throws {
        #expect(try names() == ["me"])
        #expect(try folder.vitalgate("people", "add", "Anna", "--id", Family.guest).status == 0)
        let ben = try folder.vitalgate("people", "add", "Ben")
        #expect(ben.status == 0 && ben.output.count == 37)
        #expect(try names() == ["me", "Anna", "Ben"])
        #expect(try folder.vitalgate("query", "bodyMass", "--person", "Anna", "--format", "ndjson").lines.count == 1)
        #expect(try folder.vitalgate("people", "rename", "Anna", "Änne Müller").status == 0)
        #expect(try folder.vitalgate("people", "rename", "me", "Carl").status == 0)
        #expect(try names() == ["Ben", "Carl", "Änne Müller"])
        #expect(try folder.vitalgate("query", "bodyMass", "--person", "Änne Müller", "--format", "ndjson").lines.count == 1)
        #expect(try folder.vitalgate("query", "heartRate", "--person", "Carl", "--format", "ndjson").lines.isEmpty)
        #expect(try folder.vitalgate("people", "add", "Dora", "--id", Family.person).status == 0)
        #expect(try folder.vitalgate("query", "heartRate", "--person", "Dora", "--format", "ndjson").lines.count == 3)
        #expect(try folder.vitalgate("people", "remove", "Änne Müller").status == 0)
        #expect(
            try folder.vitalgate("query", "all", "--person", Family.guest, "--format", "ndjson").lines.count == 1,
            "samples stay")
        let query = try folder.vitalgate("query", "all", "--format", "ndjson").output
        for name in ["Carl", "Anna", "Änne"] { #expect(!query.contains(name), "samples have no names") }
    }

    @Test func aNameIsOnePersons() throws {
        #expect(try folder.vitalgate("people", "add", "Anna").status == 0)
        for arguments in [["add", "Anna"], ["rename", "me", "Anna"], ["remove", Family.guest]] {
            #expect(try folder.vitalgate(["people"] + arguments).status == 65, "\(arguments)")
        }
        let names = ["me", "unassigned", Family.guest, "", " x", "a\nb", String(repeating: "x", count: 201)]
        for name in names {
            #expect(try folder.vitalgate("people", "add", name).status == 64, "\(name)")
            #expect(try folder.vitalgate("people", "rename", "Anna", name).status == 64, "\(name)")
        }
        let unknown = try folder.vitalgate("query", "all", "--person", "Zoe")
        #expect(unknown.status == 64 && !unknown.errors.contains("Zoe"), "\(unknown.errors)")
    }

    /// A table with rows of more than one person has a column for the person.
    @Test func tablesShowPersonIfSeveral() throws {
        #expect(try folder.vitalgate("people", "add", "Anna", "--id", Family.guest).status == 0)
        let all = try folder.vitalgate("query", "all").output
        for name in ["person", "Anna", "unassigned", "me"] { #expect(all.contains(name), "\(name): \(all)") }
        let own = try folder.vitalgate("query", "heartRate", "--person", Family.person).output
        #expect(!own.contains("person") && own.contains("Strap"))
    }

    @Test func mergeAcceptsDeviceKeys() throws {
        let key = try #require(
            try folder.vitalgate("query", "bodyTemperature", "--format", "ndjson").objects().first?["device"]["key"].text)
        let wrong = try folder.vitalgate("devices", "merge", "no-such-key", key)
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("no-such-key") && wrong.errors.contains(key), "\(wrong.errors)")
        #expect(try folder.vitalgate("devices", "merge", key, "no-such-key").status == 64)
        let other = try #require(
            try folder.vitalgate("query", "stepCount", "--format", "ndjson").objects().first?["device"]["key"].text)
        #expect(try folder.vitalgate("devices", "merge", other, key).status == 0)
    }
}

import Testing

/// `devices assign --user`: whom a scale means by its numbers.
@Suite struct ScaleUserTests {
    @Test func numbersAndCodes() throws {
        let folder = try TestFolder()
        let scale = "C0:01:02:03:04:0A"
        #expect(try folder.vitalgate("devices", "adopt", scale, "--profile", "sig-weight-scale", "--name", "scale").status == 0)
        #expect(try folder.vitalgate("people", "add", "Anna", "--id", "7f9c0000-0000-4000-8000-000000000001").status == 0)
        let mine = try folder.vitalgate("devices", "assign", "scale", "--person", "me", "--user", "1", "--consent", "2520")
        #expect(mine.status == 0 && mine.errors.contains("1 user number assigned"), "\(mine.errors)")
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "Anna", "--user", "2").status == 0)
        // Another person for a number. The code stays.
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "Anna", "--user", "1").status == 0)
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "me", "--range", "70..90").status == 0)
        let listed = try folder.vitalgate("devices", "list", "--format", "ndjson")
        let device = try #require(try listed.objects().first)
        #expect(device["subject"].text == "unassigned")
        let users = device["users"].list
        #expect(users.map { $0["number"].integer ?? 0 } == [1, 2])
        #expect(users.map { $0["subject"].text ?? "" } == Array(repeating: "7f9c0000-0000-4000-8000-000000000001", count: 2))
        #expect(users.map { $0["consents"] } == [.boolean(true), .boolean(false)])
        #expect(device["ranges"].list.count == 1)
        // The code is never printed.
        #expect(!listed.output.contains("2520"))
        #expect(try folder.vitalgate("people", "remove", "Anna").status == 65)
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "me").status == 0)
        #expect(try folder.vitalgate("devices", "list", "--format", "ndjson").objects().first?["users"] == .null)
        #expect(try folder.vitalgate("people", "remove", "Anna").status == 0)
    }

    @Test(arguments: [
        ["--user", "0"], ["--user", "255"], ["--user", "1", "--consent", "65536"], ["--consent", "1"],
        ["--user", "1", "--consent", "12a4"],
        ["--user", "1", "--range", "60..70"],
    ]) func refusesInvalidNumbers(options: [String]) throws {
        let folder = try TestFolder()
        #expect(
            try folder.vitalgate("devices", "adopt", "C0:01:02:03:04:0A", "--profile", "sig-weight-scale", "--name", "scale")
                .status == 0)
        let run = try folder.vitalgate(["devices", "assign", "scale", "--person", "me"] + options)
        #expect(run.status == 64, "\(run.errors)")
        #expect(!run.errors.contains("12a4") && !run.errors.contains("65536"), "\(run.errors)")
    }
}

import Testing

/// `import`: the report, the zone, the person, and ignored data.
@Suite struct ImportCommandTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func endsWithTheAccount() throws {
        let file = try folder.write("household.csv", Family.csv)
        let run = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(run.lines.count == 1)
        #expect(
            JSON.keys(of: run.last).prefix(9) == [
                "ingest", "file", "profile", "read", "stored", "duplicate", "quarantined", "refused", "skipped",
            ])
        let account = try Account(run.last)
        #expect(account.ingest == 1)
        #expect(account.file == "household.csv")
        #expect(account.profile == "generic-csv")
        #expect(account.read == 11)
        #expect(account.stored == 10)
        #expect(account.quarantined == 1)
        #expect(account.refused == 0)
        #expect(account.skipped.isEmpty)
        #expect(account.addsUp)
        #expect(account.state == "done")
        #expect(run.status == 65)
        #expect(run.errors.contains("household.csv"))
        let shown = try folder.vitalgate("ledger", "show", "1", "--format", "ndjson")
        #expect(shown.output == run.output)
        #expect(shown.errors.isEmpty)
        #expect(shown.status == 0)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").output == run.output)
    }

    @Test func countsSkippedContent() throws {
        let run = try folder.vitalgate("import", "\(Repository.files)/apple_health_0.xml", "--format", "ndjson")
        let account = try Account(run.last)
        #expect(account.skipped == ["correlationRecord": 4, "InstantaneousBeatsPerMinute": 2])
        #expect(account.addsUp)
        #expect(run.status == 0)
        // Its messages about the person contain types and no values.
        let reported = run.errors.split(separator: "\n").map { $0.split(separator: ": ").dropFirst().joined(separator: ": ") }
        #expect(reported.allSatisfy { $0.hasPrefix("characteristics set: ") }, "\(run.errors)")
    }

    /// A line an account, in the order of the files.
    @Test func takesManyFiles() throws {
        let files = ["withings_bp_0.csv", "omron_connect_0.csv", "polar_0.csv"]
        let run = try folder.vitalgate(["import"] + files.map { "\(Repository.files)/\($0)" } + ["--format", "ndjson"])
        #expect(run.status == 0)
        let accounts = try run.lines.map { try Account($0) }
        #expect(accounts.map(\.file) == files)
        #expect(accounts.map(\.ingest) == [1, 2, 3])
    }

    @Test func createsStoreForOwnerOnly() throws {
        let store = folder.path("new/deep/store.db")
        let file = try folder.write("household.csv", Family.csv)
        try folder.vitalgate(["import", file], store: store)
        #expect(folder.mode("new") == 0o700)
        #expect(folder.mode("new/deep") == 0o700)
        #expect(folder.mode("new/deep/store.db") == 0o600)
        #expect(try folder.vitalgate(["store", "check"], store: store).output == "ok\n")
    }

    /// Without `--store`: the person's own folder.
    @Test func createsConfiguredStore() throws {
        let file = try folder.write("household.csv", Family.csv)
        try folder.write("own.json5", "{ store: '\(folder.path("configured/store.db"))', timeZone: 'Asia/Tokyo' } // mine\n")
        let options = ["--config", folder.path("own.json5"), "--profiles", Repository.profiles]
        let run = try Vitalgate.run(options + ["import", file], environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 65, "\(run.errors)")
        #expect(folder.mode("configured/store.db") == 0o600)
    }

    @Test func aRehearsalChangesNothing() throws {
        let file = try folder.write("household.csv", Family.csv)
        let rehearsal = try folder.vitalgate("import", file, "--dry-run", "--format", "ndjson")
        #expect(try Account(rehearsal.last).stored == 10)
        #expect(rehearsal.status == 65)
        #expect(!folder.exists("store.db"))

        try folder.vitalgate("import", file)
        let before = try folder.vitalgate("query", "all", "--format", "ndjson").output
        let ledger = try folder.vitalgate("ledger", "list", "--format", "ndjson").output
        let more = try folder.write("more.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        let again = try folder.vitalgate("import", file, more, "--dry-run", "--format", "ndjson")
        let accounts = try again.lines.map { try Account($0) }
        #expect(accounts.map(\.stored) == [0, 1])
        #expect(accounts.map(\.duplicate) == [11, 0])
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output == before)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").output == ledger)
    }

    @Test func findsRepeatedReadings() throws {
        let file = try folder.write("household.csv", Family.csv)
        try folder.vitalgate("import", file)
        let content = try folder.vitalgate("query", "all", "--format", "ndjson").output
        let again = try folder.vitalgate("import", file, "--format", "ndjson")
        let account = try Account(again.last)
        #expect(account.stored == 0)
        #expect(account.duplicate + account.quarantined == 11)
        #expect(account.addsUp)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output == content)
    }

    // MARK: Time

    @Test(arguments: [
        (["--time-zone", "Europe/Berlin"], [:], "Europe/Berlin", "2026-03-28T06:30:00.000000Z", "+01:00"),
        (["--time-zone", "+05:30"], [:], "+05:30", "2026-03-28T02:00:00.000000Z", "+05:30"),
        ([], ["TZ": "America/New_York"], "America/New_York", "2026-03-28T11:30:00.000000Z", "-04:00"),
        ([], ["TZ": "UTC"], "UTC", "2026-03-28T07:30:00.000000Z", "+00:00"),
    ])
    func namesZoneOfLocalTimes(
        options: [String], environment: [String: String], zone: String, start: String, offset: String
    ) throws {
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,heartRate,61,/min\n")
        let run = try folder.vitalgate(["import", file, "--format", "ndjson"] + options, environment: environment)
        #expect(run.status == 0)
        #expect(run.errors == "\(file): local times are read in \(zone)\n")
        #expect(try Account(run.last).zone == zone)
        #expect(try Account(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last).zone == zone)
        let sample = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(sample["start"].text == start)
        #expect(sample["zone"].text == offset)
    }

    /// Zones with and without changes of clocks, on both sides of Greenwich.
    @Test(arguments: [
        ("Asia/Tokyo", "+09:00"), ("Asia/Kolkata", "+05:30"), ("Pacific/Kiritimati", "+14:00"), ("America/Phoenix", "-07:00"),
        ("Pacific/Pago_Pago", "-11:00"), ("Australia/Lord_Howe", "+11:00"), ("Etc/GMT+12", "-12:00"), ("UTC", "+00:00"),
    ])
    func knowsTheZonesOfTheWorld(zone: String, offset: String) throws {
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,heartRate,61,/min\n")
        let run = try folder.vitalgate("import", file, "--time-zone", zone, "--format", "ndjson")
        #expect(run.status == 0, "\(run.errors.prefix(200))")
        #expect(try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)["zone"].text == offset)
        let days = try folder.vitalgate("stats", "heartRate", "--every", "1d", "--time-zone", zone, "--format", "ndjson")
        #expect(days.lines.count == 1, "\(days.errors.prefix(200))")
    }

    /// The configured zone takes precedence over the machine's, and the option over both.
    @Test func takesTheConfiguredZone() throws {
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,heartRate,61,/min\n")
        try folder.write("config.json5", "{ timeZone: 'Asia/Tokyo' }")
        let run = try folder.vitalgate("import", file, "--format", "ndjson", environment: ["TZ": "Europe/Berlin"])
        #expect(try Account(run.last).zone == "Asia/Tokyo")
    }

    @Test func omitsZoneIfFileHasOffsets() throws {
        let file = try folder.write("zoned.csv", "time,type,value,unit\n2026-03-28T07:30:00-03:00,heartRate,61,/min\n")
        let run = try folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "Europe/Berlin")
        #expect(run.errors.isEmpty)
        #expect(try Account(run.last).zone == nil)
    }

    /// A reading keeps its UUID whatever zone it is read in (section 4), and so is not stored a second time.
    @Test func anotherZoneIsTheSameReading() throws {
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,heartRate,61,/min\n")
        try folder.vitalgate("import", file, "--time-zone", "Europe/Berlin")
        let again = try folder.vitalgate("import", file, "--time-zone", "Asia/Tokyo", "--format", "ndjson")
        #expect(try Account(again.last).duplicate == 1)
    }

    @Test func refusesAnHourThatOccursTwice() throws {
        let file = try folder.write("double.csv", "time,type,value,unit\n2025-10-26T02:30:00,heartRate,61,/min\n")
        let run = try folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "Europe/Berlin")
        #expect(try Account(run.last).refused == 1)
        #expect(run.status == 65)
        #expect(run.errors.contains("\(file): line 2: "))
        #expect(run.errors.contains("--time-zone +01:00"))
        let updated = try folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "+01:00")
        #expect(try Account(updated.last).stored == 1)
    }

    @Test func refusesAnHourThatDoesNotExist() throws {
        let file = try folder.write("gap.csv", "time,type,value,unit\n2026-03-29T02:30:00,heartRate,61,/min\n")
        let run = try folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "Europe/Berlin")
        #expect(try Account(run.last).refused == 1)
        #expect(run.errors.contains("line 2"))
    }

    // MARK: People

    @Test(arguments: ["11111111-2222-4333-8444-555555555555", "AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE", "unassigned"])
    func acceptsAnyPerson(person: String) throws {
        let file = try folder.write("one.csv", "time,type,value,unit\n2026-03-28T07:30:00Z,heartRate,61,/min\n")
        try folder.vitalgate("import", file, "--person", person)
        let sample = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(sample["subject"].text == person.lowercased())
    }

    @Test func defaultPersonIsMe() throws {
        let file = try folder.write("one.csv", "time,type,value,unit\n2026-03-28T07:30:00Z,heartRate,61,/min\n")
        try folder.vitalgate("import", file)
        #expect(try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)["subject"].text == "me")
        #expect(try folder.vitalgate("query", "all", "--person", "me", "--format", "ndjson").lines.count == 1)
    }

    /// A file that names other people brings only the person's own readings, if asked to.
    @Test func onlyThePersonsReadings() throws {
        let folder = try TestFolder()
        let (anna, ben) = ("7f9c0000-0000-4000-8000-000000000001", "7f9c0000-0000-4000-8000-000000000002")
        try folder.write(
            "people.csv",
            "time,type,value,unit,subject\n"
                + ["", "me", anna, ben, "unassigned"].enumerated().map { index, person in
                    "2026-03-01T0\(index):00:00Z,heartRate,6\(index),/min,\(person)\n"
                }.joined())
        let words = ["import", folder.path("people.csv"), "--person", anna, "--format", "ndjson"]
        let run = try folder.vitalgate(words + ["--only-person"])
        let account = try JSON(run.last)
        #expect(run.status == 65 && account["stored"].integer == 3 && account["refused"].integer == 2)
        #expect(try folder.vitalgate("query", "heartRate", "--person", anna, "--format", "ndjson").lines.count == 3)
        #expect(try folder.vitalgate("query", "all", "--person", ben, "--format", "ndjson").lines.isEmpty)
        #expect(try folder.vitalgate("ledger", "show", "1").output.contains("line 5: the file names another person"))
        #expect(try JSON(folder.vitalgate(words).last)["stored"].integer == 2)
    }

    /// Two hubs, one person: the same readings have the same UUIDs, and one store may take in the other's file.
    @Test func twoStoresAgreeOnTheUUIDs() throws {
        let files = VectorFilesTests.files.map { "\(Repository.files)/\($0)" }
        func uuids(_ store: String) throws -> [String] {
            try folder.vitalgate(
                ["import"] + files + ["--person", Family.person, "--time-zone", "Europe/Berlin"], store: folder.path(store))
            return try folder.vitalgate(["query", "all", "--format", "ndjson"], store: folder.path(store)).objects()
                .compactMap { $0["uuid"].text }
        }
        let one = try uuids("one.db")
        #expect(one.count > 700)
        #expect(Set(one).count == one.count)
        #expect(try uuids("two.db") == one)
        #expect(
            one.allSatisfy { $0.wholeMatch(of: #/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#) != nil })
    }

    // MARK: The generic CSV

    @Test func readsTheGenericCSV() throws {
        let file = try folder.write(
            "generic.csv",
            """
            time,type,value,unit,end,source,device,subject
            2026-03-28T07:30:00Z,stepCount,512,1,2026-03-28T08:30:00Z,Pedometer,Clip 3,\(Family.guest)
            """)
        try folder.vitalgate("import", file)
        let sample = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(sample["end"].text == "2026-03-28T08:30:00.000000Z")
        #expect(sample["source"]["name"].text == "Pedometer")
        #expect(sample["device"]["name"].text == "Clip 3")
        #expect(sample["subject"].text == Family.guest)
    }

    @Test(arguments: [
        "time,type,value,unit", "time,type,value,unit,end", "time,type,value,unit,source", "time,type,value,unit,device,subject",
        "time,type,value,unit,subject,device,source,end", "\u{FEFF}time,type,value,unit", "time,type,value,unit\r",
    ])
    func readsTheGenericCSVWithSomeColumns(header: String) throws {
        let columns = header.split(separator: ",").count - 4
        let file = try folder.write(
            "some.csv",
            "\(header)\n2026-03-28T07:30:00Z,heartRate,61,/min\(String(repeating: ",", count: columns))\(header.hasSuffix("\r") ? "\r" : "")\n"
        )
        let run = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(try Account(run.last).stored == 1, "\(run.errors)")
    }

    @Test func namesAProfile() throws {
        let file = "\(Repository.files)/withings_bp_0.csv"
        let right = try folder.vitalgate("import", file, "--profile", "withings-blood-pressure", "--format", "ndjson")
        #expect(try Account(right.last).profile == "withings-blood-pressure")
        let wrong = try folder.vitalgate("import", file, "--profile", "polar-flow-session")
        #expect(wrong.status == 65)
        #expect(wrong.output.isEmpty)
        #expect(wrong.errors.contains("withings_bp_0.csv"))
    }
}

import HealthModel
import Testing

/// `show`: one object whole, for people and for programs.
@Suite struct ShowCommandTests {
    /// Words that a page of each kind has, and those that lines have under their names.
    @Test func everyKindHasPage() throws {
        let objects = try ObjectStore.filled()
        let pages: [(String, [String])] = [
            (
                "workout",
                [
                    "workout  running 29:02", "2026-11-20 07:31:00 +01:00 to 08:02:02, 31:02",
                    "duration     29:02, as reported by the source",
                    "5.20 km", "lap 2   10:00  07:41:00     12:30", "pause   14:00  07:45:00      3:00",
                    "activeEnergyBurned  305.2", "kcal  the source", "2 locations", "not in the store",
                ]
            ),
            ("route", ["workoutRoute  2 locations", "51.440012, 5.470034", "51.440112, 5.471034", "17 to 19 m", "Morning"]),
            ("beats", ["beats        3", "gaps         1"]),
            ("ecg", ["sinusRhythm", "62 /min", "512 Hz", "Lead I", "present, dizziness", "5,120", "10 s per line", "|"]),
            ("pressure", ["bloodPressureSystolic     121  mm[Hg]", objects["systolic"], objects["diastolic"]]),
            ("systolic", ["121 mm[Hg]", "belongs to   bloodPressure \(objects["pressure"])"]),
            ("audiogram", ["250 Hz", "10 dB", "12.5 dB, masked"]),
            ("glasses", ["glasses", "2026-11-21 ", "sphere  -1.25 [diop]  -1.50 [diop]"]),
            ("mood", ["0.7 calm", "dailyMood", "family"]),
            ("dose", ["Ibuprofen taken", "2 tablet", "rxnorm  5640"]),
            ("phq9", ["9 mild", "moreThanHalfTheDays", "preferNotToAnswer"]),
            ("rings", ["2026-11-20", "420 of 500 kcal"]),
            (
                "record",
                [
                    "MMRV", "Immunization imm-1, FHIR R4", "occurrence   2012-05-15", "cvx     94", "ndc     00006-4171-00",
                    "https://example.org/fhir/Immunization/imm-1",
                ]
            ),
            ("document", ["Summary of care", "Ada Example", "A clinic", "B. Doctor", "no: line 2: no templateId"]),
        ]
        for (name, words) in pages {
            let run = try objects.folder.vitalgate(["show", objects[name]], environment: ["LC_ALL": "C"])
            #expect(run.status == 0, "\(name): \(run.errors)")
            #expect(run.output.contains(objects[name]))
            for word in words { #expect(run.output.contains(word), "\(name) without '\(word)':\n\(run.output)") }
            // A page has 80 columns if the width of the terminal is unknown, and is plain if the locale is.
            #expect(run.output.utf8.allSatisfy { $0 < 0x80 }, "\(name)")
            let line = try #require(
                try objects.folder.vitalgate("show", objects[name], "--format", "ndjson").objects().first)
            #expect(line["uuid"].text == objects[name])
        }
        #expect(Set(objects.uuids.keys) == Set(pages.map(\.0) + ["diastolic"]))
    }

    /// The source's own figures come first, and those of the samples in the store are labelled with their number.
    @Test func workoutShowsOwnAndSampleFigures() throws {
        var objects = try ObjectStore.filled()
        for (name, number, second) in [("first", "120.5", 60), ("second", "100", 300), ("in its pause", "999", 900)] {
            try objects.add(name, "activeEnergyBurned", number: number, at: Int64(second), lasting: 60, unit: "kcal")
        }
        try objects.add("rate", "heartRate", number: "140", at: 120)
        let page = try objects.folder.vitalgate(["show", objects["workout"]], environment: ["LC_ALL": "C"]).output
        let rows = page.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init) }
        let energy = rows.filter { $0.first == "activeEnergyBurned" }
        #expect(energy.count == 2 && energy[0].contains("305.2") && energy[0].suffix(2) == ["the", "source"], "\(page)")
        #expect(energy.last?.contains("220.5") == true && energy.last?.suffix(3) == ["kcal", "2", "samples"], "\(page)")
        let rate = try #require(rows.first { $0.first == "heartRate" })
        #expect(rate.contains("140") && rate.suffix(2) == ["1", "sample"], "\(page)")
    }

    @Test func rawOutputIsUnchanged() throws {
        let objects = try ObjectStore.filled()
        #expect(try objects.folder.vitalgate("show", objects["record"], "--raw").output == ObjectStore.resource)
        #expect(try objects.folder.vitalgate("show", objects["document"], "--raw").output == ObjectStore.document)
        let line = try #require(
            try objects.folder.vitalgate("show", objects["record"], "--format", "ndjson").objects().first)
        #expect(line["octets"].text == ObjectStore.resource)
        for name in ["workout", "systolic", "ecg"] {
            let run = try objects.folder.vitalgate("show", objects[name], "--raw")
            #expect(
                run.status == 65 && run.output.isEmpty && run.errors.contains("requires a clinical record or document"),
                "\(run.errors)")
        }
        #expect(try objects.folder.vitalgate("show", objects["record"], "--raw", "--format", "csv").status == 64)
        #expect(try objects.folder.vitalgate("show", objects["record"], "--raw", "--points").status == 64)
    }

    @Test func pointsAreLines() throws {
        let objects = try ObjectStore.filled()
        let route = try objects.folder.vitalgate("show", objects["route"], "--points")
        #expect(
            route.output == """
                {"time":"2026-11-20T06:31:00.000000Z","latitude":51.440012,"longitude":5.470034,"altitude":17.20,\
                "horizontalAccuracy":4,"verticalAccuracy":3,"course":90.5,"speed":2.50}
                {"time":"2026-11-20T06:31:01.500000Z","latitude":51.440112,"longitude":5.471034,"altitude":18.5,\
                "horizontalAccuracy":null,"verticalAccuracy":null,"course":null,"speed":null}

                """)
        let beats = try objects.folder.vitalgate("show", objects["beats"], "--points", "--format", "csv")
        #expect(
            beats.output == """
                time,gap,heartRate
                2026-11-20T06:31:00.000000Z,0,61
                2026-11-20T06:31:00.983000Z,0,
                2026-11-20T06:31:04.000000Z,1,

                """)
        // The time of a voltage follows from its number and the frequency: the 512th is a second after the first.
        let voltages = try objects.folder.vitalgate("show", objects["ecg"], "--points").lines
        #expect(voltages.count == 5120)
        #expect(voltages[0] == #"{"time":"2026-11-20T06:31:00.000000Z","voltage":0}"#)
        #expect(voltages[100] == #"{"time":"2026-11-20T06:31:00.195313Z","voltage":900.5}"#)
        #expect(voltages[512] == #"{"time":"2026-11-20T06:31:01.000000Z","voltage":1}"#)
        let none = try objects.folder.vitalgate("show", objects["workout"], "--points")
        #expect(none.status == 65 && none.output.isEmpty && none.errors.contains("has no points"))
    }

    /// Names and texts come from outside: none clears the screen, starts a new line, or changes the direction of writing.
    @Test func removesControlCharacters() throws {
        var objects = try ObjectStore()
        let hostile = "a\u{1B}[2Jb\nc\u{202E}d"
        // A name with a line break does not enter the store.
        let name = "a\u{1B}[2Jb\u{85}c\u{202E}d"
        try objects.add(
            "document", "cda",
            try SampleBody(
                encoding: ClinicalDocument(
                    title: hostile, patient: hostile, custodian: hostile, author: hostile, valid: false, reason: hostile),
                content: PackedContent(Array("<ClinicalDocument/>".utf8))),
            source: name)
        try objects.add(
            "record", "conditionRecord",
            try SampleBody(
                encoding: ClinicalRecord(
                    displayName: hostile, resourceType: "Condition", identifier: hostile, version: hostile,
                    dates: [hostile: hostile], codes: [Coding(system: hostile, code: hostile, display: hostile)]),
                content: PackedContent(Array("{\"resourceType\":\"Condition\"}".utf8))))
        try objects.add(
            "route", "workoutRoute",
            try SampleBody(encoding: WorkoutRoute(points: Points(columns: [.init(hostile)], count: 0), name: hostile)))
        try objects.add("sleep", "sleepAnalysis", number: "3", lasting: 60, source: name)
        for arguments in [
            ["show", objects["document"]], ["show", objects["record"]], ["show", objects["route"]], ["show", objects["sleep"]],
            ["show", objects["record"], "--format", "ndjson"],
        ] {
            let run = try objects.folder.vitalgate(arguments)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
            #expect(arguments.count > 2 || !run.output.unicodeScalars.contains("\u{202E}"))
            #expect(
                !run.lines.contains {
                    $0.hasPrefix("c") && !$0.hasPrefix("cda") && !$0.hasPrefix("codes") && !$0.hasPrefix("con")
                })
        }
        // Points that a body speaks of and does not have.
        let none = try objects.folder.vitalgate("show", objects["route"], "--points")
        #expect(none.status == 65 && none.output.isEmpty)
        let check = try objects.folder.vitalgate("store", "check", "--deep")
        #expect(check.status == 0 && check.output == "ok\n")
    }

    /// The same message as for `query UUID`.
    @Test func missingSampleEqualsQueryError() throws {
        let objects = try ObjectStore.filled()
        #expect(try objects.folder.vitalgate("delete", objects["mood"]).status == 0)
        for uuid in [objects["mood"], "0195fb5a-0000-8000-8000-000000000001"] {
            let (show, query) = (try objects.folder.vitalgate("show", uuid), try objects.folder.vitalgate("query", uuid))
            #expect(show.status == 65 && show.output.isEmpty)
            #expect(show.errors == query.errors)
        }
        #expect(try objects.folder.vitalgate("show", "mood").status == 64)
    }

    /// The conditions of the contract, as a person writes them in a shell.
    @Test func conditionsOnObjects() throws {
        let objects = try ObjectStore.filled()
        func found(_ condition: String) throws -> [String] {
            let run = try objects.folder.vitalgate("query", "all", "--where", condition, "--format", "ndjson")
            #expect(run.status == 0, "\(run.errors)")
            let uuids = try run.objects().compactMap { $0["uuid"].text }
            return objects.uuids.filter { uuids.contains($0.value) }.map(\.key).sorted()
        }
        #expect(try found(#"fhir.resourceType = "Immunization" and fhir.code.cvx = 94"#) == ["record"])
        #expect(try found("fhir.code.ndc = 94") == [])
        #expect(try found("date.occurrence >= 2012-05") == ["record"])
        #expect(try found("activity = running or classification = sinusRhythm") == ["ecg", "workout"])
        #expect(try found("object = \(objects["diastolic"])") == ["pressure"])
        #expect(try found("route = \(objects["route"])") == ["workout"])
        #expect(try found("points >= 3") == ["beats", "ecg"])
        #expect(try found("value > 78 and not activity = running") == ["diastolic", "systolic"])
        let refused = try objects.folder.vitalgate("query", "all", "--where", "activity = runing")
        #expect(refused.status == 64 && refused.errors.contains("at character 12"))
    }
}

import Testing

/// `decode` and `profile`: the meaning of a file, without a store.
@Suite struct DecodeCommandTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// One object for each row, with the original fields and the resulting samples.
    @Test func printsFieldsAndSamples() throws {
        let text = "time,type,value,unit\n2026-11-20T06:31:00+01:00,bodyTemperature,98.60,[degF]\n"
        let run = try folder.vitalgate("decode", "csv", text, "--person", Family.person)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.lines.count == 1)
        let object = try JSON(run.last)
        #expect(object["channel"].text == "csv")
        #expect(object["profile"].text == "generic-csv")
        #expect(object["fields"]["value"].text == "98.60")
        guard case .list(let samples) = object["samples"] else {
            Issue.record("samples is a list")
            return
        }
        #expect(samples.count == 1)
        #expect(samples[0]["value"].double == 37)
        #expect(samples[0]["start"].text == "2026-11-20T05:31:00.000000Z")
        // The UUID is the one that the store would assign.
        let file = try folder.write("one.csv", text)
        try folder.vitalgate("import", file, "--person", Family.person)
        let stored = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(stored["uuid"] == samples[0]["uuid"])
    }

    /// Half an interval at the end of a strap's packet: the rest of the packet counts, and a strict reader refuses it all.
    @Test func namesTruncatedField() throws {
        let run = try folder.vitalgate("decode", "2A37", "16480C03FF", "--person", Family.person)
        #expect(run.status == 0)
        #expect(run.errors.contains("byte 4: rr_intervals is cut off"))
        let object = try JSON(run.last)
        #expect(object["fields"]["heart_rate"]["value"].double == 72)
        #expect(object["cutOff"]["field"].text == "rr_intervals" && object["cutOff"]["octets"].text == "FF")
        #expect(object["cutOff"]["at"].double == 4)
        guard case .list(let samples) = object["samples"] else {
            Issue.record("samples is a list")
            return
        }
        #expect(samples.map { $0["type"].text } == ["heartRate", "heartbeatInterval"])
        let strict = try folder.vitalgate("decode", "2A37", "16480C03FF", "--strict")
        #expect(strict.status == 65 && strict.lines.isEmpty)
        #expect(strict.errors.contains("byte 4: truncated: rr_intervals is missing or cut off"))
        // An invalid list in one field makes the whole frame invalid.
        #expect(try folder.vitalgate("decode", "2A37", "184801").status == 65)
    }

    @Test func refusesAMalformedRow() throws {
        let run = try folder.vitalgate(
            "decode", "csv",
            "time,type,value,unit\n2026-11-20T06:31:00Z,heartRate,617319x,/min\n2026-11-20T06:31:01Z,heartRate,61,/min\n")
        #expect(run.status == 65)
        #expect(run.errors.contains("line 2: "))
        #expect(!run.errors.contains("7319"))
        #expect(run.lines.count == 1)
        #expect(try folder.vitalgate("decode", "csv", "a,b\n1,2\n").status == 65)
        #expect(!folder.exists("store.db"))
    }

    /// A reading that an import or the hub would quarantine is reported with the rule and without the value.
    @Test func reportsReadingsForQuarantine() throws {
        // In tenths a mantissa of -3000, FFF448.
        let frame = try folder.vitalgate("decode", "2A1C", "0048F4FFFF")
        #expect(frame.status == 0)
        #expect(try JSON(frame.last)["fields"] != .null)
        #expect(
            frame.errors
                == "vitalgate: bodyTemperature would be quarantined by impossible-value: outside the range that physics or the type's definition allows\n"
        )
        let rows =
            "time,type,value,unit\n2026-11-20T06:31:00Z,bodyTemperature,-300,degC\n2026-11-20T06:31:01Z,heartRate,61,/min\n"
        let run = try folder.vitalgate("decode", "csv", rows)
        #expect(run.status == 0)
        #expect(run.lines.count == 2)
        #expect(run.errors.hasPrefix("vitalgate: line 2: bodyTemperature would be quarantined by impossible-value: "))
        #expect(run.errors.split(separator: "\n").count == 1)
        let imported = try folder.vitalgate("import", try folder.write("rows.csv", rows), "--format", "ndjson")
        #expect(imported.status == 65)
        let account = try Account(imported.last)
        #expect((account.stored, account.quarantined, account.refused) == (1, 1, 0))
    }

    @Test func decodesWithProfile() throws {
        let text = "Date,Heart rate,Systolic,Diastolic,Comments\n\"2025-01-12 08:15:00\",84,161,62,\n"
        let run = try folder.vitalgate("decode", "csv", text, "--profile", "withings-blood-pressure", "--time-zone", "+01:00")
        #expect(run.status == 0, "\(run.errors)")
        guard case .list(let samples) = try JSON(run.last)["samples"] else {
            Issue.record("samples is a list")
            return
        }
        #expect(Set(samples.compactMap { $0["type"].text }) == ["heartRate", "bloodPressureSystolic", "bloodPressureDiastolic"])
        #expect(Set(samples.map { $0["group"] }).count == 1)
        #expect(samples.first?["group"] != .null)
    }

    /// The profiles that are shipped are whole, by their own vectors.
    @Test func theShippedProfilesAreRight() throws {
        let ids = try folder.vitalgate("profile", "list", "--ids")
        #expect(ids.status == 0)
        #expect(ids.lines.contains("generic-csv") && ids.lines.count >= 13)
        #expect(ids.lines == ids.lines.sorted())
        let shown = try folder.vitalgate("profile", "show", "generic-csv")
        #expect(shown.status == 0)
        #expect(shown.output.contains("generic-csv"))
        #expect(try folder.vitalgate("profile", "show", "none").status == 65)
        let test = try folder.vitalgate("profile", "test")
        #expect(test.status == 0, "\(test.output)\(test.errors)")
    }

    @Test func reportsInvalidProfile() throws {
        let file = try folder.write("broken.json5", "{ id: 'broken', channels: [] }")
        let run = try folder.vitalgate("profile", "check", file)
        #expect(run.status == 65)
        #expect((run.output + run.errors).contains("broken.json5"))
    }

    /// A draft for an unknown file names the columns and no values. `check` lists each open place once.
    @Test func draftsAProfile() throws {
        let file = try folder.write(
            "scale.csv",
            "Datum;Uhrzeit;Gewicht (kg);Puls;Irgendwas °C\n28.03.2026;07:30;71,2;61;9,9\n29.03.2026;07:31;71,4;62;9,8\n")
        let run = try folder.vitalgate("profile", "suggest", file)
        #expect(run.status == 0, "\(run.errors)")
        for text in [
            #"columns: ["datum", "uhrzeit"], patterns: ["dd.MM.yyyy HH:mm"]"#, #"datum: { names: ["Datum"] },"#,
            #"type: "bodyMass", unit: "kg""#, #"type: "heartRate", unit: "FILL-IN""#, #"type: "FILL-IN", unit: "Cel""#,
            #"lines: ["Datum;Uhrzeit;Gewicht (kg);Puls;Irgendwas °C", "FILL-IN"]"#,
        ] {
            #expect(run.output.contains(text), "\(text)")
        }
        #expect(!run.output.contains("71,") && !run.output.contains("28.03"))
        let draft = try folder.write("scale.json5", run.output)
        let checked = try folder.vitalgate("profile", "check", draft)
        #expect(checked.status == 65)
        let problems = checked.lines
        #expect(problems.contains("\(draft): channels[0].readings[1].unit: replace FILL-IN"))
        #expect(problems.allSatisfy { $0.hasSuffix(": replace FILL-IN") } && Set(problems).count == problems.count)
        // Filled in, it is a profile and passes its own vector.
        var text = run.output.replacing(#"source: "FILL-IN""#, with: #"source: "invented""#)
        text = text.replacing(#"°C", "FILL-IN"]"#, with: #"°C", "02.01.2026;08:00;70,5;60;"]"#)
        text = text.replacing(#""heartRate", unit: "FILL-IN""#, with: #""heartRate", unit: "/min""#)
            .replacing(#"value: "FILL-IN", unit: "FILL-IN""#, with: #"value: "60", unit: "/min""#)
            .replacing(#"value: "FILL-IN", unit: "kg""#, with: #"value: "70.5", unit: "kg""#)
            .replacing(#"value: "FILL-IN", unit: "/min""#, with: #"value: "60", unit: "/min""#)
            .replacing(#"start: "FILL-IN""#, with: #"start: "2026-01-02T08:00:00""#)
        _ = try folder.write("scale.json5", text)
        let tested = try folder.vitalgate("profile", "test", draft)
        #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
    }

    @Test func namesColumnsOfAFileWithoutAHeader() throws {
        let run = try folder.vitalgate("profile", "suggest", try folder.write("n.csv", "2026-03-28 07:30,71.03125\n"))
        #expect(run.status == 0 && run.output.contains("Insert this line at its beginning: time,column2"))
        #expect(!run.output.contains("71.03") && !run.errors.contains("71.03"))
    }

    /// What differs from a vector is shown in the vector's own form.
    @Test func showsDifferencesFromVector() throws {
        let file = try folder.write(
            "my-scale.json5",
            """
            {
              id: "my-scale", name: "My scale", version: "1",
              channels: [{
                channel: "csv", columns: { time: { names: ["Time"] }, weight: { names: ["Weight"] } },
                times: [{ columns: ["time"], patterns: ["dd-MM-yyyy HH:mm"], zone: "local" }],
                readings: [{ column: "weight", type: "bodyMass", unit: "kg" }],
              }],
              vectors: [{
                source: "invented", lines: ["Time,Weight", "20-11-2026 07:15,81.3", "20-11-2026 07:16,81.4"],
                readings: [
                  { row: 2, type: "bodyMass", value: "81.3", unit: "kg", start: "2026-11-20T07:15:00" },
                  { row: 3, type: "bodyMass", value: "81.5", unit: "kg", start: "2026-11-20T07:16:00" },
                ],
              }],
            }
            """)
        let run = try folder.vitalgate("profile", "test", file)
        #expect(run.status == 65)
        #expect(
            run.output == """
                my-scale: vectors[0]: - { row: 3, type: "bodyMass", value: "81.5", unit: "kg", start: "2026-11-20T07:16:00" },
                my-scale: vectors[0]: + { row: 3, type: "bodyMass", value: "81.4", unit: "kg", start: "2026-11-20T07:16:00" },

                """)
    }

    @Test func namesMissingProfileFolder() throws {
        let run = try folder.vitalgate("--profiles", "/nowhere/profiles", "profile", "list")
        #expect(run.status == 66 && run.errors.contains("/nowhere/profiles"))
    }

    /// The generated files name each command.
    @Test func generatesFromTheDeclarations() throws {
        let manual = try folder.vitalgate("generate", "man")
        #expect(manual.status == 0)
        for command in HelpTests.commands where !command.isEmpty {
            for word in command.split(separator: " ") {
                let text = manual.output.replacing("\\-", with: "-")
                #expect(text.contains(word), "\(word)")
            }
        }
    }

    /// The devices that a user looks for, by maker and model. README contains their number.
    @Test func listsTheDevices() throws {
        let rows = try folder.vitalgate("profile", "list", "--devices", "--format", "ndjson").objects()
        #expect(rows.count >= 150)
        let row = try #require(rows.first { $0["model"].text == "H5075" })
        #expect(row["maker"].text == "Govee" && row["kind"].text == "roomSensor" && row["profile"].text == "govee-h5075")
        #expect(row["types"].list.compactMap(\.text) == ["batteryLevel", "relativeHumidity", "roomTemperature"])
        let table = try folder.vitalgate("profile", "list", "--devices").output
        #expect(table.contains("H5075") && table.contains("vectors of several sources"))
        let page = try folder.vitalgate("generate", "devices").output
        #expect(page == String(decoding: try Repository.data("docs/reference/devices.md"), as: UTF8.self))
        let summary = try #require(page.split(separator: "\n").first { $0.contains(" models: ") })
        #expect(String(decoding: try Repository.data("README.md"), as: UTF8.self).contains(summary.dropLast()))
    }

    /// Many devices advertise under one company's number: what can read the frame is taken, else the device's name decides.
    @Test func selectsProfileByFrame() throws {
        let long = try folder.vitalgate("decode", "advert:manufacturer:EC88", "00ba0af90f63020101")
        #expect(try JSON(long.last)["profile"].text == "govee-h5074")
        let short = try folder.vitalgate("decode", "advert:manufacturer:EC88", "00034db26400")
        #expect(try JSON(short.last)["profile"].text == "govee-h5075")
        let either = try folder.vitalgate("decode", "advert:manufacturer:0001", "01010ed13298")
        #expect(either.status == 65 && either.errors.contains("govee-h5100, govee-h5106"))
        let named = try folder.vitalgate("decode", "advert:manufacturer:0001", "01010ed13298", "--name", "GVH5106_4E05")
        let object = try JSON(named.last)
        #expect(object["profile"].text == "govee-h5106" && object["fields"]["humidity"]["value"].double == 59.1)
    }

    @Test func listsTheTypes() throws {
        let ids = try folder.vitalgate("types", "--ids").lines
        #expect(ids.contains("heartRate") && ids.count >= 120)
        let objects = try folder.vitalgate("types", "--format", "ndjson").objects()
        #expect(objects.compactMap { $0["id"].text } == ids)
        #expect(objects.contains { $0["id"].text == "boneMass" && $0["own"] == .boolean(true) })
        for object in objects {
            let isQuantity = object["kind"].text == "quantity"
            let kinds = ["category", "workout", "electrocardiogram", "visionPrescription", "medicationDoseEvent"]
            let hasCases = kinds.contains(object["kind"].text ?? "")
            #expect(object["dimension"].text != nil && object["cases"].object.isEmpty == !hasCases)
            #expect((object["unit"].text != nil) == isQuantity && (object["aggregation"].text != nil) == isQuantity)
        }
        #expect(objects.first { $0["id"].text == "sleepAnalysis" }?["cases"]["asleepREM"].integer == 5)
        #expect(try folder.vitalgate("types", "--format", "csv").lines.count == ids.count + 1)
    }

    /// A key on the command line is seen in ps and in the history.
    @Test func readsKeyFromStandardInput() throws {
        let folder = try TestFolder()
        let key = try folder.write("key", "231d39c1d7cc1ab1aee224cd096db932\n")
        let run = try Vitalgate.run(
            try folder.options() + [
                "decode", "advert:FCD2", "41A47266C95F730011223378237214", "--bind-key", "-", "--address", "54:48:E6:8F:80:A5",
            ], environment: Vitalgate.environment(home: folder.root), input: key)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try JSON(run.last)["fields"]["encrypted"] == .boolean(true))
        let none = try folder.vitalgate(
            "decode", "advert:FCD2", "41A47266C95F730011223378237214", "--bind-key", "-", "--address", "54:48:E6:8F:80:A5")
        #expect(none.status == 64)
    }
}

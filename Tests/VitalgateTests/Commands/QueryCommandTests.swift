import Testing

/// `query`: the line that others read, and each way to choose samples.
@Suite struct QueryCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    func query(_ arguments: String...) throws -> Vitalgate.Run {
        let run = try folder.vitalgate(["query"] + arguments)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        return run
    }

    func values(_ arguments: String...) throws -> [Double] {
        let run = try folder.vitalgate(["query"] + arguments + ["--format", "ndjson"])
        #expect(run.status == 0, "\(run.errors)")
        return try run.objects().compactMap { $0["value"].double }
    }

    /// The whole line, field by field in this order. The UUID is the same on every hub and never changes, and another program computed it
    /// as well.
    @Test func printsTheLineOfTheContract() throws {
        let run = try query("bodyTemperature", "--limit", "1", "--format", "ndjson")
        #expect(
            Family.masked(run.output) == """
                {"uuid":"019d3323-88a0-85a1-895f-14c9f66aebfa","kind":"quantity","type":"bodyTemperature","value":37.0,"unit":"Cel",\
                "start":"2026-03-28T06:31:00.000000Z","end":"2026-03-28T06:31:00.000000Z","zone":"+01:00",\
                "subject":"11111111-2222-4333-8444-555555555555",\
                "source":{"id":"file.generic-csv.Thermometer","name":"Thermometer","version":null},\
                "device":{"key":"TD1242","name":"TD1242","manufacturer":null,"model":null,"serial":null,"hardware":null,\
                "firmware":null,"software":null,"udi":null},\
                "original":{"value":"98.60","unit":"[degF]"},"time":{"origin":"device","received":"…"},"group":null,"metadata":{},\
                "ingest":1,"seq":1}

                """)
    }

    @Test func keepsTheOrderOfTheFields() throws {
        for line in try query("all", "--format", "ndjson").lines {
            #expect(
                JSON.keys(of: line) == [
                    "uuid", "kind", "type", "value", "unit", "start", "end", "zone", "subject", "source", "device", "original",
                    "time",
                    "group",
                    "metadata", "ingest", "seq",
                ])
        }
    }

    /// Times are UTC with microseconds, and samples come by them.
    @Test func printsAllByStart() throws {
        let lines = try query("all", "--format", "ndjson").objects()
        #expect(lines.count == 10)
        let starts = lines.compactMap { $0["start"].text }
        #expect(starts == starts.sorted())
        #expect(starts.allSatisfy { $0.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/#) != nil })
    }

    @Test func printsCSVWithTheSameContent() throws {
        let csv = try query("all", "--format", "csv").lines.map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let lines = try query("all", "--format", "ndjson").objects()
        #expect(
            csv.first == [
                "uuid", "kind", "type", "value", "unit", "case", "start", "end", "zone", "subject", "source.id", "source.name",
                "source.version",
                "device.key", "device.name", "device.manufacturer", "device.model", "device.serial", "device.hardware",
                "device.firmware",
                "device.software", "device.udi", "original.value", "original.unit", "time.origin", "time.received", "group",
                "metadata", "name", "date", "result", "range", "interpretation",
                "ingest", "seq",
            ])
        #expect(csv.count == lines.count + 1)
        for (row, line) in zip(csv.dropFirst(), lines) {
            for (name, cell) in zip(csv[0], row) {
                let path = name.split(separator: ".").map(String.init)
                let value = path.dropFirst().reduce(line[path[0]]) { $0[$1] }
                switch value {
                case .null: #expect(cell.isEmpty, "\(name)")
                case .number(let number): #expect(Double(cell) == number, "\(name)")
                case .string(let text): #expect(cell == text, "\(name)")
                default: #expect(cell == "{}", "\(name)")
                }
            }
        }
    }

    @Test func anEmptyAnswerIsEmpty() throws {
        #expect(try query("height", "--format", "ndjson").output.isEmpty)
        #expect(try query("height", "--format", "csv").lines.count == 1)
        let table = try folder.vitalgate("query", "height")
        #expect(table.status == 0 && table.output.isEmpty && table.errors == "no samples\n")
    }

    @Test func takesTypesByEitherName() throws {
        #expect(try values("heartRate") == [61, 63, 80, 72])
        #expect(try values("HKQuantityTypeIdentifierHeartRate") == [61, 63, 80, 72])
        #expect(try values("heartRate,bodyTemperature") == [37, 61, 63, 80, 72, 38.5])
    }

    /// `--from` is the first start that counts, `--to` the first that no longer does.
    @Test func choosesByTime() throws {
        #expect(try values("heartRate", "--from", "2026-03-28T08:00:01Z", "--to", "2026-03-28T08:00:03Z") == [63, 80])
        #expect(try values("heartRate", "--from", "2026-03-28T09:00:01+01:00") == [63, 80, 72])
        #expect(try values("heartRate", "--to", "2026-03-28T09:00:01", "--time-zone", "Europe/Berlin") == [61])
        #expect(try values("stepCount", "--from", "2026-03-29", "--time-zone", "Europe/Berlin") == [1000, 400])
        #expect(try values("stepCount", "--from", "2026-03-29", "--to", "2026-03-30", "--time-zone", "UTC") == [1000, 400])
        #expect(try values("heartRate", "--from", "2027-01-01").isEmpty)
    }

    @Test func convertsUnits() throws {
        let lines = try query("bodyTemperature", "--unit", "[degF]", "--format", "ndjson").objects()
        #expect(lines.map { $0["value"].double } == [98.6, 101.3])
        #expect(lines.allSatisfy { $0["unit"].text == "[degF]" })
        // The received data does not change.
        #expect(lines.map { $0["original"]["unit"].text } == ["[degF]", "Cel"])
        #expect(try values("bodyMass", "--unit", "[lb_av]") == [154.32])
        let mass = try #require(try values("bodyMass").first)
        #expect(abs(mass - 69.99837) < 0.00001)
    }

    @Test func sortsAndLimits() throws {
        #expect(try values("heartRate", "--sort", "-start") == [72, 80, 63, 61])
        #expect(try values("heartRate", "--sort", "desc", "--limit", "2") == [72, 80])
        #expect(try values("heartRate", "--sort", "start", "--limit", "1") == [61])
        #expect(try values("heartRate", "--limit", "0").isEmpty)
        #expect(try values("heartRate", "--where", "value > 62", "--limit", "2") == [63, 80])
    }

    @Test func filtersBySourceDeviceAndPerson() throws {
        #expect(try values("heartRate", "--source", "Strap") == [61, 63, 80])
        #expect(try values("heartRate", "--source", "file.generic-csv.Watch") == [72])
        #expect(try values("all", "--device", "Clip 3") == [600, 1000])
        #expect(try values("all", "--device", "nobody").isEmpty)
        #expect(try values("heartRate", "--person", "unassigned") == [72])
        #expect(try values("bodyMass", "--person", Family.guest).count == 1)
        #expect(try values("bodyMass", "--person", Family.guest.uppercased()).count == 1)
        #expect(try values("heartRate", "--person", Family.person) == [61, 63, 80])
    }

    @Test(arguments: [
        ("value > 62", [63.0, 80, 72]), ("value >= 63 and value < 80", [63, 72]), ("value = 61 or value = 80", [61, 80]),
        ("value != 61", [63, 80, 72]), ("not value < 70", [80, 72]), ("value > 1.2 /s", [80]),
        ("source.name = 'Strap' and (value = 61 or value = 72)", [61]), ("source.name ~ 'atch'", [72]),
        ("subject = 'unassigned'", [72]), ("original.value = '72.0'", [72]),
    ])
    func choosesByCondition(condition: String, expected: [Double]) throws {
        #expect(try values("heartRate", "--where", condition) == expected)
    }

    @Test func conditionsKnowUnits() throws {
        #expect(try values("bodyTemperature", "--where", "value > 100 [degF]") == [38.5])
        #expect(try values("bodyTemperature", "--where", "device.name = 'TD1242' and value > 38 Cel") == [38.5])
    }

    /// A quarantined reading is not a sample.
    @Test func excludesQuarantinedReadings() throws {
        #expect(try values("oxygenSaturation").isEmpty)
    }

    @Test func findsSampleByUUID() throws {
        let line = try query("heartRate", "--limit", "1", "--format", "ndjson").output
        let uuid = try #require(try JSON(line)["uuid"].text)
        #expect(try query(uuid, "--format", "ndjson").output == line)
        #expect(try query(uuid.uppercased(), "--format", "ndjson").output == line)
    }

    @Test func readsMetadata() throws {
        try folder.vitalgate("import", "\(Repository.files)/apple_health_0.xml", "--person", Family.person)
        let meals = try folder.vitalgate(
            "query", "bloodGlucose", "--where", "metadata.bloodGlucoseMealTime = postprandial", "--format", "ndjson")
        #expect(meals.status == 0)
        let all = try folder.vitalgate("query", "bloodGlucose", "--format", "ndjson").objects()
        let expected = all.filter { $0["metadata"]["bloodGlucoseMealTime"].text == "postprandial" }
        #expect(!expected.isEmpty)
        #expect(try meals.objects() == expected)
    }

    /// In the unit that was measured in, the digits are those that were measured.
    @Test func doesNotConvertBack() throws {
        let file = try folder.write(
            "fever.csv", "time,type,value,unit\n2026-11-20T06:31:00+01:00,bodyTemperature,98.3,[degF]\n")
        _ = try folder.vitalgate("import", file)
        let from = "2026-11-20"
        let run = try folder.vitalgate(
            "query", "bodyTemperature", "--unit", "[degF]", "--from", from, "--format", "ndjson")
        #expect(run.output.contains("\"value\":98.3,"))
        let none = try folder.vitalgate("query", "bodyTemperature", "--from", "2030-01-01")
        #expect(none.status == 0 && none.errors == "no samples\n")
    }
}

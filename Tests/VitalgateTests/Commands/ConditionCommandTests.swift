import Testing

/// `--where`: a condition is understood as intended, or refused with the position. It is never silently false, nor silently true after
/// `not`.
@Suite struct ConditionCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    func values(_ arguments: String...) throws -> [Double] {
        let run = try folder.vitalgate(["query"] + arguments + ["--format", "ndjson"])
        #expect(run.status == 0, "\(run.errors)")
        return try run.objects().compactMap { $0["value"].double }
    }

    /// A value of the wrong kind, and the position of its character.
    @Test(arguments: [
        ("value > abc", 9), ("value > 61,5", 9), ("value ~ 6", 9), ("value > 61 or value = ''", 23), ("value > today", 9),
        ("start > 61", 9), ("start > noon", 9), ("start > 2026-02-30", 9), ("start ~ 2026-03-28", 9), ("end = 2026-03-28", 7),
        ("duration > soon", 12), ("duration > 3 kg", 12), ("duration ~ 3", 12), ("duration > 1m", 12), ("zone = Berlin", 8),
        ("subject = nobody", 11), ("subject < me", 11), ("group = 12", 9), ("original.value = abc", 18),
        ("original.value > 98 Cel", 18), ("original.unit = furlongs", 17), ("time.origin = clock", 15),
        ("metadata.wasUserEntered = maybe", 27), ("metadata.syncVersion > x", 24), ("metadata.weatherTemperature > warm", 31),
        ("source.name = 5 kg", 15), ("not start > noon", 13),
    ])
    func aWrongKindOfValueIsRefused(condition: String, position: Int) throws {
        for line in [["query", "heartRate"], ["delete", "--type", "heartRate", "--yes"], ["query", "all"]] {
            let run = try folder.vitalgate(line + ["--where", condition])
            #expect(run.status == 64, "\(condition): \(run.errors)")
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("(at character \(position) of the condition)"), "\(condition): \(run.errors)")
        }
        #expect(try values("heartRate").count == 4)
    }

    @Test(arguments: [
        ("start > 2026-03-29", []), ("not start > 2026-03-29", [61, 63, 80, 72]), ("start < 2026-03-28T09:00:02", [61, 63]),
        ("start >= '2026-03-28 09:00:02'", [80, 72]), ("start > yesterday", []), ("start < today", [61, 63, 80, 72]),
        ("end > -1d", []), ("start = 2026-03-28T08:00:00Z", [61]),
    ])
    func conditionTimesUseZone(condition: String, expected: [Double]) throws {
        #expect(try values("heartRate", "--time-zone", "Europe/Berlin", "--where", condition) == expected)
    }

    @Test(arguments: [
        ("duration > 1h", []), ("duration >= 1h", [600.0, 1000, 400]), ("duration > 59 min", [600, 1000, 400]),
        ("duration >= 1h30min", []), ("duration = 3600", [600, 1000, 400]), ("duration < 0.5 d and value > 500", [600, 1000]),
        ("value > '500'", [600, 1000]), ("value > 500 steps", [600, 1000]), ("zone = Z", [600, 1000, 400]),
    ])
    func durationsHaveUnits(condition: String, expected: [Double]) throws {
        #expect(try values("stepCount", "--where", condition) == expected)
    }

    @Test func personsHaveNames() throws {
        #expect(try folder.vitalgate("people", "add", "Anna").status == 0)
        let anna = try folder.write("anna.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,99,/min\n")
        #expect(try folder.vitalgate("import", anna, "--person", "Anna").status == 0)
        let mine = try folder.write("mine.csv", "time,type,value,unit\n2026-03-30T09:00:00Z,heartRate,55,/min\n")
        #expect(try folder.vitalgate("import", mine).status == 0)
        #expect(try values("heartRate", "--where", "subject = me") == [55])
        #expect(try values("heartRate", "--where", "subject = Anna") == [99])
        #expect(try values("heartRate", "--where", "subject != me and subject != unassigned and value > 80") == [99])
        #expect(try values("bodyMass", "--where", "subject = '\(Family.guest.uppercased())'").count == 1)
    }

    /// Values that cannot be compared match neither the condition nor its negation.
    @Test func incomparableValuesMatchNeitherSide() throws {
        #expect(try values("all", "--where", "value > 38 Cel") == [38.5])
        #expect(try values("all", "--where", "not value > 38 Cel") == [37])
        #expect(try values("all", "--where", "value != 38.5 Cel") == [37])
        let deleted = try folder.vitalgate("delete", "--where", "not value > 38 Cel", "--yes")
        #expect(deleted.errors.hasPrefix("1 sample deleted (this is ledger entry"))
    }
}

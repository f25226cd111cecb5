import Testing

/// Unread data in a file is named in the report, through the program.
@Suite struct UnreadDataTests {
    /// openScale 1.9 to 2.x, made from the header and rows quoted in oliexdev/openScale#727, #506 and #879.
    @Test func columnsOfATable() throws {
        let folder = try TestFolder()
        let file = try folder.write(
            "openscale.csv",
            """
            "biceps","bone","caliper1","calories","comment","dateTime","fat","muscle","visceralFat","waist","water","weight"
            0.0,2.85,0.0,0.0,"","2025-04-18 11:51",20.3,40.5,7.0,84.5,53.0,77.35
            0.0,0.0,0.0,0.0,"shoes on","2025-04-19 07:02",0.0,0.0,0.0,0.0,0.0,77.1

            """)
        let run = try folder.vitalgate("import", file, "--time-zone", "UTC", "--format", "ndjson")
        #expect(run.status == 0)
        let account = try #require(try run.objects().first)
        #expect(account["stored"].integer == 6)
        let skipped = account["skipped"]
        #expect(
            skipped["column comment"].integer == 1 && skipped["column visceralFat"].integer == 1
                && skipped["column waist"].integer == 1)
        #expect(skipped["column biceps"].integer == nil)
        // A file without unread columns gives no message.
        let plain = try folder.write("plain.csv", "time,type,value,unit\n2026-11-20T08:00Z,bodyMass,80,kg\n")
        let other = try folder.vitalgate("import", plain, "--format", "ndjson")
        #expect(other.last.contains(#""skipped":{}"#))
    }

    /// Nightscout's entries by two uploaders, nine seconds apart, made from loopandlearn/LoopFollow#661 and LoopKit/Loop#1788.
    @Test func twoUploadersCountOnce() throws {
        let folder = try TestFolder()
        let file = try folder.write(
            "entries.json",
            """
            [{"_id":"a","type":"sgv","sgv":137,"date":1745408563000,"device":"loop://Phone","direction":"Flat"},
             {"_id":"b","type":"sgv","sgv":137,"date":1745408563000,"device":"loop://Dexcom/G6/21.0","direction":"Flat"},
             {"_id":"c","type":"sgv","sgv":137,"date":1745408572000,"device":"share2","direction":"Flat"},
             {"_id":"d","sgv":141,"date":1745408863000,"device":"share2","direction":"Flat"}]
            """)
        let run = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(run.status == 0)
        #expect(run.last.contains(#""skipped":{"member direction":4}"#))
        let stats = try folder.vitalgate("stats", "bloodGlucose", "--every", "1d", "--time-zone", "UTC", "--format", "ndjson")
        #expect(try stats.objects().first?["count"].integer == 2)
    }
}

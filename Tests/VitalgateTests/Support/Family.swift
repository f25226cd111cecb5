import Testing

/// A small store that many tests ask the same questions: one person's week, with a guest and two devices.
enum Family {
    static let person = "11111111-2222-4333-8444-555555555555"
    static let guest = "7f9c0000-0000-4000-8000-000000000001"

    /// Two days around the change to summer time in Berlin (2026-03-29), and one value that cannot be.
    static let csv = """
        time,type,value,unit,end,source,device,subject
        2026-03-28T07:31:00+01:00,bodyTemperature,98.60,[degF],,Thermometer,TD1242,
        2026-03-29T07:40:00+02:00,bodyTemperature,38.50,Cel,,Thermometer,TD1242,
        2026-03-28T22:30:00Z,stepCount,600,1,2026-03-28T23:30:00Z,Pedometer,Clip 3,
        2026-03-29T10:00:00Z,stepCount,1000,1,2026-03-29T11:00:00Z,Pedometer,Clip 3,
        2026-03-29T21:30:00Z,stepCount,400,1,2026-03-29T22:30:00Z,Phone,,
        2026-03-28T08:00:00Z,HKQuantityTypeIdentifierHeartRate,61,count/min,,Strap,,
        2026-03-28T08:00:01Z,heartRate,63,/min,,Strap,,
        2026-03-28T08:00:02Z,heartRate,80,/min,,Strap,,
        2026-03-28T08:00:03Z,heartRate,72.0,/min,,Watch,,unassigned
        2026-03-28T09:00:00Z,bodyMass,154.32,[lb_av],,Scale,S-17,\(guest)
        2026-03-28T09:05:00Z,oxygenSaturation,198,%,,,,

        """

    /// A folder whose store holds the readings.
    static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        let file = try folder.write("household.csv", csv)
        let run = try folder.vitalgate("import", file, "--person", person, "--format", "ndjson")
        try #require(run.status == 65, "\(run.errors)")
        return folder
    }

    /// `received`, `finished` and the like are the machine's clock: the one thing a test cannot know.
    static func masked(_ text: String) -> String {
        text.replacing(#/"(received|finished)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/#) { "\"\($0.output.1)\":\"…\"" }
    }
}

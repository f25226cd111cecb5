import Testing

/// `run --simulate`: simulated sensors deliver only into demo stores.
@Suite struct SimulationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func marksSimulatedSamples() throws {
        let run = try folder.vitalgate("run", "--simulate", "--once")
        #expect(run.status == 0, "\(run.errors)")
        let samples = try folder.vitalgate("query", "all", "--format", "ndjson").lines.map { try JSON($0) }
        #expect(
            Set(samples.compactMap { $0["type"].text }) == ["heartRate", "heartbeatInterval", "bodyTemperature", "batteryLevel"])
        #expect(samples.allSatisfy { $0["device"]["manufacturer"].text == "Vitalgate simulation" })
        #expect(samples.allSatisfy { $0["device"]["name"].text?.hasPrefix("Simulated ") == true })
        #expect(samples.allSatisfy { $0["source"]["name"].text?.hasPrefix("Vitalgate simulation: ") == true })
        #expect(samples.allSatisfy { $0["source"]["id"].text?.hasPrefix("simulation.") == true })
        // The frames went through the profiles: contact and sensor's place are theirs.
        #expect(samples.contains { $0["metadata"]["bodyTemperatureSensorLocation"].text == "armpit" })
        #expect(try folder.vitalgate("store", "check").status == 0)
        let again = try folder.vitalgate("run", "--simulate", "--once")
        #expect(again.status == 0, "\(again.errors)")
        #expect(try folder.vitalgate("devices", "list", "--format", "ndjson").lines.count == 2)
    }

    @Test func aPersonsStoreTakesNone() throws {
        let file = try folder.write("one.csv", RunCommandTests.one)
        #expect(try folder.vitalgate("import", file).status == 0)
        let run = try folder.vitalgate("run", "--simulate", "--once")
        #expect(run.status == 65)
        #expect(run.errors.contains("is not a demo store"))
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == 1)
        #expect(try folder.vitalgate("devices", "list", "--format", "ndjson").lines.isEmpty)
        // Nor into the default store.
        let home = Vitalgate.environment(home: folder.root)
        let unnamed = try Vitalgate.run(["run", "--simulate", "--once"], environment: home)
        #expect(unnamed.status == 64)
        #expect(!folder.exists(".local"))
    }
}

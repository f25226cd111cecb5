import Glibc
import Testing

/// `Examples/APIClient` in both languages, run as a person runs it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct APIClientTests {
    private static let pulse = """
        time,type,value,unit
        2026-11-19T06:31:00Z,heartRate,58,/min
        2026-11-20T06:31:00Z,heartRate,60,/min
        2026-11-20T06:32:00Z,heartRate,63,/min

        """

    /// The Swift program, built in a folder that is kept.
    private func built() throws -> String {
        let folder = "\(Repository.root)/.build/example-api"
        // The compiler's caches of a home folder are kept with the build.
        var environment = Vitalgate.environment(home: "\(Repository.root)/.build")
        environment["PATH"] = getenv("PATH").map { String(cString: $0) }
        let build = try RunningVitalgate(
            command: [
                "/usr/bin/env", "swift", "build", "--package-path", "\(Repository.root)/Examples/APIClient", "--scratch-path",
                folder,
                "-debug-info-format", "none", "--disable-index-store",
            ], environment: environment
        ).wait()
        try #require(build.status == 0, "\(build.output)\(build.errors)")
        return "\(folder)/debug/APIClient"
    }

    private func expectToWeigh(_ program: [String]) throws {
        let hub = try ServingHub(["pulse.csv": Self.pulse])
        let token = try hub.token("scale")
        let client = try RunningVitalgate(
            command: program + [hub.url, "71.4"], environment: hub.environment.merging(["VITALGATE_TOKEN": token]) { $1 })
        // It has asked, and waits for the person's answer.
        var requests = ""
        for _ in 0..<30_000 where !requests.contains("bodyMass") {
            requests = try hub.run("clients", "requests", "--format", "csv").output
            usleep(10_000)
        }
        #expect(requests.contains("heartRate"))
        try hub.run("clients", "grant", "scale", "--read", "heartRate", "--write", "bodyMass")
        let ended = try client.wait()
        #expect(
            ended.output == """
                asking for heartRate and bodyMass; answer with 'vitalgate clients grant'
                latest heart rate: 63 /min at 2026-11-20T06:32:00.000000Z
                2026-11-19: 58 to 58, on average 58.0
                2026-11-20: 60 to 63, on average 61.5
                stored, and added: 71.4 kg
                deleted: the same

                """, "\(ended.errors)")
        #expect(ended.status == 0)
        #expect(try hub.run("query", "bodyMass", "--format", "ndjson").output == "")
        try hub.stop()
    }

    @Test func theClientInPython() throws {
        try expectToWeigh(["/usr/bin/python3", "-B", "\(Repository.root)/Examples/APIClient/client.py"])
    }

    @Test func theClientInSwift() throws { try expectToWeigh([try built()]) }

    @Test func explainsUnknownToken() throws {
        let hub = try ServingHub(["pulse.csv": Self.pulse])
        for program in [["/usr/bin/python3", "-B", "\(Repository.root)/Examples/APIClient/client.py"], [try built()]] {
            let environment = hub.environment.merging(["VITALGATE_TOKEN": "guessed"]) { $1 }
            let ended = try RunningVitalgate(command: program + [hub.url, "71.4"], environment: environment).wait()
            #expect(ended.status == 1 && (ended.output + ended.errors).contains("A client token is required."))
        }
        try hub.stop()
    }
}

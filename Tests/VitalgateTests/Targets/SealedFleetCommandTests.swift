import ExportTesting
import Glibc
import Testing

/// A fleet whose hubs seal their messages, as a user sets it up.
@Suite struct SealedFleetCommandTests {
    private let fleet: FleetCommandTests
    private let trace: TestFolder
    private var center: TestFolder { fleet.center }
    private var hub: TestFolder { fleet.hub }

    init() throws {
        trace = try TestFolder()
        // The broker writes the content of all messages into its log.
        fleet = try FleetCommandTests(broker: ["trace: true", "log_file: \"\(trace.path("log"))\""])
    }

    /// Everything that the broker has seen.
    private var seen: String { trace.text("log") }

    /// Starts a collector with other settings for sealed requests.
    private func collector(sealing: String, after before: RunningVitalgate) throws -> RunningVitalgate {
        before.signal(SIGTERM)
        #expect(try before.wait().status == 0)
        let text = center.text("config.json5").replacing(#/, sealing: \{[^}]*\}/#, with: "")
        try center.write("config.json5", text.replacing("page: { port: 0 }", with: "page: { port: 0 }, sealing: { \(sealing) }"))
        let collector = try center.start("collect")
        try fleet.until { collector.errors.contains("collect: fleet study") }
        return collector
    }

    private func key(_ name: String) throws -> String {
        let run = try center.vitalgate("fleet", "key", "--sealing", center.path(name))
        #expect(run.status == 0 && run.last.hasPrefix("X") && run.last.utf8.count == 56, "\(run)")
        #expect(center.mode(name) == 0o600 && center.text(name).hasPrefix("SX"))
        // The second time, it is only printed.
        #expect(try center.vitalgate("fleet", "key", "--sealing", center.path(name)).last == run.last)
        return run.last
    }

    private func end(_ collector: RunningVitalgate) throws {
        collector.signal(SIGTERM)
        #expect(try collector.wait().status == 0)
        for secret in ["SX", "SU"] { #expect(!collector.errors.contains(secret)) }
        fleet.server.stop()
    }

    /// The last part of a folder's path, which is a part of the machine's name in a report.
    private func folder(_ folder: TestFolder) -> String { folder.root.split(separator: "/").last.map(String.init) ?? "" }

    private func deliver() throws {
        let run = try fleet.deliver()
        #expect(run.status == 0, "\(run)")
    }

    private func isSealed(_ name: String = "ward-3") throws -> Bool {
        try fleet.hubs().first { $0["name"].text == name }?["sealed"] == .boolean(true)
    }

    /// The broker sees no word of a hub that has joined with a seal, and all words of another one.
    @Test func joinedHubSealsEverything() throws {
        let plain = try TestFolder()
        #expect(try fleet.join(plain, center.vitalgate("fleet", "enroll", "--name", "ward-plain").last).status == 0)
        #expect(try plain.vitalgate("export", "center", "--once").status == 0)
        for word in ["ward-plain", "keepsMarks", "lastChange", folder(plain)] { #expect(seen.contains(word), "\(word)") }

        let key = try key("sealing.seed")
        let collector = try collector(sealing: "seedFile: '\(center.path("sealing.seed"))'", after: fleet.collector)
        let enrolled = try center.vitalgate("fleet", "enroll", "--name", "ward-3")
        #expect(enrolled.last.hasSuffix("-S") && enrolled.errors.contains("\(enrolled.last)"), "\(enrolled)")
        #expect(try fleet.join(hub, String(enrolled.last.dropLast(2))).status == 77)
        #expect(!hub.text("config.json5").contains("targets"))
        let joined = try fleet.join(hub, enrolled.last)
        #expect(
            joined.status == 0 && joined.errors.contains("as 'ward-3'") && joined.errors.contains("it seals everything"),
            "\(joined)")
        #expect(hub.text("config.json5").contains("sealingKey: \"\(key)\""))
        try hub.vitalgate("import", hub.write("a.csv", InboxTests.csv(40)))
        var run = try fleet.deliver()
        #expect(run.status == 0 && run.errors.contains("40 changes delivered"), "\(run)")
        try fleet.command("repair", "--", "--type", "heartRate", "--shift", "+1h")
        run = try fleet.deliver()
        #expect(try run.status == 0 && fleet.results() == [0], "\(run)")
        #expect(try isSealed() && !isSealed("ward-plain"))
        #expect(try hub.vitalgate("targets", "check", "center").status == 0)
        #expect(try hub.vitalgate("targets", "verify", "center").status == 0)
        #expect(seen.contains("vitalgate.study.hub."))
        for word in ["ward-3", "heartRate", "repair", "--shift", folder(hub)] { #expect(!seen.contains(word), "\(word)") }
        try end(collector)
    }

    /// Hubs that joined before get the key by a command. Afterwards the center can require it, and replace it.
    @Test func hubsThatJoinedBefore() throws {
        try fleet.joinWithReadings()
        let key = try key("sealing.seed")
        let (file, second) = ("'\(center.path("sealing.seed"))'", "'\(center.path("second.seed"))'")
        var collector = try collector(sealing: "seedFile: \(file)", after: fleet.collector)
        try deliver()
        #expect(try center.vitalgate("fleet", "hubs").errors.contains("1 hub without a sealed report"))
        #expect(try center.vitalgate("fleet", "status", "ward-3").output.contains("Its last report was not sealed"))
        #expect(try center.vitalgate("fleet", "set", "ward-3", "sealingKey=X").status == 64)
        #expect(try center.vitalgate("fleet", "set", "ward-3", "sealingKey=\(key)").status == 0)
        var run = try fleet.deliver()
        #expect(try run.status == 0 && fleet.results() == [0], "\(run)")
        let sealed = hub.text("config.json5")
        #expect(sealed.contains("sealingKey: \"\(key)\"") && sealed.contains("commandKey"))
        try deliver()
        #expect(try isSealed())
        #expect(try !center.vitalgate("fleet", "hubs").errors.contains("without a sealed"))

        // A hub without the key has to wait, and loses nothing.
        collector = try self.collector(sealing: "seedFile: \(file), required: true", after: collector)
        try deliver()
        try hub.write("config.json5", sealed.replacing(", sealingKey: \"\(key)\"", with: ""))
        try hub.vitalgate("import", hub.write("b.csv", InboxTests.csv(9)))
        run = try hub.vitalgate("export", "center", "--once")
        #expect(run.status == 75 && run.errors.contains("the center accepts only sealed requests"), "\(run)")
        try hub.write("config.json5", sealed)
        try deliver()

        // A new key: the collector opens both until all hubs have the new one.
        let newKey = try self.key("second.seed")
        collector = try self.collector(
            sealing: "seedFile: \(second), olderSeedFiles: [\(file)], required: true", after: collector)
        #expect(try center.vitalgate("fleet", "set", "ward-3", "sealingKey=\(newKey)").status == 0)
        try deliver()
        #expect(hub.text("config.json5").contains("sealingKey: \"\(newKey)\""))
        collector = try self.collector(sealing: "seedFile: \(second), required: true", after: collector)
        run = try fleet.deliver()
        #expect(try run.status == 0 && fleet.results() == [0, 0], "\(run)")
        try hub.write("config.json5", sealed)
        run = try hub.vitalgate("export", "center", "--once")
        #expect(run.status == 75 && run.errors.contains("set 'sealingKey' of the target to the key of this one"), "\(run)")
        try end(collector)
    }

    /// A foreign collector can neither replace the key of a hub that joins, nor remove it.
    @Test func aForeignKeyIsRefused() throws {
        _ = try key("sealing.seed")
        let collector = try collector(sealing: "seedFile: '\(center.path("sealing.seed"))'", after: fleet.collector)
        let other = try key("other.seed")
        for change in ["sealing_key = '\(other)'", "sealing_key = NULL", "sealing_proof = NULL"] {
            let code = try center.vitalgate("fleet", "enroll", "--name", "ward-\(change.utf8.count)").last
            try fleet.sql("UPDATE vitalgate.fleet_code SET \(change) WHERE used IS NULL")
            let run = try fleet.join(hub, code)
            #expect(run.status == 69, "\(run)")
            #expect(!hub.text("config.json5").contains("targets"))
        }
        try end(collector)
    }

    @Test(arguments: [
        ("seedFile: 'x'", "must begin with /"), ("seedFile: '/x', olderSeedFiles: ['y']", "must begin with /"),
        ("seedFile: '/x', key: 'y'", "unknown key"), ("required: true", "is missing"),
        ("seedFile: '/missing.seed'", "/missing.seed"),
    ]) func wrongSettingsAreNamed(sealing: String, words: String) throws {
        let folder = try TestFolder()
        let (broker, database) = ("fleet: 'study', servers: ['nats://localhost:4222']", "database: 'study', user: 'collector'")
        try folder.write(
            "config.json5", "{ collect: { broker: { \(broker) }, database: { \(database) }, sealing: { \(sealing) } } }")
        let run = try folder.vitalgate("collect", "--check")
        #expect(run.status != 0 && run.errors.contains(words), "\(run)")
        try folder.write("config.json5", "{ targets: { center: { kind: 'fleet', \(broker), sealingKey: 'U' } } }")
        let targets = try folder.vitalgate("targets", "list")
        #expect(targets.status == 78 && targets.errors.contains("fleet key --sealing"), "\(targets)")
    }
}

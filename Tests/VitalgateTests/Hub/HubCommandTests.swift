import Glibc
import Testing

/// Targets of the kind `command`: the hub runs them, continues from their last position, and stops them when it stops.
@Suite struct HubCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func configure(_ targets: String) throws { try folder.write("config.json5", "{ targets: { \(targets) } }\n") }

    private func lines(_ name: String) -> [String] {
        (folder.exists(name) ? folder.text(name) : "").split(separator: "\n").map(String.init)
    }

    @Test func passesChanges() throws {
        let received = folder.path("heard")
        try configure("beats: { kind: 'command', types: ['heartRate'], command: ['/bin/sh', '-c', 'cat >> \(received)'] }")
        let hub = try RunningHub.started(folder)
        try hub.drop("a.csv", InboxTests.csv(1))
        try hub.waits("the first change") { lines("heard").count == 1 }
        #expect(try JSON(lines("heard")[0])["type"].text == "heartRate")
        // Another command applies from the next reload on, and gets only new samples.
        try configure("beats: { kind: 'command', types: ['heartRate'], command: ['/bin/sh', '-c', 'cat >> \(received)-2'] }")
        hub.program.signal(SIGHUP)
        try hub.waits("it was read again") { hub.count("settings reloaded") == 1 }
        try hub.drop("b.csv", InboxTests.csv(2))
        try hub.waits("the second change") { !lines("heard-2").isEmpty }
        #expect(lines("heard").count == 1 && lines("heard-2").count == 1)
        try hub.stop()
    }

    @Test(arguments: [
        ("Scale: { kind: 'command', command: ['x'] }", "targets.Scale"), ("a: { kind: 'command' }", "targets.a.command"),
        ("a: { kind: 'command', command: [] }", "targets.a.command"),
        ("a: { kind: 'command', command: [''] }", "targets.a.command"),
        ("a: { kind: 'command', command: ['x'], types: ['pulses'] }", "pulses"),
        ("a: { kind: 'command', command: ['x'], colour: 1 }", "colour"),
    ])
    func refuses(targets: String, word: String) throws {
        try configure(targets)
        let run = try folder.vitalgate("run", "--once")
        #expect(run.status == 78)
        #expect(run.errors.contains(word), "\(run.errors)")
    }

    /// The former key. A hub that ignored it would run nothing.
    @Test func theFormerKeyIsRefused() throws {
        try folder.write("config.json5", "{ observers: { a: { command: ['x'] } } }\n")
        let run = try folder.vitalgate("run", "--once")
        #expect(run.status == 78 && run.errors.contains("observers"))
    }
}

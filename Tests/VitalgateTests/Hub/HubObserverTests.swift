import Glibc
import Testing

/// The configuration's `observers`: the hub runs them, starts again what ended, and takes them along when it goes.
@Suite struct HubObserverTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func configure(_ observers: String) throws { try folder.write("config.json5", "{ observers: { \(observers) } }\n") }

    private func lines(_ name: String) -> [String] {
        (folder.exists(name) ? folder.text(name) : "").split(separator: "\n").map(String.init)
    }

    /// The processes that hold an observer's progress, by the lock.
    private func isHeld(_ name: String) -> Bool {
        let lock = open(folder.path("store.db-observer-\(name)~lock"), O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return false }
        defer { close(lock) }
        return flock(lock, LOCK_EX | LOCK_NB) != 0
    }

    @Test func tellsWhatIsNew() throws {
        let heard = folder.path("heard")
        try configure("beats: { types: ['heartRate'], command: ['/bin/sh', '-c', 'cat >> \(heard)'] }")
        let hub = try RunningHub.started(folder)
        // From then on it has a position.
        try hub.waits("an observer") { isHeld("beats") && folder.exists("store.db-observer-beats") }
        try hub.drop("a.csv", InboxTests.csv(1))
        try hub.waits("the first message") { lines("heard").count == 1 }
        #expect(try JSON(lines("heard")[0])["observer"].text == "beats")
        // A new configuration applies from the next reload on, and its acknowledged position stays.
        try configure("beats: { types: ['heartRate'], command: ['/bin/sh', '-c', 'cat >> \(heard)-2'] }")
        hub.program.signal(SIGHUP)
        try hub.waits("it was read again") { hub.count("settings reloaded") == 1 && isHeld("beats") }
        try hub.drop("b.csv", InboxTests.csv(2))
        try hub.waits("the second message") { !lines("heard-2").isEmpty }
        #expect(lines("heard").count == 1)
        try hub.stop()
        #expect(!isHeld("beats"))
    }

    /// However the hub ends, nothing of it is left running.
    @Test func goesWithTheHub() throws {
        try configure("idle: { command: ['/bin/true'] }")
        let hub = try RunningHub.started(folder)
        try hub.waits("an observer") { isHeld("idle") }
        hub.program.signal(SIGKILL)
        _ = try hub.program.wait()
        try hub.waits("it is gone") { !isHeld("idle") }
    }

    @Test(arguments: [
        ("Scale: { command: ['x'] }", "observers.Scale"), ("a: {}", "observers.a"), ("a: { command: [] }", "observers.a"),
        ("a: { command: ['x'], socket: '/s' }", "observers.a"), ("a: { command: ['x'], types: [] }", "observers.a.types"),
        ("a: { command: ['x'], types: ['pulse'] }", "pulse"), ("a: { command: ['x'], frequency: 'often' }", "frequency"),
        ("a: { command: ['x'], colour: 1 }", "colour"),
    ])
    func refuses(observers: String, word: String) throws {
        try configure(observers)
        let run = try folder.vitalgate("run", "--once")
        #expect(run.status == 78 || run.status == 65 || run.status == 64)
        #expect(run.errors.contains(word), "\(run.errors)")
    }
}

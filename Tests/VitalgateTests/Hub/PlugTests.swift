import FoundationEssentials
import Glibc
import PipelineTesting
import Testing

/// Plug and play: the hub hears of plugs from udev, which umockdev plays, and reads the bytes of a real pseudo-terminal.
@Suite struct PlugTests {
    let folder: TestFolder
    let udev: MockUdev

    init() throws {
        folder = try TestFolder()
        udev = try MockUdev(folder)
    }

    private static let link = "serial/by-id/usb-Maker_Oximeter_42-if00-port0"

    private func start() throws -> RunningHub { try RunningHub(folder, inbox: false, environment: udev.environment) }

    @Test func plugPullAndReplugUnderAnotherName() throws {
        let run = try folder.vitalgate("devices", "adopt", "/dev/\(Self.link)", "--profile", "generic-lines", "--name", "mine")
        #expect(run.status == 0, "\(run.errors)")
        let hub = try start()
        try hub.waits("it listens") { udev.isReceived }
        var pty = try Pty()
        for (time, node) in ["ttyUSB0", "ttyUSB1", "ttyACM7"].enumerated() {
            try udev.plug(node, Self.link, to: pty, vendor: "10c4", product: "ea60", serial: "42")
            try hub.waits("plug \(time)") { hub.count("it is plugged in") == time + 1 }
            // A reading, and half of one at the pull.
            pty.write("heartRate=\(60 + time) /min\nheartRate=9")
            try hub.waits("its reading") {
                try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.count == time + 1
            }
            pty.pull()
            try udev.pull(node)
            try hub.waits("pull \(time)") { hub.count("it was unplugged") == time + 1 }
            pty = try Pty()
        }
        #expect(try hub.stop().status == 0)
        let lines = try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.map { try JSON($0) }
        #expect(lines.compactMap { $0["value"].integer } == [60, 61, 62])
        #expect(Set(lines.compactMap { $0["device"]["key"].text }).count == 1, "one device, whatever its node is called")
        let account = try JSON(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last)
        #expect((account["stored"].integer, account["refused"].integer) == (3, 3))
    }

    @Test func offersOnlyMatchingProfiles() throws {
        let hub = try start()
        try hub.waits("it listens") { udev.isReceived }
        let (adapter, meter) = (try Pty(), try Pty())
        try udev.plug("ttyUSB0", Self.link, to: adapter, vendor: "0403", product: "6001", serial: "42")
        try udev.plug("ttyUSB1", "serial/by-id/usb-Abbott-7", to: meter, vendor: "1a61", product: "3420", serial: "7")
        try hub.waits("it is offered") { hub.program.errors.contains("vitalgate devices adopt /dev/serial/by-id/usb-Abbott-7") }
        #expect(
            !hub.program.errors.contains(Self.link),
            "an adapter that thousands of devices have says nothing: \(hub.program.errors)")
        #expect(try hub.stop().status == 0)
        #expect(try folder.vitalgate("devices", "list", "--format", "ndjson").lines.isEmpty, "nothing is adopted by itself")
    }

    /// Plugged in before the hub starts, and plugs leave no descriptors open. Ten of them, because umockdev supports about fifty in a
    /// process.
    @Test func pluggedBeforeTheStartAndManyTimes() throws {
        let adopted = try folder.vitalgate("devices", "adopt", "/dev/\(Self.link)", "--profile", "generic-lines")
        #expect(adopted.status == 0)
        var pty = try Pty()
        try udev.plug("ttyUSB0", Self.link, to: pty, vendor: "10c4", product: "ea60", serial: "42")
        let hub = try start()
        try hub.waits("the one that was there, and it listens") { hub.count("it is plugged in") == 1 && udev.isReceived }
        // Counted once its loop answers: until then, its start opens watches and timers.
        var before = 0
        for time in 1...10 {
            pty.pull()
            try udev.pull("ttyUSB\(time - 1)")
            try hub.waits("pull \(time)") { hub.count("it was unplugged") == time }
            if time == 1 { before = hub.descriptors }
            pty = try Pty()
            try udev.plug("ttyUSB\(time)", Self.link, to: pty, vendor: "10c4", product: "ea60", serial: "42")
            try hub.waits("plug \(time)") { hub.count("it is plugged in") == time + 1 }
        }
        // A plug that leaves a descriptor open would show ten more. What the first pull had still to open or close is less than four.
        pty.pull()
        try udev.pull("ttyUSB10")
        try hub.waits("its descriptors") { hub.count("it was unplugged") == 11 && hub.descriptors < before + 4 }
        #expect(try hub.stop().status == 0)
    }
}

/// A udev that the test plays: `Tests/Plugs/testbed.py`.
final class MockUdev {
    private let process: RunningVitalgate
    private let root: String
    private let output: Pipe
    private let commands: Int32

    init(_ folder: TestFolder) throws {
        let path = folder.path("plugs")
        mkfifo(path, 0o600)
        // Open for both, so that neither end waits for the other.
        commands = open(path, O_RDWR | O_CLOEXEC)
        output = try Pipe()
        process = try RunningVitalgate(
            command: ["/usr/bin/umockdev-wrapper", "/usr/bin/python3", "-B", "\(Repository.root)/Tests/Plugs/testbed.py"],
            environment: ["PATH": "/usr/bin:/bin"], input: path, output: output.writing)
        output.closeWriting()
        root = try output.readLines(1)[0]
    }

    deinit {
        close(commands)
        process.signal(SIGKILL)
        try? FileManager.default.removeItem(atPath: root)
    }

    /// For a hub that is to see the plugs.
    var environment: [String: String] { ["LD_PRELOAD": "libumockdev-preload.so.0", "UMOCKDEV_DIR": root] }

    /// Whether a listener for udev exists.
    var isReceived: Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: root))?.contains { $0.hasPrefix("event") } ?? false
    }

    func plug(_ node: String, _ link: String, to pty: Pty, vendor: String, product: String, serial: String) throws {
        try transmit("plug \(node) \(link) \(pty.path) \(vendor) \(product) \(serial)")
    }

    func pull(_ node: String) throws { try transmit("pull \(node)") }

    private func transmit(_ line: String) throws {
        let bytes = Array("\(line)\n".utf8)
        guard write(commands, bytes, bytes.count) == bytes.count, try output.readLines(1) == ["done"] else {
            throw POSIXFailure("umockdev", EPIPE)
        }
    }
}

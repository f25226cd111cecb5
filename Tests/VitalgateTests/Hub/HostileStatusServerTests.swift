import Glibc
import Testing

/// Whatever answers at the hub's socket, `status` neither hangs nor crashes, and the answer never controls the terminal.
@Suite struct HostileStatusServerTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Plays the hub of the folder's store for one who asks.
    private func ask(_ arguments: String..., answer: (Int32) -> Void) throws -> Vitalgate.Run {
        let path = folder.path("store.db.sock")
        unlink(path)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        // Only ends a test whose program never comes.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(bound == 0 && listen(listener, 4) == 0)
        let program = try RunningVitalgate(
            try folder.options() + ["status"] + arguments, environment: Vitalgate.environment(home: folder.root))
        let connection = accept(listener, nil, nil)
        try #require(connection >= 0, "\(program.errors)")
        var request = [UInt8](repeating: 0, count: 256)
        _ = recv(connection, &request, request.count, 0)
        answer(connection)
        close(connection)
        return try program.wait()
    }

    private func ask(_ arguments: String..., line: String) throws -> Vitalgate.Run {
        switch arguments.count {
        case 0: try ask { transmit(Array(line.utf8) + [10], $0) }
        default: try ask("--format", arguments[0]) { transmit(Array(line.utf8) + [10], $0) }
        }
    }

    @discardableResult
    private func transmit(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private func answer(
        name: String = "Strap", number: String = "1", time: String = "2026-11-20T06:31:00.000000Z", decimal: String = "1.5"
    ) -> String {
        let counts = ["read", "stored", "duplicate", "quarantined", "refused", "skipped"].map { #""\#($0)":\#(number)"# }
        let store = #"{"path":"\#(folder.store)","bytes":\#(number),"failure":"\#(name)"}"#
        let source = #"{"name":"\#(name)","state":"\#(name)","started":"\#(time)","retry":"\#(time)","reason":"\#(name)"}"#
        let device =
            #"{"address":"\#(name)","name":"\#(name)","source":"\#(name)","state":"\#(name)","last":"\#(time)","rate":\#(decimal),"#
            + #""expectedInterval":\#(decimal),"silentSince":"\#(time)","battery":\#(decimal)}"#
        return #"{"vitalgate":1,"status":{"time":"\#(time)","hub":{"process":1,"started":"\#(time)","uptime":\#(number)},"#
            + #""store":\#(store),"today":{"since":"\#(time)",\#(counts.joined(separator: ","))},"#
            + #""sources":[\#(source)],"devices":[\#(device)],"devicesLeftOut":\#(number)}}"#
    }

    static let formats = ["table", "ndjson", "csv"]

    /// The greatest and least of everything is shown, and nothing overflows.
    @Test(arguments: [
        ("9223372036854775807", "9999-12-31T23:59:59.999999Z", "1.7e308"),
        ("-9223372036854775808", "0001-01-01T00:00:00.000000Z", "-1.7e308"), ("0", "1970-01-01T00:00:00.000000Z", "5e-324"),
    ])
    func numbersWithoutMeasure(number: String, time: String, decimal: String) throws {
        for format in Self.formats {
            let run = try ask(format, line: answer(number: number, time: time, decimal: decimal))
            #expect(run.status == 0, "\(format): \(run.errors)")
            #expect(run.output.contains("Strap"))
        }
        let years = try ask(line: answer(number: number)).output
        #expect(years.contains("running since") && (number.count < 19 || number.hasPrefix("-") || years.contains("37037 d")))
    }

    /// A name from outside is text: it neither moves the cursor nor starts a line.
    @Test func namesThatDriveATerminal() throws {
        let name = #"\u001b[2J\u009b31m\nstore   forged\r\u0007\u2028\u202e"#
        let run = try ask(line: answer(name: name))
        #expect(run.status == 0)
        for scalar in ["\u{1B}", "\u{9B}", "\u{7}", "\r", "\u{2028}", "\u{202E}"] { #expect(!run.output.contains(scalar)) }
        #expect(run.output.split(separator: "\n").allSatisfy { !$0.hasPrefix("store   forged") })
        let refusal = try ask(
            line:
                #"{"vitalgate":1,"error":{"kind":"busy","message":"\#(name)\nvitalgate: all is well\#(String(repeating: "x", count: 9000))"}}"#
        )
        #expect(refusal.status == 75)
        #expect(refusal.errors.split(separator: "\n").count == 1, "\(refusal.errors)")
        #expect(refusal.errors.utf8.count < 2000)
        #expect(!refusal.errors.contains("\u{1B}"))
    }

    /// An invalid answer is reported as such.
    @Test(arguments: [
        "", "{}", "[]", "null", "1", "nonsense", #"{"vitalgate":"1"}"#, #"{"vitalgate":1,"status":[]}"#,
        #"{"vitalgate":1e999}"#, #"{"vitalgate":99999999999999999999}"#, #"{"vitalgate":1,"status":{"time":5}}"#,
        #"{"vitalgate":2,"status":{"newer":true}}"#, #"{"vitalgate":1,"error":{"kind":1}}"#, #"{"vitalgate":1,"error":null}"#,
        #"{"vitalgate":1,"status":"\ud800"}"#, String(repeating: "[", count: 200_000),
        String(repeating: #"{"a":"#, count: 100_000),
    ])
    func noAnswer(_ line: String) throws {
        let run = try ask(line: line)
        #expect(run.status == 75)
        #expect(run.errors.hasPrefix("vitalgate: the hub does not answer: "), "\(run.errors.prefix(500))")
        #expect(run.errors.split(separator: "\n").count == 1 && run.output.isEmpty)
    }

    /// A later version is recognized, whatever else the answer contains, and the message names the older program.
    @Test func aVersionOfTheFuture() throws {
        let status = answer().replacing(#""vitalgate":1"#, with: #""vitalgate":7"#)
        for line in [status, #"{"vitalgate":7,"status":{"newer":true}}"#] {
            let run = try ask(line: line)
            #expect(run.status == 75)
            #expect(run.errors.contains("its version differs"), "\(run.errors)")
        }
    }

    @Test func refusesInvalidUTF8() throws {
        for bytes in [
            [0xFF, 0xFE, 0x00], Array(#"{"vitalgate":1,"status":{""#.utf8) + [0xFC] + Array(#"ber":1}}"#.utf8), [0],
            [0xC0, 0x80],
        ] as [[UInt8]] {
            let run = try ask { transmit(bytes + [10], $0) }
            #expect(run.status == 75, "\(run.errors)")
        }
        let name = answer(name: "NAME").utf8.split(separator: UInt8(ascii: "N")).map { Array($0) }
        let run = try ask { transmit(Array(name.joined(separator: [0xFC, 0x80])) + [10], $0) }
        #expect(run.status == 75 && run.output.isEmpty, "\(run.errors)")
    }

    @Test func closedAtOnce() throws {
        let run = try ask { _ in }
        #expect(run.status == 69)
        #expect(run.errors == "vitalgate: the hub has stopped\n")
        let half = try ask { transmit(Array(answer().utf8.prefix(100)), $0) }
        #expect(half.status == 69)
    }

    /// Data without end and without a line are given up.
    @Test func aLineWithoutEnd() throws {
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
        var sent = 0
        let run = try ask { connection in
            // Ends when the other side no longer reads.
            while sent < 256 << 20, transmit(chunk, connection) { sent += chunk.count }
        }
        #expect(run.status == 75)
        #expect(run.errors == "vitalgate: the hub does not answer: its response is too long\n")
        #expect(sent < 8 << 20)
    }
}

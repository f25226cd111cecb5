import Glibc
import PipelineTesting
import Testing

/// `run` with a meter at the other end of a real pseudo-terminal.
@Suite struct SerialRunTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func run(_ meter: ScriptedMeter) throws -> Vitalgate.Run {
        let process = try folder.start("run", "--once")
        return try serve(meter, until: process)
    }

    private func serve(_ meter: ScriptedMeter, until process: RunningVitalgate) throws -> Vitalgate.Run {
        var information = siginfo_t()
        repeat {
            meter.serve(waiting: 20)
            information = siginfo_t()
            waitid(P_PID, id_t(process.process), &information, WEXITED | WNOHANG | WNOWAIT)
        } while information.si_signo == 0
        return try process.wait()
    }

    private func adopt(_ pty: Pty) throws {
        let run = try folder.vitalgate("devices", "adopt", pty.path, "--profile", "lifescan-onetouch-ultra2", "--name", "meter")
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func storesMeterMemoryOnce() throws {
        let pty = try Pty()
        let twin = ScriptedMeter.oneTouchRecord("11/20/26", "07:15:00", "106")
        let other = ScriptedMeter.oneTouchRecord("11/19/26", "22:01:30", "131")
        let control = ScriptedMeter.oneTouchRecord("11/18/26", "09:00:00", "101", control: true)
        let meter = ScriptedMeter(.oneTouchUltra2, pty: pty, records: [twin, twin, other, control])
        try adopt(pty)
        for time in 1...3 {
            let run = try run(meter)
            #expect(run.status == 0, "\(run.errors)")
            // The log also reports by how many seconds the meter's clock is wrong, which depends on the day.
            #expect(!run.errors.split { !$0.isNumber }.contains("131"), "no value in the log")
            let lines = try folder.vitalgate("query", "all", "--format", "ndjson").lines.map { try JSON($0) }
            // Two equal records are two measurements. The control solution is not a measurement.
            #expect(lines.compactMap { $0["original"]["value"].text }.sorted() == ["106", "106", "131"], "time \(time)")
            #expect(lines.allSatisfy { $0["device"]["key"].text == "LifeScan/OneTouch Ultra 2/ABC12DE3Y" })
        }
        let account = try JSON(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last)
        #expect(
            account["stored"].integer == 3 && account["duplicate"].integer == 6
                && account["skipped"]["control-solution"].integer == 3)
    }

    /// Killed while the meter sends its memory: the next run has every record once.
    @Test func killedInTheMidstOfAMemory() throws {
        let pty = try Pty()
        // The newest first, as the meter sends them.
        let records = (0..<60).map { number in
            ScriptedMeter.oneTouchRecord(
                "11/\(27 - number / 4)/24", "\(22 - number % 4 * 4):\(number % 50 + 10):00", String(100 + number))
        }
        let meter = ScriptedMeter(.oneTouchUltra2, pty: pty, records: records)
        try adopt(pty)
        for part in [10, 1500, 3000] {
            let process = try folder.start("run")
            meter.damage = { _, bytes in
                guard bytes.count > 3000 else { return bytes }
                pty.write(bytes.prefix(part))
                process.signal(SIGKILL)
                return []
            }
            #expect(try serve(meter, until: process).status == 128 + SIGKILL)
        }
        meter.damage = { $1 }
        let run = try run(meter)
        #expect(run.status == 0, "\(run.errors)")
        let values = try folder.vitalgate("query", "all", "--format", "ndjson").lines.compactMap {
            try JSON($0)["original"]["value"].text
        }
        #expect(values.sorted() == (100..<160).map(String.init))
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    /// A stream: an incomplete frame at an unplugged device is refused and counted, and noise bytes are counted.
    @Test func aPulledPlugEndsTheStreamCleanly() throws {
        let pty = try Pty()
        let adopted = try folder.vitalgate("devices", "adopt", pty.path, "--profile", "contec-cms50d")
        #expect(adopted.status == 0, "\(adopted.errors)")
        let process = try folder.start("run", "--once")
        // Noise, SpO2 97 and pulse 128, the same again, 97 and 127, and half a frame.
        pty.write([
            0x11, 0x22, 0x86, 0x52, 0x4F, 0x00, 0x61, 0x86, 0x53, 0x4F, 0x00, 0x61, 0x86, 0x52, 0x0F, 0x7F, 0x61, 0x86, 0x52,
        ])
        let run = try process.wait()
        #expect(run.status == 0, "\(run.errors)")
        let account = try JSON(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last)
        #expect(account["stored"].integer == 4 && account["refused"].integer == 1)
        #expect(account["skipped"]["noise-octets"].integer == 4 && account["skipped"]["repeated"].integer == 1)
    }

    @Test func doesNotGuessDeviceOfPort() throws {
        let pty = try Pty()
        #expect(try folder.vitalgate("devices", "adopt", pty.path).status == 65)
        #expect(try folder.vitalgate("devices", "adopt", pty.path, "--profile", "sig-heart-rate").status == 64)
        #expect(try folder.vitalgate("devices", "adopt", "/dev/serial/by-id/none", "--profile", "and-scale").status == 0)
        let listed = try JSON(folder.vitalgate("devices", "list", "--format", "ndjson").last)
        #expect(listed["address"].text == "serial:/dev/serial/by-id/none")
        #expect(try folder.vitalgate("devices", "forget", "/dev/serial/by-id/none").status == 0)
        #expect(try folder.vitalgate("devices", "list", "--format", "ndjson").lines.isEmpty)
    }
}

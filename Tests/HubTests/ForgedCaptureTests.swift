import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import BlueZSource
@testable import Hub
@testable import Ingestion
@testable import SampleStore

/// Captures that are damaged, truncated, or malicious.
@Suite struct ForgedCaptureTests {
    private let folder: TemporaryFolder
    private let lines: [String]

    /// A strap's capture of five beats.
    init() throws {
        folder = try TemporaryFolder()
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        let writer = try CaptureWriter(
            path: folder.file("good.ndjson"), limit: 1 << 20, head: CaptureHead(of: bench.store, zone: try .berlin),
            clock: bench.clock)
        bench.live.onEvent = { writer.record($0) }
        for beat: UInt8 in 60..<65 { bench.receive("gatt:2A37", [0x00, beat], after: .milliseconds(600)) }
        bench.compareClocks(ahead: 7200)
        try bench.stop()
        writer.close()
        lines = String(decoding: try folder.read("good.ndjson"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func replay(_ bytes: [UInt8]) throws -> Replay {
        try folder.write(bytes, to: "forged.ndjson")
        let berlin = try TimeZoneRules.berlin
        return Replay(
            reader: try CaptureReader(path: folder.file("forged.ndjson")),
            settings: Replay.Settings(
                library: try Checkout.library, keys: [:],
                now: { Instant(seconds: 2_000_000_000) },
                zone: { $0 == "Europe/Berlin" ? berlin : nil }))
    }

    private func replay(_ lines: [String]) throws -> Replay {
        try replay(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    private func store(_ name: String) throws -> SampleStore {
        try SampleStore(path: folder.file(name), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
    }

    private func changed(_ event: String, _ old: String, _ new: String) -> [String] {
        lines.map { $0.contains("\"event\":\"\(event)\"") ? $0.replacing(old, with: new) : $0 }
    }

    @Test func refusesDamagedCaptures() throws {
        let frame = try #require(lines.firstIndex { $0.contains(#""event":"frame""#) })
        var forged: [(String, [String])] = [
            ("no hexadecimal", changed("frame", "\"003c\"", "\"003g\"")),
            ("half an octet", changed("frame", "\"003c\"", "\"003\"")),
            ("no such event", changed("frame", "\"event\":\"frame\"", "\"event\":\"adopt\"")),
            ("a device that is not there", changed("frame", "\"device\":1", "\"device\":2")),
            ("before 1970", changed("frame", "\"time\":", "\"time\":-")),
            ("a number that no Int64 holds", changed("frame", "\"time\":", "\"time\":99999")),
            ("a place that is none", changed("frame", "\"number\":", "\"number\":-")),
            ("a clock off by ages", changed("clock", "\"ahead\":", "\"ahead\":99999999")),
            ("a text for a number", changed("clock", "\"ahead\":", "\"ahead\":\"x\",\"a\":")),
            ("no such profile", changed("device", "sig-heart-rate", "sig-heart-fate")),
            ("no such zone", changed("device", "Europe/Berlin", "../../etc/passwd")),
            ("no such subject", changed("device", OneReadingTests.person, "me; DROP TABLE sample")),
            ("a device without end", lines + [#"{"event":"frame","device":1,"time":1,"uptime":1}"#]),
            ("no time", lines + [#"{"event":"flush"}"#]), ("no line", lines + ["null"]), ("nothing", lines + [""]),
            ("no UTF-8's place", lines + ["{\u{0}"]), ("nested", lines + [String(repeating: "[", count: 100_000)]),
        ]
        var twice = lines
        twice.insert(lines[1], at: 2)
        forged.append(("a device twice", twice))
        var without = lines
        without.removeAll { $0.contains(#""event":"device""#) }
        forged.append(("no device at all", without))
        for (description, lines) in forged {
            #expect(throws: SourceError.self, "\(description)") { try replay(lines).check() }
        }
        // The line is named.
        let error = #expect(throws: SourceError.self) {
            try replay(changed("frame", "\"003c\"", "\"003g\"")).check()
        }
        #expect(error?.reason.contains("forged.ndjson: line \(frame + 1): ") == true)
        let newer = lines.map { $0.replacing(#"{"capture":1"#, with: #"{"capture":2"#) }
        #expect(throws: SourceError.self) { try replay(newer) }
        #expect(throws: SourceError.self) { try replay([UInt8]()) }
        #expect(throws: SourceError.self) { try CaptureReader(path: "/dev/zero") }
        #expect(throws: SourceError.self) { try CaptureReader(path: folder.file("nothing")) }
    }

    /// Values at the limits are accepted, and nothing traps.
    @Test func theLargestNumbers() throws {
        let latest = "253402300799999999"
        let forged = [
            changed("frame", "\"time\":1", "\"time\":1").map { line in
                line.contains("frame") ? line.replacing(#/"time":\d+/#, with: "\"time\":\(latest)") : line
            },
            lines.map { $0.replacing(#/"ahead":-?\d+/#, with: "\"ahead\":\(latest)") },
            lines.map { $0.replacing(#/"ofUTC":-?\d+/#, with: "\"ofUTC\":-\(latest)") },
            lines.map { $0.replacing(#/"uptime":\d+/#, with: "\"uptime\":0") },
            lines.map { $0.replacing(#/"number":\d+/#, with: "\"number\":4611686018427387903") },
            lines.map { $0.contains("\"frame\"") ? $0.replacing(#/"octets":"[0-9a-f]*"/#, with: "\"octets\":\"\"") : $0 },
            lines + [
                #"{"event":"step","by":\#(latest),"time":1,"uptime":1}"#,
                #"{"event":"step","by":-\#(latest),"time":1,"uptime":1}"#,
            ],
            lines + [#"{"event":"refuse","text":"x","count":2147483647,"place":"byte","number":0,"time":1,"uptime":1}"#],
            lines.map {
                $0.replacing(
                    #""clockKnown":false"#,
                    with: #""clockKnown":true,"clock":[[\#(latest),-\#(latest)],[-\#(latest),\#(latest)]]"#)
            },
        ]
        for (index, lines) in forged.enumerated() {
            let replay = try replay(lines)
            try replay.check()
            let account = try replay.run(into: try store("edge\(index).db"), name: "forged")
            #expect(account.read >= 5, "\(index)")
        }
    }

    /// A hub lost power and left an incomplete line. All lines before it are replayed, and the incomplete one is refused with its place.
    @Test func truncationReplaysCompleteLines() throws {
        let bytes = try folder.read("good.ndjson")
        let head = try #require(bytes.firstIndex(of: 0x0A)) + 1
        for length in stride(from: head, to: bytes.count, by: 31) {
            let part = Array(bytes[..<length])
            let replay = try replay(part)
            try replay.check()
            let isWhole = part.last == 0x0A
            let account = try replay.run(into: try store("cut.db"), name: "cut")
            #expect(account.refused == (isWhole ? 0 : 1))
            #expect(account.state == (isWhole ? "done" : "failed"))
            let frames = String(decoding: part, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .count { $0.contains(#""event":"frame""#) }
            #expect(account.read == frames + account.refused)
        }
        for length in 0..<head - 1 { #expect(throws: SourceError.self) { try replay(Array(bytes[..<length])) } }
    }

    @Test func survivesAnyChangedByte() throws {
        let bytes = try folder.read("good.ndjson")
        var generator = SeededGenerator(seed: 15)
        var taken = 0
        for index in bytes.indices {
            var forged = bytes
            forged[index] = UInt8.random(in: 0...255, using: &generator)
            guard let replay = try? replay(forged), (try? replay.check()) != nil else { continue }
            taken += 1
            guard taken.isMultiple(of: 50) else { continue }
            let account = try replay.run(into: try store("changed.db"), name: "changed")
            #expect(account.state != "running")
        }
        #expect(taken > 0)
    }
}

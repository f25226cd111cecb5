import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// Recordings of a controller's traffic, which `Files/btsnoop/make.py` has written after the specifications.
@Suite struct BTSnoopTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let files = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Files/btsnoop"

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(Self.files)/\(name)")))
    }

    private func events(_ bytes: [UInt8]) throws -> (events: [String], cut: Place?) {
        try folder.write(bytes, to: "one.btsnoop")
        let path = folder.file("one.btsnoop")
        let file = try BTSnoopFile(try InputFile(path: path), path: path)
        var events: [String] = []
        try BluetoothTraffic(file).forEachEvent { event, time, _ in events.append("\(time.microseconds) \(event)") }
        return (events, file.cut)
    }

    @Test func phoneAndHubCapturesGiveSameEvents() throws {
        let phone = try events(try bytes("household.btsnoop"))
        let hub = try events(try bytes("household-monitor.btsnoop"))
        #expect(phone.events == hub.events)
        #expect(phone.cut == nil)
        // Seven heart rates, and one value that no table explains.
        #expect(phone.events.count { $0.contains("\"2A37\"") } == 7)
        #expect(phone.events.count { $0.contains("unknown") } == 1)
        #expect(phone.events.count { $0.contains("unlinked") } == 1)
        #expect(phone.events.contains { $0.contains("\"2A37\", [16, 66, 0, 4, 154, 3]") }, "in three pieces")
        #expect(phone.events.contains { $0.contains("serviceData(\"FCD2\", [64, 0, 2, 2, 206, 9])") }, "in two pieces")
    }

    /// Wherever the file is cut, the packets before the cut are those of the complete file.
    @Test func truncationKeepsEarlierPackets() throws {
        let whole = try bytes("household.btsnoop")
        let all = try events(whole).events
        for length in stride(from: 16, to: whole.count, by: 1) {
            let part = try events(Array(whole[..<length]))
            #expect(all.starts(with: part.events))
        }
        for length in 0..<16 { #expect(throws: SourceError.self) { try events(Array(whole[..<length])) } }
    }

    @Test func survivesAnyChangedByte() throws {
        for name in ["household.btsnoop", "household-monitor.btsnoop"] {
            let whole = try bytes(name)
            var generator = SeededGenerator(seed: 1002)
            for index in whole.indices {
                var forged = whole
                forged[index] = UInt8.random(in: 0...255, using: &generator)
                do {
                    _ = try events(forged)
                } catch {
                    #expect(error is SourceError)
                }
            }
        }
    }

    @Test func refusesUnknownPacketKinds() throws {
        var forged = try bytes("household.btsnoop")
        forged[15] = 0xEB
        let error = #expect(throws: SourceError.self) { try events(forged) }
        #expect(error?.reason.hasSuffix("its packets are of kind 1003, but only 1001, 1002 and 2001 are supported") == true)
        forged = try bytes("household.btsnoop")
        // No packet is of 4 GB, and nothing is set aside for one.
        for index in 16..<24 { forged[index] = 0xFF }
        #expect(throws: SourceError.self) { try events(forged) }
    }

    /// Fewer bytes than the original length are not a packet.
    @Test func aShortenedPacket() throws {
        var shortened = try bytes("household.btsnoop")
        // Its original length.
        shortened[18] = 0x10
        let read = try events(shortened)
        #expect(read.events.first?.hasSuffix("shortened") == true)
        #expect(read.events.count == (try events(try bytes("household.btsnoop"))).events.count)
    }
}

import ClinicalModel
import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Bytes that are generated while they are read.
private final class GeneratedInput: ByteInput {
    private var parts: [(bytes: [UInt8], times: Int)]
    private var position = 0

    init(_ parts: [(String, Int)]) { self.parts = parts.map { (Array($0.0.utf8), $0.1) } }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        var filled = 0
        while filled < buffer.count, let part = parts.first {
            let count = min(part.bytes.count - position, buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
                .copyBytes(from: part.bytes[position..<(position + count)])
            filled += count
            position += count
            guard position == part.bytes.count else { continue }
            position = 0
            parts[0].times -= 1
            if parts[0].times == 0 { parts.removeFirst() }
        }
        return filled
    }
}

/// Resources that are larger than any may be, between others that are not.
@Suite struct LargeResourceTests {
    private static let note = """
        {"resourceType":"DocumentReference","id":"d","status":"current","date":"2020-01-01T00:00:00Z","content":[{"attachment":{"data":"
        """

    private func outcome(_ parts: [(String, Int)]) throws -> (readings: [Reading], refusals: [Refusal]) {
        let interpreter = ClinicalInterpreter(registry: OriginRegistry(person: "me"))
        var readings: [Reading] = []
        var refusals: [Refusal] = []
        try ResourceFileSource(received: Outcome.now) { GeneratedInput(parts) }.forEachFrame { frame in
            do throws(Refusal) {
                _ = try interpreter.interpret(frame, into: &readings)
            } catch {
                refusals.append(error)
            }
        }
        return (readings, refusals)
    }

    private let block = String(repeating: "QUJD", count: 64 << 10)

    @Test func refusesOversizedAttachment() throws {
        let large = [(Self.note, 1), (block, 100), ("\"}}]}", 1)]
        let reported = try outcome([(Resources.immunization + "\n", 1)] + large + [("\n" + Resources.observation, 1)])
        #expect(reported.readings.map { $0.place } == [Place(.line, 1), Place(.line, 3)])
        #expect(reported.refusals == [Refusal("the resource is longer than 16 MiB", at: Place(.line, 2))])
        let bundle =
            [("{\"resourceType\":\"Bundle\",\"entry\":[{\"resource\":", 1)] + large + [
                ("},{\"resource\":\(Resources.observation)}]}", 1)
            ]
        let entries = try outcome(bundle)
        #expect(entries.readings.count == 1 && entries.refusals.map(\.reason) == ["the resource is longer than 16 MiB"])
    }

    @Test func storesLargeAttachment() throws {
        let reported = try outcome([(Self.note, 1), (block, 8), ("\"}}]}", 1)])
        #expect(reported.refusals == [] && reported.readings.first?.bytes.count == Self.note.utf8.count + 8 * (256 << 10) + 5)
    }

    @Test func tenThousandLevelsAreRefused() throws {
        let deep = [("{\"resourceType\":\"Patient\",\"a\":", 1), ("[", 10_000), ("]", 10_000), ("}\n", 1)]
        let reported = try outcome(deep + [(Resources.immunization, 1)])
        #expect(reported.readings.count == 1)
        #expect(reported.refusals.first?.reason.contains("it is nested more than 64 levels deep") == true)
        // Brackets that are never closed end with the file, or with their line.
        #expect(throws: SourceError.self) { try outcome([("{\"resourceType\":\"Patient\",\"a\":", 1), ("[", 100_000)]) }
    }
}

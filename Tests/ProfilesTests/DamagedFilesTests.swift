import FileSource
import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import Testing

/// The vendors' files with bytes changed, lost, doubled and put in: every row still ends as readings, skipped or refused, in the order of
/// its place, and nothing crashes. The damage is the same in every run.
@Suite struct DamagedFilesTests {
    struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return word ^ word >> 31
        }
    }

    static let significant: [UInt8] = Array("\",;\n\r\0.-:0919{}[]\\".utf8) + [0xFF, 0xC3, 0x80]

    static func damage(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = significant.randomElement(using: &random) ?? 0
            case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(significant.randomElement(using: &random) ?? 0, at: index)
            default: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
            }
        }
        return bytes
    }

    @Test(arguments: VendorFilesTests.files) func accountsForDamagedFiles(file: String) throws {
        let library = shippedLibrary
        let whole = Array(try Data(contentsOf: URL(filePath: VendorFilesTests.directory + "/" + file)))
        let id = try library.match(firstLines: TextFileHead.read(bytes: whole).text).profile.id
        var random = SplitMix(state: UInt64(whole.count))
        for _ in 0..<25 {
            let bytes = Self.damage(whole, &random)
            guard let head = try? TextFileHead.read(bytes: bytes),
                let match = try? library.match(firstLines: head.text, profile: id)
            else {
                continue
            }
            let source = open(bytes, match.form)
            let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: "me"))
            var last = 0
            var readings: [Reading] = []
            func read(_ source: some FrameSource) throws {
                try interpreter.survey(source)
                try source.forEachFrame { frame in
                    #expect(frame.place.number > last)
                    last = frame.place.number
                    let before = readings.count
                    do throws(Refusal) {
                        let outcome = try interpreter.interpret(frame, into: &readings)
                        #expect((readings.count > before) == (outcome == .readings))
                    } catch {
                        #expect(readings.count == before && error.place == frame.place)
                    }
                }
            }
            do {
                try read(source)
            } catch let error as SourceError {
                #expect(error.kind == .malformed)
            }
            let normaliser = Normaliser(zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_900_000_000))
            var output = Normaliser.Output()
            for reading in readings { normaliser.normalise([reading], into: &output) }
            normaliser.finish(into: &output)
            #expect(output.samples.count + output.refusals.count == readings.count)
        }
    }
}

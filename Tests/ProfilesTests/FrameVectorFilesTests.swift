import FoundationEssentials
import HealthModel
import Pipeline
import Testing
import Wire

@testable import Profiles

/// One vector of `Vectors/`: bytes, and the fields or the refusal that several independent programs agree on.
struct SharedVector: CustomTestStringConvertible, Sendable {
    var channel: String
    var hex: String
    var bytes: [UInt8]
    /// `nil` if the frame must be refused.
    var fields: JSONValue?
    var note: String
    var secrets: FrameSecrets

    var testDescription: String { "\(channel) \(hex) \(note.prefix(60))" }

    static let directory = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Vectors"

    static let files: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    /// Labeled as truncated, but it has all 13 bytes of a valid frame. No rule can distinguish it from the file's other frames.
    static let mislabelled = "02a6e8070b140a000000028c30"

    /// Read once: a test walks them file by file.
    static let byFile: [String: [SharedVector]] = Dictionary(
        uniqueKeysWithValues: files.map { ($0, (try? read($0)) ?? []) })

    static let all: [SharedVector] = files.flatMap { byFile[$0] ?? [] }

    static func read(_ file: String) throws -> [SharedVector] {
        let bytes = Array(try Data(contentsOf: URL(filePath: directory + "/" + file)))
        guard case .array(let elements) = try JSONValue.parse(json5: bytes) else { return [] }
        return elements.compactMap { element in
            guard case .object(let object) = element, case .string(let characteristic)? = object["characteristic"],
                case .string(let hex)? = object["hex"], let bytes = HexadecimalText.bytes(hex),
                case .string(let note)? = object["note"], let expect = object["expect"], hex != mislabelled
            else { return nil }
            var channel = "gatt:" + characteristic
            if characteristic.hasPrefix("serial:") { channel = characteristic }
            // A stream of several frames, for the framer.
            if note.hasPrefix("class=stream") { return nil }
            if characteristic.hasPrefix("adv:") { channel = "advert:" + characteristic.dropFirst(4) }
            if note.hasPrefix("class=write") { channel = "gatt-write:" + characteristic }
            let secrets = FrameSecrets(bindKey: value("key=", note), address: value("mac=", note))
            return SharedVector(
                channel: channel, hex: hex, bytes: bytes, fields: expect == .string("error") ? nil : expect, note: note,
                secrets: secrets)
        }
    }

    private static func value(_ key: String, _ note: String) -> [UInt8]? {
        guard let range = note.firstRange(of: key) else { return nil }
        return HexadecimalText.bytes(note[range.upperBound...].prefix { $0.isHexDigit || $0 == ":" })
    }
}

/// A decoder of the shipped profiles.
func shippedInterpreter(
    _ channel: String, profile: String? = nil, strict: Bool, secrets: FrameSecrets = FrameSecrets()
) throws -> BinaryInterpreter {
    try BinaryInterpreter(
        shippedLibrary.match(channel: channel, profile: profile), registry: OriginRegistry(person: "me"),
        options: BinaryOptions(isStrict: strict, secrets: secrets))
}

let shippedLibrary: ProfileLibrary = {
    do {
        return try ProfileLibrary.load(directories: [deviceProfiles])
    } catch {
        Issue.record("\(error)")
        return ProfileLibrary([])
    }
}()

extension BinaryInterpreter {
    /// The printed fields, or the reason why the bytes are not a frame.
    func outcome(of bytes: some Collection<UInt8>) -> Result<JSONValue, FrameError> {
        let result = Array(bytes).withUnsafeBytes { bytes -> Result<Void, FrameError> in
            do throws(FrameError) {
                return .success(try decode(bytes))
            } catch {
                return .failure(error)
            }
        }
        return result.map { (try? JSONValue.parse(json5: fieldsJSON)) ?? .null }
    }
}

@Suite struct FrameVectorFilesTests {
    @Test func allVectorsAreThere() {
        #expect(SharedVector.files.count == 37)
        #expect(SharedVector.all.count >= 800)
    }

    @Test(arguments: SharedVector.files) func vectorsPassInStrictMode(file: String) throws {
        for vector in SharedVector.byFile[file] ?? [] {
            let interpreter = try shippedInterpreter(vector.channel, strict: true, secrets: vector.secrets)
            switch (interpreter.outcome(of: vector.bytes), vector.fields) {
            case (.success(let found), let expected?):
                let printed = String(decoding: interpreter.fieldsJSON, as: UTF8.self)
                #expect(found.agrees(with: expected), "\(vector.testDescription): \(printed)")
            case (.success, nil): Issue.record("taken: \(vector.testDescription)")
            case (.failure(let error), _?): Issue.record("refused: \(vector.testDescription): \(error)")
            case (.failure(let error), nil): #expect((0...vector.bytes.count).contains(error.offset), "\(vector.testDescription)")
            }
        }
    }

    /// A prefix is refused, unless it ends between two repeats and is a frame itself. Within the last repeat or record only a strict decoder
    /// refuses it: lenient takes the whole values and names the rest.
    @Test(arguments: SharedVector.files) func everyStrictPrefixIsRefused(file: String) throws {
        for strict in [true, false] {
            for vector in SharedVector.byFile[file] ?? [] {
                guard let whole = vector.fields else { continue }
                let interpreter = try shippedInterpreter(vector.channel, strict: strict, secrets: vector.secrets)
                // A last line may lack its end if its profile allows that.
                let line = vector.channel == "serial:AD" ? vector.bytes.reversed().prefix { $0 < 0x20 }.count : 0
                for length in 0..<vector.bytes.count - line {
                    guard case .success(let found) = interpreter.outcome(of: vector.bytes.prefix(length)) else { continue }
                    if !strict, let cutOff = interpreter.frame.cutOff {
                        #expect(cutOff.bytes.elementsEqual(vector.bytes[cutOff.offset..<length]))
                        let isShorter = Self.isShorter(found, than: whole, besides: cutOff.field)
                        #expect(isShorter, "\(vector.testDescription) cut to \(length)")
                        continue
                    }
                    #expect(Self.isShorter(found, than: whole), "\(vector.testDescription) cut to \(length)")
                }
            }
        }
    }

    /// - Parameter list: the field that may be missing as a whole.
    private static func isShorter(_ found: JSONValue, than whole: JSONValue, besides list: String) -> Bool {
        guard case .object(let some) = found, some[list] == nil, case .object(var all) = whole else {
            return isShorter(found, than: whole)
        }
        all[list] = nil
        return found.agrees(with: .object(all))
    }

    private static func isShorter(_ found: JSONValue, than whole: JSONValue) -> Bool {
        guard case .object(var found) = found, case .object(var whole) = whole else { return false }
        found["stopped_at_unknown_object"] = nil
        whole["stopped_at_unknown_object"] = nil
        func list(_ object: [String: JSONValue]) -> (key: String, elements: [JSONValue])? {
            for key in ["records", "objects"] { if case .array(let elements)? = object[key] { return (key, elements) } }
            if case .object(let repeats)? = object["rr_intervals"], case .array(let elements)? = repeats["values"] {
                return ("rr_intervals", elements)
            }
            return nil
        }
        guard let short = list(found), let long = list(whole), !short.elements.isEmpty,
            short.elements.count <= long.elements.count,
            zip(short.elements, long.elements).allSatisfy({ $0.agrees(with: $1) })
        else { return false }
        found[short.key] = nil
        whole[long.key] = nil
        return JSONValue.object(found).agrees(with: .object(whole))
    }

    /// A valid frame is read the same way in both modes. Lenient mode also accepts reserved bits or values, and a truncated last repeat,
    /// and reports this.
    @Test(arguments: SharedVector.files) func lenientModeDiffersOnlyInReservedBits(file: String) throws {
        for vector in SharedVector.byFile[file] ?? [] {
            let strict = try shippedInterpreter(vector.channel, strict: true, secrets: vector.secrets)
            let lenient = try shippedInterpreter(vector.channel, strict: false, secrets: vector.secrets)
            switch (strict.outcome(of: vector.bytes), lenient.outcome(of: vector.bytes)) {
            case (.success(let one), .success(let other)):
                #expect(one == other && !lenient.frame.hasReserved, "\(vector.testDescription)")
            case (.failure(let error), .success):
                let isCut = error.reason == .truncated && lenient.frame.cutOff != nil
                let isReserved = [.reserved, .order].contains(error.reason) && lenient.frame.hasReserved
                #expect(isCut || isReserved, "\(vector.testDescription)")
            case (.failure(let error), .failure(let other)):
                // Where something else is wrong as well, lenient finds it further on.
                #expect(error == other || error.reason == .reserved, "\(vector.testDescription)")
            case (.success, .failure): Issue.record("lenient refuses: \(vector.testDescription)")
            }
        }
    }
}

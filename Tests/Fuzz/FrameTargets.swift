import HealthModel
import Pipeline
import Profiles
import Wire

/// Bytes from radios and wires. The first line of an input names the channel.
enum FrameTargets {
    private struct Reader {
        var match: BinaryMatch
        /// Of the profile's own sealed frames, so that these can be opened.
        var secrets: FrameSecrets
    }

    private static let readers: [String: [Reader]] = {
        var readers: [String: [Reader]] = [:]
        for profile in Fuzz.library.profiles {
            for match in profile.binaryChannels.compactMap({ profile.match(channel: $0) }) {
                let sealed = profile.frameVectors.first { $0.channel == match.channelName && $0.options.secrets.bindKey != nil }
                readers[match.channelName, default: []].append(
                    Reader(match: match, secrets: sealed?.options.secrets ?? FrameSecrets()))
            }
        }
        return readers
    }()
    private static let channels = readers.keys.sorted()

    /// An unknown name also selects a profile.
    private static func split(_ input: [UInt8]) -> (readers: [Reader], bytes: [UInt8]) {
        let (name, bytes) = Fuzz.split(input)
        if let known = readers[name] { return (known, bytes) }
        let number = name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & Int.max
        return (readers[channels[number % channels.count]] ?? [], bytes)
    }

    static func frames(_ input: [UInt8]) {
        let (readers, bytes) = split(input)
        for reader in readers {
            var reported: [[String]?] = []
            for isStrict in [false, true] {
                let session = Timestamp(wall: WallTime(microseconds: 1_795_000_000_000_000), offset: ZoneOffset(seconds: 3600))
                let options = BinaryOptions(isStrict: isStrict, secrets: reader.secrets, sessionStart: session)
                let interpreter = BinaryInterpreter(reader.match, registry: OriginRegistry(person: "me"), options: options)
                reported.append(decode(bytes, interpreter))
            }
            precondition(reported[1] == nil || reported[0] == reported[1], "what nothing can be said against is read as always")
        }
    }

    static func streams(_ input: [UInt8]) {
        let (readers, bytes) = split(input)
        for reader in readers {
            guard let framing = reader.match.framing else { continue }
            let interpreter = BinaryInterpreter(reader.match, registry: OriginRegistry(person: "me"))
            var framer = StreamFramer(framing)
            var reported = 0
            func take(_ event: StreamFramer.Event) {
                switch event {
                case .frame(let bytes, let offset):
                    precondition(offset == reported, "a frame stands where it stood")
                    reported += bytes.count
                    decode(Array(bytes), interpreter)
                case .skipped(let skipped): reported += skipped.count
                }
            }
            // In two pieces, as a line may deliver them.
            for piece in [bytes[..<(bytes.count / 2)], bytes[(bytes.count / 2)...]] {
                Array(piece).withUnsafeBytes { framer.feed($0, take) }
            }
            framer.finish(isCut: true, take)
            precondition(reported == bytes.count, "every octet comes out once")
        }
    }

    /// - Returns: the fields and the readings, if the frame is valid.
    @discardableResult static func decode(_ bytes: [UInt8], _ interpreter: BinaryInterpreter) -> [String]? {
        bytes.withUnsafeBytes { bytes in
            guard (try? interpreter.decode(bytes)) != nil else { return nil }
            var readings: [Reading] = []
            _ = try? interpreter.appendReadings(at: Place(.byte, 0), to: &readings)
            return [String(decoding: interpreter.fieldsJSON, as: UTF8.self)]
                + readings.map { "\($0.origin.type.id) \($0.numeral.canonicalText) \($0.unit.code) \($0.time)" }
        }
    }
}

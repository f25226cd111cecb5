import Glibc
import HealthModel
import Pipeline
import Profiles
import Wire

/// Octets from radios and wires: the first line of an input names the channel.
enum FrameTargets {
    private static let library: ProfileLibrary = {
        do {
            return try ProfileLibrary.load(directories: [Fuzz.folder + "/DeviceProfiles"])
        } catch {
            print("\(error)")
            exit(66)
        }
    }()
    private static let channels = library.binaryChannels

    /// A name that no profile has stands for one of them all the same.
    private static func split(_ input: [UInt8]) -> (matches: [BinaryMatch], octets: [UInt8]) {
        let end = input.firstIndex(of: 0x0A) ?? 0
        let name = String(decoding: input[..<end], as: UTF8.self)
        let number = input[..<end].reduce(0) { $0 &* 31 &+ Int($1) } & Int.max
        let channel = channels.contains(name) ? name : channels[number % channels.count]
        return (library.profiles.compactMap { $0.match(channel: channel) }, Array(input[min(end + 1, input.count)...]))
    }

    static func frames(_ input: [UInt8]) {
        let (matches, octets) = split(input)
        for match in matches {
            for isStrict in [false, true] {
                let session = Timestamp(wall: WallTime(microseconds: 1_795_000_000_000_000), offset: ZoneOffset(seconds: 3600))
                let options = BinaryOptions(isStrict: isStrict, sessionStart: session)
                decode(octets, BinaryInterpreter(match, registry: OriginRegistry(subject: "me"), options: options))
            }
        }
        octets.withUnsafeBytes { _ = SessionStart.timestamp($0) }
    }

    static func streams(_ input: [UInt8]) {
        let (matches, octets) = split(input)
        for match in matches {
            guard let framing = match.framing else { continue }
            let interpreter = BinaryInterpreter(match, registry: OriginRegistry(subject: "me"))
            var framer = StreamFramer(framing)
            var told = 0
            func take(_ event: StreamFramer.Event) {
                switch event {
                case .frame(let bytes, let offset):
                    precondition(offset == told, "a frame stands where it stood")
                    told += bytes.count
                    decode(Array(bytes), interpreter)
                case .skipped(let skipped): told += skipped.count
                }
            }
            // In two pieces, as a line may deliver them.
            for piece in [octets[..<(octets.count / 2)], octets[(octets.count / 2)...]] {
                Array(piece).withUnsafeBytes { framer.feed($0, take) }
            }
            framer.finish(isCut: true, take)
            precondition(told == octets.count, "every octet comes out once")
        }
    }

    static func decode(_ octets: [UInt8], _ interpreter: BinaryInterpreter) {
        var readings: [Reading] = []
        octets.withUnsafeBytes { bytes in
            guard (try? interpreter.decode(bytes)) != nil else { return }
            _ = interpreter.fieldsJSON
            _ = try? interpreter.appendReadings(at: Place(.byte, 0), to: &readings)
        }
        for reading in readings { _ = reading.numeral.canonicalText }
    }
}

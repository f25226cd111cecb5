import HealthModel
import Pipeline
import Profiles

/// The bytes of a profile. An accepted one reads its own vectors, and frames that it was not made for.
enum ProfileTargets {
    static func profile(_ input: [UInt8]) {
        guard let profile = try? Profile(json5: input, file: "fuzz.json5") else { return }
        _ = ProfileVectorRun(profile, open: FileTargets.source).failures()
        let registry = OriginRegistry(person: "me")
        for channel in profile.binaryChannels {
            guard let match = profile.match(channel: channel) else { continue }
            let interpreter = BinaryInterpreter(match, registry: registry)
            for byte in [0x00, 0x7F, 0x80, 0xFF] as [UInt8] {
                for count in [1, 2, 4, 7, 12, 20, 32] {
                    FrameTargets.decode([UInt8](repeating: byte, count: count), interpreter)
                }
            }
        }
    }
}

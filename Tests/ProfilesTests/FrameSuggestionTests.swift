import Profiles
import Testing

@Suite struct FrameSuggestionTests {
    /// Ten frames of a scale: a marker, a weight of two bytes, a state and a check code.
    private var frames: [[UInt8]] {
        (0..<10).map { number in
            let frame: [UInt8] = [0xAB, 0xCD, 0x1F, UInt8(number * 7), 0x02]
            return frame + [frame.reduce(0, ^)]
        }
    }

    private func check(_ text: String) throws -> Profile { try Profile(json5: Array(text.utf8), file: "new-scale.json5") }

    @Test func draftReadsFramesUsedForIt() throws {
        let draft = FrameSuggestion(
            id: "new-scale", name: "Scale", channels: ["advert:manufacturer:0A0B": frames, "gatt:FFF1": frames]
        ).json5
        let profile = try check(draft)
        #expect(profile.id == "new-scale")
        #expect(profile.channels.sorted() == ["advert:manufacturer:0A0B", "gatt:FFF1"])
        #expect(draft.contains(#"{ is: "ABCD1F" }"#))
        #expect(draft.contains(#"{ name: "octet3", type: "u8" }"#))
        #expect(draft.contains(#"{ check: "xor8" }"#))
        #expect(draft.contains(#"manufacturers: ["0A0B"]"#))
        let library = ProfileLibrary([profile])
        for match in library.matches(channel: "gatt:FFF1") {
            #expect(frames.allSatisfy { match.mayRead($0, address: nil) })
            #expect(!match.mayRead([0xAB, 0xCD, 0x20, 0, 2, 0x44], address: nil))
        }
    }

    @Test func ofTooFewFramesNothingIsShown() throws {
        let draft = FrameSuggestion(id: "new-scale", name: nil, channels: ["gatt:FFF1": Array(frames.prefix(2))]).json5
        #expect(!draft.contains("ABCD"))
        #expect(draft.contains(#"{ name: "all", type: "octets" }"#))
        _ = try check(draft)
    }
}

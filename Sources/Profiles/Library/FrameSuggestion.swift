/// Drafts a device's profile from frames that it sent. `vitalgate profile suggest --capture FILE` prints it.
///
/// Bytes that are the same in all frames of a channel become a mark. Bytes that differ become a field without a meaning, and their values
/// are not shown. Bytes are shown only if at least three different frames agree on them.
package struct FrameSuggestion {
    /// The new profile's id.
    package var id: String
    package var name: String?
    package var channels: [String: [[UInt8]]]

    package init(id: String, name: String?, channels: [String: [[UInt8]]]) {
        (self.id, self.name, self.channels) = (id, name, channels)
    }

    /// The number of different frames that must agree on a byte before it is shown.
    static let least = 3

    /// The draft, as commented JSON5.
    package var json5: String {
        let open = ProfileSuggestion.open
        var lines = [
            "// A draft made from the frames of a device. Confirm every line marked CONFIRM, name the fields, and choose those that are",
            "// readings: docs/reference/profiles-binary.md describes the keys, 'vitalgate decode' shows the result for a frame.",
            "{", "  id: \(JSON5Text.quoted(id)),", "  name: \(JSON5Text.quoted(name ?? id)),  // CONFIRM", "  version: \"1\",",
            "  // devices: [{ maker: \"\(open)\", models: [\"\(open)\"], kind: \"scale\", proof: \"one\" }],",
        ]
        lines += match + connection + ["  channels: ["]
        for channel in channels.keys.sorted() { lines += draft(channel, channels[channel] ?? []) }
        lines += [
            "  ],", "  // Your own frames with the expected readings. Without any, the profile fails its test.",
            "  vectors: [",
            "    // { source: \"\(open)\", channel: \"…\", hex: \"\(open)\", fields: {} },", "  ],", "}", "",
        ]
        return lines.joined(separator: "\n")
    }

    private var match: [String] {
        var keys: [String] = []
        if let name, !name.isEmpty { keys.append("names: [\(JSON5Text.quoted(name))]") }
        let companies = channels.keys.sorted().compactMap { channel in
            channel.hasPrefix("advert:manufacturer:") ? String(channel.dropFirst(20)) : nil
        }
        if !companies.isEmpty { keys.append("manufacturers: [\(list(companies))]") }
        let data = channels.keys.sorted().filter { $0.hasPrefix("advert:") && !$0.hasPrefix("advert:manufacturer") }
        if !data.isEmpty { keys.append("advertisedServiceData: [\(list(data.map { String($0.dropFirst(7)) }))]") }
        return keys.isEmpty
            ? [] : ["  match: { \(keys.joined(separator: ", ")) },  // CONFIRM: any of it is enough, unless all: true"]
    }

    private var connection: [String] {
        let subscriptions = channels.keys.sorted().filter { $0.hasPrefix("gatt:") }.map {
            "\(ProfileSuggestion.open)/\($0.dropFirst(5))"
        }
        guard !subscriptions.isEmpty else { return [] }
        // A capture does not contain a characteristic's service.
        return ["  // connection: { subscriptions: [\(list(subscriptions))] },"]
    }

    private func list(_ texts: [String]) -> String { texts.map(JSON5Text.quoted).joined(separator: ", ") }

    private func draft(_ channel: String, _ all: [[UInt8]]) -> [String] {
        var lengths: [Int: Int] = [:]
        for frame in all { lengths[frame.count, default: 0] += 1 }
        // The most common length, or the longer one of two that are equally common.
        let length = lengths.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0
        let frames = Array(Set(all.filter { $0.count == length })).sorted { $0.lexicographicallyPrecedes($1) }
        var lines = ["    {", "      channel: \(JSON5Text.quoted(channel)),"]
        let others = lengths.filter { $0.key != length }.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
        lines.append(
            "      // \(all.count) frames; \(frames.count) that differ have \(length) bytes"
                + (others.isEmpty ? "" : ", and there are others: \(others.joined(separator: ", "))"))
        lines.append("      layout: [")
        lines += fields(frames, length).map { "        \($0)" }
        lines += [
            "      ],", "      // readings: [{ field: \"\(ProfileSuggestion.open)\", type: \"\(ProfileSuggestion.open)\" }],",
            "      information: \"not-read-yet\",  // remove it if there are readings", "    },",
        ]
        return lines
    }

    private func fields(_ frames: [[UInt8]], _ length: Int) -> [String] {
        guard frames.count >= Self.least, length > 0 else {
            return [
                "{ name: \"all\", type: \"octets\" },  // fewer than \(Self.least) frames that differ: too few to recognize fields"
            ]
        }
        let check = Self.check(frames)
        let end = check == nil ? length : length - 1
        var fields: [String] = []
        var offset = 0
        while offset < end {
            let same = Self.isSame(frames, offset)
            var next = offset + 1
            while next < end, same, Self.isSame(frames, next) { next += 1 }
            if same {
                let bytes = frames[0][offset..<next].map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
                fields.append("{ is: \"\(bytes.joined())\" },  // byte \(offset): the same in all frames. CONFIRM")
            } else {
                let values = Set(frames.map { $0[offset] }).count
                fields.append("{ name: \"octet\(offset)\", type: \"u8\" },  // \(values) values")
            }
            offset = next
        }
        if let check { fields.append("{ check: \"\(check)\" },  // right in all frames") }
        return fields
    }

    private static func isSame(_ frames: [[UInt8]], _ offset: Int) -> Bool {
        frames.allSatisfy { $0[offset] == frames[0][offset] }
    }

    /// Returns the kind of check code that fits the last byte of all frames, or nil.
    private static func check(_ frames: [[UInt8]]) -> String? {
        guard let length = frames.first?.count, length > 2, !isSame(frames, length - 1) else { return nil }
        if frames.allSatisfy({ $0.dropLast().reduce(0, ^) == $0.last }) { return "xor8" }
        if frames.allSatisfy({ $0.dropLast().reduce(0, &+) == $0.last }) { return "sum8" }
        return nil
    }
}

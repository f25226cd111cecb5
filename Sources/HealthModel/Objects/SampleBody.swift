import FoundationEssentials

/// The data of a sample beyond its header and number: the events and figures of a workout, the members of a correlation, the points of a
/// route. It never changes, and a different body belongs to a different sample.
///
///     let body = try SampleBody(encoding: workout)
///     let again = try body.decoded(as: Workout.self)
///
/// The bytes are JSON with sorted keys, so that equal bodies have equal bytes. Times are in microseconds after the sample's start and move
/// with it in a repair. Large data may follow the JSON after a zero byte, which JSON never contains: the points of a series, or a resource
/// or document as received (``PackedContent``).
public final class SampleBody: Hashable, Sendable {
    private let text: [UInt8]
    private let behind: Behind

    /// The data after the JSON.
    private enum Behind {
        case nothing
        case content(PackedContent)
        /// Bytes that are not valid content. The body is damaged.
        case damage(ArraySlice<UInt8>)
    }

    private init(_ text: [UInt8], _ behind: Behind) { (self.text, self.behind) = (text, behind) }

    /// A body in its stored form, without any checks.
    public convenience init(octets: [UInt8]) {
        guard let end = octets.firstIndex(of: 0) else {
            self.init(octets, .nothing)
            return
        }
        let rest = octets[(end + 1)...]
        self.init(Array(octets[..<end]), PackedContent(stored: rest).map { .content($0) } ?? .damage(rest))
    }

    /// A body that encodes a value.
    ///
    /// - Parameter content: The large data, if any.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    public convenience init(encoding value: some Encodable, content: PackedContent? = nil) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(json: Array(try encoder.encode(value)), content: content)
    }

    /// A body with a text that is JSON with sorted keys.
    public convenience init(json: [UInt8], content: PackedContent?) {
        self.init(json, content.map { .content($0) } ?? .nothing)
    }

    /// The decoded value.
    ///
    /// - Throws: `DecodingError` if the JSON does not match the type.
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text))
    }

    /// The JSON alone.
    public var json: ArraySlice<UInt8> { text[...] }

    /// The large data, still packed, or `nil` if there is none or it is damaged.
    public var content: PackedContent? {
        if case .content(let content) = behind { content } else { nil }
    }

    /// The stored form.
    public var octets: [UInt8] {
        var octets = text
        switch behind {
        case .nothing: break
        case .content(let content):
            octets.append(0)
            // In parts and with an exact capacity, since it may have megabytes.
            content.append(to: &octets)
        case .damage(let rest):
            octets.append(0)
            octets += rest
        }
        return octets
    }

    /// The approximate size in memory, in bytes.
    public var size: Int {
        switch behind {
        case .nothing: text.count
        case .content(let content): text.count + content.size
        case .damage(let rest): text.count + rest.count
        }
    }

    /// Whether data follows the JSON.
    public var isLongerThanJSON: Bool {
        if case .nothing = behind { false } else { true }
    }

    /// The 128 bits by which a store finds equal bodies: the first half of the SHA-256. Packed content is included by its digest, since the
    /// next version of the compression library may produce other bytes for the same content.
    public var digest: [UInt8] { Array(Digest.sha256(told).prefix(16)) }

    private var told: [UInt8] {
        guard case .content(let content) = behind else { return octets }
        return text + [0] + content.head
    }

    public static func == (one: SampleBody, other: SampleBody) -> Bool { one === other || one.told == other.told }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

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
    private let trailer: Trailer

    /// The data after the JSON.
    private enum Trailer {
        case empty
        case content(PackedContent)
        /// Bytes that are not valid content. The body is damaged.
        case damage(ArraySlice<UInt8>)
    }

    private init(_ text: [UInt8], _ trailer: Trailer) { (self.text, self.trailer) = (text, trailer) }

    /// A body in its stored form, without any checks.
    public convenience init(bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: 0) else {
            self.init(bytes, .empty)
            return
        }
        let rest = bytes[(end + 1)...]
        self.init(Array(bytes[..<end]), PackedContent(stored: rest).map { .content($0) } ?? .damage(rest))
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
        self.init(json, content.map { .content($0) } ?? .empty)
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
        if case .content(let content) = trailer { content } else { nil }
    }

    /// The stored form.
    public var bytes: [UInt8] {
        var bytes = text
        switch trailer {
        case .empty: break
        case .content(let content):
            bytes.append(0)
            // In parts and with an exact capacity, since it may have megabytes.
            content.append(to: &bytes)
        case .damage(let rest):
            bytes.append(0)
            bytes += rest
        }
        return bytes
    }

    /// The approximate size in memory, in bytes.
    public var size: Int {
        switch trailer {
        case .empty: text.count
        case .content(let content): text.count + content.size
        case .damage(let rest): text.count + rest.count
        }
    }

    /// Whether data follows the JSON.
    public var isLongerThanJSON: Bool {
        if case .empty = trailer { false } else { true }
    }

    /// The 128 bits by which a store finds equal bodies: the first half of the SHA-256. Packed content is included by its digest, since the
    /// next version of the compression library may produce other bytes for the same content.
    public var digest: [UInt8] { Array(Digest.sha256(encodedText).prefix(16)) }

    private var encodedText: [UInt8] {
        guard case .content(let content) = trailer else { return bytes }
        return text + [0] + content.head
    }

    public static func == (one: SampleBody, other: SampleBody) -> Bool { one === other || one.encodedText == other.encodedText }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

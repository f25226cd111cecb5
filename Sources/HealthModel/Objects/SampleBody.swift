import FoundationEssentials

/// What a sample tells beside its header and its number: of a workout its events and figures, of a correlation what belongs to it, of a route
/// its points. It never changes; a body that tells something else belongs to another sample.
///
///     let body = try SampleBody(encoding: workout)
///     let again = try body.decoded(as: Workout.self)
///
/// The octets are JSON with its keys in order, so that equal bodies have equal octets. Times in it are microseconds after the sample's start:
/// where a repair moves the sample, they move with it. Behind the JSON, and an octet 0, which JSON never has, may stand what is large: the
/// points of a series, a resource or document as it came (``PackedContent``).
public final class SampleBody: Hashable, Sendable {
    /// As a store keeps them.
    public let octets: [UInt8]
    /// How many of them are JSON.
    private let jsonLength: Int

    /// A body as a store has it; nothing is checked here.
    public init(octets: [UInt8]) {
        self.octets = octets
        jsonLength = octets.firstIndex(of: 0) ?? octets.count
    }

    /// The body that says this.
    ///
    /// - Parameter content: what is large.
    /// - Throws: `EncodingError`, for a number that JSON has no text for.
    public convenience init(encoding value: some Encodable, content: PackedContent? = nil) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var octets = Array(try encoder.encode(value))
        if let content {
            octets.append(0)
            // By parts and into room of just this size: it may be megabytes.
            content.append(to: &octets)
        }
        self.init(octets: octets)
    }

    /// What it says.
    ///
    /// - Throws: `DecodingError`, where it says something else.
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(octets[..<jsonLength]))
    }

    /// The JSON alone.
    public var json: ArraySlice<UInt8> { octets[..<jsonLength] }

    /// What is large, still packed; `nil` where there is none, or where it is damaged.
    public var content: PackedContent? {
        jsonLength < octets.count ? PackedContent(stored: octets[(jsonLength + 1)...]) : nil
    }

    /// 128 bits by which a store finds equal bodies: the first half of SHA-256 over what it says, and of what is packed over its digest: the
    /// next version of the library that packs may write other octets for the same.
    public var digest: [UInt8] { Array(Digest.sha256(Array(told)).prefix(16)) }

    private var told: ArraySlice<UInt8> {
        guard let content else { return octets[...] }
        return octets[..<(jsonLength + 1 + content.headLength)]
    }

    public static func == (one: SampleBody, other: SampleBody) -> Bool { one === other || one.told == other.told }

    public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

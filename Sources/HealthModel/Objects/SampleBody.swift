import FoundationEssentials

/// What a sample tells beside its header and its number: of a workout its events and figures, of a correlation what belongs to it, of a day
/// its rings. It never changes; a body that tells something else belongs to another sample.
///
///     let body = try SampleBody(encoding: workout)
///     let again = try body.decoded(as: Workout.self)
///
/// The octets are JSON with its keys in order, so that equal bodies have equal octets. Times in it are microseconds after the sample's start:
/// where a repair moves the sample, they move with it.
public final class SampleBody: Hashable, Sendable {
    /// As a store keeps them.
    public let octets: [UInt8]

    /// A body as a store has it; nothing is checked here.
    public init(octets: [UInt8]) { self.octets = octets }

    /// The body that says this.
    ///
    /// - Throws: `EncodingError`, for a number that JSON has no text for.
    public convenience init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(octets: Array(try encoder.encode(value)))
    }

    /// What it says.
    ///
    /// - Throws: `DecodingError`, where it says something else.
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(octets))
    }

    /// 128 bits by which a store finds equal bodies: the first half of SHA-256.
    public var digest: [UInt8] { Array(Digest.sha256(octets).prefix(16)) }

    public static func == (one: SampleBody, other: SampleBody) -> Bool { one === other || one.octets == other.octets }

    public func hash(into hasher: inout Hasher) { hasher.combine(octets) }
}

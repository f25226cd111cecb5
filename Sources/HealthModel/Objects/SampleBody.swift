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
    private let text: [UInt8]
    private let behind: Behind

    /// What stands behind the JSON.
    private enum Behind {
        case nothing
        case content(PackedContent)
        /// Octets that are no content: the body is damaged.
        case damage(ArraySlice<UInt8>)
    }

    private init(_ text: [UInt8], _ behind: Behind) { (self.text, self.behind) = (text, behind) }

    /// A body as a store has it; nothing is checked here.
    public convenience init(octets: [UInt8]) {
        guard let end = octets.firstIndex(of: 0) else {
            self.init(octets, .nothing)
            return
        }
        let rest = octets[(end + 1)...]
        self.init(Array(octets[..<end]), PackedContent(stored: rest).map { .content($0) } ?? .damage(rest))
    }

    /// The body that says this.
    ///
    /// - Parameter content: what is large.
    /// - Throws: `EncodingError`, for a number that JSON has no text for.
    public convenience init(encoding value: some Encodable, content: PackedContent? = nil) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(json: Array(try encoder.encode(value)), content: content)
    }

    /// The body of a text that is JSON with its keys in order already.
    public convenience init(json: [UInt8], content: PackedContent?) {
        self.init(json, content.map { .content($0) } ?? .nothing)
    }

    /// What it says.
    ///
    /// - Throws: `DecodingError`, where it says something else.
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text))
    }

    /// The JSON alone.
    public var json: ArraySlice<UInt8> { text[...] }

    /// What is large, still packed; `nil` where there is none, or where it is damaged.
    public var content: PackedContent? {
        if case .content(let content) = behind { content } else { nil }
    }

    /// As a store keeps them.
    public var octets: [UInt8] {
        var octets = text
        switch behind {
        case .nothing: break
        case .content(let content):
            octets.append(0)
            // By parts and into room of just this size: it may be megabytes.
            content.append(to: &octets)
        case .damage(let rest):
            octets.append(0)
            octets += rest
        }
        return octets
    }

    /// About how much memory it takes.
    public var size: Int {
        switch behind {
        case .nothing: text.count
        case .content(let content): text.count + content.size
        case .damage(let rest): text.count + rest.count
        }
    }

    /// Whether anything stands behind the JSON.
    public var isLongerThanJSON: Bool {
        if case .nothing = behind { false } else { true }
    }

    /// 128 bits by which a store finds equal bodies: the first half of SHA-256 over what it says, and of what is packed over its digest: the
    /// next version of the library that packs may write other octets for the same.
    public var digest: [UInt8] { Array(Digest.sha256(told).prefix(16)) }

    private var told: [UInt8] {
        guard case .content(let content) = behind else { return octets }
        return text + [0] + content.head
    }

    public static func == (one: SampleBody, other: SampleBody) -> Bool { one === other || one.told == other.told }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

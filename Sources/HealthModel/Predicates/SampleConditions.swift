/// A condition as options and profiles say it, one part a line of a report; ``predicate`` is what it means.
public struct SampleConditions: Sendable {
    /// `nil` for all types.
    public var types: Set<SampleType>?
    /// A source's id or name.
    public var source: String?
    /// Sources' ids, each also for those that begin with it and a point: a profile's files.
    public var sourceFamilies: [String]?
    /// Of the app or file that a sample comes from.
    public var sourceVersion: VersionRange?
    /// A device's key, name, model or serial number.
    public var device: String?
    /// Of the software in the device.
    public var firmware: VersionRange?
    /// A person's UUID.
    public var subject: String?
    /// The first start that counts.
    public var from: Instant?
    /// The first start that no longer counts.
    public var to: Instant?
    /// The first time of receipt that counts.
    public var receivedFrom: Instant?
    /// The first time of receipt that no longer counts.
    public var receivedTo: Instant?
    /// Only these.
    public var samples: Set<SampleIdentity>?
    /// Of the value, the metadata and what else a condition can speak of.
    public var condition: SamplePredicate?
    /// The condition as it was written.
    public var conditionText: String?

    /// Meets every sample until something is set.
    public init(types: Set<SampleType>? = nil) { self.types = types }

    /// All that was set, as one condition.
    public var predicate: SamplePredicate {
        let parts: [SamplePredicate?] = [
            types.map { .types($0) }, subject.map { .subject($0) }, .starts(from: from, before: to), source.map { .source($0) },
            sourceFamilies.map { .or($0.map { .sourceFamily($0) }) },
            sourceVersion.map { .version(.source(.version), in: $0) }, device.map { .device($0) },
            firmware.map { .version(.device(.firmware), in: $0) }, .received(from: receivedFrom, before: receivedTo),
            samples.map { .uuids($0) }, condition,
        ]
        return .and(parts.compactMap { $0 })
    }

    /// The conditions that were set, as names and texts.
    ///
    /// - Parameter me: the subject that is written as `me`.
    public func parts(me: String) -> [(name: String, text: String)] {
        let parts: [(String, String?)] = [
            ("type", types?.map(\.id).sorted().joined(separator: ",")),
            ("source", source ?? sourceFamilies?.joined(separator: ",")),
            ("sourceVersion", sourceVersion?.description), ("device", device), ("firmware", firmware?.description),
            ("subject", subject == me ? "me" : subject), ("from", from?.description), ("to", to?.description),
            ("receivedFrom", receivedFrom?.description), ("receivedTo", receivedTo?.description), ("where", conditionText),
            ("samples", samples?.map(\.description).sorted().joined(separator: ",")),
        ]
        return parts.compactMap { name, text in text.map { (name, $0) } }
    }

    /// The same as a JSON object of texts, in the form that stores keep.
    public func json(me: String) -> String {
        var bytes: [UInt8] = Array("{".utf8)
        for (index, part) in parts(me: me).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(stored: part.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONText.append(stored: part.text, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self) + "}"
    }
}

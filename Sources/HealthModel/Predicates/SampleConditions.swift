/// The conditions from options and profiles, each listed separately in reports. ``predicate`` combines them.
public struct SampleConditions: Sendable {
    /// The types, or `nil` for all.
    public var types: Set<SampleType>?
    /// A source's id or name.
    public var source: String?
    /// Ids of sources, which also match ids that begin with them and a dot, such as a profile's files.
    public var sourceFamilies: [String]?
    /// The versions of the source app or file.
    public var sourceVersion: VersionRange?
    /// A device's key, name, model or serial number.
    public var device: String?
    /// The versions of the device's software.
    public var firmware: VersionRange?
    /// A person's UUID.
    public var person: String?
    /// The earliest start to include.
    public var from: Instant?
    /// The earliest start to exclude.
    public var to: Instant?
    /// The earliest time of receipt to include.
    public var receivedFrom: Instant?
    /// The earliest time of receipt to exclude.
    public var receivedTo: Instant?
    /// The samples to include.
    public var samples: Set<SampleIdentity>?
    /// The condition on the value, the metadata and other fields.
    public var condition: SamplePredicate?
    /// The condition as written.
    public var conditionText: String?

    /// Conditions that every sample meets until one is set.
    public init(types: Set<SampleType>? = nil) { self.types = types }

    /// All conditions combined.
    public var predicate: SamplePredicate {
        let parts: [SamplePredicate?] = [
            types.map { .types($0) }, person.map { .person($0) }, .starts(from: from, before: to), source.map { .source($0) },
            sourceFamilies.map { .or($0.map { .sourceFamily($0) }) },
            sourceVersion.map { .version(.source(.version), in: $0) }, device.map { .device($0) },
            firmware.map { .version(.device(.firmware), in: $0) }, .received(from: receivedFrom, before: receivedTo),
            samples.map { .uuids($0) }, condition,
        ]
        return .and(parts.compactMap { $0 })
    }

    /// The conditions that are set, as names and texts.
    ///
    /// - Parameter me: The person that is written as `me`.
    public func parts(me: String) -> [(name: String, text: String)] {
        let parts: [(String, String?)] = [
            ("type", types?.map(\.id).sorted().joined(separator: ",")),
            ("source", source ?? sourceFamilies?.joined(separator: ",")),
            ("sourceVersion", sourceVersion?.description), ("device", device), ("firmware", firmware?.description),
            ("subject", person == me ? "me" : person), ("from", from?.description), ("to", to?.description),
            ("receivedFrom", receivedFrom?.description), ("receivedTo", receivedTo?.description), ("where", conditionText),
            ("samples", samples?.map(\.description).sorted().joined(separator: ",")),
        ]
        return parts.compactMap { name, text in text.map { (name, $0) } }
    }

    /// The same as a JSON object of texts, in the stored form.
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

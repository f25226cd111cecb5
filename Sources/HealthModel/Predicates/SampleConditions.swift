/// Which samples a repair is meant for.
public struct RepairPredicate: Sendable {
    /// `nil` for all types.
    public var types: Set<QuantityType>?
    /// A source's id or name.
    public var source: String?
    /// Sources' ids, each also for those that begin with it and a point: a profile's files.
    public var sourceFamilies: [String]?
    public var sourceVersion: VersionRange?
    /// A device's key, name, model or serial number.
    public var device: String?
    public var firmware: VersionRange?
    public var subject: String?
    /// Starts from here, and before there.
    public var from: Instant?
    public var to: Instant?
    /// Received from here, and before there.
    public var receivedFrom: Instant?
    public var receivedTo: Instant?
    /// Only these.
    public var samples: Set<SampleIdentity>?
    /// Of the value, the metadata and what else a condition can speak of.
    public var condition: SamplePredicate?
    /// The condition as it was written.
    public var conditionText: String?

    /// Meets every sample until something is set.
    public init(types: Set<QuantityType>? = nil) { self.types = types }

    /// Whether the sample is meant.
    public func matches(_ sample: QuantitySample) -> Bool {
        if let types, !types.contains(sample.origin.type) { return false }
        if let subject, sample.origin.subject != subject { return false }
        let name = sample.origin.source
        if let source, name.id != source, name.name != source { return false }
        if let sourceFamilies, !sourceFamilies.contains(where: { name.id == $0 || name.id.hasPrefix($0 + ".") }) { return false }
        if let sourceVersion, !sourceVersion.contains(name.version) { return false }
        if let device {
            guard let own = sample.origin.device else { return false }
            guard [own.key, own.name, own.model, own.serial].contains(device) else { return false }
        }
        if let firmware, !firmware.contains(sample.origin.device?.firmware) { return false }
        if let from, sample.start < from { return false }
        if let to, sample.start >= to { return false }
        if let receivedFrom, sample.received < receivedFrom { return false }
        if let receivedTo, sample.received >= receivedTo { return false }
        if let samples, !samples.contains(sample.identity) { return false }
        return condition?.matches(sample) ?? true
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

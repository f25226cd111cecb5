/// The members of a correlation (`HKCorrelation`): the two pressures of one measurement, the nutrients of one food.
public struct Correlation: Hashable, Sendable, Codable {
    /// The UUIDs of its samples, in the received order.
    public var objects: [String]

    /// A correlation of these samples.
    public init(objects: [SampleIdentity]) { self.objects = objects.map(\.description) }
}

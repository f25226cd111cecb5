/// The members of a correlation (`HKCorrelation`): the two pressures of one measurement, the nutrients of one food.
public struct Correlation: Hashable, Sendable, Codable {
    /// The UUIDs of its samples, in the received order.
    public var objects: [String]

    /// A correlation of these samples.
    public init(objects: [SampleIdentity]) { self.objects = objects.map(\.description) }
}

extension Correlation: ObjectBody {
    public static var referenceRole: ReferenceRole { .part }
    public var references: [String] {
        get { objects }
        set { objects = newValue }
    }

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard !objects.isEmpty, objects.count <= 1000 else {
            throw InvalidObject("objects", "there must be 1 to 1000")
        }
        guard objects.allSatisfy({ SampleIdentity($0) != nil }) else {
            throw InvalidObject("objects", "one is not the UUID of a sample")
        }
    }
}

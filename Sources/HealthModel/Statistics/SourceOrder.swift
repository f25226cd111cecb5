/// A user's order of sources. If several sources cover the same time, the first counts.
public struct SourceOrder: Hashable, Sendable {
    /// The person whose samples it applies to, or `nil` for everybody.
    public var person: String?
    /// The type it applies to, or `nil` for all types.
    public var type: SampleType?
    /// Sources and devices by id or name, best first.
    public var names: [String]

    /// Creates an order.
    public init(person: String? = nil, type: SampleType? = nil, names: [String]) {
        (self.person, self.type, self.names) = (person, type, names)
    }

    /// The maximum number of names.
    public static let maximumNames = 64
    /// The maximum length of a name in bytes.
    public static let maximumNameLength = 400

    /// Whether its names are within these bounds, and each is one line.
    public var isValid: Bool {
        names.count <= Self.maximumNames
            && names.allSatisfy { name in
                !name.isEmpty && name.utf8.count <= Self.maximumNameLength
                    && !name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
            }
    }
}

/// How a value was measured, as far as two readings are compared by it (``MetadataKey/methods``).
///
///     MeasuringMethod(historic).conflicts(with: MeasuringMethod(strip), onOnePath: false)  // true: a sensor and a finger
///     MeasuringMethod(historic).conflicts(with: .unknown, onOnePath: true)                 // false: the other does not say
public struct MeasuringMethod: Hashable, Sendable {
    /// Of all that is said; 0 where nothing is.
    private let exact: UInt64
    /// Of what two makers call the same, each in words of its own.
    private let family: UInt64

    /// Nothing is said.
    public static let unknown = MeasuringMethod(exact: 0, family: 0)

    private init(exact: UInt64, family: UInt64) { (self.exact, self.family) = (exact, family) }

    /// What metadata say of it.
    public init(_ metadata: Metadata?) {
        guard let metadata, !metadata.method.isEmpty else {
            self = .unknown
            return
        }
        exact = max(1, Self.hash(metadata.method))
        guard case .string(let word)? = metadata["glucoseMethod"] else {
            family = exact
            return
        }
        // A sensor's reading is stored or scanned; a calibration is a finger-stick that the sensor was told.
        let kind =
            word.hasPrefix("sensor") ? "sensor" : word == "calibration" ? "strip" : word
        family = max(1, Self.hash(Array(kind.utf8)))
    }

    /// Whether two readings were measured in two ways, so that they are two whatever they tell.
    ///
    /// - Parameter onOnePath: whether one source told both, in whose words every difference means something.
    public func conflicts(with other: MeasuringMethod, onOnePath: Bool) -> Bool {
        guard exact != 0, other.exact != 0 else { return false }
        return onOnePath ? exact != other.exact : family != other.family
    }

    /// Whether a sensor under the skin measured it, of which no two readings are so near to one another as two uploads of one.
    public var isSensor: Bool { family == Self.sensor }

    private static let sensor = max(1, hash(Array("sensor".utf8)))

    /// FNV-1a.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

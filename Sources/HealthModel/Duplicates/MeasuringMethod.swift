/// The measuring method of a value, as far as it matters for comparing two readings (``MetadataKey/methods``).
///
///     MeasuringMethod(historic).conflicts(with: MeasuringMethod(strip), onOnePath: false)  // true: a sensor and a finger
///     MeasuringMethod(historic).conflicts(with: .unknown, onOnePath: true)                 // false: the other is unknown
public struct MeasuringMethod: Hashable, Sendable {
    /// The hash of all metadata about the method, or 0 if there are none.
    private let exact: UInt64
    /// The hash of the method's family, which two makers share even if they use different terms.
    private let family: UInt64

    /// The method is unknown.
    public static let unknown = MeasuringMethod(exact: 0, family: 0)

    private init(exact: UInt64, family: UInt64) { (self.exact, self.family) = (exact, family) }

    /// The method from a sample's metadata.
    public init(_ metadata: Metadata?) {
        guard let metadata, !metadata.method.isEmpty else {
            self = .unknown
            return
        }
        exact = max(1, StableHash.hash(metadata.method))
        guard case .string(let word)? = metadata["glucoseMethod"] else {
            family = exact
            return
        }
        // A sensor's reading is stored or scanned. A calibration is a finger-stick value that was entered into the sensor.
        let kind =
            word.hasPrefix("sensor") ? "sensor" : word == "calibration" ? "strip" : word
        family = max(1, StableHash.hash(kind))
    }

    /// Whether two readings were measured by different methods, so that they are different readings for any values.
    ///
    /// - Parameter onOnePath: Whether both come from one source, in which every difference of terms is meaningful.
    public func conflicts(with other: MeasuringMethod, onOnePath: Bool) -> Bool {
        guard exact != 0, other.exact != 0 else { return false }
        return onOnePath ? exact != other.exact : family != other.family
    }

    /// Whether a sensor under the skin measured it. Two of its readings are never as close as two uploads of one reading.
    public var isSensor: Bool { family == Self.sensor }

    private static let sensor = max(1, StableHash.hash("sensor"))
}

import HealthModel

/// Metadata entries of a reading whose source leaves out a necessary fact. The gate quarantines it.
public enum UncertainValue {
    static let periodKey = "period"
    static let unitKey = "unit"
    static let unknown = "unknown"

    /// Whether the value is a single sample or of a period is not known, or when the period ended.
    public static let period: (String, MetadataValue) = (periodKey, .string(unknown))
    /// The number fits its unit only if the source means another one, such as a ratio instead of a percentage.
    public static let unit: (String, MetadataValue) = (unitKey, .string(unknown))
}

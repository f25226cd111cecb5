import HealthModel

/// The latest sample of a series, for a target that shows the current state.
public struct PresentSample: Sendable {
    /// The sample.
    public var sample: Sample
    /// The display name of its device, or of its source if it has no device.
    public var deviceName: String
    /// The person's name, or `nil` for the store's own.
    public var person: String?

    /// A sample with its display names.
    public init(_ sample: Sample, deviceName: String, person: String? = nil) {
        (self.sample, self.deviceName, self.person) = (sample, deviceName, person)
    }
}

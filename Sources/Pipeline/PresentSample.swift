import HealthModel

/// The last sample of a series, for a target that shows how things are now.
public struct PresentSample: Sendable {
    /// The sample.
    public var sample: Sample
    /// What people call its device, or its source where there is none.
    public var deviceName: String
    /// What its person is called; `nil` for the store's own.
    public var person: String?

    /// A sample with the names that belong to it.
    public init(_ sample: Sample, deviceName: String, person: String? = nil) {
        (self.sample, self.deviceName, self.person) = (sample, deviceName, person)
    }
}

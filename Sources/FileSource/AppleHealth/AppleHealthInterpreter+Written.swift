import HealthModel

extension AppleHealthInterpreter {
    /// The export's own date.
    public var written: Instant? { exported == 0 ? nil : Instant(seconds: exported) }
}

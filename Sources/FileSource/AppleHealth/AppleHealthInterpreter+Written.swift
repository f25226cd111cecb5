import HealthModel

extension AppleHealthInterpreter {
    /// The date of the export, or `nil` if it is unknown.
    package var written: Instant? { exported == 0 ? nil : Instant(seconds: exported) }
}

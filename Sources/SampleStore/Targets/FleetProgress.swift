/// The last command of a fleet's center that this hub has carried out.
public struct FleetProgress: Hashable, Sendable {
    /// Its number.
    public var order: Int64
    /// The exit status of the command.
    public var code: Int
    /// Counts that the command has printed, or empty.
    public var output: String

    /// The result of a command.
    public init(order: Int64, code: Int, output: String) { (self.order, self.code, self.output) = (order, code, output) }
}

extension SampleStore.Targets {
    private static let prefix = "fleet order "

    /// Returns the last command that was carried out for a target, or `nil` before the first.
    public func fleetProgress(of target: String) throws(StoreError) -> FleetProgress? {
        let parts = try connection.settings.text(Self.prefix + target)?
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard let parts, parts.count == 3, let order = Int64(parts[0]), let code = Int(parts[1]) else { return nil }
        return FleetProgress(order: order, code: code, output: String(parts[2]))
    }

    /// Stores the last command that was carried out for a target.
    public func save(_ progress: FleetProgress, of target: String) throws {
        try connection.transaction {
            try connection.settings.set(
                Self.prefix + target, to: .text("\(progress.order) \(progress.code) \(progress.output)"))
        }
    }
}

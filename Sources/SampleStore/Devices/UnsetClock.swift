import HealthModel

/// The hub's own clock while nothing has confirmed it since the machine was switched on. It also marks what was stored with that clock and
/// must be corrected once it is set.
public struct UnsetClock: Hashable, Sendable {
    /// A position in the store.
    public struct Mark: Hashable, Sendable {
        /// The number of the last change.
        public var change: Int64
        /// The number of the last reading in quarantine.
        public var held: Int64
    }

    /// The kernel's boot id.
    public var boot: String
    /// When the machine was switched on according to that clock, in microseconds since 1970. It shows by how much the clock was set.
    public var began: Int64
    /// Everything after this position was stored since the machine was switched on.
    public var mark: Mark

    /// Creates the state of a clock.
    public init(boot: String, began: Int64, mark: Mark) {
        self.boot = boot
        self.began = began
        self.mark = mark
    }
}

extension SampleStore.HubClock {
    private static let unset = "unset clock"
    /// The tolerance, in microseconds, for the time since the machine was switched on. Clocks are slewed and have a resolution of a second.
    private static let drift: Int64 = 60_000_000

    /// Returns the stored state of an unconfirmed clock, or `nil` if the clock is right.
    public func unset() throws(StoreError) -> UnsetClock? {
        guard let text = try connection.settings.text(Self.unset) else { return nil }
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 4, let began = Int64(words[1]), let change = Int64(words[2]), let held = Int64(words[3]) else {
            return nil
        }
        return UnsetClock(boot: words[0], began: began, mark: UnsetClock.Mark(change: change, held: held))
    }

    /// Stores the state of an unconfirmed clock. `nil` means that the clock is right.
    public func save(_ clock: UnsetClock?) throws(StoreError) {
        guard let clock else { return try connection.settings.remove(Self.unset) }
        try connection.settings.set(
            Self.unset, to: .text("\(clock.boot) \(clock.began) \(clock.mark.change) \(clock.mark.held)"))
    }

    /// Returns the current position in the store.
    public func mark() throws(StoreError) -> UnsetClock.Mark {
        UnsetClock.Mark(change: try store.lastChange(), held: try connection.quarantine.lastNumber())
    }

    /// Corrects the data that was stored with a wrong clock, in one transaction. Samples with a time from that clock are replaced by moved
    /// ones. Readings that were quarantined because the clock was obviously unset are released with the corrected time.
    ///
    /// - Parameters:
    ///   - step: The microseconds by which the clock was set forward.
    ///   - clock: The state of the wrong clock. Data is corrected if it was stored after its mark and received since the machine was
    ///     switched on. Samples that a person repaired or restored in that time already have the right time.
    ///   - uptime: The time since the machine was switched on, in microseconds.
    ///   - next: The clock state to store from now on.
    /// - Returns: The number of samples that were moved or released.
    public func correct(
        _ step: Int64, of clock: UnsetClock, uptime: Int64, next: UnsetClock?, now: Instant, owner: String? = nil
    ) throws -> Int {
        defer { store.interner.forget() }
        return try connection.transaction {
            let end = try mark()
            var conditions = SampleConditions()
            conditions.conditionText = "time.origin = receipt or time.origin = device-corrected"
            conditions.condition = try SamplePredicate(conditions.conditionText ?? "")
            var request = MigrationRequest(.shift(step), of: conditions, takesAmbiguous: true, now: now)
            request.changes = clock.mark.change + 1...max(clock.mark.change + 1, end.change)
            request.received = clock.began &- Self.drift...clock.began &+ max(uptime, 0) &+ Self.drift
            request.movesReceipt = true
            // Each reading was received once, so a sample at the corrected time is another reading.
            request.merging = .never
            // This runs before the others are released, so that each sample is moved only once.
            let moved =
                clock.mark.change < end.change
                ? try store.repairs.apply(request, source: "clock", owner: owner).plan : MigrationPlan()
            // Readings that arrived while the hub's clock was obviously unset.
            let held = try connection.quarantine.arrivals(
                heldBy: SampleStore.Devices.clockUnknown, after: clock.mark.held, through: end.held)
            try connection.quarantine.moveArrivals(
                heldBy: SampleStore.Devices.clockUnknown, after: clock.mark.held, through: end.held, by: step)
            if !held.isEmpty {
                let description = IngestDescription(
                    kind: .release, name: "clock of the hub", received: now.microseconds, owner: owner)
                _ = try store.samples.change(description) { _, deletion in
                    for id in held { try store.devices.release(id, ahead: -step, isReceipt: true, deletion) }
                    return held.count
                }
            }
            try save(next)
            return moved.repaired + moved.merged + held.count
        }
    }
}

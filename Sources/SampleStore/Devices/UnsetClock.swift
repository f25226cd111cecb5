import HealthModel

/// The hub's own clock while nothing has confirmed it since the machine was switched on. It also marks what was stored with that clock and
/// must be corrected once it is set.
public struct UnsetClock: Hashable, Sendable {
    /// A position in the store.
    public struct Mark: Hashable, Sendable {
        /// The number of the last change.
        public var change: Int64
        /// The number of the last reading in quarantine.
        public var quarantined: Int64
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
    private static let open = "open clocks"
    /// The maximum number of boots that are kept apart.
    private static let maximumOpen = 64
    /// The tolerance, in microseconds, for the time since the machine was switched on. Clocks are slewed and have a resolution of a second.
    private static let drift: Int64 = 60_000_000

    /// Returns the stored state of an unconfirmed clock, or `nil` if the clock is right.
    public func unset() throws(StoreError) -> UnsetClock? {
        try connection.settings.text(Self.unset).flatMap(Self.clock)
    }

    /// Stores the state of an unconfirmed clock. `nil` means that the clock is right.
    public func save(_ clock: UnsetClock?) throws(StoreError) {
        guard let clock else { return try connection.settings.remove(Self.unset) }
        try connection.settings.set(Self.unset, to: .text(Self.text(clock)))
    }

    /// Records that the clock of a boot is right.
    public func confirm(_ boot: String) throws {
        try connection.transaction {
            if try unset()?.boot == boot { try save(nil) }
            try store.devices.confirmComparisons(of: boot)
        }
    }

    /// Returns the current position in the store.
    public func mark() throws(StoreError) -> UnsetClock.Mark {
        UnsetClock.Mark(change: try store.lastChange(), quarantined: try connection.quarantine.lastNumber())
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
            let condition = try Self.isTimed(by: clock, in: store)
            (conditions.condition, conditions.conditionText) = (condition, condition.description)
            var request = RepairRequest(.shift(step), of: conditions, takesAmbiguous: true, now: now)
            request.changes = clock.mark.change + 1...max(clock.mark.change + 1, end.change)
            request.received = clock.began &- Self.drift...clock.began &+ max(uptime, 0) &+ Self.drift
            request.movesReceipt = true
            // Each reading was received once, so a sample at the corrected time is another reading.
            request.merging = .never
            // This runs before the others are released, so that each sample is moved only once.
            let moved =
                clock.mark.change < end.change
                ? try store.repairs.apply(request, source: "clock", owner: owner).plan : RepairPlan()
            // Readings that arrived while the hub's clock was obviously unset.
            let quarantined = try connection.quarantine.arrivals(
                quarantinedBy: SampleStore.Devices.clockUnknown, after: clock.mark.quarantined, through: end.quarantined)
            try connection.quarantine.moveArrivals(
                quarantinedBy: SampleStore.Devices.clockUnknown, after: clock.mark.quarantined, through: end.quarantined, by: step
            )
            let fresh = try freshNow(after: clock.mark.quarantined, through: end.quarantined)
            try store.devices.moveComparisons(of: clock.boot, by: step)
            if !quarantined.isEmpty || !fresh.isEmpty {
                let description = IngestDescription(
                    kind: .release, name: "clock of the hub", received: now.microseconds, owner: owner)
                _ = try store.samples.change(description) { _, deletion in
                    let released =
                        try quarantined.compactMap { id, start in
                            try store.devices.release(id, at: start &+ step, isCorrected: true, isReceipt: true, deletion)
                        }
                        + fresh.compactMap { id, start in
                            try store.devices.release(id, at: start, isCorrected: false, deletion)
                        }
                    try Regrouping(deletion).update(around: released)
                    return quarantined.count + fresh.count
                }
            }
            try save(next)
            if next == nil { try store.devices.confirmComparisons(of: clock.boot) }
            return moved.repaired + moved.merged + quarantined.count + fresh.count
        }
    }

    /// The readings that arrived within five minutes of their device's time, which was right all along, with that time.
    private func freshNow(after first: Int64, through last: Int64) throws(StoreError) -> [(id: Int64, start: Int64)] {
        var fresh: [(id: Int64, start: Int64)] = []
        for quarantined in try connection.quarantine.times(
            quarantinedBy: SampleStore.Devices.clockUnknown, after: first, through: last)
        {
            var times = [quarantined.start]
            switch try SampleStore.Devices.doubt(quarantined.metadata) {
            case .hubClock?: continue
            case .ambiguous?: times = try SampleStore.Devices.possibleTimes(quarantined.metadata)
            case .notCompared?, .defaultDate?, .unproven?, .order?, nil: break
            }
            times.removeAll { (quarantined.received &- $0).magnitude >= SampleStore.Devices.justNow }
            if times.count == 1 { fresh.append((quarantined.id, times[0])) }
        }
        return fresh
    }

    // MARK: Boots whose clock was never confirmed

    /// Returns the clocks of earlier boots that nothing has confirmed, oldest first. The data of each ends where that of the next begins.
    public func unconfirmed() throws(StoreError) -> [UnsetClock] {
        try (connection.settings.text(Self.open) ?? "").split(separator: "\n").compactMap {
            Self.clock(String($0))
        }
    }

    /// Keeps the clock of an earlier boot until a later one knows the time.
    public func keepOpen(_ clock: UnsetClock) throws(StoreError) {
        var clocks = try unconfirmed().filter { $0.boot != clock.boot } + [clock]
        // The data of the second then counts as that of the first.
        if clocks.count > Self.maximumOpen { clocks.remove(at: 1) }
        try connection.settings.set(Self.open, to: .text(clocks.map(Self.text).joined(separator: "\n")))
    }

    /// Ends the doubt about the clocks of earlier boots, in one transaction.
    ///
    /// - Parameters:
    ///   - isDoubtful: Whether the machine does not keep the time while it is off. Then nobody can know by how much those clocks were wrong,
    ///     and samples with a time from them are withdrawn into quarantine.
    ///   - end: The end of the data of the last of these boots.
    /// - Returns: The number of samples that were withdrawn.
    @discardableResult
    public func close(isDoubtful: Bool, through end: UnsetClock.Mark, now: Instant, owner: String? = nil) throws -> Int {
        defer { store.interner.forget() }
        return try connection.transaction {
            let clocks = try unconfirmed()
            guard !clocks.isEmpty else { return 0 }
            try connection.settings.remove(Self.open)
            guard isDoubtful else {
                for clock in clocks { try store.devices.confirmComparisons(of: clock.boot) }
                return 0
            }
            var wrong: [Sample] = []
            for (index, clock) in clocks.enumerated() {
                let next = index + 1 < clocks.count ? clocks[index + 1].mark : end
                wrong += try samples(of: clock, through: next)
            }
            for clock in clocks { try store.devices.removeComparisons(of: clock.boot) }
            guard !wrong.isEmpty else { return 0 }
            let description = IngestDescription(kind: .delete, name: "clock of the hub", received: now.microseconds, owner: owner)
            return try store.samples.change(description) { ingest, deletion in
                var keys: [SampleKey] = []
                for sample in wrong {
                    for key in try store.samples.keys(of: sample.identity, among: .live) {
                        let entries = sample.metadata?.entries.map { ($0.key, $0.value) } ?? []
                        let metadata = Metadata(entries + [(ClockDoubt.key, .string(ClockDoubt.hubClock.rawValue))])
                        try connection.quarantine.add(
                            withdrawn: sample.identity, at: key, SampleTable.row, rule: SampleStore.Devices.clockUnknown,
                            metadata: store.interner.id(of: metadata), ingest: ingest)
                        keys.append(key)
                    }
                }
                return try deletion.delete(keys)
            }.count
        }
    }

    /// A condition for samples with a time from the hub's clock: that of their arrival, or that of a device's clock that was compared with
    /// it since the machine was switched on. An error that was known before is right.
    private static func isTimed(by clock: UnsetClock, in store: SampleStore) throws -> SamplePredicate {
        let known = try store.devices.clocksKnown(before: clock.boot).map { key in
            SamplePredicate.not(.comparison(.device(.key), .equal, .text(key)))
        }
        let corrected = try SamplePredicate("time.origin = device-corrected")
        return .or([try SamplePredicate("time.origin = receipt"), known.isEmpty ? corrected : .and([corrected] + known)])
    }

    /// The samples of a boot with a time from the hub's clock.
    private func samples(of clock: UnsetClock, through end: UnsetClock.Mark) throws -> [Sample] {
        guard clock.mark.change < end.change else { return [] }
        let from = Instant(microseconds: clock.began &- Self.drift)
        let condition = try Self.isTimed(by: clock, in: store)
        var found: [Sample] = []
        // A record from a device's memory may have been measured before the machine was switched on.
        try store.changes.read(after: clock.mark.change, types: nil) { change in
            guard case .added(let stored) = change, stored.seq <= end.change, stored.sample.received >= from,
                condition.matches(stored.sample)
            else { return }
            found.append(stored.sample)
        }
        return found
    }

    private static func text(_ clock: UnsetClock) -> String {
        "\(clock.boot) \(clock.began) \(clock.mark.change) \(clock.mark.quarantined)"
    }

    private static func clock(_ text: String) -> UnsetClock? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 4, let began = Int64(words[1]), let change = Int64(words[2]), let quarantined = Int64(words[3])
        else {
            return nil
        }
        return UnsetClock(boot: words[0], began: began, mark: UnsetClock.Mark(change: change, quarantined: quarantined))
    }
}

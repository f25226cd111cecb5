import HealthModel
import Pipeline

/// A running ledger entry that stores batches of samples and counts their outcomes.
public final class Ingest: SampleSink {
    /// The number of the ledger entry.
    public let id: Int64
    let store: SampleStore
    let connection: Connection
    private let received: Int64
    var counts = IngestCounts()
    var text: [UInt8] = []
    var groups: [SeriesRows] = []
    private var groupOf: [Int64: Int] = [:]
    /// Whether the current batch has any samples of these kinds.
    private var hasRecords = false
    private var hasRules = false
    private var hasRepeats = false
    /// How the rows of other paths and units are compared, or `nil` if only identical readings count as duplicates.
    let matching: ArrivalMatching?
    let unitRepeats: UnitRepeatSearch?
    /// Whether to report duplicates that are stored at other times. This is false for devices, whose repeated readings
    /// move as their clocks are corrected.
    private let comparesTimes: Bool
    /// Whether a record's version also replaces a lower one from another device.
    private let replacesAcrossDevices: Bool
    /// The rows of the batch that are stored as duplicates of other sources' reports, with their indices.
    var nearDuplicates: [(key: SampleKey, index: Int32)] = []
    var linked = 0
    /// The rows of the batch whose measurements depend on several reports, and those of them that are duplicates for now.
    var contested: [SampleKey] = []
    var provisional: Set<SampleKey> = []
    /// Duplicates that became samples and are not counted as stored yet.
    var promotions: [SampleKey] = []
    var entryCheck: EntryCheck
    /// The source of the client on whose behalf readings are stored, if any.
    let client: String?
    /// Whether a member of the household or a client brought the readings.
    let isOfMember: Bool
    /// The people of the current batch if a member or a client brought it. It ends no sample of anybody else.
    var people: Set<String>?
    /// Whether the readings of clients return (``IngestDescription/isRecovery``).
    let isRecovery: Bool
    /// The room in quarantine. It is `nil` for live readings.
    var room: QuarantineRoom?
    /// Shows other processes that the entry is running. It is `nil` if the entry runs within one transaction or is
    /// finished.
    private var lock: IngestLock?

    /// The maximum number of refusals that are stored with their place. Further ones are counted by reason.
    public static let maximumRefusals = 1000

    init(store: SampleStore, description: IngestDescription) throws(StoreError) {
        self.store = store
        connection = store.connection
        received = description.received
        matching = description.comparesPaths || description.linksCopies ? ArrivalMatching(connection: store.connection) : nil
        comparesTimes = description.kind == .import
        replacesAcrossDevices = description.replacesAcrossDevices
        unitRepeats = description.comparesPaths ? UnitRepeatSearch(connection: store.connection) : nil
        entryCheck = EntryCheck(isSaved: description.kind == .save)
        client = description.client
        isOfMember = description.isOfMember
        isRecovery = description.isRecovery
        room = description.kind == .live ? nil : QuarantineRoom(store.connection)
        (id, lock) = try Self.begin(description, in: store)
    }

    /// Creates the ledger entry. Its lock exists before other processes can see the entry.
    private static func begin(
        _ description: IngestDescription, in store: SampleStore
    ) throws(StoreError) -> (Int64, IngestLock?) {
        do {
            return try store.connection.transaction {
                let id = try store.connection.ledger.begin(description)
                if !description.comparesPaths, description.kind == .import { try store.connection.settings.setExact(id) }
                return (id, description.owner == nil ? nil : try IngestLock(id, of: store.path))
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.defect, "\(error)")
        }
    }

    /// Continues a ledger entry that an earlier process began.
    init(
        store: SampleStore, resuming account: IngestAccount, owner: String?, retainedRefusals: Int,
        replacesAcrossDevices: Bool = false, comparesPaths: Bool = true, linksCopies: Bool = false, client: String? = nil
    ) throws(StoreError) {
        self.store = store
        connection = store.connection
        received = account.received
        id = account.id
        matching = comparesPaths || linksCopies ? ArrivalMatching(connection: store.connection) : nil
        comparesTimes = account.kind == .import
        self.replacesAcrossDevices = replacesAcrossDevices
        unitRepeats = comparesPaths ? UnitRepeatSearch(connection: store.connection) : nil
        counts.retainedRefusals = retainedRefusals
        entryCheck = EntryCheck(isSaved: account.kind == .save)
        self.client = client
        isOfMember = try store.connection.ledger.isOfMember(account.id)
        isRecovery = false
        room = account.kind == .live ? nil : QuarantineRoom(store.connection)
        lock = owner == nil ? nil : try IngestLock(account.id, of: store.path)
        try connection.ledger.resume(id, owner: owner)
    }

    /// Records a refused frame or reading.
    public func refuse(_ refusal: Refusal) { counts.refusals.append(refusal) }

    /// Records frames that contain no reading to store.
    public func skip(_ kind: SkipKind, count: Int = 1) { counts.skipped[kind, default: 0] += count }

    /// The number of readings that the source repeated. They count as skipped, not as read.
    public var repeated: Int { counts.repeated }

    /// The number of refusals that wait for the next batch, so that a caller can limit them.
    public var waiting: Int { counts.refusals.count }

    /// Stores a batch in one transaction: samples, their change log entries, and the ledger's counts.
    public func store(_ batch: [GatedSample]) throws -> [SampleOutcome] { try store(batch) { _ in [] } }

    /// Stores a batch and its newly known devices in one transaction.
    ///
    /// - Parameter decide: Assigns the samples to people, based on the store. No other process writes until the samples
    ///   are stored. It returns the indices of samples that are unassigned although a person's scale measured them.
    public func store(
        _ batch: [GatedSample], with devices: [AdoptedDevice] = [], decide: (inout [GatedSample]) throws -> [Int]
    ) throws -> [SampleOutcome] {
        let noted = counts
        do {
            return try connection.transaction {
                for device in devices { try store.devices.remember(device) }
                var batch = batch
                let unassigned = try decide(&batch)
                let outcomes = try write(batch)
                counts.unassignedWeighings += unassigned.count {
                    outcomes[$0] == .stored && batch[$0].sample.origin.type == .bodyMass
                }
                return outcomes
            }
        } catch {
            // Restore the pending counts of the failed batch, so that the next batch adds them to the ledger.
            counts = noted
            forget()
            throw error
        }
    }

    private func write(_ batch: [GatedSample]) throws -> [SampleOutcome] {
        let earliest = try SampleStore.earliestPermittedDates(connection)
        var refused: Set<Int> = []
        var permitted: Origin?
        for index in batch.indices {
            guard let reason = try reason(against: batch, index, earliest, &permitted) else { continue }
            refuse(Refusal(reason, at: batch[index].place))
            refused.insert(index)
        }
        guard !refused.isEmpty else { return try writeOwn(batch) }
        var others = try writeOwn(batch.indices.filter { !refused.contains($0) }.map { batch[$0] }).makeIterator()
        return batch.indices.map { refused.contains($0) ? .refused : others.next() ?? .refused }
    }

    /// The reason why a sample is refused, or `nil` if it is accepted.
    ///
    /// - Parameter permitted: The last origin that is not another client's. Most neighbors have the same.
    /// - Throws: ``RefusedObject`` if a client saves an invalid object.
    private func reason(
        against batch: [GatedSample], _ index: Int, _ earliest: [SampleType: Instant], _ permitted: inout Origin?
    ) throws -> String? {
        // A copy of the sample would take longer than these checks.
        do throws(InvalidObject) {
            try entryCheck.check(batch[index].sample)
        } catch {
            guard !entryCheck.isSaved else { throw RefusedObject(index: index, fault: error) }
            return error.description
        }
        if batch[index].sample.origin !== permitted {
            let origin = batch[index].sample.origin
            if try !isForeign(origin) {
                permitted = origin
            } else if try connection.series.id(of: origin) == nil {
                // A client has a limited number of series.
                return try refusal(ofForeign: index)
            }
        }
        guard !earliest.isEmpty, let date = earliest[batch[index].sample.origin.type] else { return nil }
        return batch[index].sample.end < date ? IngestAccount.tooOld : nil
    }

    func forget() {
        store.interner.forget()
        matching?.forget()
        unitRepeats?.forget()
        room?.forget()
    }

    func writeAll(_ batch: [GatedSample]) throws -> [SampleOutcome] {
        var outcomes = [SampleOutcome](repeating: .stored, count: batch.count)
        text.removeAll(keepingCapacity: true)
        if groups.count > 1024 {
            groups.removeAll()
            groupOf.removeAll()
        }
        for group in groups { group.rows.removeAll(keepingCapacity: true) }
        hasRecords = false
        hasRules = false
        hasRepeats = false
        nearDuplicates.removeAll(keepingCapacity: true)
        linked = 0
        contested.removeAll()
        provisional.removeAll()
        promotions.removeAll()
        try batch.withUnsafeBufferPointer { samples in
            if let first = samples.baseAddress { try collect(first, count: samples.count) }
        }
        var existing = ExistingSamples(connection: connection, comparesTimes: comparesTimes)
        for group in groups where !group.rows.isEmpty {
            let kind = group.rows.first.map { batch[Int($0.index)].sample.origin.kind }
            let marked = try existing.mark(&group.rows, of: group.series, startsWhenAdded: kind == .clinicalRecord)
            for index in marked { outcomes[Int(index)] = .duplicate }
        }
        let foreign = try refuseForeign(&outcomes, batch)
        counts.duplicateReport.add(existing.duplicateReport)
        for (entry, keys) in existing.moved.sorted(by: { $0.key < $1.key }) {
            try Forgetting(connection, of: entry, limit: keys.count).forget(keys, deletion())
        }
        let decision = BatchDecision(
            connection: connection, ingest: id, batch: batch, unitRepeats: unitRepeats, acrossDevices: replacesAcrossDevices,
            people: people, forms: existing.forms, room: room)
        for group in groups where !group.rows.isEmpty { try decision.consultQuarantine(group, &outcomes) }
        if hasRecords { try keep(decision.registerRecords(groups, text: text, &outcomes), batch) }
        if hasRules {
            try storeFlaggedAsDuplicates(batch, existing.shared, &outcomes)
            try decision.hold(groups, text: text, &outcomes)
        }
        for index in outcomes.indices where outcomes[index] == .refused && !foreign.contains(index) {
            guard !entryCheck.isSaved else {
                throw RefusedObject(index: index, fault: InvalidObject("value", IngestAccount.quarantineFull))
            }
            refuse(Refusal(IngestAccount.quarantineFull, at: batch[index].place))
        }
        if outcomes.contains(where: { $0 != .stored }) {
            for group in groups { group.rows.removeAll { outcomes[Int($0.index)] != .stored } }
        }
        try batch.withUnsafeBufferPointer { samples in
            guard let first = samples.baseAddress else { return }
            guard let unitRepeats, !existing.shared.isEmpty else { return try insertAll(groups, first, &outcomes) }
            var waiting = groups
            while !waiting.isEmpty {
                waiting = try insertUnlessRepeated(waiting, existing.shared, unitRepeats, first, &outcomes)
            }
        }
        try regroup(&outcomes)
        try account(batch, outcomes)
        return outcomes
    }

    /// Groups the batch into rows by series.
    private func collect(_ batch: UnsafePointer<GatedSample>, count: Int) throws(StoreError) {
        let interner = store.interner
        var last: (series: Int64, group: Int) = (-1, 0)
        // Use pointers, because a copy of a sample would retain all its references.
        for index in 0..<count {
            let gated = batch + index
            let entry = try interner.entry(for: gated)
            if entry.series != last.series {
                if let known = groupOf[entry.series] {
                    last = (entry.series, known)
                } else {
                    last = (entry.series, groups.count)
                    groupOf[entry.series] = groups.count
                    groups.append(SeriesRows(series: entry.series))
                }
            }
            if gated.pointee.sample.record != nil { hasRecords = true }
            if gated.pointee.rule != nil { hasRules = true }
            if gated.pointee.repeats != nil { hasRepeats = true }
            groups[last.group].rows.append(try row(gated, entry, Int32(index)))
        }
    }

    @inline(__always)
    private func row(_ gated: UnsafePointer<GatedSample>, _ entry: Interner.Entry, _ index: Int32) throws(StoreError) -> SampleRow
    {
        let start = gated.pointee.sample.start.microseconds
        let received =
            gated.pointee.sample.timeOrigin == .receipt || gated.pointee.sample.received.microseconds == self.received
            ? Int64.min : gated.pointee.sample.received.microseconds &- start
        var numeral: Range<Int32> = 0..<0
        if !entry.isCanonical || !gated.pointee.sample.numeral.isImpliedByValue {
            let first = Int32(text.count)
            text.append(contentsOf: gated.pointee.sample.numeral.text.utf8)
            numeral = first..<Int32(text.count)
        }
        var metadata: Int64 = 0
        if let shared = gated.pointee.sample.metadata {
            metadata = try store.interner.id(of: shared)
        }
        return SampleRow(
            series: entry.series, start: start, nominal: gated.pointee.sample.nominalStart,
            low: gated.pointee.sample.identity.low, high: gated.pointee.sample.identity.high,
            value: gated.pointee.sample.value, step: matching == nil ? 0 : gated.pointee.sample.numeral.step,
            context: entry.context,
            duration: gated.pointee.sample.end.microseconds &- start,
            received: received,
            group: gated.pointee.sample.group.map { Int64(bitPattern: $0) } ?? 0,
            metadata: metadata, numeral: numeral, index: index)
    }

    /// Stores lower versions of records, which are not samples while a higher one counts.
    private func keep(_ versions: [(row: SampleRow, of: SampleKey)], _ batch: [GatedSample]) throws {
        for (series, versions) in Dictionary(grouping: versions, by: \.row.series).sorted(by: { $0.key < $1.key }) {
            let rows = versions.map(\.row)
            guard let first = rows.first else { continue }
            let type = batch[Int(first.index)].sample.origin.type
            let matches = versions.indices.map { ArrivalMatching.Match(row: $0, of: versions[$0].of) }
            try DuplicateWriter(connection: connection, batch: store.batch, ingest: id, type: type, rule: .version)
                .record(nearDuplicates: matches, among: rows, text: text)
            var maximumDuration = SeriesTable.DurationMaximum()
            for row in rows { maximumDuration.add(row.start, row.duration) }
            try connection.series.lengthen(series, to: maximumDuration)
            nearDuplicates += rows.map { ($0.key, $0.index) }
        }
    }

    /// Adds the counts of this batch to the ledger.
    private func account(_ batch: [GatedSample], _ outcomes: [SampleOutcome]) throws(StoreError) {
        var stored: Int64 = 0
        var duplicates: Int64 = 0
        var quarantined: Int64 = 0
        for index in outcomes.indices {
            switch outcomes[index] {
            case .stored: stored += 1
            case .quarantined: quarantined += 1
            case .refused: break
            case .duplicate:
                if hasRepeats, let kind = batch[index].repeats {
                    skip(kind)
                    counts.repeated += 1
                } else {
                    duplicates += 1
                }
            }
        }
        let ledger = connection.ledger
        try ledger.add(
            stored: stored, duplicate: duplicates, quarantined: quarantined,
            refused: Int64(counts.refusals.reduce(0) { $0 + $1.readings }),
            nearDuplicates: Int64(outcomes.isEmpty ? 0 : nearDuplicates.count),
            linked: Int64(outcomes.isEmpty ? 0 : linked), to: id)
        for refusal in counts.refusals {
            let counted = counts.retainedRefusals >= Self.maximumRefusals
            counts.retainedRefusals += 1
            try ledger.refuse(
                refusal.readings, refusal.reason, placeKind: counted ? "more" : refusal.place.kind.rawValue,
                place: counted ? 0 : Int64(refusal.place.number), by: id)
        }
        counts.refusals.removeAll(keepingCapacity: true)
        for (kind, count) in counts.skipped { try ledger.skip(count, kind.name, by: id) }
        counts.skipped.removeAll(keepingCapacity: true)
    }

    /// Replaces the notes on the assumptions made.
    public func note(_ notes: [String]) throws(StoreError) { try connection.ledger.set(notes: notes, of: id) }

    /// Sets the time zone of local times.
    public func note(zone: String) throws(StoreError) { try connection.ledger.set(zone: zone, of: id) }

    /// Finishes the ledger entry.
    ///
    /// - Parameter state: `done`, `interrupted` or `failed`.
    public func finish(at time: Int64, state: String = "done") throws -> IngestAccount {
        let noted = counts
        do {
            try connection.transaction {
                try account([], [])
                try connection.ledger.add(notes: counts.notes, to: id)
                try connection.ledger.finish(id, at: time, state: state)
            }
        } catch {
            counts = noted
            throw error
        }
        lock = nil
        guard let account = try store.ledger.account(of: id) else { throw StoreError(.invalid, "there is no ledger entry \(id)") }
        return account
    }
}

import FileSource
import Glibc
import HealthModel
import Pipeline
import Profiles
import SampleStore

package struct ImportProgress: Sendable {
    /// Frames delivered so far.
    package var frames: Int
    /// The number of samples passed to the store so far, whether stored or not.
    package var readings: Int
    /// The place of a recent frame in the file, or `nil` before the first update.
    package var place: Place?
}

/// Imports a file in batches through source, interpreter, normaliser, gate and store. While one batch is written, the next is
/// read.
package struct ImportService {
    private let store: SampleStore
    private let now: @Sendable () -> Instant
    private let zone: TimeZoneRules
    /// Whether the user asked to stop.
    private let isCancelled: () -> Bool
    /// Whether the import may not use more of the disk.
    private let isDiskUsedUp: () -> Bool
    private let comparesPaths: Bool
    private let trustsOpenEnds: Bool
    private let onlyPerson: Bool
    private let isRecovery: Bool
    private let sender: ImportSender?

    /// The approximate maximum size in bytes of bodies in one commit. Routes and documents are large.
    private static let bodies = 1 << 20
    /// The maximum number of rejections that wait for a commit.
    private static let refusals = 4096

    /// - Parameters: - comparesPaths: whether the same measurement from another path is a duplicate. If not, only the identical
    ///   reading is. - trustsOpenEnds: whether a table without a final line break is complete. If not, the readings of its last
    ///   row are held. - isDiskUsedUp: whether the import has to stop, because others need the rest of the disk. - onlyPerson: whether
    ///   a member brings the file, whose own readings alone are stored. - isRecovery: whether the readings return from a copy of this
    ///   store's readings.
    package init(
        store: SampleStore, now: @escaping @Sendable () -> Instant, zone: TimeZoneRules,
        isCancelled: @escaping () -> Bool = { false }, isDiskUsedUp: @escaping () -> Bool = { false },
        comparesPaths: Bool = true, trustsOpenEnds: Bool = false, onlyPerson: Bool = false, isRecovery: Bool = false,
        sender: ImportSender? = nil
    ) {
        self.sender = sender
        self.comparesPaths = comparesPaths
        self.trustsOpenEnds = trustsOpenEnds
        self.onlyPerson = onlyPerson
        self.isRecovery = isRecovery
        self.store = store
        self.now = now
        self.zone = zone
        self.isCancelled = isCancelled
        self.isDiskUsedUp = isDiskUsedUp
    }

    package struct Outcome {
        /// The ledger's totals: all readings that came in, and their results.
        package var account: IngestAccount
        /// The reason why the file was not read to its end, if any.
        package var failure: SourceError?
        /// Whether the user, or the limit of the disk, stopped the import.
        package var isInterrupted = false
        /// Runs of imported readings that fit another unit far better.
        package var suspicions: [Suspicion] = []
    }

    private struct Cancelled: Error {
        var isForDisk = false
        /// Whether a commit took too long after the request, so that its readings were not stored.
        var isOfCommit = false
    }

    /// Imports one file.
    ///
    /// Everything before a read error or the user's stop is stored and in the ledger.
    ///
    /// - Throws: ``StoreError`` if the store fails. Earlier batches are kept.
    package func run(
        _ reading: FileReading, received: Instant, progress: (ImportProgress) -> Void = { _ in }
    ) throws -> Outcome {
        let (ingest, earlier) = try begin(reading, received)
        var failure: SourceError?
        var interruption: Cancelled?
        var entered = 0
        var reported: [CharacteristicType: Characteristic] = [:]
        var cut: Place?
        var zeros = 0
        do {
            do {
                try walk(reading, ingest, received, &entered, &reported, &cut, &zeros, progress)
            } catch let error as SourceError {
                failure = error
            } catch let cancelled as Cancelled {
                interruption = cancelled
            } catch let error as StoreError where error.kind == .tooLong && isCancelled() {
                interruption = Cancelled(isOfCommit: true)
            }
            for (kind, count) in reading.unread.counts { ingest.skip(kind, count: count) }
            let taken = try take(reported, from: reading, ingest, received)
            let notes =
                reading.notes + Self.notes(ofCut: cut) + Self.notes(ofZeros: zeros) + Self.notes(of: failure, after: entered)
                + (interruption?.isForDisk == true ? [IngestAccount.diskUsedUp] : []) + taken
            let known = earlier?.notes ?? []
            try ingest.note((known + notes.filter { !known.contains($0) }).suffix(Self.maximumNotes))
        } catch {
            // After a store failure, a partial account is better than none.
            _ = try? ingest.finish(at: now().microseconds, state: "failed")
            throw error
        }
        if let failure {
            entered += 1
            ingest.refuse(Refusal(failure.reason, at: failure.place ?? Place(.byte, 0)))
        }
        let account = try ingest.finish(
            at: now().microseconds, state: interruption != nil ? "interrupted" : failure != nil ? "failed" : "done"
        ).since(earlier)
        // Incoming and recorded readings are counted separately so that a lost reading is detected.
        guard entered == account.read + ingest.repeated || interruption?.isOfCommit == true else {
            throw StoreError(
                .defect,
                "the ledger does not add up: \(entered) readings received, \(account.read + ingest.repeated) accounted for")
        }
        var outcome = Outcome(account: account, failure: failure, isInterrupted: interruption != nil)
        // This reports a wrong profile on the first day.
        if account.stored > 0, sender == nil, interruption == nil {
            outcome.suspicions = try suspicions(of: ingest)
            // The ledger keeps the warning, as it does for a hub's readings.
            try store.repairs.add(notes: outcome.suspicions.prefix(Self.maximumSuspicions).map(Self.note), to: ingest.id)
        }
        return outcome
    }

    /// The suspicions after an import, or an empty list if the user asks to stop before they are found.
    private func suspicions(of ingest: Ingest) throws -> [Suspicion] {
        do {
            return try store.interruptible(when: isCancelled) { try store.repairs.suspicions(ingestedBy: ingest.id) }
        } catch let error as StoreError where error.kind == .tooLong {
            return []
        }
    }

    /// Begins the ledger entry, or continues the entry of the sender's day.
    private func begin(_ reading: FileReading, _ received: Instant) throws -> (Ingest, earlier: IngestAccount?) {
        let (name, owner) = (sender?.name ?? Self.name(of: reading.path), ProcessIdentity.current())
        if let sender,
            let (ingest, account) = try store.ledger.resume(kind: .import, named: name, begunWithin: sender.day, owner: owner)
        {
            return (ingest, account)
        }
        let description = IngestDescription(
            kind: .import, name: name, profile: reading.profile, received: received.microseconds, notes: reading.notes,
            owner: owner, comparesPaths: comparesPaths, isOfMember: onlyPerson || sender != nil, isRecovery: isRecovery)
        return (try store.beginIngest(description), nil)
    }

    /// The greatest number of notes in an entry that is continued all day.
    private static let maximumNotes = 100

    /// The greatest number of suspicions that are noted in the ledger.
    private static let maximumSuspicions = 5

    private static func note(_ suspicion: Suspicion) -> String {
        "\(suspicion.range.count) readings of \(suspicion.series.type.id) from \(suspicion.series.source) \(suspicion.claim): "
            + "see 'vitalgate repair suggest'"
    }

    /// Readings before a break are complete. Otherwise they would not have been produced.
    private static func notes(of failure: SourceError?, after entered: Int) -> [String] {
        guard let failure, entered > 0 else { return [] }
        let place = failure.place.map { "\($0)" } ?? "the break"
        return ["\(IngestAccount.brokenOff): the readings before \(place) are complete and were imported"]
    }

    private static func notes(ofCut last: Place?) -> [String] {
        last.map { ["\($0), the last, \(IngestAccount.openEnd)"] } ?? []
    }

    private static func notes(ofZeros count: Int) -> [String] {
        switch count {
        case 0: []
        case 1: ["1 heart rate of 0 is not a measurement and was not stored"]
        default: ["\(count) heart rates of 0 are not measurements and were not stored"]
        }
    }

    /// Stores the characteristics of the person in the file and returns notes on the result: the types, never a value.
    private func take(
        _ reported: [CharacteristicType: Characteristic], from reading: FileReading, _ ingest: Ingest, _ received: Instant
    ) throws -> [String] {
        guard !reported.isEmpty else { return [] }
        let written = reading.interpreter.written
        let taken = try store.people.take(
            CharacteristicType.allCases.compactMap { reported[$0] }, of: reading.person, date: written.map(day),
            recorded: written,
            today: day(received), ingest: ingest.id)
        func names(_ types: [CharacteristicType]) -> String { types.map(\.rawValue).joined(separator: ", ") }
        return (taken.set.isEmpty ? [] : ["characteristics set: \(names(taken.set))"])
            + (taken.retained.isEmpty
                ? []
                : ["characteristics not changed, because the stored values are newer than the file: \(names(taken.retained))"])
    }

    private func day(_ instant: Instant) -> String {
        zone.date(of: instant)
    }

    private func walk(
        _ reading: FileReading, _ ingest: Ingest, _ received: Instant, _ entered: inout Int,
        _ reported: inout [CharacteristicType: Characteristic], _ cut: inout Place?, _ zeros: inout Int,
        _ progress: (ImportProgress) -> Void
    ) throws {
        let interpreter = reading.interpreter
        if let interpreter = interpreter as? HealthAutoExportInterpreter {
            try recogniseOwn(in: interpreter, of: reading.person)
        }
        let returned = try returnedReadings()
        let path = ReadingPath(zone: zone, received: received)
        var batch = ImportBatch()
        var readings: [Reading] = []
        var state = ImportProgress(frames: 0, readings: 0, place: nil)
        var (isZoneNoted, readsLocalTimes) = (false, false)
        var bodies = 0
        // Vitalgate's own lines may contain a value that a user accepted.
        let countsZeros = reading.profile != KnownFormat.lines
        let earlier = try ProvisionalRows(profile: reading.profile, person: reading.person, in: store)
        let (size, sources) = (BatchSize(isOfMember: onlyPerson), ImportSources(store, isOfMember: onlyPerson || sender != nil))
        var limit = size.samples
        let writer = BatchWriter { [store, comparesPaths, onlyPerson, sender, isCancelled] batch in
            if let zone = batch.zone { try ingest.note(zone: zone) }
            for refusal in batch.output.refusals { ingest.refuse(refusal) }
            for (kind, count) in batch.skipped { ingest.skip(kind, count: count) }
            var mistakes: [EarlierMistakes] = []
            let began = now()
            defer { size.adapt(to: now().microseconds &- began.microseconds) }
            let samples = try sources.accepted(batch.output.samples, refusedBy: ingest)
            try store.interruptible(when: isCancelled) {
                _ = try ingest.store(samples) { samples in
                    try sender?.confirm()
                    try ingest.release(batch.arrived)
                    // A member's file has the member's readings alone. An unassigned one would also be the known reading of another
                    // person whose scale sends it later.
                    guard !onlyPerson else { return [] }
                    let assigned = try PersonHistory.assign(&samples, in: store, comparesPaths: comparesPaths)
                    mistakes = assigned.mistakes
                    return assigned.unassigned
                }
            }
            for mistake in mistakes { _ = try mistake.repair(in: store, now: now(), owner: ProcessIdentity.current()) }
        }
        func isOpen(_ frame: RawFrame) -> Bool { frame.isProvisional && !trustsOpenEnds && !interpreter.isWhole(frame) }
        // In any case the caller may use the store again after this function.
        defer { _ = try? writer.finish() }
        func flush() throws {
            if readsLocalTimes || path.normaliser.readsLocalTimes, !isZoneNoted {
                batch.zone = zone.identifier
                isZoneNoted = true
            }
            if let sender { Self.refuseTypes(besides: sender.types, in: &batch.output) }
            if onlyPerson { Self.refuseOthers(than: reading.person, in: &batch.output) }
            if let returned {
                let count = try Self.removeReturned(returned, from: &batch.output)
                if count > 0 { batch.skipped[HealthAutoExportInterpreter.ownReading, default: 0] += count }
                entered -= count
            }
            state.readings += batch.output.samples.count
            bodies = 0
            try writer.finish()
            limit = size.samples
            try writer.write(&batch)
            progress(state)
            try checkStop()
        }
        func finish() throws {
            path.finish(into: &batch.output)
            do { try flush() } catch is Cancelled {}
            try writer.finish()
        }
        do {
            try reading.source.forEachFrame { frame in
                readings.removeAll(keepingCapacity: true)
                state.frames += 1
                do throws(Refusal) {
                    switch try interpreter.interpret(frame, into: &readings) {
                    case .readings:
                        if countsZeros {
                            let count = Self.removeZeros(from: &readings)
                            if count > 0 { batch.skipped[Self.zeroHeartRate, default: 0] += count }
                            zeros += count
                        }
                        entered += readings.count
                        for reading in readings { bodies += reading.body?.size ?? 0 }
                        if !earlier.isEmpty { batch.arrived += earlier.longer(frame) }
                        if isOpen(frame) {
                            ProvisionalRows.hold(readings, of: frame, zone: zone, into: &batch.output)
                            for case .wall in readings.map(\.time) { readsLocalTimes = true }
                        } else {
                            path.process(readings, of: frame, into: &batch.output)
                        }
                    case .skipped(let kind): batch.skipped[kind, default: 0] += 1
                    case .characteristics(let list):
                        guard !isOpen(frame) else { break }
                        for value in list where value.isSet { reported[value.type] = value }
                    case .notData: break
                    }
                } catch {
                    entered += error.readings
                    batch.output.refusals.append(error)
                }
                if isOpen(frame), frame.place.number > 1 { cut = frame.place }
                if let rest = interpreter.takeLeftOut() {
                    for refusal in rest.refusals { entered += refusal.readings }
                    batch.output.refusals += rest.refusals
                    for (kind, count) in rest.skipped { batch.skipped[kind, default: 0] += count }
                }
                if batch.output.samples.count >= limit || batch.output.refusals.count >= Self.refusals
                    || bodies >= Self.bodies
                {
                    state.place = frame.place
                    try flush()
                } else if state.frames & 4095 == 0 {
                    state.place = frame.place
                    progress(state)
                    try checkStop()
                }
            }
        } catch {
            // Everything before the read error is valid.
            if !(error is StoreError) { try finish() }
            throw error
        }
        try finish()
    }

    private func checkStop() throws {
        if isCancelled() { throw Cancelled() }
        if isDiskUsedUp() { throw Cancelled(isForDisk: true) }
    }

    /// Recognizes the hub's samples that phones have written, on a connection of its own, because another thread writes. `nil` without phones.
    private func returnedReadings() throws(StoreError) -> ReturnedReadings? {
        guard try store.writeBack.returned(by: sender?.client) != nil else { return nil }
        return try SampleStore(path: store.path, access: .read).writeBack.returned(by: sender?.client)
    }

    /// Removes the hub's own samples that came back from a phone. The parts of a measurement are removed together or not at all.
    ///
    /// - Returns: their number.
    private static func removeReturned(_ returned: ReturnedReadings, from output: inout Normaliser.Output) throws -> Int {
        let isReturned = try output.samples.map { try returned.contains($0.sample) }
        guard isReturned.contains(true) else { return 0 }
        var others: Set<UInt64> = []
        for (index, gated) in output.samples.enumerated() where !isReturned[index] {
            if let group = gated.sample.group { others.insert(group) }
        }
        let left = output.samples.indices.filter { index in
            !isReturned[index] || output.samples[index].sample.group.map(others.contains) ?? false
        }
        let count = output.samples.count - left.count
        output.samples = left.map { output.samples[$0] }
        return count
    }

    /// Lets an interpreter find out which samples come from this store and come back.
    ///
    /// The sender must not find out whether there is a sample that it may not read. If its reading has the sample's person, type, and time, it
    /// may not read its own reading either, so it does not see that it is missing. Connections of its own are used, because another thread
    /// writes.
    private func recogniseOwn(in interpreter: HealthAutoExportInterpreter, of person: String) throws {
        let (all, view) = (
            try SampleStore(path: store.path, access: .read), try SampleStore(path: store.path, access: .read)
        )
        if let sender { try view.restrict(to: sender.client) } else if onlyPerson { try view.restrict(toPerson: person) }
        interpreter.isOwn = { uuid, readings in
            if ((try? view.samples.sample(uuid)) ?? nil) != nil { return true }
            guard let sample = ((try? all.samples.sample(uuid)) ?? nil)?.sample else { return false }
            return readings.contains { $0.isReport(of: sample) }
        }
    }

    /// Removes heart rates of 0, which devices write while they have no contact to the body. They are counted, because a file may have one
    /// for each second. A pulse that belongs to a measurement of several values is judged with it.
    ///
    /// - Returns: their number.
    private static func removeZeros(from readings: inout [Reading]) -> Int {
        let isZero: (Reading) -> Bool = { $0.numeral.coefficient == 0 && $0.origin.type == .heartRate && $0.group == .none }
        guard readings.contains(where: isZero) else { return 0 }
        let count = readings.count
        readings.removeAll(where: isZero)
        return count - readings.count
    }

    private static let zeroHeartRate = SkipKind("heart rate of 0")

    /// Refuses the readings for which the file names another person.
    private static func refuseOthers(than person: String, in output: inout Normaliser.Output) {
        let others = output.samples.filter { $0.sample.origin.person != person }
        guard !others.isEmpty else { return }
        output.samples.removeAll { $0.sample.origin.person != person }
        output.refusals += others.map { Refusal("the file names another person", at: $0.place) }
    }

    /// Refuses the readings of types that the sender may not write.
    private static func refuseTypes(besides types: Set<ObjectType>, in output: inout Normaliser.Output) {
        let present = Set(output.samples.map(\.sample.origin.type))
        let refused = present.filter { !types.contains(ObjectType($0)) }
        guard !refused.isEmpty else { return }
        output.refusals += output.samples.filter { refused.contains($0.sample.origin.type) }.map {
            Refusal("the client may not write \($0.sample.origin.type.id)", at: $0.place)
        }
        output.samples.removeAll { refused.contains($0.sample.origin.type) }
    }

    /// Returns the file's name without its folders, which are private in a store that may be passed on, and without control
    /// characters, which could imitate a separate line. Posts of a client continue the entry with the client's name, so
    /// a file does not get such a name.
    static func name(of path: String) -> String {
        let scalars = (path.split(separator: "/").last ?? Substring(path)).unicodeScalars
        let name = String(
            String.UnicodeScalarView(scalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
        guard name.hasSuffix(")"), let start = name.lastIndex(of: "(") else { return name }
        return ReferenceRule.isClient(String(name[name.index(after: start)...].dropLast())) ? name + " (file)" : name
    }
}

extension Reading {
    /// Whether it has the person, the type, and the second of a sample.
    fileprivate func isReport(of sample: Sample) -> Bool {
        guard case .instants(let start, _, _) = time, origin.person == sample.origin.person, origin.type == sample.origin.type
        else { return false }
        func second(_ time: Instant) -> Int64 { time.microseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient }
        return second(start) == second(sample.start)
    }
}

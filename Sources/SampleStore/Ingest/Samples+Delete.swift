import HealthModel

extension SampleStore.Samples {
    /// Deletes samples and leaves tombstones, so that the same readings stay deleted if they arrive again.
    ///
    /// - Parameter withObjects: Whether to also delete the objects that they own: the samples of a correlation, the
    ///   routes of a workout.
    /// - Returns: The ledger entry and the number of deleted samples. Either all samples of the query are deleted or
    ///   none.
    @discardableResult
    public func delete(
        matching query: SampleQuery, withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try store.withReserve { try deleteChosen(matching: query, withObjects: withObjects, description) }
    }

    private func deleteChosen(
        matching query: SampleQuery, withObjects: Bool, _ description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try store.resumePending()
        let chosen = try choose(matching: query, withObjects: withObjects)
        guard try chosen.count > store.stepRows else {
            return try change(description) { _, deletion in
                try store.refuseIfPending()
                return try deletion.delete(try chosen.keys(limit: store.stepRows))
            }
        }
        return try store.changeInSteps(
            description,
            list: { pending, _ in
                var last: SampleKey?
                while true {
                    let keys = try chosen.keys(after: last, limit: store.stepRows)
                    guard let end = keys.last else { break }
                    last = end
                    try pending.add(going: keys)
                }
            })
    }

    /// Selects the samples of a query, and their objects if requested, with a separate connection, so that writers are
    /// not blocked.
    private func choose(matching query: SampleQuery, withObjects: Bool) throws -> ChosenPlaces {
        let reader = try SampleStore(path: store.path, access: .read)
        let chosen = try ChosenPlaces(connection: connection)
        let owned = OwnedObjects(connection: reader.connection)
        let cursor = try reader.samples.cursor(matching: query)
        defer { cursor.close() }
        try chosen.fill {
            while let (series, stored) = try cursor.nextWithSeries() {
                try chosen.add(SampleKey(series: series, start: stored.sample.start.microseconds, of: stored.uuid))
                if withObjects { for key in try owned.keys(namedBy: stored.sample, among: .live) { try chosen.add(key) } }
            }
        }
        return chosen
    }

    /// Deletes the samples with these UUIDs. If one is unknown, an error is thrown and nothing is deleted.
    ///
    /// - Parameter withObjects: Whether to also delete the objects that they own: the samples of a correlation, the
    ///   routes of a workout.
    @discardableResult
    public func delete(
        _ uuids: [SampleIdentity], withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try store.withReserve { try deleteNamed(uuids, withObjects: withObjects, description) }
    }

    private func deleteNamed(
        _ uuids: [SampleIdentity], withObjects: Bool, _ description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var (named, objects): ([SampleKey], [SampleKey]) = ([], [])
            let (owned, table) = (OwnedObjects(connection: connection), connection.samples)
            for uuid in uuids {
                var keys: [SampleKey] = []
                for key in try self.keys(of: uuid, among: .live) where try !named.contains(key) && table.contains(key) {
                    keys.append(key)
                }
                guard !keys.isEmpty else { throw StoreError(.invalid, "there is no sample \(uuid)") }
                named += keys
                guard withObjects else { continue }
                for key in keys {
                    guard let sample = try table.sample(at: key, among: .live) else { continue }
                    objects += try owned.keys(namedBy: sample, among: .live)
                }
            }
            // Do not delete an object twice that was also named itself.
            let known = Set(named)
            return try deletion.delete(named) + deletion.delete(objects.filter { !known.contains($0) })
        }
    }

    /// Restores deleted samples unchanged.
    ///
    /// - Parameter withObjects: Whether to also restore the objects that were deleted together with them.
    @discardableResult
    public func restore(
        _ uuids: [SampleIdentity], withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            let table = connection.samples
            var keys: [SampleKey] = []
            // The objects of a sample arrived before it.
            let theirs = withObjects ? try placesDeleted(with: uuids) : []
            for uuid in try inOrder(uuids) {
                let known = keys.count
                for key in try self.keys(of: uuid, among: .tombstones)
                where try !keys.contains(key) && table.contains(key, among: .tombstones) {
                    keys.append(key)
                }
                guard keys.count > known else { throw Self.notRestorable(uuid) }
            }
            // A reading and its correction would both count.
            try deletion.delete(try CorrectionSearch(connection: connection).conflicts(with: theirs + keys))
            let liveUpdate = LiveSampleUpdate(deletion)
            // The decision is about the measurement. Its sample may be another report, which arrived after the deletion.
            let deleted = try (theirs + keys).filter {
                try liveUpdate.reader.measurement(of: $0).history.state(of: $0) == .deleted
            }
            try deletion.decide(.restored, theirs + keys)
            liveUpdate.reader.forgetTraces()
            try liveUpdate.update(theirs + keys)
            var back: Set<SampleKey> = []
            for key in deleted {
                let history = try liveUpdate.reader.measurement(of: key).history
                guard case .duplicate(let representative)? = history.state(of: key) else { continue }
                back.insert(key)
                try deletion.takeBackDecision(on: key)
                try deletion.decide(.restored, [history.form(of: representative)])
            }
            for uuid in uuids {
                var isThere = false
                for key in try self.keys(of: uuid, among: .live) where try table.contains(key) { isThere = true }
                for key in try self.keys(of: uuid, among: .tombstones) where back.contains(key) { isThere = true }
                guard isThere else { throw try reasonNotToRestore(uuid, liveUpdate) }
            }
            var count = 0
            for key in theirs + keys {
                if try back.contains(key) || table.contains(key) {
                    count += 1
                } else {
                    // Another reading has replaced this object, which was not requested by UUID.
                    try deletion.takeBackDecision(on: key)
                }
            }
            return count
        }
    }

    static func notRestorable(_ uuid: SampleIdentity) -> StoreError {
        StoreError(.invalid, "there is no deleted sample \(uuid), or another version of it is stored")
    }

    /// The error that explains why a sample could not be restored.
    private func reasonNotToRestore(_ uuid: SampleIdentity, _ liveUpdate: LiveSampleUpdate) throws(StoreError) -> StoreError {
        let names = connection.samples
        for key in try keys(of: uuid, among: .tombstones) {
            let history = try liveUpdate.reader.measurement(of: key).history
            let root = history.root(of: key)
            if let next = history.repaired.first(where: { $0.isActive && $0.old == key }) {
                // An assigned sample is another person's.
                let people = try (connection.series.person(of: next.new.series), connection.series.person(of: key.series))
                let new = people.0 == people.1 ? try names.identity(at: next.new) : nil
                return StoreError(
                    .invalid,
                    "\(uuid) was replaced\(new.map { " by \($0)" } ?? ""), by a repair: undo it with 'vitalgate repair undo'")
            }
            if root != key, let original = try names.identity(at: root), history.form(of: root) != key {
                return StoreError(
                    .invalid, "\(uuid) was created by a repair that was undone: use 'vitalgate restore \(original)' instead")
            }
            let own = history.reports.first { $0.key == root }?.group
            if history.live.contains(where: { live in
                history.reports.contains { $0.key == history.root(of: live) && $0.group == own }
            }) {
                return StoreError(
                    .invalid, "\(uuid) is a duplicate of a stored sample: 'vitalgate query \(uuid)' shows which")
            }
        }
        return Self.notRestorable(uuid)
    }

    /// The places of the objects that were deleted together with the samples, without the samples themselves.
    private func placesDeleted(with uuids: [SampleIdentity]) throws(StoreError) -> [SampleKey] {
        let owned = OwnedObjects(connection: connection)
        var (own, theirs): (Set<SampleKey>, [SampleKey]) = ([], [])
        for uuid in uuids {
            for key in try keys(of: uuid, among: .tombstones) {
                own.insert(key)
                theirs += try owned.placesDeleted(with: key)
            }
        }
        return theirs.filter { !own.contains($0) }
    }

    /// Sorts deleted samples by arrival, so that those of one frame stay in order.
    private func inOrder(_ uuids: [SampleIdentity]) throws(StoreError) -> [SampleIdentity] {
        guard uuids.count > 1 else { return uuids }
        var numbers: [SampleIdentity: Int64] = [:]
        for uuid in uuids {
            for key in try keys(of: uuid, among: .tombstones) {
                numbers[uuid] = try table.tombstone(at: key, evenForgotten: true)?.number
            }
        }
        return uuids.sorted { numbers[$0] ?? 0 < numbers[$1] ?? 0 }
    }

    /// Makes a change in one transaction, with its ledger entry. If nothing changes, there is no entry and its number
    /// is 0.
    func change(
        _ description: IngestDescription, _ body: (Int64, Deletion) throws -> Int
    ) throws -> (ingest: Int64, count: Int) {
        do {
            return try connection.transaction {
                let ingest = try store.beginIngest(description)
                let deletion = Deletion(connection: connection, ingest: ingest.id, of: description.people)
                let count = try body(ingest.id, deletion)
                try deletion.updateDerived()
                guard count > 0 || deletion.hasChangedMore else { throw NoChange() }
                try connection.ledger.finish(
                    ingest.id, at: description.received, deleted: deletion.deleted, restored: deletion.restored)
                return (ingest.id, count)
            }
        } catch is NoChange {
            return (0, 0)
        } catch {
            // The shared rows that the transaction created were rolled back too.
            store.interner.forget()
            throw error
        }
    }

    private struct NoChange: Error {}
}

import HealthModel

extension SampleStore {
    /// Deletes samples for good: they leave tombstones, so that the same readings arriving again stay deleted.
    ///
    /// - Parameter withObjects: deletes also what they name as theirs: a correlation's samples, a workout's routes.
    /// - Returns: how many; all of the query's or none.
    @discardableResult
    public func delete(
        matching query: SampleQuery, withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var places: [SampleKey] = []
            var objects: [SampleKey] = []
            let owned = OwnedObjects(connection: connection)
            let cursor = try samples(matching: query)
            while let (series, stored) = try cursor.nextWithSeries() {
                places.append(SampleKey(series: series, start: stored.sample.start.microseconds, of: stored.uuid))
                if withObjects { objects += try owned.places(namedBy: stored.sample, among: .live) }
            }
            cursor.close()
            var count = 0
            for place in places + objects where try deletion.delete(place) {
                count += 1
            }
            return count
        }
    }

    /// Deletes the samples of these UUIDs; an unknown one fails and nothing is deleted.
    ///
    /// - Parameter withObjects: deletes also what they name as theirs: a correlation's samples, a workout's routes.
    @discardableResult
    public func delete(
        _ uuids: [SampleIdentity], withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var count = 0
            var objects: [SampleKey] = []
            let (owned, table) = (OwnedObjects(connection: connection), SampleTable(connection: connection))
            for uuid in uuids {
                let places = try places(of: uuid, in: "sample")
                var found = false
                for place in places {
                    let sample = withObjects ? try table.sample(at: place, among: .live) : nil
                    guard try deletion.delete(place) else { continue }
                    found = true
                    count += 1
                    if let sample { objects += try owned.places(namedBy: sample, among: .live) }
                }
                guard found else { throw StoreError(.invalid, "there is no sample \(uuid)") }
            }
            // One that was named by itself as well is gone already.
            for place in objects where try deletion.delete(place) { count += 1 }
            return count
        }
    }

    /// Gives deleted samples back as they were.
    ///
    /// - Parameter withObjects: gives back also what was deleted with them as theirs.
    @discardableResult
    public func restore(
        _ uuids: [SampleIdentity], withObjects: Bool = false, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var count = 0
            let witnesses = Witnesses(connection: connection, deletion: deletion)
            var restored: [SampleKey] = []
            // What belongs to a sample came before it.
            for place in withObjects ? try placesDeleted(with: uuids) : [] {
                guard try !witnesses.isToldByAnother(place), try deletion.restore(place) else { continue }
                count += 1
                restored.append(place)
            }
            for uuid in try inOrder(uuids) {
                var found = false
                for place in try places(of: uuid, in: "deleted") {
                    guard try witnesses.isToldByAnother(place) else { continue }
                    throw StoreError(
                        .invalid, "\(uuid) is a duplicate of a sample that is there; 'vitalgate query \(uuid)' names it")
                }
                for place in try places(of: uuid, in: "deleted")
                where try deletion.restore(place) {
                    found = true
                    count += 1
                    restored.append(place)
                }
                guard found else {
                    if let place = try places(of: uuid, in: "deleted").first,
                        let next = try Replacements(connection: connection).successor(of: place)
                    {
                        throw StoreError(
                            .invalid, "\(uuid) was replaced by \(next), by a repair: 'vitalgate migrate undo' takes that back")
                    }
                    throw StoreError(.invalid, "there is no deleted sample \(uuid), or another version of its record is live")
                }
            }
            // What stood in for it meanwhile steps back: else one measurement would be there twice.
            try witnesses.review(after: restored)
            return count
        }
    }

    /// What was deleted with samples as theirs; what is among the samples themselves is left out.
    private func placesDeleted(with uuids: [SampleIdentity]) throws(StoreError) -> [SampleKey] {
        let owned = OwnedObjects(connection: connection)
        var (own, theirs): (Set<SampleKey>, [SampleKey]) = ([], [])
        for uuid in uuids {
            for place in try places(of: uuid, in: "deleted") {
                own.insert(place)
                theirs += try owned.placesDeleted(with: place)
            }
        }
        return theirs.filter { !own.contains($0) }
    }

    /// Deleted samples as they came once: those of one frame stay in order.
    private func inOrder(_ uuids: [SampleIdentity]) throws(StoreError) -> [SampleIdentity] {
        guard uuids.count > 1 else { return uuids }
        var numbers: [SampleIdentity: Int64] = [:]
        for uuid in uuids {
            for place in try places(of: uuid, in: "deleted") {
                numbers[uuid] = try connection.integer(
                    "SELECT seq FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(place.series),
                    .integer(place.start), .blob(place.hash))
            }
        }
        return uuids.sorted { numbers[$0] ?? 0 < numbers[$1] ?? 0 }
    }

    /// Makes a change in one transaction, with its entry in the ledger; a change that changes nothing leaves none, and is ingest 0.
    func change(
        _ description: IngestDescription, _ body: (Int64, Deletion) throws -> Int
    ) throws -> (ingest: Int64, count: Int) {
        do {
            return try connection.transaction {
                let ingest = try beginIngest(description)
                let deletion = Deletion(connection: connection, ingest: ingest.id)
                let count = try body(ingest.id, deletion)
                guard count > 0 || deletion.hasChangedMore else { throw NothingToChange() }
                try connection.run(
                    "UPDATE ingest SET finished = ?, state = 'done', deleted = ?, restored = ? WHERE id = ?",
                    .integer(description.received), .integer(Int64(deletion.deleted)), .integer(Int64(deletion.restored)),
                    .integer(ingest.id))
                return (ingest.id, count)
            }
        } catch is NothingToChange {
            return (0, 0)
        } catch {
            // Rows that it made for samples to share are gone with it.
            interner.forget()
            throw error
        }
    }

    private struct NothingToChange: Error {}
}

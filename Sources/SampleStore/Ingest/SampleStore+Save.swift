import HealthModel
import Pipeline

extension SampleStore {
    /// Keeps what a program saves, in one transaction, in the account of its day: a program that saves every minute makes one entry of the
    /// ledger a day.
    ///
    /// - Parameters:
    ///   - description: of the kind `save`; its name is the program's.
    ///   - day: of which an entry of that name is gone on with, in microseconds since 1970.
    ///   - inputs: of samples that were computed, from which samples: they are live only while all of these are.
    /// - Returns: what became of each, in the order given; all of them, or an error and nothing.
    public func save(
        _ batch: [GatedSample], as description: IngestDescription, within day: Range<Int64>, from inputs: [[SampleIdentity]] = []
    ) throws -> [SampleOutcome] {
        do {
            return try connection.transaction {
                let resumed = try resumeIngest(
                    kind: description.kind, named: description.name, begunWithin: day, owner: description.owner,
                    replacingAcrossDevices: description.replacesAcrossDevices, comparingPaths: description.comparesPaths,
                    linkingCopies: description.linksCopies)
                let ingest = try resumed?.ingest ?? beginIngest(description)
                let outcomes = try ingest.store(batch)
                try noteInputs(inputs, of: batch, Deletion(connection: connection, ingest: ingest.id))
                _ = try ingest.finish(at: description.received)
                return outcomes
            }
        } catch {
            // Rows that it made for samples to share are gone with it.
            interner.forget()
            throw error
        }
    }

    private func noteInputs(_ inputs: [[SampleIdentity]], of batch: [GatedSample], _ deletion: Deletion) throws(StoreError) {
        guard !inputs.isEmpty else { return }
        let (derived, settlement) = (DerivedSamples(connection: connection), Settlement(deletion))
        for (gated, uuids) in zip(batch, inputs) where !uuids.isEmpty {
            var places: [SampleKey] = []
            for uuid in uuids { places += try self.places(of: uuid, in: "sample") }
            for place in try Replacements.places(of: gated.sample.identity, connection) {
                try derived.note(place, from: places)
                // It may have been withdrawn when it was computed from others before.
                try settlement.settle([place])
            }
        }
    }
}

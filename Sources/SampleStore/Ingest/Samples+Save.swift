import HealthModel
import Pipeline

extension SampleStore.Samples {
    /// Stores the samples that a client saves, in one transaction. They are added to the client's ledger entry of the
    /// day, so that a client that saves every minute creates one entry a day.
    ///
    /// - Parameters:
    ///   - description: The description, of the kind `save` and with the client's name.
    ///   - day: The range in which an earlier entry of that name is continued, in microseconds since 1970.
    ///   - inputs: The inputs of each derived sample. It is live only while all its inputs are.
    /// - Returns: The outcome of each sample, in the given order. If an error is thrown, nothing is stored.
    public func save(
        _ batch: [GatedSample], as description: IngestDescription, within day: Range<Int64>, from inputs: [[SampleIdentity]] = []
    ) throws -> [SampleOutcome] {
        do {
            return try connection.transaction {
                let resumed = try store.ledger.resume(
                    kind: description.kind, named: description.name, begunWithin: day, owner: description.owner,
                    replacingAcrossDevices: description.replacesAcrossDevices, comparingPaths: description.comparesPaths,
                    linkingCopies: description.linksCopies, client: description.client)
                let ingest = try resumed?.ingest ?? store.beginIngest(description)
                let outcomes = try ingest.store(batch)
                try noteInputs(inputs, of: batch, Deletion(connection: connection, ingest: ingest.id))
                _ = try ingest.finish(at: description.received)
                return outcomes
            }
        } catch {
            // The shared rows that the transaction created were rolled back too.
            store.interner.forget()
            throw error
        }
    }

    private func noteInputs(_ inputs: [[SampleIdentity]], of batch: [GatedSample], _ deletion: Deletion) throws(StoreError) {
        guard !inputs.isEmpty else { return }
        let (derived, liveUpdate) = (connection.derived, LiveSampleUpdate(deletion))
        for (gated, uuids) in zip(batch, inputs) where !uuids.isEmpty {
            var keys: [SampleKey] = []
            for uuid in uuids { keys += try self.keys(of: uuid, among: .live) }
            for key in try connection.samples.keys(of: gated.sample.identity) {
                try derived.add(key, from: keys)
                // The sample may have been withdrawn after an earlier computation.
                try liveUpdate.update([key])
            }
        }
    }
}

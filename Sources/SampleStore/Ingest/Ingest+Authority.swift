import HealthModel
import Pipeline

/// Whose readings an entry may store, and whose samples it may end.
extension Ingest {
    /// Stores a batch. Readings of a member or a client that would end a sample of another person, which was assigned, are quarantined.
    func writeOwn(_ batch: [GatedSample]) throws -> [SampleOutcome] {
        guard isOfMember else { return try writeAll(batch) }
        people = Set(batch.map(\.sample.origin.person))
        let noted = counts
        do {
            return try connection.transaction { try writeAll(batch) }
        } catch let error as StoreError where error == Deletion.others {
            counts = noted
            forget()
            guard batch.count > 1 else {
                return try writeAll(
                    batch.map { gated in
                        var gated = gated
                        gated.rule = .assignedReading
                        return gated
                    })
            }
            let half = batch.count / 2
            let first = try writeOwn(Array(batch[..<half]))
            do {
                return try first + writeOwn(Array(batch[half...]))
            } catch var refused as RefusedObject {
                refused.index += half
                throw refused
            }
        }
    }

    /// Writes deletions for this entry.
    func deletion() -> Deletion { Deletion(connection: connection, ingest: id, of: people) }

    /// Whether readings of an origin have the source of a client that does not save them. A client can read and delete all readings of its
    /// source, so nothing else, such as a file, may add any.
    func isForeign(_ origin: Origin) throws(StoreError) -> Bool {
        guard !isRecovery, origin.source.id != client, let number = ClientSource.number(in: origin.source.id)
        else { return false }
        return try store.clients.contains(number)
    }

    func refusal(ofForeign index: Int) throws(RefusedObject) -> String {
        guard !entryCheck.isSaved else {
            throw RefusedObject(index: index, fault: InvalidObject("source", IngestAccount.foreignClient))
        }
        return IngestAccount.foreignClient
    }

    /// Refuses the readings of a batch that only a client could add, unless the store has them already.
    ///
    /// - Returns: The indices of the refused readings.
    func refuseForeign(_ outcomes: inout [SampleOutcome], _ batch: [GatedSample]) throws -> Set<Int> {
        var foreign: Set<Int> = []
        for group in groups {
            guard let first = group.rows.first, try isForeign(batch[Int(first.index)].sample.origin) else { continue }
            for index in group.rows.lazy.map({ Int($0.index) }) where outcomes[index] == .stored {
                guard try !connection.quarantine.contains(batch[index].sample.identity, inSeries: group.series) else { continue }
                refuse(Refusal(try refusal(ofForeign: index), at: batch[index].place))
                outcomes[index] = .refused
                foreign.insert(index)
            }
            group.rows.removeAll { outcomes[Int($0.index)] == .refused }
        }
        return foreign
    }
}

import HealthModel
import Pipeline

/// A connection to a database that the exporters of several hubs can share, one after the other.
package final class PostgreSQLSession {
    let settings: PostgreSQLSettings
    let schema: DatabaseSchema
    /// The checked connection, or `nil` if the next exporter has to open one.
    private(set) var connection: PostgreSQLConnection?
    /// The numbers of the hubs in the database, by their stores.
    private(set) var hubs: [String: Int32] = [:]
    /// Whether the table of samples is partitioned.
    private(set) var isPartitioned = false
    /// Whether rows can be copied straight into the table of samples.
    private(set) var hasOurTypes = false
    /// The columns that rows copied straight into the table of samples cannot lack.
    private(set) var requiredColumns = OptionalColumns.all
    /// Whether the open transaction has rows in its temporary tables.
    var hasTemporaryRows = false

    private var statistics = PartitionStatistics()
    private let days: DayComputer?
    /// Whether this session computes the statistics of days.
    var computesDays: Bool { days != nil }

    private static let maximumHubs = 10_000

    /// The command that creates the tables, or `nil` for that of a target.
    let creation: String?

    /// Creates a session without connecting.
    ///
    /// - Parameter days: Computes the statistics of days, or `nil` if another session does.
    package init(_ settings: PostgreSQLSettings, creation: String? = nil, days: DayComputer? = nil) {
        (self.settings, self.creation, self.days) = (settings, creation, days)
        schema = DatabaseSchema(name: settings.schema, people: settings.partitions, years: settings.years)
    }

    /// Keeps a checked connection.
    func begin(
        _ connection: PostgreSQLConnection, isPartitioned: Bool, hasOurTypes: Bool, requiredColumns: OptionalColumns
    ) {
        (self.connection, self.isPartitioned) = (connection, isPartitioned)
        (self.hasOurTypes, self.requiredColumns) = (hasOurTypes, requiredColumns)
    }

    /// Keeps the number of a hub.
    func enter(_ hub: Int32, of store: String) {
        if hubs.count >= Self.maximumHubs { hubs.removeAll() }
        hubs[store] = hub
    }

    /// Delivers the batches of several hubs in their order, in one transaction. Either all of them are stored or none.
    ///
    /// - Parameter group: The exporters of the hubs, which share this session, with a batch of each.
    /// - Returns: The number of changes of each batch that were left out because the operator has erased the person.
    package func deliver(_ group: [(exporter: PostgreSQLExporter, batch: PreparedBatch)]) throws(DeliveryError) -> [Int] {
        // A new hub gets its number in a transaction of its own.
        var writers: [(exporter: PostgreSQLExporter, batch: PreparedBatch, hub: Int32)] = []
        var locks = WriterLocks(schema: schema.name)
        for (exporter, batch) in group {
            let hub = try exporter.opened().hub
            writers.append((exporter, batch, hub))
            locks.add(store: exporter.context.store)
            for person in batch.people { locks.add(person: person) }
        }
        var leftOut: [Int] = []
        guard let connection else { return leftOut }
        do throws(DeliveryError) {
            try connection.run(PostgreSQLExporter.begin(locks))
            hasTemporaryRows = false
            for (exporter, batch, hub) in writers {
                if hasTemporaryRows {
                    try connection.run(
                        "DELETE FROM incoming; DELETE FROM incoming_object; DELETE FROM gone; DELETE FROM touched; DELETE FROM heir"
                    )
                    hasTemporaryRows = false
                }
                leftOut.append(try exporter.write(batch, connection, hub))
                if let mark = batch.mark { try exporter.enter(mark, connection, hub) }
            }
            try connection.run("COMMIT")
        } catch {
            // A COMMIT without an answer may have happened. Delivering again is safe.
            recover(from: error)
            // An administrator may have changed the tables since the session began.
            if error.kind == .refused { try group.first?.exporter.review() }
            // The same rows would fail for ever. If others are accepted, the hub sends the batch in halves and sets aside what is refused.
            guard connection.isUnclear, group.first?.exporter.acceptsDelivery == true else { throw error }
            throw DeliveryError(.refused, error.reason)
        }
        guard isPartitioned else { return leftOut }
        let changes = group.map(\.batch.changes).reduce(0, +)
        // The delivery is complete without it.
        do throws(DeliveryError) { try statistics.note(changes, connection, schema.name) } catch { end() }
        return leftOut
    }

    /// Computes days that are due, until some seconds have passed.
    ///
    /// - Parameter age: The time in seconds since the first mark of a day that is due.
    /// - Returns: Whether more may be due.
    package func computeDays(seconds: Int, after age: Int = 0) throws(DeliveryError) -> Bool {
        guard let days, let connection else { return false }
        let start = ContinuousClock.now
        do throws(DeliveryError) {
            while ContinuousClock.now - start < .seconds(seconds) {
                guard try DayRows(schema: schema.name).refresh(connection, days, after: age) else { return false }
            }
            return true
        } catch {
            recover(from: error)
            throw error
        }
    }

    /// Ends the open transaction after an error. If the server has refused the request, the connection is kept. Otherwise the next one finds out
    /// what is wrong.
    package func recover(from error: DeliveryError) {
        if error.kind != .refused || connection == nil || (try? connection?.run("ROLLBACK")) == nil { end() }
    }

    /// Closes the connection. A transaction that is open is rolled back.
    package func end() {
        connection = nil
        hubs.removeAll()
    }
}

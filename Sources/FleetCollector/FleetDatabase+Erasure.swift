import Pipeline
import PostgreSQLExport

/// Erasing a person at the center, without a hub.
extension FleetDatabase {
    /// Returns the number of rows of a person, and the names of the hubs that have sent them. Hubs that have not joined with a code have
    /// their store's identifier as name.
    package func contents(of person: String) throws(DeliveryError) -> (rows: Int, hubs: [String]) {
        let (rows, stores) = try PersonErasure(schema: schema).contents(of: person, connection)
        let names = Dictionary(try hubs().map { ($0.store, $0.name) }, uniquingKeysWith: { first, _ in first })
        return (rows, stores.map { names[$0] ?? $0 })
    }

    /// Erases everything about a person, and refuses later readings of the person. Either everything is erased or nothing.
    ///
    /// - Throws: ``DeliveryError`` if nothing was erased, such as when another session has locked the rows for longer than `lock_timeout`.
    package func erase(person: String) throws(DeliveryError) {
        try transaction { () throws(DeliveryError) in
            do throws(DeliveryError) {
                try PersonErasure(schema: schema).run(of: person, connection)
                // Commands that were carried out may name the person.
                try connection.run(
                    "DELETE FROM \(schema).fleet_order WHERE finished IS NOT NULL AND $1 = ANY(arguments)", [person])
            } catch {
                throw DeliveryError(error.kind, "nothing was erased: \(error.reason)", isLasting: error.isLasting)
            }
        }
    }

    /// Lets readings of an erased person be stored again.
    ///
    /// - Returns: Whether the person was erased.
    package func readmit(person: String) throws(DeliveryError) -> Bool {
        try transaction { () throws(DeliveryError) in try PersonErasure(schema: schema).undo(of: person, connection) }
    }
}

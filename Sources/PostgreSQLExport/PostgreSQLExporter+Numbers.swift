import Pipeline

/// The numbers of requests that have no mark, so that each is carried out once.
extension PostgreSQLExporter {
    /// Returns the number of this hub's next request.
    package func nextNumber() throws(DeliveryError) -> Int64 {
        let (connection, hub) = try opened()
        let found = try connection.run("SELECT requests FROM \(schema.name).hub WHERE id = \(hub)")
        guard let number = found.first?.first?.flatMap({ Int64($0) }) else {
            throw DeliveryError(.unreachable, "the hub has gone from the table \(schema.name).hub")
        }
        return number
    }

    /// Uses the number of a request, which is used even if the request fails.
    ///
    /// - Returns: `nil`, or the next number if this one is another.
    package func use(_ number: Int64) throws(DeliveryError) -> Int64? {
        let (connection, hub) = try opened()
        let used = try connection.run(
            "UPDATE \(schema.name).hub SET requests = requests + 1 WHERE id = \(hub) AND requests = $1::bigint RETURNING 1",
            ["\(number)"])
        return used.isEmpty ? try nextNumber() : nil
    }
}

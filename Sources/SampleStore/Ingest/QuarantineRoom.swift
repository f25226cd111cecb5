/// The room in quarantine, which each person has a share of.
///
/// A page of quarantined readings, their counts and the alerts become slower with their number, so a file or a client with millions of
/// impossible values would slow down everybody. Files can be imported again after the readings were judged, and clients can save again, so
/// further readings of these are refused. A device may not send its reading again, so a live reading always has room.
final class QuarantineRoom {
    /// The maximum number of quarantined readings of a person.
    static let defaultLimit = 100_000

    private let connection: Connection
    private let maximum: Int
    /// The readings by person.
    private var counts: [String: Int] = [:]

    /// - Parameter maximum: The maximum number of readings of a person.
    init(_ connection: Connection, maximum: Int = defaultLimit) { (self.connection, self.maximum) = (connection, maximum) }

    /// Whether a person has all readings of the share.
    func isFull(for person: String) throws(StoreError) -> Bool {
        if let count = counts[person] { return count >= maximum }
        let count = try connection.quarantine.quarantinedCounts(of: person).values.reduce(0, +)
        counts[person] = count
        return count >= maximum
    }

    /// Counts a reading that was added.
    func count(for person: String) { counts[person, default: 0] += 1 }

    /// Counts again, after a transaction failed.
    func forget() { counts.removeAll() }
}

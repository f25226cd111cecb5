/// The room in quarantine, which each person has a share of.
///
/// A page of quarantined readings, their counts and the alerts become slower with their number, so a file or a client with millions of
/// impossible values would slow down everybody. Files can be imported again after the readings were judged, and clients can save again, so
/// further readings of these are refused. A device may not send its reading again, so a live reading always has room.
final class QuarantineRoom {
    /// The maximum number of quarantined readings of a person.
    static let usual = 100_000

    private let connection: Connection
    private let most: Int
    /// The readings by person.
    private var counts: [String: Int] = [:]

    /// - Parameter most: The maximum number of readings of a person.
    init(_ connection: Connection, most: Int = usual) { (self.connection, self.most) = (connection, most) }

    /// Whether a person has all readings of the share.
    func isFull(for subject: String) throws(StoreError) -> Bool {
        if let count = counts[subject] { return count >= most }
        let count = try connection.quarantine.heldCounts(of: subject).values.reduce(0, +)
        counts[subject] = count
        return count >= most
    }

    /// Counts a reading that was added.
    func count(for subject: String) { counts[subject, default: 0] += 1 }

    /// Counts again, after a transaction failed.
    func forget() { counts.removeAll() }
}

import HealthModel
import Pipeline

extension SampleStore.Quarantine {
    /// If a profile has more quarantined rows than this, the older ones are left to a person.
    private static let maximumProvisional: Int64 = 256

    /// Returns the texts of a person's quarantined rows that may be incomplete, from files that a profile read, latest first. Only a file
    /// of the same person can complete them.
    public func provisionalRows(of profile: String, person: String) throws(StoreError) -> [(number: Int64, text: String)] {
        try connection.quarantine.frames(
            quarantinedBy: GateRule.provisional.name, profile: profile, of: person, limit: Self.maximumProvisional)
    }
}

extension Ingest {
    /// Releases quarantined rows that arrived again as complete rows, which are readings of their own. Used inside the transaction that
    /// stores them.
    public func release(_ provisional: [Int64]) throws(StoreError) {
        let quarantine = connection.quarantine
        for number in provisional where try quarantine.isQuarantined(number) {
            try quarantine.decide([number], "released", by: id)
        }
    }
}

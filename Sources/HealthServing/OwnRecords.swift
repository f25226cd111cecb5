import HealthModel
import SampleStore

/// A person's data besides samples: goals, notes, alerts, quarantined readings, grants. The tables of these have no
/// restricted view, so each answer here is limited to the person by its query. Nothing else of the unrestricted reader can be reached.
package struct OwnRecords {
    private let reader: Reader
    package let person: String

    init(_ reader: Reader, of person: String) { (self.reader, self.person) = (reader, person) }

    private var store: SampleStore { reader.store }

    /// The person's name, or an empty text.
    package func name() throws -> String { try store.people.names()[person] ?? "" }
    package func characteristics() throws -> CharacteristicHistory { try store.people.characteristics(of: person) }
    package func medications() throws -> [UserAnnotatedMedication] { try store.people.medications(of: person) }
    package func goals() throws -> [SampleType: Goal] { try store.people.goals(of: person) }
    package func todayLayout() throws -> TodayLayout { try store.people.todayLayout(of: person) }
    /// The person's notes on a range of days.
    package func annotations(from first: String, through last: String) throws -> [Annotation] {
        try store.people.annotations(of: person, from: first, through: last)
    }

    // MARK: Alerts

    package func alerts() throws -> [Alert] { try store.alerts.all(of: person) }
    package func alertHistory(limit: Int) throws -> [AlertEpisode] { try store.alerts.history(of: person, limit: limit) }
    /// The adopted devices whose readings are the person's.
    package func devices() throws -> [AdoptedDevice] { try store.devices.adopted(usedBy: person) }
    /// The names of the devices in the person's alerts, by their addresses.
    package func alertDevices() throws -> [String: String] {
        let addresses = Set(try alerts().compactMap(\.device))
        return addresses.isEmpty ? [:] : try store.devices.names().filter { addresses.contains($0.key) }
    }
    /// The receivers of everybody's alerts, which belong to the hub.
    package func alertReceivers() throws -> [AlertReceiver] { try store.alerts.receivers() }

    // MARK: Readings outside the samples

    package func quarantineCounts() throws -> [SampleType: Int] { try store.quarantine.counts(of: person) }
    /// The quarantined readings, the oldest first.
    package func quarantined(limit: Int) throws -> [QuarantinedSample] { try store.quarantine.all(of: person, limit: limit) }
    /// The deleted samples that can be restored, the last deletion first.
    package func restorable(limit: Int) throws -> [RestorableSample] { try store.samples.restorable(of: person, limit: limit) }
    /// A deleted sample, or `nil` if the person has none with this UUID.
    package func deletedSample(_ uuid: SampleIdentity) throws -> StoredSample? {
        guard case .deleted(let stored, _)? = try store.samples.lookup(uuid), stored.sample.origin.person == person else {
            return nil
        }
        return stored
    }
    /// The known suspicious readings, brought up to date.
    package func suspicions(after known: KnownSuspicions) throws -> KnownSuspicions {
        var known = known
        try store.repairs.update(&known, of: person)
        return known
    }

    /// The dismissed suspicions with their series.
    package func dismissals() throws -> [(dismissal: Dismissal, series: SeriesDescription)] {
        try store.samples.series(matching: SampleQuery(person: person)).flatMap { series in
            try store.repairs.dismissals(of: series.id).map { ($0, series) }
        }
    }

    // MARK: Clients

    /// The clients that have asked the person for access or have it. The owner of the hub sees all of them.
    package func clients() throws -> [Client] {
        let all = try store.clients.all()
        return person == store.owner ? all : try all.filter { try store.clients.isKnown($0, to: person) }
    }
    package func openRequest(of client: Client) throws -> AuthorizationRequest? {
        try store.clients.openRequests(of: client).first { $0.person == person }
    }
    package func refusedRequest(of client: Client) throws -> AuthorizationRequest? {
        try store.clients.refusedRequests(of: client).first { $0.person == person }
    }
    package func grants(of client: Client) throws -> [Grant] {
        try store.clients.grants(of: client).filter { $0.person == person }
    }
    package func readLedger(of client: Client) throws -> [ReadEntry] {
        try store.clients.readLedger(of: client).filter { $0.person == person }
    }
}

/// The authority of the store's owner, who sees the whole hub: all people's names, devices, files and targets. It can be made only from a
/// session of the owner.
package struct OwnerAuthority {
    /// Returns `nil` if the session belongs to somebody else.
    package init?(_ session: PageSession?, of core: ServiceCore) {
        guard let session, session.person == core.owner else { return nil }
    }
}

/// Looks up tokens, sessions and codes. It is the only use of an unrestricted reader before the user is authenticated.
package struct Authentication {
    private let readers: ReaderPool

    init(_ readers: ReaderPool) { self.readers = readers }

    private func look<Value>(_ body: (SampleStore) throws -> Value) throws -> Value {
        let reader = try readers.lendUnrestricted()
        // A reader returns to the pool when its last reference ends, which may be before its last query has finished.
        return try withExtendedLifetime(reader) { try body(reader.store) }
    }

    /// The client of a token, or `nil` if the token is invalid or expired.
    package func client(bearing token: String, at now: Instant) throws -> Client? {
        try look { try $0.clients.client(bearing: token, at: now) }
    }
    /// The session of a browser's token, or `nil` if the token is invalid or expired.
    package func session(bearing token: String, at now: Instant) throws -> PageSession? {
        try look { try $0.pageSessions.session(bearing: token, at: now) }
    }
    package func isCode(_ code: String, at now: Instant) throws -> Bool { try look { try $0.pageSessions.isCode(code, at: now) } }
}

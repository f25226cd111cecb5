import HealthModel
import Pipeline
import SampleStore

/// Changes of a person's data, on behalf of this person. A reference in a request leads only to the person's own data here, whatever the
/// page has checked before. The store itself cannot be reached.
package struct OwnChanges {
    private let store: SampleStore
    package let person: String
    private let isByOwner: Bool

    init(_ store: SampleStore, of person: String, isByOwner: Bool) {
        (self.store, self.person, self.isByOwner) = (store, person, isByOwner)
    }

    // MARK: Samples

    /// Adds a reading that was entered by hand.
    package func add(_ entry: HandEntry, at now: Instant) throws -> SampleStore.Samples.HandResult {
        try store.samples.add(own(entry), received: now)
    }

    /// Corrects samples of one measurement.
    ///
    /// - Returns: The UUID of the first new sample, or `nil` if a sample is not the person's.
    package func correct(_ uuids: [SampleIdentity], with correction: Correction, at now: Instant) throws -> SampleIdentity? {
        for uuid in uuids { guard try isLive(uuid) else { return nil } }
        return try store.samples.correct(uuids, with: correction, received: now).samples.first?.identity
    }

    /// Undoes a correction.
    ///
    /// - Returns: The restored samples, or `nil` if the sample is not the person's.
    package func undoCorrection(_ uuid: SampleIdentity, at now: Instant) throws -> [SampleIdentity]? {
        guard try isLive(uuid) else { return nil }
        return try store.samples.undoCorrection(uuid, received: now)
    }

    /// Deletes a sample, and its parts if requested. Returns `false` if the sample is not the person's.
    package func delete(_ uuid: SampleIdentity, withParts: Bool, at now: Instant) throws -> Bool {
        guard try isLive(uuid) else { return false }
        _ = try store.samples.delete([uuid], withObjects: withParts, description: description(.delete, now))
        return true
    }

    /// Restores a deleted sample with the parts that were deleted with it. Returns `false` if the sample is not the person's.
    package func restore(_ uuid: SampleIdentity, at now: Instant) throws -> Bool {
        guard case .deleted(let stored, _)? = try store.samples.lookup(uuid), stored.sample.origin.person == person else {
            return false
        }
        _ = try store.samples.restore([uuid], withObjects: true, description: description(.restore, now))
        return true
    }

    /// Accepts or rejects a quarantined reading. Returns `false` if the person has no quarantined reading with this UUID.
    package func decide(_ uuid: SampleIdentity, accepting: Bool, at now: Instant) throws -> Bool {
        guard let entry = try store.quarantine.sample(uuid), entry.stored.sample.origin.person == person,
            entry.state == "held"
        else { return false }
        if accepting {
            _ = try store.quarantine.accept([entry.id], description: description(.accept, now))
        } else {
            _ = try store.quarantine.reject([entry.id], description: description(.reject, now))
        }
        return true
    }

    /// Repairs samples of the person. Only the owner of the hub can assign them to another person.
    package func apply(_ request: RepairRequest) throws {
        var request = request
        request.conditions.person = person
        if case .person = request.repair, !isByOwner {
            throw StoreError(.invalid, "only the owner of the hub can assign readings to another person")
        }
        _ = try store.repairs.apply(request)
    }

    /// Dismisses a suspicion of the person's readings.
    package func dismiss(_ suspicion: Suspicion) throws {
        guard suspicion.series.person == person else { return }
        try store.repairs.dismiss(suspicion)
    }

    /// Removes a dismissal of the person's readings.
    package func remove(_ dismissal: Dismissal, of series: SeriesDescription) throws {
        guard series.person == person, dismissal.series == series.id else { return }
        try store.repairs.remove(dismissal)
    }

    private func isLive(_ uuid: SampleIdentity) throws -> Bool {
        try store.samples.sample(uuid)?.sample.origin.person == person
    }

    private func own(_ entry: HandEntry) -> HandEntry {
        var entry = entry
        entry.person = person
        return entry
    }

    private func description(_ kind: IngestKind, _ now: Instant) -> IngestDescription {
        var description = IngestDescription(kind: kind, received: now.microseconds, isOfMember: !isByOwner)
        if !isByOwner { description.people = [person] }
        return description
    }

    // MARK: Data besides samples

    package func save(_ layout: TodayLayout) throws { try store.people.save(layout, of: person) }
    package func save(_ goal: Goal) throws { try store.people.save(goal, of: person) }
    package func removeGoal(_ type: SampleType) throws -> Bool { try store.people.removeGoal(type, of: person) }
    package func annotate(day: String, tags: [String], note: String) throws {
        try store.people.annotate(person, day: day, tags: tags, note: note)
    }
    package func removeAnnotation(_ id: Int64) throws -> Bool { try store.people.removeAnnotation(id, of: person) }

    package func addAlert(
        _ type: SampleType, _ condition: Alert.Condition, bound: Double, device: String?, timing: AlertTiming, at now: Instant
    ) throws {
        try store.alerts.add(of: person, type: type, condition, bound: bound, device: device, timing: timing, at: now)
    }
    package func removeAlert(_ id: Int64) throws -> Bool { try store.alerts.remove(id, of: person) }
    package func acknowledgeAlert(_ id: Int64, at now: Instant) throws {
        try store.alerts.acknowledge(id, of: person, at: now)
    }

    // MARK: Clients

    /// Replaces a client's permissions for the person's data. See `SampleStore.Clients.set`.
    package func set(
        _ grant: Grant, objects: [SampleIdentity], accesses: Set<Grant.Access>, of client: Client, at now: Instant
    ) throws {
        var grant = grant
        grant.person = person
        try store.clients.set(grant, objects: objects, accesses: accesses, of: client, at: now)
    }

    // MARK: Sessions

    /// Shows the data of the person who logged in again, in a session that was switched to another person. Returns `false` if the
    /// session was not switched.
    package func showOpener(in session: PageSession) throws -> Bool {
        guard session.person == person, let opener = session.opener else { return false }
        try store.pageSessions.show(opener, in: session)
        return true
    }

    package func end(_ session: PageSession) throws {
        guard session.person == person else { return }
        try store.pageSessions.end(session.id)
    }
}

/// Changes of the hub itself: its people, devices and repairs. Only the owner of the hub can make them.
package struct HubChanges {
    private let store: SampleStore

    init(_ store: SampleStore) { self.store = store }

    package func people() throws -> [Person] { try store.people.all() }
    /// Adds a person, or gives a known person another name.
    package func save(_ person: Person) throws { try store.people.save(person) }

    /// A new login code for a person, or `nil` if there is no such person.
    package func makeCode(for person: String, at now: Instant) throws -> (name: String, code: String)? {
        guard person != Origin.unassigned, let name = try store.people.names()[person] else { return nil }
        return (name, try store.pageSessions.makeCode(for: person, at: now))
    }

    /// Shows the data of another person in a session. Returns `false` if the person does not exist.
    package func show(_ person: String, in session: PageSession) throws -> Bool {
        guard person != Origin.unassigned, try store.people.names()[person] != nil else { return false }
        try store.pageSessions.show(person, in: session)
        return true
    }

    /// Assigns a device to a person. Returns `false` if there is no such person.
    package func assign(device address: String, to person: String) throws -> Bool {
        guard try store.people.names()[person] != nil else { return false }
        try store.devices.assign(device: address, to: person)
        return true
    }

    package func undoRepair(_ number: Int64, at now: Instant) throws { try store.repairs.undo(number, at: now) }
}

/// Changes on behalf of a client: its own objects and its own requests for access.
package struct ClientChanges {
    private let store: SampleStore
    private let client: Client

    init(_ store: SampleStore, by client: Client) { (self.store, self.client) = (store, client) }

    /// The person that the store belongs to.
    package var owner: String { store.owner }

    /// Stores samples. See `SampleStore.Clients.save`.
    package func save(
        _ samples: [GatedSample], _ request: ClientRequest, at now: Instant, within day: Range<Int64>
    ) throws(ClientWriteError) -> [SampleOutcome] {
        try store.clients.save(samples, by: client, request, at: now, within: day)
    }

    /// Deletes an object that the client saved. See `SampleStore.Clients.delete`.
    package func delete(_ uuid: SampleIdentity, at now: Instant, where condition: (Sample) throws -> Void) throws -> Bool {
        try store.clients.delete(uuid, by: client, at: now, where: condition)
    }

    // MARK: Samples that a phone writes

    /// The client as a phone, or `nil` if its grants do not show whose phone it is.
    package func phone(_ store: PhoneStore) throws -> WriteBackPhone? { try self.store.writeBack.phone(client, store) }
    /// The position in the changes up to which they are noted for the phone.
    package func writeBackAnchor() throws -> String? { try store.writeBack.anchor(of: client) }
    package func lastWriteBackVersion() throws -> Int64 { try store.writeBack.lastVersion(of: client) }
    /// Notes which records the phone must have. See `SampleStore.WriteBack.note`.
    package func note(
        _ changes: [SampleChange], for phone: WriteBackPhone, from earlier: String?, to anchor: String, at now: Instant
    ) throws -> Bool {
        try store.writeBack.note(changes, for: phone, from: earlier, to: anchor, at: now)
    }
    package func restart(_ phone: WriteBackPhone, after version: Int64, at now: Instant) throws {
        try store.writeBack.restart(phone, after: version, at: now)
    }
    package func page(for phone: WriteBackPhone, limit: Int) throws -> (items: [WriteBackItem], isCut: Bool) {
        try store.writeBack.page(for: phone, limit: limit)
    }
    package func acknowledge(
        _ reports: [WriteBackReport], from sources: [String]?, for phone: WriteBackPhone, at now: Instant
    ) throws -> [WriteBackAnswer] {
        try store.writeBack.acknowledge(reports, from: sources, for: phone, at: now)
    }

    // MARK: Requests

    package func openRequests() throws -> [AuthorizationRequest] { try store.clients.openRequests(of: client) }
    package func requiredTypes() throws -> Set<ObjectType>? { try store.clients.requiredTypes(of: client) }
    package func setRequiredTypes(_ types: Set<ObjectType>) throws { try store.clients.setRequiredTypes(types, of: client) }
    package func request(_ request: AuthorizationRequest, at now: Instant) throws {
        try store.clients.request(request, for: client, at: now)
    }
    package func status(of request: AuthorizationRequest) throws -> RequestStatus {
        try store.clients.status(of: request, for: client)
    }
    package func require(_ types: Set<ObjectType>, of person: String) throws {
        try store.clients.require(types, of: person, for: client)
    }
}

extension ServiceCore {
    package func changes(of session: PageSession) throws -> OwnChanges {
        OwnChanges(try writable(), of: session.person, isByOwner: session.person == owner)
    }

    /// The changes that the owner of the hub makes for another person.
    package func changes(of person: String, by owner: OwnerAuthority) throws -> OwnChanges {
        OwnChanges(try writable(), of: person, isByOwner: true)
    }

    /// The changes of the hub itself.
    package func hubChanges(by owner: OwnerAuthority) throws -> HubChanges { HubChanges(try writable()) }

    /// Extends a session that is in use. Returns whether it was extended.
    package func renew(_ session: PageSession, at now: Instant) throws -> Bool {
        // Most requests open no connection for writing.
        guard SampleStore.PageSessions.isDue(session, at: now) else { return false }
        return try writable().pageSessions.renew(session, at: now)
    }

    /// Opens a session with a code. Returns its token, or `nil` if the code is invalid.
    package func open(withCode code: String, at now: Instant) throws -> String? {
        try writable().pageSessions.open(with: code, at: now)?.token
    }

    private func writable() throws -> SampleStore { try SampleStore(path: settings.store, access: .write) }
}

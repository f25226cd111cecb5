import HealthModel

/// A person whose readings are stored. The name is for display and is stored only here. Samples contain the UUID.
public struct Person: Hashable, Sendable {
    public var id: String
    public var name: String

    /// Creates a person.
    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// Whether a text can be the name of a new person: one line that cannot be mistaken for an option, a UUID, or a reserved word.
    public static func isName(_ name: String) -> Bool {
        let isReserved = name == "me" || name == Origin.unassigned || UUIDText.isValid(name)
        return !name.isEmpty && name.utf8.count <= SampleStore.People.maximumNameLength && !isReserved && !name.hasPrefix("-")
            && !name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } && name.first?.isWhitespace == false
            && name.last?.isWhitespace == false
    }
}

extension SampleStore.People {
    /// The maximum length of a name in bytes.
    public static let maximumNameLength = 200

    /// Returns the people who have names, ordered by name.
    public func all() throws(StoreError) -> [Person] {
        try connection.list("SELECT subject, name FROM person ORDER BY name") { Person(id: $0.text(0), name: $0.text(1)) }
    }

    /// Returns the display names by subject. The store's own person is `me` if no other name was set.
    public func names() throws(StoreError) -> [String: String] {
        var names = [store.owner: "me", Origin.unassigned: Origin.unassigned]
        for person in try all() { names[person.id] = person.name }
        return names
    }

    /// Sets or changes a person's name.
    ///
    /// - Throws: ``StoreError`` if the name is already taken. The error does not contain the name.
    public func save(_ person: Person) throws {
        try connection.transaction {
            let other = try connection.text("SELECT subject FROM person WHERE name = ?", .text(person.name))
            guard other == nil || other == person.id else {
                throw StoreError(.invalid, "that name is already taken")
            }
            try connection.run(
                "INSERT INTO person(subject, name) VALUES(?, ?) ON CONFLICT(subject) DO UPDATE SET name = excluded.name",
                .text(person.id), .text(person.name))
        }
    }

    /// Removes a person's name, and ends their sessions of the page and their codes. The samples stay.
    ///
    /// - Throws: ``StoreError`` if the person does not exist or still has devices assigned.
    public func forget(person: String) throws {
        try connection.transaction {
            guard try !store.devices.isUser(person), try person == self.store.owner || !store.devices.isOwner(person) else {
                throw StoreError(.invalid, "devices are assigned to this person: see 'vitalgate devices list'")
            }
            try connection.run("DELETE FROM person WHERE subject = ?", .text(person))
            guard connection.changes > 0 else { throw StoreError(.invalid, "there is no such person") }
            // The owner's page stays open: the store belongs to the owner, with or without a name.
            if person != store.owner { try store.pageSessions.end(of: person) }
        }
    }

    /// Assigns samples, and all samples of the same frames, to a person. This is a repair that can be undone.
    ///
    /// - Parameter source: The component that requests the change, if no person does.
    /// - Returns: The number of reassigned samples and the number of the repair, which is nil if nothing changed.
    /// - Throws: ``StoreError`` if a UUID is not that of a sample.
    public func assign(
        _ uuids: [SampleIdentity], to person: String, now: Instant, owner: String? = nil, source: String? = nil
    ) throws -> (count: Int, repairID: Int64?) {
        var members: Set<SampleIdentity> = []
        var (first, last) = (Instant(microseconds: .max), Instant(microseconds: .min))
        var types: Set<SampleType> = []
        for uuid in uuids {
            guard let found = try store.samples.sample(uuid)?.sample else {
                throw StoreError(.invalid, "there is no sample \(uuid)")
            }
            for each in try together(with: found) {
                members.insert(each.identity)
                types.insert(each.origin.type)
                (first, last) = (min(first, each.start), max(last, each.start))
            }
        }
        var conditions = SampleConditions(types: types)
        conditions.samples = members
        conditions.from = first
        conditions.to = Instant(microseconds: last.microseconds &+ 1)
        var request = RepairRequest(.person(person), of: conditions, now: now)
        // The user named each sample, so a reading that the person already has counts as the same one.
        request.merging = .atMost(.max)
        let done = try store.repairs.apply(request, source: source, owner: owner)
        return (done.plan.repaired + done.plan.merged, done.repairID)
    }

    /// Returns all samples of the sample's frame.
    func together(with sample: Sample) throws -> [Sample] {
        guard let group = sample.group else { return [sample] }
        let query = SampleQuery(
            .and([
                .comparison(.start, .equal, .instant(sample.start)), .person(sample.origin.person),
                .comparison(.group, .equal, .text(Sample.groupText(group))),
            ]))
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var members: [Sample] = []
        while let next = try cursor.next() { members.append(next.sample) }
        return members
    }
}

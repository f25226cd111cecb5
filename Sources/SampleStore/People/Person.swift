import HealthModel

/// A person whose readings are stored. The name is for display and is stored only here. Samples contain the UUID.
public struct Person: Hashable, Sendable {
    public var subject: String
    public var name: String

    /// Creates a person.
    public init(subject: String, name: String) {
        self.subject = subject
        self.name = name
    }
}

/// One of the people who share a scale, identified by weight.
public struct SharedUse: Hashable, Sendable {
    public var subject: String
    /// The range of weights in kilograms.
    public var weights: ClosedRange<Double>

    /// Creates a shared use.
    public init(subject: String, weights: ClosedRange<Double>) {
        self.subject = subject
        self.weights = weights
    }
}

/// A user that a device identifies by its own number, such as a user of a scale.
public struct ScaleUser: Hashable, Sendable {
    /// The device's number, 1 to 254.
    public var number: Int
    /// The person's subject.
    public var subject: String
    /// The consent code that the device requires before it sends this user's measurements, 0 to 65535, or nil if it requires none.
    public var consent: Int?

    /// Creates a user.
    public init(number: Int, subject: String, consent: Int? = nil) {
        self.number = number
        self.subject = subject
        self.consent = consent
    }
}

extension SampleStore {
    /// The maximum length of a name in bytes.
    public static let longestName = 200

    /// Returns the people who have names, ordered by name.
    public func persons() throws(StoreError) -> [Person] {
        let statement = try connection.statement("SELECT subject, name FROM person ORDER BY name")
        defer { statement.reset() }
        var persons: [Person] = []
        while try statement.step() { persons.append(Person(subject: statement.text(0), name: statement.text(1))) }
        return persons
    }

    /// Returns the display names by subject. The store's own person is `me` if no other name was set.
    public func personNames() throws(StoreError) -> [String: String] {
        var names = [subject: "me", Origin.unassigned: Origin.unassigned]
        for person in try persons() { names[person.subject] = person.name }
        return names
    }

    /// Sets or changes a person's name.
    ///
    /// - Throws: ``StoreError`` if the name is already taken. The error does not contain the name.
    public func save(_ person: Person) throws {
        try connection.transaction {
            let other = try connection.text("SELECT subject FROM person WHERE name = ?", .text(person.name))
            guard other == nil || other == person.subject else {
                throw StoreError(.invalid, "somebody else has this name")
            }
            try connection.run(
                "INSERT INTO person(subject, name) VALUES(?, ?) ON CONFLICT(subject) DO UPDATE SET name = excluded.name",
                .text(person.subject), .text(person.name))
        }
    }

    /// Removes a person's name. The samples stay.
    ///
    /// - Throws: ``StoreError`` if the person does not exist or still has devices assigned.
    public func forget(person subject: String) throws {
        try connection.transaction {
            let devices = try connection.integer(
                """
                SELECT (SELECT count(*) FROM shared_use WHERE subject = ?1) + (SELECT count(*) FROM scale_user WHERE subject = ?1)
                    + (SELECT count(*) FROM device WHERE subject = ?1 AND subject <> ?2)
                """, .text(subject), .text(self.subject))
            guard devices == 0 else {
                throw StoreError(.invalid, "devices are assigned to this person: 'vitalgate devices list' shows them")
            }
            try connection.run("DELETE FROM person WHERE subject = ?", .text(subject))
            guard connection.changes > 0 else { throw StoreError(.invalid, "there is no such person") }
        }
    }

    /// Returns the people who share a device.
    public func sharedUses(of address: String) throws(StoreError) -> [SharedUse] {
        let statement = try connection.statement(
            "SELECT subject, low, high FROM shared_use WHERE address = ? ORDER BY low, high, subject")
        defer { statement.reset() }
        try statement.bind([.text(address)])
        var uses: [SharedUse] = []
        while try statement.step() {
            uses.append(
                SharedUse(
                    subject: statement.text(0),
                    weights: statement.real(1)...max(statement.real(1), statement.real(2))))
        }
        return uses
    }

    /// Returns the users that a device numbers itself.
    public func scaleUsers(of address: String) throws(StoreError) -> [ScaleUser] {
        let statement = try connection.statement(
            "SELECT number, subject, consent FROM scale_user WHERE address = ? ORDER BY number")
        defer { statement.reset() }
        try statement.bind([.text(address)])
        var users: [ScaleUser] = []
        while try statement.step() {
            users.append(
                ScaleUser(
                    number: Int(statement.integer(0)), subject: statement.text(1),
                    consent: statement.optionalInteger(2).map(Int.init)))
        }
        return users
    }

    /// Removes the people who share a device and the users that it numbers.
    func forgetUsers(of address: String) throws {
        try connection.run("DELETE FROM shared_use WHERE address = ?", .text(address))
        try connection.run("DELETE FROM scale_user WHERE address = ?", .text(address))
    }

    /// Assigns a device's readings to one person, or to the people identified by weight or user number. A running hub applies the change
    /// when it reads its settings again.
    ///
    /// - Throws: ``StoreError`` if no device has this address.
    public func assign(
        device address: String, to subject: String, sharedBy uses: [SharedUse] = [], users: [ScaleUser] = []
    ) throws {
        try connection.transaction {
            try connection.run("UPDATE device SET subject = ? WHERE address = ?", .text(subject), .text(address))
            guard connection.changes > 0 else { throw StoreError(.invalid, "no device \(address) is adopted") }
            try forgetUsers(of: address)
            for user in users {
                try connection.run(
                    "INSERT INTO scale_user(address, number, subject, consent) VALUES(?, ?, ?, ?)", .text(address),
                    .integer(Int64(user.number)), .text(user.subject), .optional(user.consent.map(Int64.init)))
            }
            for use in uses {
                try connection.run(
                    "INSERT INTO shared_use(address, subject, low, high) VALUES(?, ?, ?, ?)", .text(address),
                    .text(use.subject), .real(use.weights.lowerBound), .real(use.weights.upperBound))
            }
        }
    }

    /// Assigns samples, and all samples of the same frames, to a person. This is a repair that can be undone.
    ///
    /// - Parameter source: The component that requests the change, if no person does.
    /// - Returns: The number of reassigned samples and the number of the repair, which is nil if nothing changed.
    /// - Throws: ``StoreError`` if a UUID is not that of a sample.
    public func assign(
        _ uuids: [SampleIdentity], to subject: String, now: Instant, owner: String? = nil, source: String? = nil
    ) throws -> (count: Int, migration: Int64?) {
        var members: Set<SampleIdentity> = []
        var (first, last) = (Instant(microseconds: .max), Instant(microseconds: .min))
        var types: Set<SampleType> = []
        for uuid in uuids {
            guard let found = try sample(uuid)?.sample else { throw StoreError(.invalid, "there is no sample \(uuid)") }
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
        var request = MigrationRequest(.subject(subject), of: conditions, now: now)
        // The user named each sample, so a reading that the person already has counts as the same one.
        request.merging = .atMost(.max)
        let done = try migrate(request, source: source, owner: owner)
        return (done.plan.repaired + done.plan.merged, done.migration)
    }

    /// Returns all samples of the sample's frame.
    private func together(with sample: Sample) throws -> [Sample] {
        guard let group = sample.group else { return [sample] }
        let query = SampleQuery(
            .and([
                .comparison(.start, .equal, .instant(sample.start)), .subject(sample.origin.subject),
                .comparison(.group, .equal, .text(Sample.groupText(group))),
            ]))
        let cursor = try samples(matching: query)
        defer { cursor.close() }
        var members: [Sample] = []
        while let next = try cursor.next() { members.append(next.sample) }
        return members
    }
}

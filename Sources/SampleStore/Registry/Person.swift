import HealthModel

/// Somebody whose readings are kept. The name is for people and is nowhere but here; samples have the UUID.
public struct Person: Hashable, Sendable {
    public var subject: String
    public var name: String

    /// Puts it together.
    public init(subject: String, name: String) {
        self.subject = subject
        self.name = name
    }
}

/// One person among those who share a scale, told by the weight.
public struct SharedUse: Hashable, Sendable {
    public var subject: String
    /// Kilograms.
    public var weights: ClosedRange<Double>

    /// Puts it together.
    public init(subject: String, weights: ClosedRange<Double>) {
        self.subject = subject
        self.weights = weights
    }
}

/// A user whom a device numbers itself, such as the users of a scale.
public struct ScaleUser: Hashable, Sendable {
    /// The device's number, 1 to 254.
    public var number: Int
    /// Who that is.
    public var subject: String
    /// What the device wants before it tells this user's measurements, 0 to 65535; nil where it asks for nothing.
    public var consent: Int?

    /// Puts it together.
    public init(number: Int, subject: String, consent: Int? = nil) {
        self.number = number
        self.subject = subject
        self.consent = consent
    }
}

extension SampleStore {
    /// The longest name, in octets.
    public static let longestName = 200

    /// Those who have names, by name.
    public func persons() throws(StoreError) -> [Person] {
        let statement = try connection.statement("SELECT subject, name FROM person ORDER BY name")
        defer { statement.reset() }
        var persons: [Person] = []
        while try statement.step() { persons.append(Person(subject: statement.text(0), name: statement.text(1))) }
        return persons
    }

    /// What people are called, by subject: the store's own person `me`, where there is no name.
    public func personNames() throws(StoreError) -> [String: String] {
        var names = [subject: "me", Origin.unassigned: Origin.unassigned]
        for person in try persons() { names[person.subject] = person.name }
        return names
    }

    /// Gives a person a name, or another one.
    ///
    /// - Throws: ``StoreError`` where somebody else has the name; it is not in the error.
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

    /// Forgets a person's name; the samples stay.
    ///
    /// - Throws: ``StoreError`` where there is no such person, or a device is still theirs.
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

    /// Who shares a device.
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

    /// The users whom a device numbers itself.
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

    /// Forgets who shares a device, and the users whom it numbers.
    func forgetUsers(of address: String) throws {
        try connection.run("DELETE FROM shared_use WHERE address = ?", .text(address))
        try connection.run("DELETE FROM scale_user WHERE address = ?", .text(address))
    }

    /// Says whose a device's readings are: one person's, or those of the people whose weights or whose numbers are told. Running hubs hear of it
    /// when they read their settings again.
    ///
    /// - Throws: ``StoreError`` where no device has this address.
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

    /// Gives samples to a person, with all that was measured together with them: a correction, which can be undone.
    ///
    /// - Parameter source: what asks for it, where no person does.
    /// - Returns: how many samples are another person's now, and the repair's number; none where there was nothing to do.
    /// - Throws: ``StoreError`` where one of the UUIDs is no sample's.
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
        // Each of them was named: where the person has the reading already, it is that one.
        request.merging = .atMost(.max)
        let done = try migrate(request, source: source, owner: owner)
        return (done.plan.repaired + done.plan.merged, done.migration)
    }

    /// All samples of its frame.
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

import HealthModel

/// One of the people who share a scale, identified by weight.
public struct SharedUse: Hashable, Sendable {
    public var person: String
    /// The range of weights in kilograms.
    public var weights: ClosedRange<Double>

    /// Creates a shared use.
    public init(person: String, weights: ClosedRange<Double>) {
        self.person = person
        self.weights = weights
    }
}

/// A user that a device identifies by its own number, such as a user of a scale.
public struct ScaleUser: Hashable, Sendable {
    /// The device's number, 1 to 254.
    public var number: Int
    /// The person's subject.
    public var person: String
    /// The consent code that the device requires before it sends this user's measurements, 0 to 65535, or nil if it requires none.
    public var consent: Int?

    /// Creates a user.
    public init(number: Int, person: String, consent: Int? = nil) {
        self.number = number
        self.person = person
        self.consent = consent
    }
}

extension SampleStore.Devices {
    /// Returns the people who share a device.
    public func sharedUses(of address: String) throws(StoreError) -> [SharedUse] {
        try connection.list(
            "SELECT subject, low, high FROM shared_use WHERE address = ? ORDER BY low, high, subject", [.text(address)]
        ) {
            SharedUse(
                person: $0.text(0),
                weights: $0.real(1)...max($0.real(1), $0.real(2)))
        }
    }

    /// Returns the users that a device numbers itself.
    public func scaleUsers(of address: String) throws(StoreError) -> [ScaleUser] {
        try connection.list("SELECT number, subject, consent FROM scale_user WHERE address = ? ORDER BY number", [.text(address)])
        {
            ScaleUser(
                number: Int($0.integer(0)), person: $0.text(1),
                consent: $0.optionalInteger(2).map(Int.init))
        }
    }

    /// Whether a person shares a device or is a user that one numbers.
    func isUser(_ person: String) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM shared_use WHERE subject = ?1 UNION ALL SELECT 1 FROM scale_user WHERE subject = ?1 LIMIT 1",
            .text(person)) != nil
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
        device address: String, to person: String, sharedBy uses: [SharedUse] = [], users: [ScaleUser] = []
    ) throws {
        try connection.transaction {
            try set(owner: person, of: address)
            try forgetUsers(of: address)
            for user in users {
                try connection.run(
                    "INSERT INTO scale_user(address, number, subject, consent) VALUES(?, ?, ?, ?)", .text(address),
                    .integer(Int64(user.number)), .text(user.person), .optional(user.consent.map(Int64.init)))
            }
            for use in uses {
                try connection.run(
                    "INSERT INTO shared_use(address, subject, low, high) VALUES(?, ?, ?, ?)", .text(address),
                    .text(use.person), .real(use.weights.lowerBound), .real(use.weights.upperBound))
            }
        }
    }
}

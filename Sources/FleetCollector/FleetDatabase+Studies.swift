import Pipeline
import PostgreSQLExport

/// A study, as the center knows it.
package struct FleetStudy: Hashable, Sendable {
    package var name: String
    /// The names of the hubs whose people all take part. Hubs that have not joined with a code have their store's identifier as name.
    package var hubs: [String]
    /// The number of people with a consent that was not withdrawn.
    package var participants: Int
    /// The number of people who have withdrawn.
    package var withdrawn: Int
    /// The roles that may read it.
    package var readers: [String]
    /// The schema with a copy of its readings, or `nil`.
    package var place: String?
}

/// A consent of a person to take part in a study.
package struct StudyConsent: Hashable, Sendable {
    /// The person's UUID.
    package var person: String
    /// The version of the consent form.
    package var version: String
    /// The first local date whose readings are visible, or `nil` for today.
    package var from: String?
    /// The last local date, or `nil` for no end.
    package var until: String?
    /// When it was withdrawn, as PostgreSQL writes times in UTC, or `nil`.
    package var withdrawn: String?

    package init(person: String, version: String, from: String? = nil, until: String? = nil, withdrawn: String? = nil) {
        (self.person, self.version, self.from, self.until, self.withdrawn) = (person, version, from, until, withdrawn)
    }
}

/// The studies of a fleet (``StudyRows``).
extension FleetDatabase {
    /// Returns all studies, by name.
    package func studies() throws(DeliveryError) -> [FleetStudy] {
        try connection.run(
            """
            SELECT name, (SELECT string_agg(coalesce(f.name, h.store), E'\\n' ORDER BY coalesce(f.name, h.store)) FROM \(schema).study_hub h
                    LEFT JOIN \(schema).fleet_hub f ON f.store = h.store WHERE h.study = s.name),
                (SELECT count(DISTINCT subject) FROM \(schema).study_participant p WHERE p.study = s.name AND withdrawn IS NULL),
                (SELECT count(DISTINCT subject) FROM \(schema).study_participant p WHERE p.study = s.name AND withdrawn IS NOT NULL
                    AND NOT EXISTS(SELECT 1 FROM \(schema).study_participant o WHERE o.study = s.name AND o.subject = p.subject
                        AND o.withdrawn IS NULL)),
                (SELECT string_agg(role, E'\\n' ORDER BY role) FROM \(schema).study_reader r WHERE r.study = s.name), place
            FROM \(schema).study s ORDER BY name
            """
        ).map { row in
            func names(_ cell: String?) -> [String] { cell.map { $0.split(separator: "\n").map(String.init) } ?? [] }
            return FleetStudy(
                name: row[0] ?? "", hubs: names(row[1]), participants: row[2].flatMap { Int($0) } ?? 0,
                withdrawn: row[3].flatMap { Int($0) } ?? 0, readers: names(row[4]), place: row[5])
        }
    }

    /// Returns the consents of a study's people, by person and date.
    package func consents(in study: String) throws(DeliveryError) -> [StudyConsent] {
        try connection.run(
            """
            SELECT subject, consent, from_date, until_date, to_char(withdrawn, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM \(schema).study_participant
            WHERE study = $1 ORDER BY subject, from_date
            """, [study]
        ).map { StudyConsent(person: $0[0] ?? "", version: $0[1] ?? "", from: $0[2], until: $0[3], withdrawn: $0[4]) }
    }

    package func add(study: String) throws(DeliveryError) {
        let new = try connection.run("INSERT INTO \(schema).study(name) VALUES($1) ON CONFLICT DO NOTHING RETURNING 1", [study])
        guard !new.isEmpty else { throw DeliveryError(.refused, "there is a study '\(study)' already") }
    }

    /// Removes a study with its consents and its copy. The readings stay.
    package func remove(study: String) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in
            try StudyCopy(schema: schema).remove(of: study, connection)
            try connection.run("DELETE FROM \(schema).study WHERE name = $1", [study])
        }
    }

    /// Lets all people of a hub take part in a study, or not.
    ///
    /// - Parameter store: The identifier of the hub's store.
    package func set(hubWith store: String, in study: String, takesPart: Bool) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in
            try connection.run(
                takesPart
                    ? "INSERT INTO \(schema).study_hub(study, store) VALUES($1, $2) ON CONFLICT DO NOTHING"
                    : "DELETE FROM \(schema).study_hub WHERE study = $1 AND store = $2", [study, store])
        }
    }

    /// Lets a role read a study, or not.
    package func set(reader role: String, of study: String, mayRead: Bool) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in
            if mayRead {
                guard try !connection.run("SELECT 1 FROM pg_roles WHERE rolname = $1", [role]).isEmpty else {
                    throw DeliveryError(.refused, "the role '\(role)' does not exist: create it with 'createuser'")
                }
                try connection.run(
                    "INSERT INTO \(schema).study_reader(study, role) VALUES($1, $2) ON CONFLICT DO NOTHING", [study, role])
            } else {
                try connection.run("DELETE FROM \(schema).study_reader WHERE study = $1 AND role = $2", [study, role])
                try StudyCopy(schema: schema).revoke(from: role, of: study, connection)
            }
        }
    }

    /// Records a consent. Another one of the same person from the same date is replaced.
    package func add(_ consent: StudyConsent, to study: String) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in
            try checkNotErased(consent.person)
            try connection.run(
                """
                INSERT INTO \(schema).study_participant(study, subject, consent, from_date, until_date)
                VALUES($1, $2, $3, coalesce($4::date, current_date), $5::date) ON CONFLICT(study, subject, from_date) DO UPDATE SET
                    consent = excluded.consent, until_date = excluded.until_date, withdrawn = NULL, made = now()
                """, [study, consent.person, consent.version, consent.from, consent.until])
        }
    }

    /// Throws if a person was erased, of whom nothing may be recorded.
    private func checkNotErased(_ person: String) throws(DeliveryError) {
        guard try PersonErasure(schema: schema).isErased(person, connection) else { return }
        throw DeliveryError(.refused, "this person was erased: see 'vitalgate fleet erase --readmit'")
    }

    /// Withdraws all consents of a person, and removes the person's rows from the copy of the study. Without a consent, the person is excluded
    /// from the people of the study's hubs.
    package func withdraw(_ person: String, from study: String) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in
            let known = try connection.run(
                """
                UPDATE \(schema).study_participant SET withdrawn = coalesce(withdrawn, now()) WHERE study = $1 AND subject = $2 RETURNING 1
                """, [study, person])
            if known.isEmpty {
                try checkNotErased(person)
                try connection.run(
                    """
                    INSERT INTO \(schema).study_participant(study, subject, consent, from_date, withdrawn)
                    VALUES($1, $2, '', current_date, now())
                    """, [study, person])
            }
            try StudyCopy(schema: schema).remove(person, from: study, connection)
        }
    }

    /// Makes or replaces the copy of a study's rows in a schema of its own.
    ///
    /// - Returns: The number of rows.
    package func copy(_ study: String, to place: String) throws(DeliveryError) -> Int {
        try change(study) { () throws(DeliveryError) in try StudyCopy(schema: schema).make(of: study, in: place, connection) }
    }

    package func removeCopy(of study: String) throws(DeliveryError) {
        try change(study) { () throws(DeliveryError) in try StudyCopy(schema: schema).remove(of: study, connection) }
    }

    /// Returns the identifiers of the stores of all hubs, by name.
    package func stores() throws(DeliveryError) -> [String: String] {
        let rows = try connection.run(
            """
            SELECT coalesce(f.name, h.store), coalesce(f.store, h.store) FROM \(schema).hub h FULL JOIN \(schema).fleet_hub f ON f.store = h.store
            """)
        return Dictionary(rows.map { ($0[0] ?? "", $0[1] ?? "") }, uniquingKeysWith: { first, _ in first })
    }

    /// Changes a study that exists, in one transaction. Only one program at a time changes it.
    @discardableResult
    private func change<Result>(_ study: String, _ body: () throws(DeliveryError) -> Result) throws(DeliveryError) -> Result {
        try transaction { () throws(DeliveryError) in
            guard try !connection.run("SELECT 1 FROM \(schema).study WHERE name = $1 FOR UPDATE", [study]).isEmpty else {
                throw DeliveryError(.refused, "there is no study '\(study)' (see 'vitalgate fleet study list')")
            }
            return try body()
        }
    }
}

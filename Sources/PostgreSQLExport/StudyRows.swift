/// The studies whose readings an analyst may read. The owner of the tables writes their rows, for example with `vitalgate fleet study`.
///
/// - `study`: the studies by their names. `place` is the schema with a copy of the study's rows, or NULL (``StudyCopy``).
/// - `study_hub`: the hubs of each, by their stores. All people of such a hub take part.
/// - `study_participant`: the consents of people, in any number of versions. Local dates, both included.
/// - `study_reader`: the roles that may read a study. Members of a role may read too.
///
/// If one of a reader's studies has a consent of a person, only consents decide: the person's readings of all hubs are visible whose local date
/// lies in a consent that was not withdrawn. For other people the hubs of the studies decide.
struct StudyRows {
    let schema: String

    /// Returns the statements that create the tables.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).study(name text PRIMARY KEY, made timestamptz NOT NULL DEFAULT now(), place text UNIQUE);
        CREATE TABLE \(schema).study_hub(
            study text NOT NULL REFERENCES \(schema).study ON UPDATE CASCADE ON DELETE CASCADE, store text NOT NULL,
            PRIMARY KEY(study, store));
        CREATE TABLE \(schema).study_participant(
            study text NOT NULL REFERENCES \(schema).study ON UPDATE CASCADE ON DELETE CASCADE,
            subject text COLLATE "C" NOT NULL CHECK(subject <> 'unassigned'), consent text NOT NULL, from_date date NOT NULL, until_date date,
            withdrawn timestamptz, made timestamptz NOT NULL DEFAULT now(), PRIMARY KEY(study, subject, from_date),
            CHECK(until_date >= from_date));
        CREATE INDEX study_participant_subject ON \(schema).study_participant(subject);
        CREATE TABLE \(schema).study_reader(
            study text NOT NULL REFERENCES \(schema).study ON UPDATE CASCADE ON DELETE CASCADE, role text NOT NULL,
            PRIMARY KEY(study, role));
        """
    }

    // MARK: What is visible

    /// What makes a reading visible, as SQL expressions that are evaluated once in a query.
    struct Access {
        /// The people with visible readings, as `text[]`.
        let people: String
        /// The numbers of the studies' hubs, as `integer[]`.
        let hubs: String
        /// The keys of the people for whom the hubs decide, as `int8multirange` (``key(_:)``).
        let byHub: String
        /// The keys of the people and dates for which consents decide.
        let days: String

        /// The condition for a row of a table with readings.
        ///
        /// The people come first. They lead to the rows by the key, so that a plan does not count the readings of others. All parts are such
        /// that PostgreSQL sends them to the server of a foreign partition. It does not send `AT TIME ZONE`, `coalesce` or a subquery.
        var condition: String {
            let key = StudyRows.key(
                """
                ((timestamp '1970-01-01' + (start_time - timestamptz '1970-01-01 00:00:00+00')
                    + CASE WHEN zone_offset IS NULL THEN interval '0' ELSE zone_offset * interval '1 second' END)::date - date '1970-01-01')
                """)
            return """
                subject = ANY(\(people)::text[]) AND (\(key) <@ \(days)::int8multirange OR (hubs && \(hubs)::integer[]
                    OR represents && \(hubs)::integer[]) AND \(StudyRows.key("0")) <@ \(byHub)::int8multirange)
                """
        }

        /// The condition for a row of the table of days. It was computed from readings of its hubs.
        var dayCondition: String {
            """
            subject = ANY(\(people)::text[]) AND (\(StudyRows.key("(date - date '1970-01-01')")) <@ \(days)::int8multirange
                OR hubs <@ \(hubs)::integer[] AND \(StudyRows.key("0")) <@ \(byHub)::int8multirange)
            """
        }
    }

    /// Returns a number for a person and a date, which is fast to find in a `multirange`. Two people can have the same numbers, but then both
    /// are visible.
    ///
    /// - Parameter date: The days since 1970-01-01.
    fileprivate static func key(_ date: String) -> String {
        "(hashtextextended(subject, 0) % 549755813888 * 8388608 + \(date))"
    }

    /// What makes a reading of the current role's studies visible.
    var access: Access {
        Access(
            people: "(SELECT \(schema).readable_people())", hubs: "(SELECT \(schema).readable_hubs())",
            byHub: "(SELECT \(schema).readable_by_hub())", days: "(SELECT \(schema).readable_days())")
    }

    /// Returns queries for what makes readings of some studies visible.
    ///
    /// - Parameter studies: An expression for the names of the studies, as `text[]`.
    func queries(for studies: String) -> Access {
        let byHub = """
            SELECT DISTINCT p.subject FROM \(schema).study_hub s JOIN \(schema).hub h ON h.store = s.store
                JOIN \(schema).participant p ON p.hub = h.id
            WHERE s.study = ANY(\(studies)) AND NOT EXISTS(
                SELECT 1 FROM \(schema).study_participant c WHERE c.study = ANY(\(studies)) AND c.subject = p.subject)
            """
        let consents = "\(schema).study_participant WHERE study = ANY(\(studies)) AND withdrawn IS NULL"
        func day(_ date: String, _ otherwise: String) -> String {
            Self.key("coalesce(\(date) - date '1970-01-01', \(otherwise))")
        }
        return Access(
            people: "SELECT coalesce(array_agg(subject), '{}') FROM (\(byHub) UNION SELECT subject FROM \(consents)) AS p",
            hubs: """
                SELECT coalesce(array_agg(DISTINCT h.id), '{}') FROM \(schema).hub h JOIN \(schema).study_hub s ON s.store = h.store
                WHERE s.study = ANY(\(studies))
                """,
            byHub: "SELECT coalesce(range_agg(int8range(\(Self.key("0")), \(Self.key("0")), '[]')), '{}') FROM (\(byHub)) AS p",
            days: """
                SELECT coalesce(range_agg(int8range(\(day("from_date", "0")), \(day("until_date", "4194303")), '[]')), '{}') FROM \(consents)
                """)
    }

    /// The functions with which a policy reads the tables. Each describes the studies that the reader's role may read. `readable_studies()`
    /// returns their names, and the others what ``Access`` has.
    var functions: String {
        let queries = queries(for: "(SELECT \(schema).readable_studies())::text[]")
        let studies = """
            SELECT coalesce(array_agg(DISTINCT r.study), '{}') FROM \(schema).study_reader r JOIN pg_roles p ON p.rolname = r.role
            -- Inside, current_user is the owner. The setting is the role that the session has taken.
            WHERE pg_has_role(coalesce(nullif(current_setting('role'), 'none')::name, session_user), p.oid, 'MEMBER')
            """
        let all = [
            ("readable_studies", "text[]", studies), ("readable_people", "text[]", queries.people),
            ("readable_hubs", "integer[]", queries.hubs), ("readable_by_hub", "int8multirange", queries.byHub),
            ("readable_days", "int8multirange", queries.days),
        ]
        return all.map { name, type, query in
            """
            CREATE OR REPLACE FUNCTION \(schema).\(name)() RETURNS \(type)
                LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $readers$ \(query) $readers$;
            REVOKE ALL ON FUNCTION \(schema).\(name)() FROM PUBLIC;
            """
        }.joined(separator: "\n")
    }

    /// The names of the functions.
    static let names = ["readable_studies", "readable_people", "readable_hubs", "readable_by_hub", "readable_days"]
}

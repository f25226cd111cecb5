import ExportTesting
import HealthModel
import Pipeline
import Testing

@testable import PostgreSQLExport

/// The roles that are named in the configuration, and those that are not named any more.
@Suite struct ReaderRightsTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    private let schema: String

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "q" + test.store.identifier
        for role in ["owner", "one", "two", "three"] { _ = try sql("vitalgate", "CREATE ROLE \(role)_\(schema) LOGIN") }
        _ = try sql("vitalgate", "CREATE SCHEMA \(schema) AUTHORIZATION owner_\(schema)")
        _ = try PostgreSQLExporter(
            settings(role("owner")),
            context: try ExportContext(name: "other", store: "one", me: test.store.owner, now: { ExportedStore.received })
        ).create()
    }

    private func role(_ name: String) -> String { "\(name)_\(schema)" }

    private func settings(_ user: String) -> PostgreSQLSettings {
        PostgreSQLSettings(host: server.folder, database: "postgres", user: user, schema: schema)
    }

    private func sql(_ user: String, _ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings(user)).run(text.replacing("{}", with: schema))
    }

    private func create(analyst: String? = nil, auditor: String? = nil) throws -> [Finding] {
        try DatabaseReaders(analyst: analyst.map(role), auditor: auditor.map(role)).create(settings(role("owner")))
    }

    /// The number of rights of a role on objects of the schema, and of policies that name it.
    private func rights(_ name: String) throws -> Int {
        let rows = try sql(
            "vitalgate",
            """
            SELECT (SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = '{}'::regnamespace AND a.grantee = r.oid)
                + (SELECT count(*) FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid, aclexplode(t.attacl) a
                    WHERE c.relnamespace = '{}'::regnamespace AND a.grantee = r.oid)
                + (SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE p.pronamespace = '{}'::regnamespace AND a.grantee = r.oid)
                + (SELECT count(*) FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = '{}' AND a.grantee = r.oid)
                + (SELECT count(*) FROM pg_policy WHERE r.oid = ANY(polroles))
            FROM pg_roles r WHERE rolname = '\(role(name))'
            """)
        return rows[0][0].flatMap { Int($0) } ?? -1
    }

    private func mayRead(_ user: String, _ columns: String = "*") throws -> Bool {
        do throws(DeliveryError) {
            try PostgreSQLConnection(settings(role(user))).run("SELECT \(columns) FROM \(schema).sample")
            return true
        } catch {
            #expect(error.kind == .unauthorised)
            return false
        }
    }

    @Test func removedRoleLosesRights() throws {
        #expect(try create() == [])
        #expect(try sql("vitalgate", "SELECT to_regproc('{}.readable_people')") == [[nil]])
        _ = try create(analyst: "one", auditor: "two")
        #expect(try mayRead("one") && mayRead("two", "uuid"))
        #expect(try rights("one") > 50 && rights("two") > 20)

        // Another analyst, and the auditor stays.
        let findings = try create(analyst: "three", auditor: "two")
        #expect(findings.first?.text == "'\(role("one"))' is no longer the analyst: its rights were revoked")
        #expect(try !mayRead("one") && mayRead("three") && mayRead("two", "uuid"))
        #expect(try rights("one") == 0 && rights("two") > 20)

        // The two change places.
        #expect(try create(analyst: "two", auditor: "three").count == 3)
        #expect(try mayRead("two") && !mayRead("three") && mayRead("three", "uuid"))

        // One is gone, then the other.
        _ = try create(analyst: "two")
        #expect(try mayRead("two") && rights("three") == 0)
        #expect(try create().count == 1)
        #expect(try rights("two") == 0 && !mayRead("two"))
        #expect(try create() == [])
    }

    /// Rights that the administrator has granted stay.
    @Test func otherRightsStay() throws {
        _ = try create(analyst: "one")
        _ = try sql(role("owner"), "GRANT SELECT ON {}.progress TO \(role("one")); GRANT SELECT ON {}.sample TO \(role("two"))")
        _ = try sql(role("owner"), "CREATE POLICY all_of_it ON {}.sample TO \(role("two")) USING (true)")
        _ = try create()
        #expect(try rights("one") == 1 && rights("two") == 2)
    }

    /// A failure in the middle leaves the rights as they were.
    @Test func aWrongRoleChangesNothing() throws {
        _ = try create(analyst: "one")
        #expect(throws: DeliveryError.self) { try create(analyst: "two", auditor: "nobody") }
        #expect(try mayRead("one") && rights("two") == 0)
    }

    /// Roles that policies do not restrict, or that do not exist.
    @Test(
        arguments: [
            ("nobody", "does not exist: create it with"), ("public", "does not exist"), ("vitalgate", "is a superuser"),
            ("owner_{}", "owns the tables"), ("member_{}", "owns the tables, or is a member of their owner"),
            ("bypass_{}", "has BYPASSRLS"), ("pg_read_all_data", "is one of PostgreSQL's own"),
        ])
    func rolesThatCannotBeReaders(name: String, words: String) throws {
        _ = try sql("vitalgate", "CREATE ROLE member_{} IN ROLE owner_{}; CREATE ROLE bypass_{} BYPASSRLS")
        let name = name.replacing("{}", with: schema)
        for readers in [DatabaseReaders(analyst: name), DatabaseReaders(auditor: name)] {
            #expect { try readers.create(settings(role("owner"))) } throws: {
                ($0 as? DeliveryError)?.kind == .unfit && ($0 as? DeliveryError)?.reason.contains(words) == true
            }
        }
    }

    @Test func oneRoleCannotBeBoth() throws {
        #expect { try create(analyst: "one", auditor: "one") } throws: {
            ($0 as? DeliveryError)?.reason.contains("both the analyst and the auditor") == true
        }
        #expect(try rights("one") == 0)
    }
}

import Testing

/// The settings of a fleet that a user can get wrong.
@Suite struct FleetSettingsTests {
    @Test(arguments: [
        ("file: '/tmp/x'", "needs 'nkey' and 'seedFile'"), ("file: 'x'", "must begin with /"),
        ("file: '/tmp/x', processFile: 'x'", "must begin with /"), ("file: '/tmp/x', mode: 1", "unknown key"),
        ("processFile: '/tmp/x'", "is missing"), ("file: '/tmp/x' }, page: { port: 70000", "from 0 to 65535"),
        ("file: '/tmp/x' }, page: { port: 1, tls: 1", "unknown key"),
        ("file: '/tmp/x' }, page: { port: 1, address: 'host'", "expected an IP address"),
        ("file: '/tmp/x' }, commands: { seedFile: 'x'", "does not begin with /"),
    ]) func wrongBrokerUsersAreRefused(users: String, words: String) throws {
        let folder = try TestFolder()
        let broker = "fleet: 'study', servers: ['nats://localhost:4222']"
        let database = "database: 'study', user: 'collector'"
        try folder.write(
            "config.json5", "{ collect: { broker: { \(broker) }, database: { \(database) }, brokerUsers: { \(users) } } }")
        let run = try folder.vitalgate("collect", "--check")
        #expect(run.status == 78 && run.errors.contains(words), "\(run)")
    }

    /// Without a collector's key or configuration, the commands name the missing setting.
    @Test func missingSettingsAreNamed() throws {
        let folder = try TestFolder()
        var run = try folder.vitalgate("fleet", "hubs")
        #expect(run.status == 78 && run.errors.contains("'collect' is not configured"))
        // The TLS library says only that TLS has failed.
        run = try folder.vitalgate(
            "fleet", "join", "tls://127.0.0.1:1/study", "AAAAA-AAAAA-AAAAA-AAAAA", "--certificate-authority", "/missing.pem")
        #expect(run.status == 69 && run.errors.contains("/missing.pem is missing"), "\(run.errors)")
        run = try folder.vitalgate("fleet", "join", "broker.example.org", "AAAAA-AAAAA-AAAAA-AAAAA")
        #expect(run.status == 64 && run.errors.contains("tls://broker.example.org:4222/FLEET"))
        try folder.write("x.seed", "hello\n")
        run = try folder.vitalgate("fleet", "key", folder.path("x.seed"))
        #expect(run.status != 0 && folder.text("x.seed") == "hello\n")
    }
}

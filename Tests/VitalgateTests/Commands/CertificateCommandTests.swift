import ExportTesting
import FoundationEssentials
import Glibc
import HTTPServerTesting
import Testing

/// `api certificate`, judged by openssl and curl.
@Suite struct CertificateCommandTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(
            "config.json5",
            """
            { subject: "\(Family.person)",
              api: { listen: "127.0.0.1:0", hosts: ["hub.home"], certificate: "\(folder.path("tls/hub.pem"))", key: "\(folder.path("tls/hub-key.pem"))" } }

            """)
    }

    private var environment: [String: String] { Vitalgate.environment(home: folder.root) }

    private func run(_ words: String...) throws -> Vitalgate.Run {
        try Vitalgate.run(["--config", folder.path("config.json5")] + words, environment: environment)
    }

    private func shell(_ line: String) throws -> Vitalgate.Run {
        try RunningVitalgate(command: ["/bin/sh", "-c", "cd \(folder.path("tls")) && \(line) 2>&1"], environment: environment)
            .wait()
    }

    private func verifies(_ name: String) throws -> Bool {
        let option = name.first?.isNumber == true ? "-verify_ip" : "-verify_hostname"
        return try shell("openssl verify -purpose sslserver -CAfile authority.pem \(option) \(name) hub.pem").output.contains(
            "hub.pem: OK")
    }

    private func text(_ name: String) -> String {
        (try? String(contentsOf: URL(filePath: folder.path("tls/" + name)), encoding: .utf8)) ?? ""
    }

    @Test func trustedAuthorityValidatesHub() throws {
        let made = try run("api", "certificate", "hub.home", "192.168.1.20", "2001:db8::5")
        #expect(made.status == 0 && made.output.contains("authority.pem"), "\(made.errors)")
        for name in ["hub.home", "localhost", "192.168.1.20", "127.0.0.1"] { #expect(try verifies(name), "\(name)") }
        #expect(try !verifies("bank.example"))
        let shown = try shell("openssl x509 -in hub.pem -noout -text").output
        // Requirements of phones for a certificate (support.apple.com/102028, 103769): names in addition to the subject's, a purpose, at
        // most 398 days.
        for words in [
            "DNS:hub.home", "IP Address:192.168.1.20", "TLS Web Server Authentication", "CA:FALSE", "ecdsa-with-SHA256",
        ] {
            #expect(shown.contains(words), "\(words): \(shown)")
        }
        #expect(try shell("openssl x509 -in hub.pem -noout -checkend \(398 * 86_400 - 3600)").output.contains("will expire"))
        #expect(try shell("openssl x509 -in hub.pem -noout -checkend \(396 * 86_400)").output.contains("will not expire"))
        for key in ["hub-key.pem", "authority-key.pem"] {
            var status = stat()
            #expect(stat(folder.path("tls/" + key), &status) == 0 && status.st_mode & 0o777 == 0o600, "\(key)")
        }
        #expect(try run("doctor").output.contains("certificate") == false)
        // The real server, asked by curl.
        try folder.write("weight.csv", "time,type,value,unit\n2026-11-20T06:31:00Z,bodyMass,70,kg\n")
        #expect(try run("import", folder.path("weight.csv")).status == 0)
        let server = try RunningVitalgate(["--config", folder.path("config.json5"), "api", "serve"], environment: environment)
        defer { server.signal(SIGTERM) }
        #expect(eventually { server.errors.contains("listening at") })
        let port = try #require(
            server.errors.split(whereSeparator: \.isNewline).first { $0.contains("listening at") }?.split(separator: ":").last)
        let answer = try shell(
            "curl -sS --cacert authority.pem --resolve hub.home:\(port):127.0.0.1 https://hub.home:\(port)/openapi.json")
        #expect(answer.output.hasPrefix("{\"openapi\":\"3.1.0\""), "\(answer.output.prefix(200))")
    }

    @Test func itIsRenewedWhenItIsDue() throws {
        #expect(try run("api", "certificate", "hub.home").status == 0)
        let (authority, first) = (text("authority.pem"), text("hub.pem"))
        // Nothing is due.
        #expect(try run("api", "certificate").status == 0)
        #expect(try run("api", "certificate", "hub.home").status == 0)
        #expect(text("hub.pem") == first)
        #expect(try run("api", "certificate", "--renew").status == 0)
        #expect(text("hub.pem") != first && text("authority.pem") == authority)
        #expect(try verifies("hub.home"))
        // Another address in a private network needs no other authority.
        #expect(try run("api", "certificate", "hub.home", "10.1.2.3").status == 0)
        #expect(try verifies("10.1.2.3") && text("authority.pem") == authority)
    }

    /// A stolen authority key cannot certify any site on the internet.
    @Test func authorityIsLimitedToNames() throws {
        #expect(try run("api", "certificate", "hub.home").status == 0)
        let refused = try run("api", "certificate", "bank.example")
        #expect(refused.status == 78 && refused.errors.contains("other names"), "\(refused.errors)")
        #expect(try verifies("hub.home"))
        #expect(try run("api", "certificate", "bank.example", "--new-authority").status == 0)
        #expect(try verifies("bank.example"))
        for wrong in ["a,DNS:b", "a b", "-a", "1.2.3", "a..b", ""] {
            #expect(try run("api", "certificate", "--", wrong).status == 64, "\(wrong)")
        }
    }

    @Test func warnsOfExpiry() throws {
        #expect(try run("api", "certificate", "hub.home").status == 0)
        let short = try shell(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout hub-key.pem -out hub.pem -days 10 -subj /CN=hub.home && chmod 600 hub-key.pem"
        )
        #expect(short.status == 0)
        #expect(try run("doctor").output.contains("the certificate expires on"))
        // And repaired.
        #expect(try run("api", "certificate", "hub.home").status == 0)
        #expect(try verifies("hub.home"))
    }
}

import FoundationEssentials
import Testing

/// Runs the commands on the pages of the documentation and of the examples.
@Suite struct PageTests {
    /// `scripts/docs-outputs` compares what each command prints with the lines below it on its page.
    @Test func commandsPrintDocumentedOutput() throws {
        let script = "\(Repository.root)/scripts/docs-outputs"
        let run = try RunningVitalgate(
            command: ["/usr/bin/env", "python3", script, "--check", "--vitalgate", try Vitalgate.binary()],
            environment: Vitalgate.environment(home: Repository.root)
        ).wait()
        #expect(run.status == 0, "\(run.errors)")
        let counts = run.last.split(separator: " ").compactMap { Int($0) }
        try #require(counts.count == 2, "\(run.output)")
        #expect(counts[0] >= 240)
        #expect(counts[1] >= 19)
    }

    /// A page whose commands need a machine of their own names the test that runs them there.
    @Test(arguments: [
        ("docs/tutorials/hub.md", "scripts/package-test"), ("docs/how-to/back-up-and-upgrade.md", "scripts/package-test"),
        ("docs/reference/hub.md", "scripts/package-test"), ("docs/how-to/bluetooth.md", "Tests/BluetoothVM/vitalgate/page.py"),
    ])
    func everyOtherPageHasATest(page: String, test: String) throws {
        let text = String(decoding: try Repository.data(test), as: UTF8.self)
        #expect(text.contains(page))
    }
}

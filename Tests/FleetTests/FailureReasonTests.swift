import FleetProtocol
import Testing

/// The reason of a failed command leaves the hub without names and measured values.
@Suite struct FailureReasonTests {
    @Test(arguments: [
        // A crash in a build with assertions.
        (
            "CommandLineKit/Invocation.swift:51: Fatal error: vitalgate targets verify declares no option --time-zone\n\n*** Signal 4",
            "CommandLineKit/Invocation.swift:51: Fatal error: vitalgate targets verify declares no option --time-zone"
        ),
        ("info: opened\nvitalgate: no device 'Anna's strap' near 81.4 kg\n", "vitalgate: no device '…' near … kg"),
        ("vitalgate: 'C0:01:02:03:04:01' has no profile \"secret\"", "vitalgate: 'C0:01:02:03:04:01' has no profile \"…\""),
        ("vitalgate: the device's name is unknown, see 'vitalgate devices list'", nil),
        ("vitalgate: the name 'Anna", "vitalgate: the name '…'"),
        ("warning: center: the database does not reply", nil),
        ("warning: --person 12 is unknown", "warning: --person 12 is unknown"),
    ]) func hidesTextsOutsideOrder(errors: String, expected: String?) throws {
        let reason = try #require(FailureReason(errors: errors, mentioning: ["C0:01:02:03:04:01", "--person", "12"]))
        #expect(reason.reason == expected ?? errors)
    }

    @Test func isBounded() throws {
        #expect(FailureReason(errors: "\n \n") == nil)
        let long = try #require(FailureReason(errors: "vitalgate: " + String(repeating: "ä", count: 100_000)))
        #expect(long.reason.utf8.count <= 512)
    }
}

import HealthModel
import Testing

/// The names of sources as people see them.
@Suite struct SourceRevisionTests {
    @Test(arguments: [
        ("file.generic-csv", "file.generic-csv", "CSV file"), ("file.generic-csv", "", "CSV file"),
        ("file.generic-csv.Scale", "Scale", "Scale"), ("file.generic-csv.My 2.0 scale", "", "My 2.0 scale"),
        ("file.health-connect", "file.health-connect", "Health connect"),
        ("file.omron-connect", "Omron connect", "Omron connect"),
        ("apple-health/Watch", "", "Watch"), ("ble.qn-scale", "QN scale", "QN scale"), ("file.", "file.", "file."),
        ("vitalgate.hand", "Entered by hand", "Entered by hand"), ("my.app", "my.app", "my.app"), ("", "", ""),
    ])
    func aSourceHasAName(id: String, name: String, shown: String) {
        #expect(SourceRevision(id: id, name: name).displayName == shown)
    }
}

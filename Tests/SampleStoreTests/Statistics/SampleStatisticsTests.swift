import Glibc
import HealthModel
import PipelineTesting
import Testing

@testable import SampleStore

/// The temporary store of statistics that no store has.
@Suite struct SampleStatisticsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        guard let directory = opendir(folder.path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix("vitalgate-days-") { names.append(name) }
        }
        return names
    }

    /// Nothing is left after it, and the next process removes the remnants of a killed one. The folder of a process that works stays.
    @Test func leavesNothing() throws {
        let remnant = folder.file("vitalgate-days-aaaaaa")
        #expect(mkdir(remnant, 0o700) == 0)
        #expect(symlink("/etc/passwd", remnant + "/store.db") == 0)
        #expect(symlink("/etc", folder.file("vitalgate-days-bbbbbb")) == 0)
        do {
            let one = try SampleStatistics(in: folder.path)
            #expect(try names().count == 2)
            let other = try SampleStatistics(in: folder.path)
            // Theirs, and a link that is not a folder.
            #expect(try names().count == 3)
            for each in [one, other] { #expect(try each.days(of: .heartRate, bySource: false).isEmpty) }
        }
        #expect(try names() == ["vitalgate-days-bbbbbb"])
        #expect(access("/etc/passwd", R_OK) == 0)
    }

    @Test func aPlaceThatIsNotThereIsAnError() {
        #expect { try SampleStatistics(in: "/nowhere") } throws: { ($0 as? StoreError)?.kind == .inputOutput }
    }
}

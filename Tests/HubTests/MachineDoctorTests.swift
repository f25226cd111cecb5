import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import Hub
@testable import SampleStore

/// The findings about a machine. The files below `/sys` and the answers of apt are made up in the forms that Linux 6.12 and apt 3.0 document.
@Suite struct MachineDoctorTests {
    private let folder: TemporaryFolder
    /// 2026-11-20T06:30:00Z
    private let now = Instant(microseconds: 1795156200_000_000)

    init() throws { folder = try TemporaryFolder() }

    private func findings(
        isSynchronized: Bool = true, free: Int = 1 << 34, policy: String? = nil
    ) -> [String] {
        var system = MachineDoctor.System()
        system.root = folder.path
        system.isSynchronized = isSynchronized
        system.room = { _ in DiskRoom(free: free, whole: 1 << 35) }
        system.run = { $0.last == "vitalgate" ? policy : nil }
        return MachineDoctor(store: folder.file("store.db"), now: now, system: system).examine().map {
            "\($0.component): \($0.text)"
        }
    }

    private func write(_ name: String, _ text: String) throws {
        let path = folder.file(name)
        let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
    }

    @Test func healthyMachineHasNoFindings() { #expect(findings().isEmpty) }

    @Test func warnsOfFullDisk() {
        #expect(findings(free: 1 << 30).map { $0.prefix(42) } == ["disk: the disk of the store is nearly full"])
    }

    @Test func warnsOfUnsynchronizedClock() {
        #expect(
            findings(isSynchronized: false) == [
                "clock: the machine's clock is not synchronized, so the times of readings may be wrong"
            ])
    }

    /// The disk is that of a partition, so its device is one folder above.
    @Test(arguments: [
        ("0x02 0x01", "0x01", nil), ("0x09 0x03", "0x01", "80 % of its estimated life"),
        ("0x01 0x0b", "0x01", "more than its estimated life"),
        ("0x01 0x01", "0x02", "most of its reserved blocks"), ("0x00 0x00", "0x00", nil), ("broken", "", nil),
    ])
    func warnsOfWornDisk(life: String, reserved: String, share: String?) throws {
        let block = "sys/dev/block/\(try #require(MachineDoctor.deviceNumber(of: folder.path)))"
        try FileManager.default.createDirectory(atPath: folder.file(block), withIntermediateDirectories: true)
        try write("sys/dev/block/device/life_time", life + "\n")
        try write("sys/dev/block/device/pre_eol_info", reserved + "\n")
        #expect(
            findings()
                == (share.map { ["disk: the eMMC of the store has used \($0): back up the store, and replace the device soon"] }
                    ?? []))
    }

    @Test(arguments: [
        ("  Installed: 0.1.0\n  Candidate: 0.2.0\n", true), ("  Installed: 0.1.0\n  Candidate: 0.1.0\n", false),
        ("  Installed: (none)\n  Candidate: 0.2.0\n", false), ("", false),
    ])
    func reportsNewerPackage(policy: String, isOld: Bool) throws {
        #expect(findings(policy: "vitalgate:\n" + policy).isEmpty)
        try write("var/lib/dpkg/info/vitalgate.list", "")
        #expect(
            findings(policy: "vitalgate:\n" + policy)
                == (isOld ? ["package: version 0.1.0 is installed, and the repository has version 0.2.0"] : []))
    }
}

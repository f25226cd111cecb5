import FoundationEssentials
import Testing

/// A store on a disk that is full, and on one that is read-only. Each is a file system in memory that only the test sees.
@Suite struct StoreMediumTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Runs a script with `$disk`, `$file`, and the program as `"$0" "$@"`.
    ///
    /// - Returns: `nil` without the privilege to mount.
    private func run(_ script: String, size: String, _ rows: [UInt8]) throws -> Vitalgate.Run? {
        let file = try folder.write("rows.csv", rows)
        try FileManager.default.createDirectory(atPath: folder.path("disk"), withIntermediateDirectories: false)
        let mount = """
            disk=$1; file=$2; shift 2
            mount -t tmpfs -o size=\(size),mode=700 tmpfs "$disk" 2>/dev/null || exit 99
            """
        let run = try RunningVitalgate(
            [folder.path("disk"), file] + folder.options(store: folder.path("disk/store.db")),
            environment: Vitalgate.environment(home: folder.root, ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]),
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", "\(mount)\n\(script)"]
        ).wait()
        guard run.status != 99, !run.errors.contains("unshare") else { return nil }
        return run
    }

    /// The reserve lasts for several commands, each of which finds the disk full again.
    @Test func aPruningAfterTheReserveWasUsed() throws {
        let script = """
            "$0" "$@" import "$file" >/dev/null 2>&1; echo "import $?"
            dd if=/dev/zero of="$disk/filler" bs=4k 2>/dev/null
            "$0" "$@" query heartRate --format csv | wc -l
            "$0" "$@" delete --type heartRate --to 2026-01-01T01:00:00Z --yes 2>/dev/null; echo "delete $?"
            "$0" "$@" store prune --type heartRate --before 2026-01-01T02:00:00Z --yes 2>/dev/null; echo "prune $?"
            "$0" "$@" query heartRate --format csv | wc -l
            "$0" "$@" store prune --type heartRate --before 2026-01-01T03:00:00Z --yes 2>/dev/null; echo "prune $?"
            "$0" "$@" query heartRate --format csv | wc -l
            "$0" "$@" store check --deep
            rm "$disk/filler"
            "$0" "$@" import "$file" >/dev/null 2>&1; echo "import $?"
            "$0" "$@" query heartRate --format csv | wc -l
            """
        guard let run = try run(script, size: "24m", ProcessTests.rows(14_400)) else { return }
        #expect(
            run.output == """
                import 0
                14401
                delete 0
                prune 0
                7201
                prune 0
                3601
                ok
                import 65
                3601

                """, "\(run.errors)")
    }

    /// SQLite cannot create its files beside the store, and does not need them without a writer.
    @Test func aReadOnlyMedium() throws {
        let script = """
            "$0" "$@" import "$file" >/dev/null 2>&1; echo "import $?"
            mount -o remount,ro "$disk"
            "$0" "$@" query heartRate --format csv | wc -l
            "$0" "$@" store check --deep
            "$0" "$@" changes --after 0 | wc -l
            "$0" "$@" ledger list --format csv | wc -l
            "$0" "$@" import "$file" >/dev/null; echo "import $?"
            """
        guard let run = try run(script, size: "16m", ProcessTests.rows(300)) else { return }
        #expect(
            run.output == """
                import 0
                301
                ok
                300
                2
                import 74

                """, "\(run.errors)")
        #expect(run.errors.contains("cannot be written"), "\(run.errors)")
    }
}

import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import Testing

@testable import Hub

/// A machine with two versions of the package. Scripts in a PATH of its own replace apt, dpkg and systemd. The program that reads and writes
/// the store is the real one. `scripts/package-test` updates a Debian with the real parts.
final class UpdateBench {
    let folder: TestFolder
    private(set) var said: [String] = []
    var isStopAsked = false

    init() throws {
        folder = try TestFolder()
        for name in ["bin", "update", "repository"] { mkdir(folder.path(name), 0o755) }
        for (name, text) in try Self.scripts(folder.root, try Vitalgate.binary(), folder.options().dropFirst(2)) {
            try folder.write("bin/\(name)", text)
            chmod(folder.path("bin/\(name)"), 0o755)
        }
        try set("installed", "installed 1.0")
        try set("available", "2.0")
        try set("service", "active\n")
        for version in ["1.0", "2.0"] { try folder.write("repository/\(version)", version + "\n") }
        for number in 1...5 { try add(number) }
        try set("schema", try Self.sqlite(folder.store, "PRAGMA user_version"))
    }

    /// Sets a property of the machine, which its scripts read.
    func set(_ name: String, _ text: String) throws { try folder.write(name, text) }

    /// Stores a reading with a time of its own.
    func add(_ number: Int) throws {
        let run = try folder.vitalgate("add", "heartRate", "\(50 + number)", "--at", Self.time(number))
        try #require(run.status == 0, "\(run.errors)")
    }

    static let guest = "7f9c0000-0000-4000-8000-000000000001"

    /// The line of a reading.
    func line(_ number: Int, source: String = "lines") -> String {
        """
        {"type":"heartRate","start":"\(Self.time(number))","value":\(50 + number),"unit":"/min","source":{"id":"\(source)","name":"A"}}

        """
    }

    static func time(_ number: Int) -> String { "2026-11-20T06:\(number < 10 ? "0" : "")\(number):00Z" }

    /// The words for the script of the installation, which stores readings as a running hub does.
    func adding(_ numbers: ClosedRange<Int>) -> String {
        numbers.map { "\"$M/bin/vitalgate\" --store \"$M/store.db\" add heartRate \(50 + $0) --at \(Self.time($0)) >/dev/null" }
            .joined(separator: " && ")
    }

    /// The words that make the store one of a newer version.
    static let migrating = "sqlite3 \"$M/store.db\" 'PRAGMA user_version = 99' >/dev/null"

    func run() throws -> UpdateRun {
        var limits = UpdateRun.Limits()
        (limits.start, limits.settling) = (1, 0)
        let machine = Machine.current()
        var configuration = try Configuration(path: folder.path("config.json5"), machine: machine)
        configuration.store = folder.store
        return UpdateRun(
            access: StoreAccess(configuration: configuration, machine: machine), program: [folder.path("bin/vitalgate")],
            folder: folder.path("update"),
            tools: UpdateTools(environment: ["PATH=\(folder.path("bin")):/usr/bin:/bin", "HOME=\(folder.root)"]), limits: limits,
            isStopAsked: { [unowned self] in isStopAsked }, report: { [unowned self] in said.append($0) })
    }

    var installed: String { folder.text("installed") }
    var state: UpdateState? { UpdateState(in: folder.path("update")) }
    /// The files that an update leaves, apart from its state and its lock.
    var leftovers: [String] {
        let names = (Folder.names(folder.path("update")) ?? []).filter { $0 != "state.json" && $0 != "lock" }
        return (names + (Folder.names(folder.root) ?? []).filter { $0.hasPrefix("store.db.") }).sorted()
    }

    /// The numbers of the readings in the store, which must be intact.
    func readings() throws -> Int {
        let check = try folder.vitalgate("store", "check")
        #expect(check.output == "ok\n", "\(check.output) \(check.errors)")
        return try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.count
    }

    private static func scripts(
        _ root: String, _ program: String, _ options: some Sequence<String>
    ) throws -> [String: String] {
        let head = "#!/bin/sh\nM='\(root)'\nlast() { for word; do :; done; echo \"$word\"; }\n"
        let install = "printf 'installed %s' \"$(cat \"$file\")\" >\"$M/installed\"\n"
        return [
            "dpkg-query": head + "cat \"$M/installed\"",
            "dpkg": head
                + """
                case $1 in
                    --compare-versions) exec /usr/bin/dpkg "$@" ;;
                    --print-architecture) echo amd64; exit ;;
                esac
                if [ -s "$M/dpkg-fails" ]; then sed -i 1d "$M/dpkg-fails"; echo "dpkg: error: database is locked" >&2; exit 2; fi
                file=$(last "$@")
                \(install)[ "$(cat "$M/service")" = stopped ] || echo active >"$M/service"
                """,
            "dpkg-deb": head
                + "case $1,$3 in --field,Version) cat \"$2\" ;; --field,Installed-Size) echo 1000 ;; *) exit 0 ;; esac",
            "apt-cache": head + "echo vitalgate:; echo \"  Candidate: $(cat \"$M/available\")\"",
            "apt-get": head
                + """
                case " $* " in
                    *" update "*) if [ -e "$M/offline" ]; then echo "E: The repository is not signed." >&2; exit 100; fi ;;
                    *" download "*)
                        version=$(last "$@"); version=${version#*=}
                        [ -e "$M/repository/$version" ] || { echo "E: Version '$version' was not found" >&2; exit 100; }
                        cp "$M/repository/$version" "vitalgate_${version}_amd64.deb" ;;
                    *)
                        file=$(last "$@")
                        if [ -e "$M/before" ]; then . "$M/before"; fi
                        if [ -e "$M/broken" ]; then
                            printf 'half-configured 2.0' >"$M/installed"
                            echo "dpkg: error processing package vitalgate (--configure):" >&2
                            exit 100
                        fi
                        \(install)        if [ -e "$M/after" ]; then . "$M/after"; fi ;;
                esac
                """,
            "systemctl": head
                + """
                case $1 in
                    show) echo "ActiveState=$(cat "$M/service")"; echo NRestarts=0 ;;
                    stop) echo inactive >"$M/service" ;;
                    start) echo active >"$M/service" ;;
                esac
                """,
            "journalctl": head + "echo 'the line of the log'",
            "logger": head + "last \"$@\" >>\"$M/log\"",
            // A store of the newer version is read by the real program as if it knew the schema.
            "vitalgate": head
                + """
                case " $* " in
                    *" self-test "*)
                        case $(cat "$M/installed") in
                            "installed 2.0") if [ -e "$M/problems" ]; then cat "$M/problems"; exit 65; fi ;;
                        esac
                        exit 0 ;;
                    *" recover "*) if [ -e "$M/recover-fails" ]; then echo "vitalgate: it crashed" >&2; exit 70; fi ;;
                    *" carry "*)
                        if [ -e "$M/carry-fails" ]; then echo "vitalgate: it crashed" >&2; exit 70; fi
                        sqlite3 "$2" "PRAGMA user_version = $(cat "$M/schema")" >/dev/null ;;
                esac
                exec '\(program)' \(options.map { "'\($0)'" }.joined(separator: " ")) "$@"
                """,
        ]
    }

    private static func sqlite(_ path: String, _ sql: String) throws -> String {
        let run = ProgramRun.run(["/usr/bin/sqlite3", path, sql], seconds: 60)
        try #require(run.code == 0, "\(run.words)")
        return run.output
    }

    /// Makes a store of the newer version one of this version.
    func setSchema(of path: String) throws { _ = try Self.sqlite(path, "PRAGMA user_version = \(folder.text("schema"))") }
}

import Glibc
import PipelineTesting
import Testing

/// Root opens and creates a store as the owner of its folder, who runs the hub.
@Suite(.enabled(if: geteuid() == 0)) struct StoreOwnerTests {
    private static let service: uid_t = 65534
    private let folder: TestFolder
    private let file: String

    init() throws {
        folder = try TestFolder()
        chmod(folder.root, 0o755)
        mkdir(folder.path("hub"), 0o755)
        chown(folder.path("hub"), Self.service, Self.service)
        // Only root can read the file.
        file = try folder.write("weight.csv", "time,type,value,unit\n2026-11-20T07:00:00Z,bodyMass,70,kg\n")
        chmod(file, 0o600)
    }

    @discardableResult
    private func vitalgate(_ arguments: [String], store: String = "hub/data/store.db") throws -> Vitalgate.Run {
        try Vitalgate.run(
            try folder.options(store: folder.path(store)) + arguments,
            environment: Vitalgate.environment(home: folder.root, ["TMPDIR": folder.path("hub")]))
    }

    /// The files and folders of the hub that do not belong to its user.
    private func foreign() throws -> String {
        let find = ["/usr/bin/find", folder.path("hub"), "-not", "-user", "nobody"]
        return try RunningVitalgate(command: find, environment: Vitalgate.environment(home: folder.root)).wait().output
    }

    private func owner(_ name: String) -> uid_t? {
        var status = stat()
        return lstat(folder.path(name), &status) == 0 ? status.st_uid : nil
    }

    @Test(arguments: ["import", "people add Anna", "add bodyMass 70 kg", "clients add reader --purpose Tests", "run --once"])
    func createsTheStoreForTheHub(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init) + (command == "import" ? [file] : [])
        let run = try vitalgate(words)
        #expect(run.status == (words[0] == "run" ? 66 : 0), "\(run)")
        // Each other command opens it in the same way.
        for words in [
            ["import", file], ["store", "check"], ["delete", "--type", "bodyMass", "--yes"], ["ledger", "undo", "1"],
        ] {
            try vitalgate(words)
        }
        #expect(try vitalgate(["store", "backup", folder.path("hub/data/copy.db")]).status == 0)
        #expect(try vitalgate(["run", "--once"]).status == 66)
        #expect(owner("hub/data") == Self.service && owner("hub/data/copy.db") == Self.service)
        for suffix in ["", "-reserve", "-running", "-hub"] {
            #expect(owner("hub/data/store.db\(suffix)") == Self.service, "\(suffix)")
        }
        #expect(try foreign() == "")
    }

    /// Receivers of alerts and observers run as the user of the service, who may write the configuration.
    @Test(arguments: ["alerts test lamp", "alerts watch --until-eof", "observe panel --until-eof --"])
    func runsProgramsForTheHub(_ command: String) throws {
        let program = try folder.write("touch.sh", "#!/bin/sh\nexec touch \(folder.path("hub/ran"))\n")
        chmod(program, 0o755)
        try folder.write("config.json5", "{ alerts: { lamp: { kind: 'command', command: ['\(program)'] } } }\n")
        chmod(folder.path("config.json5"), 0o644)
        try vitalgate(["import", file])
        var words = command.split(separator: " ").map(String.init)
        if words.last == "--" { words.append(program) }
        let run = try vitalgate(words)
        if command.hasSuffix("lamp") { #expect(run.status == 0 && owner("hub/ran") == Self.service, "\(run)") }
        #expect(try foreign() == "")
    }

    /// Such a store was made by an earlier version. The hub cannot open it either.
    @Test func explainsAStoreOfRoot() throws {
        #expect(try vitalgate(["import", file], store: "store.db").status == 0)
        #expect(rename(folder.path("store.db"), folder.path("hub/store.db")) == 0)
        let run = try vitalgate(["query", "bodyMass"], store: "hub/store.db")
        #expect(run.status == 77 && run.errors.contains("chown"), "\(run)")
        chown(folder.path("hub/store.db"), Self.service, Self.service)
        #expect(try vitalgate(["query", "bodyMass"], store: "hub/store.db").status == 0)
    }

    /// The service's user has put a hard link in the place of a lock. Root would give the other file away.
    @Test func givesNoOtherFileAway() throws {
        try vitalgate(["people", "add", "Anna"])
        let victim = try folder.write("victim", "")
        chmod(victim, 0o600)
        try #require(link(victim, folder.path("hub/data/store.db-running")) == 0)
        #expect(try vitalgate(["import", file]).status == 0)
        var status = stat()
        #expect(stat(victim, &status) == 0 && status.st_uid == 0 && status.st_mode & 0o777 == 0o600)
    }
}

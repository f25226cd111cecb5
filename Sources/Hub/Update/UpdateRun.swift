import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// Updates the Debian package of this machine, and returns to the old version if the new one fails its test.
///
/// The steps before the installation change nothing, so an interruption leaves the old version. From the installation on, a journal has the
/// step, and ``resume()`` continues it: a version that was being tested is tested again, and in all other cases the old version returns.
package final class UpdateRun {
    /// Times in seconds.
    package struct Limits: Sendable {
        /// The time for the service to become active.
        package var start = 120
        /// How long it has to stay active.
        package var settling = 10
        /// The time for the self-test of a version.
        package var selfTest = 900
        /// The time for each direction of carrying over readings.
        package var carrying = 40
        /// How often the service may end before it counts as failed.
        package var restarts = 3
        package init() {}
    }

    let folder: String
    let tools: UpdateTools
    let store: UpdateStore
    let limits: Limits
    let program: [String]
    private let now: () -> Instant
    private let isStopAsked: () -> Bool
    let report: (String) -> Void
    private var lock: Int32 = -1

    /// - Parameters:
    ///   - program: the words that run the installed program, without the option for the store.
    ///   - folder: ``UpdateState/folder``, except in tests.
    ///   - isStopAsked: whether a person wants to stop, asked before the installation.
    ///   - report: receives a sentence about each step.
    package init(
        access: StoreAccess, program: [String], folder: String = UpdateState.folder, tools: UpdateTools = UpdateTools(),
        limits: Limits = Limits(), isStopAsked: @escaping () -> Bool, report: @escaping (String) -> Void
    ) {
        (self.folder, self.tools, self.limits, self.program) = (folder, tools, limits, program)
        store = UpdateStore(access: access, tools: tools, program: program, folder: folder)
        now = access.machine.now
        (self.isStopAsked, self.report) = (isStopAsked, report)
    }

    deinit { if lock >= 0 { close(lock) } }

    package static func isInterrupted(in folder: String = UpdateState.folder) -> Bool { UpdateJournal.isPresent(in: folder) }

    // MARK: Check

    /// Asks the repository for a newer version, and writes down the answer.
    ///
    /// - Returns: the newer version, or `nil` if the installed one is the newest.
    @discardableResult
    package func check() throws(UpdateFailure) -> String? {
        try prepareFolder()
        var state = UpdateState(in: folder) ?? UpdateState()
        defer { state.write(in: folder) }
        state.checked = now()
        do throws(UpdateFailure) {
            let installed = tools.installed()
            guard installed.state == "installed" else {
                throw UpdateFailure("the Debian package is not installed on this machine")
            }
            try tools.refresh()
            (state.installed, state.available) = (installed.version, try tools.available(after: installed.version))
            state.failure = nil
        } catch {
            state.failure = error.description
            throw error
        }
        return state.available
    }

    // MARK: Apply

    /// Installs the newer version of the repository, tests it, and returns to the old one if it fails.
    ///
    /// - Returns: the attempt, or `nil` if the installed version is the newest.
    package func apply() throws(UpdateFailure) -> UpdateState.Attempt? {
        try takeLock()
        if let attempt = try resumeLocked() { return attempt }
        guard let version = try check() else { return nil }
        let from = tools.installed().version
        do throws(UpdateFailure) {
            let journal = try prepare(from: from, to: version)
            return try installAndTest(journal)
        } catch {
            cleanUp(keeping: from)
            if error.isStopped { throw error }
            return note(.refused, from, version, error.description)
        }
    }

    /// Continues an interrupted update.
    ///
    /// - Returns: its result, or `nil` if none was interrupted.
    package func resume() throws(UpdateFailure) -> UpdateState.Attempt? {
        try takeLock()
        return try resumeLocked()
    }

    private func resumeLocked() throws(UpdateFailure) -> UpdateState.Attempt? {
        guard let journal = try UpdateJournal.read(in: folder) else {
            // An update that ended before its installation leaves its copy.
            store.removeCopy()
            return nil
        }
        report("continuing an update that was interrupted")
        switch journal.step {
        case .installing: return try goBack(journal, because: "it was interrupted during the installation")
        case .testing: return try test(journal)
        case .returning: return try goBack(journal, because: journal.reason ?? "it was interrupted")
        }
    }

    private func takeLock() throws(UpdateFailure) {
        try prepareFolder()
        guard lock < 0 else { return }
        lock = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw UpdateFailure("\(folder): \(String(cString: strerror(errno)))") }
        // A program that is being started has the lock for a moment longer than this process.
        for _ in 0..<20 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(50_000)
        }
        close(lock)
        lock = -1
        throw UpdateFailure("another update is running", isStopped: true)
    }

    private func prepareFolder() throws(UpdateFailure) {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
            throw UpdateFailure("\(folder): \(String(cString: strerror(errno)))")
        }
    }

    // MARK: Preparation, which changes nothing

    private func prepare(from: String, to version: String) throws(UpdateFailure) -> UpdateJournal {
        report("preparing the update from \(from) to \(version)")
        let problems = try selfTest(sources: [])
        if let broken = problems.first(where: Self.isOfStore) {
            throw UpdateFailure("the store has to be repaired first: \(broken)")
        }
        try checkStop()
        let old: String
        do throws(UpdateFailure) {
            old = try tools.obtain(from, in: folder)
        } catch {
            throw UpdateFailure(
                "the package of the installed version is needed for the way back, but \(error) (put the file into \(folder))")
        }
        let new = try tools.obtain(version, in: folder)
        try checkStop()
        try checkRoom(old, new)
        try retainProgram()
        report("copying the store")
        store.removeCarried()
        let copied = try store.makeCopy()
        try checkStop()
        return UpdateJournal(
            from: from, to: version, packages: [old, new], lastChange: copied.lastChange, quarantined: copied.quarantined,
            erasures: copied.erasures, wasActive: tools.service().state == "active", running: runningSources(),
            problems: problems)
    }

    private func checkStop() throws(UpdateFailure) {
        if isStopAsked() { throw UpdateFailure("stopped before the installation, nothing was changed", isStopped: true) }
    }

    private static func isOfStore(_ problem: String) -> Bool { problem.hasPrefix("store: ") }

    private func runningSources() -> [String] {
        guard let answer = try? StatusClient.ask(store: store.access.configuration.store, machine: store.access.machine) else {
            return []
        }
        return answer.status.sources.filter { $0.state == "running" }.map(\.name)
    }

    /// Checks the room for two packages, the copy of the store, and the unpacked files of both versions.
    private func checkRoom(_ old: String, _ new: String) throws(UpdateFailure) {
        let (oldSize, newSize) = (try tools.installedSize(old), try tools.installedSize(new))
        let spare = 32 << 20
        let needs = [
            (SmallFile.folder(of: store.copy), store.bytes + spare), ("/usr", newSize + spare), (folder, oldSize + spare),
        ]
        var perDisk: [dev_t: (path: String, bytes: Int)] = [:]
        for (path, bytes) in needs {
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            perDisk[status.st_dev, default: (path, 0)].bytes += bytes
        }
        for (path, bytes) in perDisk.values {
            var disk = statvfs()
            guard statvfs(path, &disk) == 0 else { continue }
            let free = Int(disk.f_bavail) * Int(disk.f_frsize)
            guard free >= bytes else {
                throw UpdateFailure(
                    "there is too little room at \(path): \(free >> 20) MiB are free, \(bytes >> 20) MiB are needed")
            }
        }
        // The way back has this room, also if the disk fills up.
        let descriptor = open(reserve, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let code = descriptor < 0 ? errno : posix_fallocate(descriptor, 0, off_t(oldSize + spare / 2))
        if descriptor >= 0 { close(descriptor) }
        guard code == 0 else { throw UpdateFailure("\(reserve): \(String(cString: strerror(code)))") }
    }

    var reserve: String { folder + "/reserve" }

    /// The path at which this version's program stays during the update, because the new one may not work after a power cut.
    package static func retainedProgram(in folder: String = UpdateState.folder) -> String { folder + "/vitalgate" }

    private func retainProgram() throws(UpdateFailure) {
        let path = Self.retainedProgram(in: folder)
        unlink(path)
        // dpkg replaces the file under its old name, so a second name of it stays as it is.
        if link(program[0], path) == 0 { return }
        guard tools.attempt(["cp", program[0], path], seconds: 120).code == 0 else {
            throw UpdateFailure("\(path) cannot be written")
        }
    }

    // MARK: Installation and test

    private func installAndTest(_ journal: UpdateJournal) throws(UpdateFailure) -> UpdateState.Attempt {
        var journal = journal
        try journal.write(in: folder)
        report("installing \(journal.to)")
        do throws(UpdateFailure) {
            try tools.install(journal.packages[1])
        } catch {
            return try goBack(journal, because: "it cannot be installed: \(error)")
        }
        journal.step = .testing
        do throws(UpdateFailure) {
            try journal.write(in: folder)
        } catch {
            return try goBack(journal, because: error.description)
        }
        return try test(journal)
    }

    private func test(_ journal: UpdateJournal) throws(UpdateFailure) -> UpdateState.Attempt {
        report("testing \(journal.to)")
        var journal = journal
        do throws(UpdateFailure) {
            let installed = tools.installed()
            guard installed.state == "installed", installed.version == journal.to else {
                throw UpdateFailure("dpkg has not installed it completely (\(installed.state))")
            }
            if journal.wasActive { try waitForService(settling: 0) }
            let found = try selfTest(sources: journal.wasActive ? journal.running : [])
            let added = found.filter { !journal.problems.contains($0) }
            if let first = added.first {
                journal.isDamaged = added.contains(where: Self.isOfStore)
                throw UpdateFailure(added.count == 1 ? first : "\(first) (and \(added.count - 1) more)")
            }
            if journal.wasActive { try waitForService(settling: limits.settling) }
        } catch {
            return try goBack(journal, because: error.description)
        }
        UpdateJournal.remove(in: folder)
        cleanUp(keeping: journal.to)
        return note(.applied, journal.from, journal.to, nil)
    }

    /// Waits until the service is active, and stays so.
    private func waitForService(settling: Int) throws(UpdateFailure) {
        var active = 0
        for _ in 0..<(limits.start + settling) {
            let service = tools.service()
            guard service.restarts < limits.restarts, service.state != "failed" else { break }
            active = service.state == "active" ? active + 1 : 0
            if active > settling { return }
            sleep(1)
        }
        let line = tools.lastError()
        throw UpdateFailure("its service does not keep running" + (line.isEmpty ? "" : ": \(line)"))
    }

    /// Runs the self-test of the installed version.
    ///
    /// - Returns: the problems that it found.
    private func selfTest(sources: [String]) throws(UpdateFailure) -> [String] {
        let result = tools.attempt(
            program + ["--store", store.access.configuration.store, "update", "self-test"]
                + sources.flatMap { ["--running", $0] }, seconds: limits.selfTest)
        guard result.code == 0 || result.code == 65 else {
            let reason = UpdateTools.reason(in: result.words)
            throw UpdateFailure("the self-test ended with status \(result.code)\(reason.isEmpty ? "" : ": \(reason)")")
        }
        return result.output.split(separator: "\n").map(String.init)
    }

    // MARK: The end

    /// Removes everything except the package of the installed version, which the next update needs for its way back.
    func cleanUp(keeping version: String) {
        store.removeCopy()
        store.removeCarried()
        for path in [reserve, Self.retainedProgram(in: folder), marker] { unlink(path) }
        let suffix = "_\(version.replacing(":", with: "%3a"))_"
        for name in Folder.names(folder) ?? [] where name.hasSuffix(".deb") && !name.contains(suffix) {
            unlink("\(folder)/\(name)")
        }
    }

    /// While this file exists, systemd does not start the hub (vitalgate.service), because its store is being replaced.
    var marker: String { folder + "/returning" }

    /// Writes down the result.
    func note(
        _ outcome: UpdateState.Attempt.Outcome, _ from: String, _ to: String, _ reason: String?
    ) -> UpdateState.Attempt {
        let attempt = UpdateState.Attempt(outcome: outcome, time: now(), from: from, to: to, reason: reason)
        var state = UpdateState(in: folder) ?? UpdateState()
        state.last = attempt
        state.installed = tools.installed().version
        if outcome == .applied { state.available = nil }
        state.write(in: folder)
        let text = outcome == .applied ? "updated from \(from) to \(to)" : state.trouble ?? ""
        tools.log(text, isWarning: outcome != .applied)
        return attempt
    }
}

import EventLoopKit
import HealthModel
import Ingestion
import Pipeline

/// The inbox source: imports files from a folder, and then moves them to `done` or `refused` with their account
/// (`weight.csv.account.json`).
///
/// A file is imported when its writer has closed it or moved it there (inotify(7)). Files that exist at the start are imported at
/// once. Files are read one at a time, oldest first. After a crash between import and move the file is imported again, which
/// stores nothing twice.
package final class InboxService: HubSource {
    /// `inbox`.
    package let name = "inbox"
    /// Receives notices on files, and the failure if the folder is removed or renamed.
    package weak var host: (any HubSourceHost)?
    private let loop: EventLoop
    private let live: LiveIngest
    private var settings: InboxSettings?
    private var folder: InboxFolder?
    private var watch: FolderWatch?
    private var queue: [String] = []
    private var current: (name: String, state: InboxFolder.State, process: ImportProcess)?
    /// The files that could not be imported or moved, with the timer of their next attempt. They delay no other file.
    private var putOffs: [String: PutOff] = [:]
    private var isStarted = false
    /// The number of checks of each file that is still being written.
    private var looksAgain: [String: Int] = [:]
    /// The names of entries that were reported because they are not files.
    private var didReceive: Set<String> = []

    private struct PutOff {
        var failures = 0
        var timer: EventLoop.Timer?
        /// The result of an import whose file could not be moved, and the file that was imported.
        var imported: (account: InboxAccount, state: InboxFolder.State)?
    }

    /// The number of crashes and internal errors, such as a lack of memory, after which a file is moved to `refused`.
    private static let maximumCrashes = 3
    /// The exit status of an internal error (`EX_SOFTWARE`).
    private static let internalError: Int32 = 70
    private static let maximumLooks = 7
    private static let timeout = Duration.milliseconds(1500)

    /// - Parameter live: the ingest whose store receives the files.
    package init(live: LiveIngest) {
        self.live = live
        loop = live.loop
    }

    /// Whether no file is being imported or waits.
    package var isDone: Bool { current == nil && queue.isEmpty && putOffs.isEmpty }

    /// Applies new settings. A running source watches a new folder at once, and reports a failure to the host if that is
    /// impossible.
    package func apply(_ settings: HubSettings) {
        let isSame = settings.inbox?.folder == self.settings?.folder
        self.settings = settings.inbox
        guard isStarted, !isSame else { return }
        stop()
        do throws(SourceError) {
            try start()
        } catch {
            host?.failed(self, error)
        }
    }

    /// Watches the folder and imports the files in it. Does nothing if the settings have no folder.
    /// - Throws: ``SourceError`` if the folder cannot be used or watched.
    package func start() throws(SourceError) {
        isStarted = true
        guard let path = settings?.folder else { return }
        do throws(SystemFailure) {
            let folder = try InboxFolder(path)
            let watch = try FolderWatch(path, [.written, .movedIn], loop: loop) { [weak self] in self?.handle($0) }
            folder.finishMoves()
            folder.removeStaleNotes()
            (self.folder, self.watch) = (folder, watch)
        } catch {
            throw SourceError(.inputOutput, "\(error)")
        }
        look()
    }

    /// Stops watching and ends the current import. Its file stays and is read again the next time.
    package func stop() {
        isStarted = false
        watch = nil
        folder = nil
        for putOff in putOffs.values { putOff.timer?.cancel() }
        putOffs.removeAll()
        queue.removeAll()
        // The file stays in place and is read again the next time.
        current?.process.end(within: Self.timeout)
        current = nil
    }

    // MARK: What comes

    private func handle(_ event: FolderWatch.Event) {
        guard watch != nil else { return }
        switch event {
        case .removed: host?.failed(self, SourceError(.inputOutput, "the folder was removed or renamed"))
        case .overflow: look()
        case .entry(let name):
            // A name that is not valid UTF-8 has to be changed first.
            guard let text = String(validating: name, as: UTF8.self) else { return look() }
            looksAgain[text] = nil
            enqueue(text)
            next()
        }
    }

    private func look() {
        for name in folder?.names() ?? [] { enqueue(name) }
        next()
    }

    private func enqueue(_ name: String) {
        guard !name.isEmpty, !TemporaryName.isOne(name), !queue.contains(name), putOffs[name]?.timer == nil else { return }
        queue.append(name)
    }

    // MARK: One after the other

    private func next() {
        defer { host?.changed(self) }
        while current == nil, let folder, !queue.isEmpty {
            let name = queue.removeFirst()
            switch folder.content(name) {
            case .file(let state):
                if let imported = putOffs[name]?.imported, imported.state == state {
                    finish(name, state, imported.account)
                } else {
                    begin(name, state)
                }
            // There is another event when the file is closed. It arrives a moment before the file counts as closed.
            case .beingWritten: lookAgain(name)
            case .missing: putOffs[name] = nil
            case .other(let reason):
                putOffs[name] = nil
                guard !folder.isFolderOfOurs(name), didReceive.insert(name).inserted else { break }
                folder.writeNote(name, reason)
                notify(
                    .warning,
                    "an entry was left in the inbox (\(reason)): a file in refused/ that ends in \(InboxFolder.leftSuffix) has its name"
                )
            }
        }
    }

    private func lookAgain(_ name: String) {
        let looks = looksAgain[name, default: 0]
        guard looks < Self.maximumLooks else {
            looksAgain[name] = nil
            return
        }
        looksAgain[name] = looks + 1
        loop.after(.milliseconds(20 << looks)) { [weak self] in
            guard let self, looksAgain[name] == looks + 1 else { return }
            enqueue(name)
            next()
        }
    }

    private func begin(_ name: String, _ state: InboxFolder.State) {
        // If our store was removed, an import would create a new one.
        guard let folder, let command = settings?.command, live.hasStore() else {
            putOffs[name] = nil
            return
        }
        looksAgain[name] = nil
        do throws(SystemFailure) {
            let process = try ImportProcess(command, file: "\(folder.path)/\(name)", loop: loop) { [weak self] in self?.ended($0)
            }
            current = (name, state, process)
        } catch {
            putOff(name, "\(error)")
        }
    }

    private func ended(_ result: ImportProcess.Result) {
        guard let (name, state, _) = current, let folder else { return }
        current = nil
        switch (result.code, folder.content(name)) {
        case (_, .missing): putOffs[name] = nil
        case (_, let content) where content != .file(state):
            // The file was changed during the import. It is read again when it is closed.
            enqueue(name)
        case (0, _), (65, _), (66, _): finish(name, state, InboxAccount(result))
        case (nil, _) where isLastTry(name), (Self.internalError, _) where isLastTry(name):
            finish(name, state, InboxAccount(result))
        default:
            // The store is full or in use, or the hub is: the file is not at fault.
            putOff(name, "a file could not be imported (\(result.code.map { "status \($0)" } ?? "the import crashed"))")
        }
        next()
    }

    /// Whether a file whose import fails again is at fault itself.
    private func isLastTry(_ name: String) -> Bool { putOffs[name]?.failures ?? 0 >= Self.maximumCrashes - 1 }

    private func finish(_ name: String, _ state: InboxFolder.State, _ account: InboxAccount) {
        do throws(SystemFailure) {
            _ = try folder?.move(name, to: account.outcome) { account.text(name: $0) }
            putOffs[name] = nil
            notify(account.outcome == .done && !account.isCut ? .information : .action, account.summary)
        } catch {
            // Only the folder is reported because the log never contains file names.
            putOff(
                name, "a file was imported but cannot be moved to '\(account.outcome.rawValue)': \(error.reason)",
                imported: (account, state))
        }
    }

    /// Tries a file again later. The others go on.
    private func putOff(_ name: String, _ reason: String, imported: (InboxAccount, InboxFolder.State)? = nil) {
        var putOff = putOffs[name] ?? PutOff()
        let delay = Duration.seconds(1 << min(putOff.failures, 8))
        putOff.failures += 1
        putOff.imported = imported.map { (account: $0.0, state: $0.1) }
        putOff.timer?.cancel()
        putOff.timer = loop.after(delay) { [weak self] in
            guard let self else { return }
            putOffs[name]?.timer = nil
            enqueue(name)
            next()
        }
        putOffs[name] = putOff
        notify(.warning, "\(reason), retrying in \(delay.components.seconds) s")
    }

    private func notify(_ weight: SourceNotice.Weight, _ text: String) { host?.didReceive(SourceNotice(weight, name, text)) }
}

package struct InboxSettings: Sendable {
    package var folder: String
    /// The program and its arguments. The file's path is sent to its standard input.
    package var command: [String]

    /// - Parameter command: the program and its arguments. The file's path is sent to its standard input.
    package init(folder: String, command: [String]) {
        self.folder = folder
        self.command = command
    }
}

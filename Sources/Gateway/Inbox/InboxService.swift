import EventLoopKit
import HealthModel
import Ingestion
import Pipeline

/// The inbox as a part of the hub: a file that is put into the folder is imported, then moved to `done` or `refused` with its account beside
/// it (`weight.csv.account.json`).
///
/// A file is taken when its writer has closed it or moved it there (inotify(7)); those that are there at the start, at once. One at a time,
/// oldest first. A crash between import and move imports the file again, which stores nothing twice.
public final class InboxService: HubSource {
    /// `inbox`.
    public let name = "inbox"
    /// Hears of what is said of files, and of a folder that is removed or renamed.
    public weak var host: (any HubSourceHost)?
    /// Files that wait, the one that is read among them.
    public var waiting: Int { queue.count + (current == nil ? 0 : 1) }
    private let loop: EventLoop
    private let live: LiveIngest
    private var settings: InboxSettings?
    private var folder: InboxFolder?
    private var watch: FolderWatch?
    private var queue: [String] = []
    private var current: (name: String, state: InboxFolder.State, process: ImportProcess)?
    private var pause: EventLoop.Timer?
    private var failures = 0
    private var isStarted = false
    /// How often a file that is being written was looked at since it was heard of.
    private var looksAgain: [String: Int] = [:]
    /// Names that were spoken of and are not files.
    private var told: Set<String> = []

    /// A file that brings the import down so many times is put away.
    private static let maximumCrashes = 3
    private static let maximumLooks = 7
    private static let patience = Duration.milliseconds(1500)

    /// - Parameter live: whose store the files go to.
    public init(live: LiveIngest) {
        self.live = live
        loop = live.loop
    }

    /// Whether no file is being read and none waits.
    public var isDone: Bool { current == nil && queue.isEmpty }

    /// Another folder is watched at once if the source runs; where that cannot be, the host is told of the failure.
    public func apply(_ settings: HubSettings) {
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

    /// Watches the folder and takes the files that are there. Without a folder in the settings it does nothing.
    /// - Throws: ``SourceError`` where the folder cannot be used or watched.
    public func start() throws(SourceError) {
        isStarted = true
        guard let path = settings?.folder else { return }
        do throws(SystemFailure) {
            let folder = try InboxFolder(path)
            let watch = try FolderWatch(path, [.written, .movedIn], loop: loop) { [weak self] in self?.handle($0) }
            folder.finishMoves()
            folder.forgetWhatWent()
            (self.folder, self.watch) = (folder, watch)
        } catch {
            throw SourceError(.inputOutput, "\(error)")
        }
        look()
    }

    /// Stops watching and ends the import that runs; its file stays, and is read again the next time.
    public func stop() {
        isStarted = false
        watch = nil
        folder = nil
        pause?.cancel()
        pause = nil
        queue.removeAll()
        // The file stays where it is, and is read again the next time.
        current?.process.end(within: Self.patience)
        current = nil
    }

    // MARK: What comes

    private func handle(_ event: FolderWatch.Event) {
        guard watch != nil else { return }
        switch event {
        case .gone: host?.failed(self, SourceError(.inputOutput, "the folder was removed or renamed"))
        case .overflow: look()
        case .entry(let name):
            // A name that is no UTF-8 has to be changed first.
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
        guard !name.isEmpty, !TemporaryName.isOne(name), !queue.contains(name) else { return }
        queue.append(name)
    }

    // MARK: One after the other

    private func next() {
        defer { host?.changed(self) }
        while current == nil, pause == nil, let folder, !queue.isEmpty {
            let name = queue.removeFirst()
            switch folder.content(name) {
            case .file(let state): begin(name, state)
            // It is heard of again when it is closed. That is told a moment before the file counts as closed.
            case .beingWritten: lookAgain(name)
            case .gone: break
            case .other(let what):
                guard !folder.isFolderOfOurs(name), told.insert(name).inserted else { break }
                folder.sayLeft(name, what)
                tell(
                    .warning,
                    "something is left where it is: \(what); refused/ has its name, in a file that ends in \(InboxFolder.leftSuffix)"
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
        // An import would make a new store where ours was removed.
        guard let folder, let command = settings?.command, live.hasStore() else { return }
        looksAgain[name] = nil
        do throws(SystemFailure) {
            let process = try ImportProcess(command + ["\(folder.path)/\(name)"], loop: loop) { [weak self] in self?.ended($0) }
            current = (name, state, process)
        } catch {
            queue.insert(name, at: 0)
            putOff("\(error)")
        }
    }

    private func ended(_ result: ImportProcess.Result) {
        guard let (name, state, _) = current, let folder else { return }
        current = nil
        switch (result.code, folder.content(name)) {
        case (_, .gone): break
        case (_, let content) where content != .file(state):
            // It was written to meanwhile: what it is now is read when it is closed.
            enqueue(name)
        case (0, _), (65, _), (66, _): finish(name, InboxAccount(result))
        case (nil, _) where failures >= Self.maximumCrashes - 1: finish(name, InboxAccount(result))
        default:
            // The store is full or in use, or we are: nothing that is the file's fault.
            queue.insert(name, at: 0)
            putOff("a file could not be imported (status \(result.code.map(String.init) ?? "of a crash"))")
            return
        }
        next()
    }

    private func finish(_ name: String, _ account: InboxAccount) {
        do throws(SystemFailure) {
            _ = try folder?.move(name, to: account.outcome) { account.text(name: $0) }
            failures = 0
            tell(account.outcome == .done && !account.isCut ? .information : .action, account.summary)
        } catch {
            queue.insert(name, at: 0)
            // Where, and not its name: the log names nobody's files.
            putOff("a file was imported and cannot be moved to '\(account.outcome.rawValue)': \(error.reason)")
        }
    }

    private func putOff(_ reason: String) {
        let delay = Duration.seconds(1 << min(failures, 8))
        failures += 1
        tell(.warning, "\(reason); tried again in \(delay.components.seconds) s")
        pause = loop.after(delay) { [weak self] in
            self?.pause = nil
            self?.next()
        }
    }

    private func tell(_ weight: SourceNotice.Weight, _ text: String) { host?.told(SourceNotice(weight, name, text)) }
}

/// Where files are put, and what reads them.
public struct InboxSettings: Sendable {
    /// Its path.
    public var folder: String
    /// The program and its arguments; the path of a file is added behind them.
    public var command: [String]

    /// - Parameter command: the program and its arguments; the path of a file is added behind them.
    public init(folder: String, command: [String]) {
        self.folder = folder
        self.command = command
    }
}

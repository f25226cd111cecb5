import FoundationEssentials
import Glibc
import HealthModel
import Ingestion
import Pipeline

/// The state of updates, in a file that every user can read. `vitalgate update` writes it as root, and the hub shows it.
package struct UpdateState: Codable, Hashable, Sendable {
    package struct Attempt: Codable, Hashable, Sendable {
        package enum Outcome: String, Codable, Sendable {
            /// The new version is installed and passed its test.
            case applied
            /// The new version was installed, and then the old one again.
            case returned
            /// Nothing was changed.
            case refused
            /// The old version could not be installed again. The next run tries it again.
            case failed
        }
        package var outcome: Outcome
        package var time: Instant
        package var from: String
        package var to: String
        /// Why it was not applied.
        package var reason: String?
    }

    /// When the repository was last asked.
    package var checked: Instant?
    /// Why it could not be asked.
    package var failure: String?
    /// The version that was installed then.
    package var installed: String?
    /// A newer version in the repository, or `nil`.
    package var available: String?
    package var last: Attempt?

    /// The folder of the state, of packages, and of the journal of a running update.
    package static let folder = "/var/lib/vitalgate-update"

    private static func path(_ folder: String) -> String { folder + "/state.json" }

    /// The state before the first check.
    package init() {}

    /// Reads the state, or returns `nil` before the first check.
    package init?(in folder: String) {
        guard let bytes = SmallFile.read(Self.path(folder), limit: 1 << 16),
            let state = try? JSONDecoder().decode(UpdateState.self, from: Data(bytes))
        else { return nil }
        self = state
    }

    /// Writes the state. On a full disk, the old one stays.
    func write(in folder: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(self) else { return }
        try? SmallFile.replace(Self.path(folder), with: String(decoding: data, as: UTF8.self) + "\n", mode: 0o644)
    }

    /// A sentence about the last attempt, or `nil` if none was made or the user does not have to know of it.
    package var trouble: String? {
        guard let last, let reason = last.reason else { return nil }
        return switch last.outcome {
        case .applied: nil
        case .returned: "the update to \(last.to) was undone: \(reason)"
        case .refused: "the update to \(last.to) was not tried: \(reason)"
        case .failed: "the update to \(last.to) could not be undone: \(reason)"
        }
    }

    /// The finding of `doctor`, or `nil` before the first check.
    var finding: Finding? {
        if let trouble {
            return Finding(
                last?.outcome == .failed ? .broken : .warning, "update", trouble, command: "sudo vitalgate update apply")
        }
        if let failure { return Finding(.warning, "update", failure, command: "sudo vitalgate update check") }
        guard checked != nil else { return nil }
        return available.map {
            Finding(.good, "update", "\($0) is available", command: "sudo vitalgate update apply")
        } ?? Finding(.good, "update", "there is no newer version")
    }
}

/// The step of a running update, so that it can be continued after a power cut.
struct UpdateJournal: Codable, Hashable {
    enum Step: String, Codable {
        /// The new version is being installed.
        case installing
        /// The new version is installed and being tested.
        case testing
        /// The old version is being installed again.
        case returning
    }
    var step = Step.installing
    var from: String
    var to: String
    /// The files of the two packages.
    var packages: [String]
    /// The last change in the copy of the store, and what it contains besides samples.
    var lastChange: Int64
    var quarantined: Int
    var erasures: Int64
    /// Whether the service ran before.
    var wasActive: Bool
    /// The sources that ran before.
    var running: [String]
    /// The problems that the old version already had.
    var problems: [String]
    /// Why the old version is installed again.
    var reason: String?
    /// Whether the store has to be replaced by its copy because the new version found it damaged.
    var isDamaged = false
    /// Whether the readings after the copy are in a file, and those that are only in the store of the newer version, in words.
    var isCarriedOut = false
    var left: String?

    private static func path(_ folder: String) -> String { folder + "/journal.json" }

    static func isPresent(in folder: String) -> Bool { SmallFile.read(path(folder), limit: 1 << 20) != nil }

    static func read(in folder: String) throws(UpdateFailure) -> UpdateJournal? {
        guard let bytes = SmallFile.read(path(folder), limit: 1 << 20) else { return nil }
        guard let journal = try? JSONDecoder().decode(UpdateJournal.self, from: Data(bytes)) else {
            throw UpdateFailure("\(path(folder)) cannot be read")
        }
        return journal
    }

    func write(in folder: String) throws(UpdateFailure) {
        guard let data = try? JSONEncoder().encode(self) else { throw UpdateFailure("the journal cannot be written") }
        do {
            try SmallFile.replace(Self.path(folder), with: String(decoding: data, as: UTF8.self) + "\n", mode: 0o600)
        } catch {
            throw UpdateFailure("\(error)")
        }
        Self.synchronize(folder)
    }

    static func remove(in folder: String) {
        unlink(path(folder))
        synchronize(folder)
    }

    /// Makes the names in a folder durable.
    static func synchronize(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// The reason why an update cannot be applied, for the user.
package struct UpdateFailure: Error, CustomStringConvertible {
    package let description: String
    /// Whether a person or the end of the machine stopped it, which is not a problem of the version.
    package let isStopped: Bool

    init(_ description: String, isStopped: Bool = false) { (self.description, self.isStopped) = (description, isStopped) }
}

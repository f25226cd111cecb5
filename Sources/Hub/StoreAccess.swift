import EventLoopKit
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// Opens the store that the configuration names.
///
/// Root opens and creates a store as the owner of its folder (``FolderOwner``), so that the hub, which runs as this user, can open the store and
/// the files beside it.
package struct StoreAccess: Sendable {
    /// The configuration with the path of the store and the subject of a new one.
    package var configuration: Configuration
    /// The machine, whose time is used for a new store.
    package var machine: Machine

    /// Creates the object without opening a store.
    package init(configuration: Configuration, machine: Machine) {
        self.configuration = configuration
        self.machine = machine
    }

    /// Opens the store for reading and never creates one.
    /// - Throws: ``StoreError`` of the kind `missing` if there is no store or no path is known.
    package func openForReading() throws(StoreError) -> SampleStore {
        try checkPath()
        do throws(StoreError) {
            return try asOwner { () throws(StoreError) in try SampleStore(path: configuration.store, access: .read) }
        } catch {
            guard error.kind == .missing else { throw error }
            throw StoreError(
                .missing,
                "there is no store at \(configuration.store): create one with 'vitalgate import', or name another with --store")
        }
    }

    /// Opens the store for writing.
    ///
    /// - Parameters:
    ///   - creating: makes it, and its folder (mode 0700), where there is none.
    ///   - takesStreams: whether a new one is for a hub.
    package func openForWriting(creating: Bool, takesStreams: Bool = false) throws(StoreError) -> SampleStore {
        try openForWriting(creating: creating, asDemo: false, takesStreams: takesStreams)
    }

    /// Opens a demo store, or makes one: the only kind of store that takes simulated readings.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the existing store is not a demo store.
    package func openDemo() throws(StoreError) -> SampleStore {
        let store = try openForWriting(creating: true, asDemo: true, takesStreams: true)
        guard store.isDemo else {
            throw StoreError(
                .invalid,
                "\(configuration.store) is not a demo store: simulated readings need a store created by --simulate, or a new one"
            )
        }
        return store
    }

    private func openForWriting(creating: Bool, asDemo: Bool, takesStreams: Bool) throws(StoreError) -> SampleStore {
        try checkPath()
        return try asOwner { () throws(StoreError) in
            guard creating else { return try SampleStore(path: configuration.store, access: .write) }
            try Self.makeFolder(of: configuration.store)
            return try SampleStore(
                path: configuration.store, access: .write,
                creation: SampleStore.Creation(
                    person: configuration.person?.lowercased() ?? UUIDText.random(), time: machine.now().microseconds,
                    isDemo: asDemo, takesStreams: takesStreams))
        }
    }

    /// Opens the store or its lock as the owner of the store's folder, if root started the process.
    private func asOwner<Opened>(_ open: () throws(StoreError) -> Opened) throws(StoreError) -> Opened {
        let path = configuration.store
        do {
            return try FolderOwner.acting(asOwnerOf: path, open)
        } catch let error as StoreError {
            guard error.kind == .permission, getuid() == 0, FolderOwner.owner(of: path) != nil, access(path, F_OK) == 0 else {
                throw error
            }
            throw StoreError(
                .permission,
                "\(error): root opens a store as the owner of its folder, and \(path) belongs to another user: give it to the owner "
                    + "with chown")
        } catch {
            throw StoreError(.permission, "\(error)")
        }
    }

    /// Locks an open store for the hub. The lock belongs to the owner of the folder, as the store does.
    package func lock(_ store: SampleStore) throws(StoreError) -> HubLock {
        try asOwner { () throws(StoreError) in try HubLock(store: store.path) }
    }

    /// Whether the configured subject can be one: it becomes a part of every sample's identity, for ever.
    ///
    /// - Throws: ``PersonSettingError`` where it is neither a UUID nor the name of a person whom the store knows.
    package func checkPerson() throws(PersonSettingError) {
        guard let person = configuration.person, !UUIDText.isValid(person) else { return }
        if let store = try? openForReading(), let persons = try? store.people.all(),
            persons.contains(where: { $0.name == person })
        {
            return
        }
        throw PersonSettingError()
    }

    private func checkPath() throws(StoreError) {
        guard configuration.store.isEmpty else { return }
        throw StoreError(.missing, "there is no home folder for the store: set HOME or use --store")
    }

    private static func makeFolder(of path: String) throws(StoreError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let folder = String(path[..<slash])
        var status = stat()
        if stat(folder, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw StoreError(.readOnly, "\(folder): \(String(cString: strerror(ENOTDIR)))")
            }
            return
        }
        try makeFolder(of: folder)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw StoreError(errno == EACCES ? .permission : .readOnly, "\(folder): \(String(cString: strerror(errno)))")
        }
    }

    /// Returns the subject for a text: `me`, `unassigned`, a name, or a UUID in lower case.
    package static func person(_ text: String, in store: SampleStore) throws -> String {
        switch text {
        case "me": return store.owner
        case Origin.unassigned: return text
        default:
            if UUIDText.isValid(text) { return text.lowercased() }
            if let person = try store.people.all().first(where: { $0.name == text }) { return person.id }
            // A mistyped name must not end up in a log.
            throw ConfigurationError(
                "there is no such person: use me, unassigned, a UUID, or a name from 'vitalgate people list'",
                isOfOption: true)
        }
    }
}

/// The error for an invalid configured subject.
package struct PersonSettingError: Error, CustomStringConvertible {
    /// The expected value, for the user.
    package let description =
        "configuration: subject: must be a UUID (another hub's 'vitalgate store stats' shows it) or the name of a person in the store: "
        + "leave it out to let a new store create its own"
    /// Says nothing of the configured text, which may be a name.
    package init() {}
}

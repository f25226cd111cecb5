import Glibc
import Pipeline
import SampleStore

/// The place of a store that a command uses and then removes.
struct TemporaryStore {
    private let folder: String
    var path: String { folder + "/store.db" }

    init() throws(StoreError) {
        guard let folder = Folder.temporary(in: "/tmp") else {
            throw StoreError(.inputOutput, "/tmp: \(String(cString: strerror(errno)))")
        }
        self.folder = folder
    }

    func remove() {
        for name in Folder.names(folder) ?? [] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }
}

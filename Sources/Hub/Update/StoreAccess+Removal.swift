import Glibc
import SampleStore

extension StoreAccess {
    /// Runs `body` with the store, from which it removes data permanently. Nothing is removed during an update, because an update that is
    /// undone brings the data back from its copy of the store.
    ///
    /// - Throws: ``StoreError`` of the kind `busy` during an update, and what `body` throws.
    package func removing<Result>(_ body: (SampleStore) throws -> Result) throws -> Result {
        try refuseDuringUpdate("nothing was removed")
        let result = try body(try openForWriting(creating: false))
        try refuseDuringUpdate("it began in the meantime, so run this command again after it")
        return result
    }

    private func refuseDuringUpdate(_ consequence: String) throws(StoreError) {
        guard let path = UpdateStore.trace(besides: configuration.store) else { return }
        throw StoreError(
            .busy,
            "an update has not ended (\(path) is there): \(consequence). "
                + "'sudo vitalgate update apply' continues one that was interrupted")
    }
}

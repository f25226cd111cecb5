import SampleStore

/// The connection that writes, on a thread of its own: one change after the other.
actor StoreWriter {
    private let executor = BlockingExecutor(label: "vitalstore.writer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: SampleStore

    init(_ store: sending SampleStore) { self.store = store }

    /// Changes something.
    ///
    /// - Throws: ``StoreError``, of the kind `missing` where the file was replaced, and what `body` throws.
    func write<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        try store.checkPlace()
        return try body(store)
    }
}

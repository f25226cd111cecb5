import SampleStore

/// The writing connection, on its own thread. Changes run one at a time.
actor StoreWriter {
    private let executor = BlockingExecutor(label: "vitalstore.writer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: SampleStore

    init(_ store: sending SampleStore) { self.store = store }

    /// Runs a change.
    ///
    /// - Throws: ``StoreError``, of the kind `missing` if the file was replaced, and the errors of `body`.
    func write<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        try store.checkPlace()
        return try body(store)
    }
}

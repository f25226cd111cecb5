import SampleStore

/// A pool of idle readers. It creates a reader whenever none is idle.
actor ReaderPool {
    private let path: String
    private var idle: [StoreReader] = []
    /// The maximum number of connections that are kept open for later queries.
    private static let mostIdle = 4

    init(path: String) { self.path = path }

    /// Returns a reader for exclusive use.
    func take() -> StoreReader { idle.popLast() ?? StoreReader(path: path) }

    /// Takes back a reader that has no open query.
    func giveBack(_ reader: StoreReader) {
        if idle.count < Self.mostIdle { idle.append(reader) }
    }

    /// The number of idle readers.
    var idleCount: Int { idle.count }

    /// Runs a closure with a reader from the pool.
    nonisolated func read<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) async throws -> Value {
        let reader = await take()
        do {
            let value = try await reader.read(body)
            await giveBack(reader)
            return value
        } catch {
            await giveBack(reader)
            throw error
        }
    }
}

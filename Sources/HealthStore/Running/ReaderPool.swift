import SampleStore

/// A pool of idle readers. It creates a reader whenever none is idle.
struct ReaderPool: Sendable {
    private let path: String
    private let idle = IdlePool<StoreReader>()

    init(path: String) { self.path = path }

    /// Returns a reader for exclusive use.
    func take() -> StoreReader { idle.take() ?? StoreReader(path: path) }

    /// Takes back a reader that has no open query.
    func giveBack(_ reader: StoreReader) { idle.giveBack(reader) }

    var idleCount: Int { idle.count }

    func read<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) async throws -> Value {
        let reader = take()
        defer { giveBack(reader) }
        return try await reader.read(body)
    }
}

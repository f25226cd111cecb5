import SampleStore

/// Readers that wait for work; as many are made as are asked for at once.
actor ReaderPool {
    private let path: String
    private var idle: [StoreReader] = []
    /// Open connections that are kept for the next query.
    private static let mostIdle = 4

    init(path: String) { self.path = path }

    /// A reader that nobody else has.
    func take() -> StoreReader { idle.popLast() ?? StoreReader(path: path) }

    /// Takes a reader back that walks no more.
    func giveBack(_ reader: StoreReader) {
        if idle.count < Self.mostIdle { idle.append(reader) }
    }

    /// How many wait for work.
    var idleCount: Int { idle.count }

    /// Reads something with a reader of its own.
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

import CSQLite

/// Interrupts the work of a connection at an arbitrary step, as the end of its process would.
final class Interruption {
    private let body: () -> Void
    private var isDone = false

    /// - Parameter body: Called once at the moment of the interruption.
    init(_ body: @escaping () -> Void) { self.body = body }

    /// Interrupts the connection after this number of steps of SQLite's virtual machine. The object must live until ``end(on:)``.
    func begin(on connection: Connection, after steps: Int32) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection.handle, steps,
            { context in
                guard let context else { return 0 }
                Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().strike()
                return 1
            }, context)
    }

    private func strike() {
        guard !isDone else { return }
        isDone = true
        body()
    }

    /// Lets the connection work again.
    func end(on connection: Connection) { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
}

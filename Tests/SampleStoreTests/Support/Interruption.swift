@testable import SampleStore

/// Interrupts the work of a connection at an arbitrary step, as the end of its process would.
final class Interruption {
    private let body: () -> Void
    private var isDone = false

    /// - Parameter body: Called once at the moment of the interruption.
    init(_ body: @escaping () -> Void) { self.body = body }

    /// Interrupts the connection after this number of steps of SQLite's virtual machine.
    func begin(on connection: Connection, after steps: Int32) {
        connection.onProgress(every: steps) {
            self.strike()
            return true
        }
    }

    private func strike() {
        guard !isDone else { return }
        isDone = true
        body()
    }

    /// Lets the connection work again.
    func end(on connection: Connection) { connection.onProgress(every: 0, nil) }
}

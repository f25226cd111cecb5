import Glibc

/// Waits until a condition is true. The limit of five minutes only ends a test that would hang.
package func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<30_000 {
        if condition() { return true }
        usleep(10_000)
    }
    return condition()
}

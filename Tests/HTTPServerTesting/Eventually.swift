import Glibc

/// Waits until something is so; the tests have no other sleep.
public func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<3000 {
        if condition() { return true }
        usleep(10_000)
    }
    return condition()
}

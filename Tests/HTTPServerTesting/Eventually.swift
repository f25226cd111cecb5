import Glibc

/// Waits until a condition is true. The tests never sleep in any other way.
public func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<3000 {
        if condition() { return true }
        usleep(10_000)
    }
    return condition()
}

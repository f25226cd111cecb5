import Glibc

extension UnsafeRawBufferPointer {
    /// Whether the bytes equal a text. It neither creates a string nor loops in Swift.
    @inline(__always) func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        guard let baseAddress else { return true }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }
}

import Glibc

extension UnsafeRawBufferPointer {
    /// Whether the bytes are those of a text; without making one, and without a loop of its own.
    @inline(__always) func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        guard let baseAddress else { return true }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }
}

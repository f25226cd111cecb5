import Glibc

extension [UInt8] {
    /// Whether these bytes contain other bytes.
    package func contains(_ needle: [UInt8]) -> Bool {
        guard let first = needle.first else { return true }
        return withUnsafeBytes { all in
            needle.withUnsafeBytes { needle in
                guard var place = all.baseAddress, let sought = needle.baseAddress else { return false }
                let end = place + all.count
                while end - place >= needle.count, let found = memchr(place, Int32(first), end - place - needle.count + 1) {
                    if memcmp(found, sought, needle.count) == 0 { return true }
                    place = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}

import Glibc

/// A cache from texts to their meanings. It has a fixed size, and a later text replaces an earlier one in the same slot.
///
/// Exports repeat the same few hundred texts millions of times. A lookup needs one hash over words and one comparison. It creates no
/// string and changes no reference count except that of the value, which is why the table uses plain memory.
///
/// The profiles' interpreter has a similar cache for contiguous keys. Here a key consists of several texts that are hashed and compared
/// in place, table sizes differ, and the caller has computed the hash already. A common generic type would cross a module boundary in the
/// innermost loop of each import, to save a hundred lines that never change.
final class ByteMemo<Value> {
    typealias Key = Slice<UnsafeBufferPointer<UnsafeRawBufferPointer>>

    private struct Entry {
        var hash: UInt64
        /// Each text with its length in four bytes before it.
        var key: UnsafeMutableRawBufferPointer
        var value: Value
    }

    /// The maximum length of a key in bytes. Longer keys are not worth their memory.
    private static var maximumKey: Int { 4096 }

    private let mask: Int
    private let entries: UnsafeMutablePointer<Entry?>

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: nil, count: capacity)
    }

    deinit {
        for slot in 0...mask { entries[slot]?.key.deallocate() }
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
    }

    /// Returns the meaning of the texts, or `nil` if it is not cached.
    @inline(__always) func find(_ texts: Key, _ hash: UInt64) -> Value? {
        let slot = entries + (Int(truncatingIfNeeded: hash) & mask)
        guard slot.pointee?.hash == hash, let key = slot.pointee?.key, Self.equal(texts, key) else { return nil }
        return slot.pointee?.value
    }

    func insert(_ value: Value, for texts: Key, _ hash: UInt64) {
        let length = texts.reduce(0) { $0 + 4 + $1.count }
        guard length <= Self.maximumKey else { return }
        let key = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4)
        var position = 0
        for text in texts {
            key.storeBytes(of: UInt32(truncatingIfNeeded: text.count), toByteOffset: position, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: key[(position + 4)...]).copyMemory(from: text)
            position += 4 + text.count
        }
        let slot = entries + (Int(truncatingIfNeeded: hash) & mask)
        slot.pointee?.key.deallocate()
        slot.pointee = Entry(hash: hash, key: key, value: value)
    }

    @inline(__always) private static func equal(_ texts: Key, _ key: UnsafeMutableRawBufferPointer) -> Bool {
        guard var position = key.baseAddress else { return false }
        var left = key.count
        for text in texts {
            guard left >= 4 + text.count, position.loadUnaligned(as: UInt32.self) == UInt32(truncatingIfNeeded: text.count)
            else { return false }
            if let start = text.baseAddress, memcmp(position + 4, start, text.count) != 0 { return false }
            position += 4 + text.count
            left -= 4 + text.count
        }
        return left == 0
    }

    @inline(__always) static func hash(_ texts: Key) -> UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        for text in texts {
            hash = mix(hash, UInt64(truncatingIfNeeded: text.count))
            guard let start = text.baseAddress else { continue }
            var index = 0
            while index + 8 <= text.count {
                hash = mix(hash, (start + index).loadUnaligned(as: UInt64.self))
                index += 8
            }
            if text.count >= 8 {
                // Hashes the last eight bytes again, which avoids a loop over single bytes.
                hash = mix(hash, (start + text.count - 8).loadUnaligned(as: UInt64.self))
            } else {
                var rest: UInt64 = 0
                while index < text.count {
                    rest = rest << 8 | UInt64(text[index])
                    index += 1
                }
                hash = mix(hash, rest)
            }
        }
        return hash
    }

    @inline(__always) private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let (high, low) = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return high ^ low ^ hash &<< 1
    }
}

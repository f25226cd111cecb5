import Glibc

/// Remembers what texts meant: a table of fixed size in which a later text takes the place of an earlier one.
///
/// Exports say the same few hundred texts millions of times; looking one up costs a hash over words and one comparison. It
/// makes no string and touches no reference count but the value's own, which is why the table is made of plain memory.
///
/// The profiles' interpreter has a table of this kind too, for keys that lie in one piece. Here a key is several texts that are hashed and
/// compared where they lie, sizes differ from table to table, and whoever asks has the hash already. One type for both would be
/// generic over all that and cross a module's border in the innermost loop of each import, for a hundred lines that never change.
final class ByteMemo<Value> {
    /// Texts that make up a key.
    typealias Key = Slice<UnsafeBufferPointer<UnsafeRawBufferPointer>>

    private struct Entry {
        var hash: UInt64
        /// Each text's length in four bytes, then the text.
        var key: UnsafeMutableRawBufferPointer
        var value: Value
    }

    /// Longest key remembered, in bytes: what is longer is not worth its memory.
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

    /// What the texts meant; `nil` where that is not remembered.
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
                // The last eight bytes again, instead of a loop over single ones.
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

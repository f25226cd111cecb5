import Glibc

/// The cells of one row, valid only during the call that reads it.
typealias Cells = UnsafeBufferPointer<UnsafeRawBufferPointer>

/// A cache from texts to their values. A repeated text costs one comparison and no allocation. The cache is direct-mapped, with two slots
/// for each text, and a new text replaces an older one.
///
/// The type is a handle to its own memory. Copying it or looking up a text touches no reference counts except the value's. Its owner calls
/// ``deallocate()``.
///
/// Apple Health's interpreter has a separate table for keys of several texts. Its comment explains why there are two.
struct ByteMemo<Value> {
    private struct Slot {
        var hash: UInt64
        var key: UnsafeMutableRawBufferPointer
        var value: Value
    }

    private let slots: UnsafeMutablePointer<Slot?>
    private static var count: Int { 256 }

    init() {
        slots = .allocate(capacity: Self.count)
        slots.initialize(repeating: nil, count: Self.count)
    }

    func deallocate() {
        for index in 0..<Self.count { slots[index]?.key.deallocate() }
        slots.deinitialize(count: Self.count)
        slots.deallocate()
    }

    @inline(__always) func find(_ key: UnsafeRawBufferPointer) -> Value? {
        let hash = Self.hash(key)
        return value(at: Int(hash >> 56), hash, key) ?? value(at: Int(hash >> 48 & 255), hash, key)
    }

    @inline(__always) private func value(at index: Int, _ hash: UInt64, _ key: UnsafeRawBufferPointer) -> Value? {
        let slot = slots + index
        // Equal hashes are not enough. The bytes must match.
        guard slot.pointee?.hash == hash, let stored = slot.pointee?.key, stored.count == key.count else { return nil }
        if let one = stored.baseAddress, let other = key.baseAddress, memcmp(one, other, key.count) != 0 { return nil }
        return slot.pointee?.value
    }

    func store(_ value: Value, for key: UnsafeRawBufferPointer) {
        let hash = Self.hash(key)
        // Each text has two slots, so that two alternating texts do not evict each other.
        let first = slots + Int(hash >> 56)
        let second = slots + Int(hash >> 48 & 255)
        let slot = first.pointee != nil && second.pointee == nil ? second : first
        slot.pointee?.key.deallocate()
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 8)
        copy.copyMemory(from: key)
        slot.pointee = Slot(hash: hash, key: copy, value: value)
    }

    @inline(__always) private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(key.count)
        var index = 0
        while index + 8 <= key.count {
            hash = (hash ^ key.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            index += 8
        }
        var rest: UInt64 = 0
        while index < key.count {
            rest = rest << 8 | UInt64(key[index])
            index += 1
        }
        hash = (hash ^ rest) &* 0xC4CE_B9FE_1A85_EC53
        return (hash ^ hash >> 29) &* 0x9E37_79B9_7F4A_7C15
    }
}

/// A buffer that combines several cells into one key. A handle like ``ByteMemo``: its owner calls ``deallocate()``.
struct CellScratch {
    private let base: UnsafeMutableRawPointer
    private static var capacity: Int { 8192 }

    init() { base = .allocate(byteCount: Self.capacity, alignment: 8) }
    func deallocate() { base.deallocate() }

    /// Returns the cells, each preceded by its length, or nil if they are too long to be names.
    @inline(__always) func key(_ cells: Cells, _ indices: some Sequence<Int>) -> UnsafeRawBufferPointer? {
        var length = 0
        for index in indices {
            let cell = index < cells.count ? cells[index] : UnsafeRawBufferPointer(start: nil, count: 0)
            guard cell.count <= 1024, length + cell.count + 2 <= Self.capacity else { return nil }
            base.storeBytes(of: UInt16(truncatingIfNeeded: cell.count), toByteOffset: length, as: UInt16.self)
            if let source = cell.baseAddress { (base + length + 2).copyMemory(from: source, byteCount: cell.count) }
            length += 2 + cell.count
        }
        return UnsafeRawBufferPointer(start: base, count: length)
    }

    /// Returns the trimmed cells joined by blanks.
    func joined(_ cells: Cells, _ indices: [Int]) -> UnsafeRawBufferPointer? {
        var length = 0
        for index in indices {
            let cell = trimmed(index < cells.count ? cells[index] : UnsafeRawBufferPointer(start: nil, count: 0))
            guard cell.count <= 256, length + cell.count + 1 <= Self.capacity else { return nil }
            if length > 0 {
                base.storeBytes(of: UInt8(ascii: " "), toByteOffset: length, as: UInt8.self)
                length += 1
            }
            if let source = cell.baseAddress { (base + length).copyMemory(from: source, byteCount: cell.count) }
            length += cell.count
        }
        return UnsafeRawBufferPointer(start: base, count: length)
    }
}

/// Returns the text without leading and trailing blanks.
@inline(__always) func trimmed(_ cell: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let first = cell.first, let last = cell.last, first <= 0x20 || last <= 0x20 else { return cell }
    var start = 0
    var end = cell.count
    while start < end, cell[start] == 0x20 || cell[start] == 0x09 { start += 1 }
    while end > start, cell[end - 1] == 0x20 || cell[end - 1] == 0x09 { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: cell[start..<end])
}

/// Whether a cell equals one of the texts. The case of ASCII letters does not matter.
func isOne(_ cell: UnsafeRawBufferPointer, of texts: [[UInt8]]) -> Bool {
    for text in texts where text.count == cell.count {
        var same = true
        for index in text.indices where text[index] != cell[index] {
            let letter = cell[index] | 0x20
            guard letter == text[index] | 0x20, letter &- UInt8(ascii: "a") < 26 else {
                same = false
                break
            }
        }
        if same { return true }
    }
    return false
}

import HealthModel

/// Rows of PostgreSQL's COPY in binary form: the number of fields, and each field after its length in bytes.
///
/// PostgreSQL reads them faster than text, and no character has to be escaped. A field must have the type of its column
/// (``DatabaseSchema/rejectionReason(_:)``).
struct CopyRow {
    /// The rows so far.
    private(set) var bytes: [UInt8] = []

    /// The bytes before the first row: a signature, no flags, and no extension.
    static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
    /// The bytes after the last row.
    static let end: [UInt8] = [0xFF, 0xFF]

    /// 2000-01-01, from which PostgreSQL counts, in microseconds since 1970.
    private static let epoch: Int64 = 946_684_800_000_000
    /// The type numbers of elements in arrays, from PostgreSQL's `pg_type.dat`.
    private static let (integers, doubles, uuids): (Int32, Int32, Int32) = (23, 701, 2950)

    mutating func begin(fields: Int) { write(Int16(fields)) }

    /// Removes all bytes, and keeps the memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Removes the bytes after the first ones.
    mutating func cut(to count: Int) { bytes.removeSubrange(count...) }

    /// Adds a text, or NULL.
    mutating func add(_ text: String?) {
        guard var text else { return addNull() }
        text.withUTF8 { add($0) }
    }

    /// Adds bytes as they are, for a text or `bytea`.
    mutating func add(bytes field: [UInt8]) { field.withUnsafeBufferPointer { add($0) } }

    /// Adds JSON as `jsonb`, or NULL.
    mutating func add(json: [UInt8]?) {
        guard let json else { return addNull() }
        write(Int32(json.count + 1))
        // The version of the form.
        bytes.append(1)
        bytes += json
    }

    /// Adds a `timestamptz`. The server refuses a time before or after its calendar. The lowest number would mean `-infinity`, which it
    /// accepts.
    mutating func add(_ time: Instant) {
        let (value, isOutside) = time.microseconds.subtractingReportingOverflow(Self.epoch)
        add(isOutside || value == .min ? .min + 1 : value)
    }

    /// Adds a UUID.
    mutating func add(_ identity: SampleIdentity) {
        let (upper, lower) = identity.words
        write(Int32(16))
        write(upper)
        write(lower)
    }

    /// Adds a `double precision`.
    mutating func add(_ number: Double) {
        write(Int32(8))
        write(number.bitPattern)
    }

    /// Adds an `integer`, or NULL.
    mutating func add(_ number: Int32?) {
        guard let number else { return addNull() }
        write(Int32(4))
        write(number)
    }

    /// Adds a `bigint`, or NULL.
    mutating func add(_ number: Int64?) {
        guard let number else { return addNull() }
        write(Int32(8))
        write(number)
    }

    /// Adds an `integer[]`.
    mutating func add(_ numbers: [Int32]) {
        beginArray(of: Self.integers, numbers.count, bytes: numbers.count * 8)
        for number in numbers { add(number) }
    }

    /// Adds a `double precision[]` with NULLs.
    mutating func add(_ numbers: [Double?]) {
        beginArray(of: Self.doubles, numbers.count, bytes: numbers.reduce(0) { $0 + ($1 == nil ? 4 : 12) })
        for number in numbers { if let number { add(number) } else { addNull() } }
    }

    /// An `uuid[]` in binary form, without its length.
    static func array(of identities: [SampleIdentity]) -> [UInt8] {
        var row = CopyRow()
        row.bytes.reserveCapacity(24 + identities.count * 20)
        row.beginArray(of: uuids, identities.count, bytes: identities.count * 20)
        for identity in identities { row.add(identity) }
        return Array(row.bytes.dropFirst(4))
    }

    mutating func addNull() { write(Int32(-1)) }

    /// Adds fields that were encoded before.
    mutating func add(encoded fields: [UInt8]) { bytes += fields }

    private mutating func add(_ field: UnsafeBufferPointer<UInt8>) {
        write(Int32(field.count))
        bytes.append(contentsOf: field)
    }

    /// Begins an array with one dimension, or an empty one.
    ///
    /// - Parameter length: The length of its elements in bytes.
    private mutating func beginArray(of type: Int32, _ count: Int, bytes length: Int) {
        let dimensions = count > 0 ? 1 : 0
        write(Int32(12 + 8 * dimensions + length))
        write(Int32(dimensions))
        // Whether there may be NULLs.
        write(Int32(1))
        write(type)
        guard count > 0 else { return }
        write(Int32(count))
        // The index of its first element.
        write(Int32(1))
    }

    private mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

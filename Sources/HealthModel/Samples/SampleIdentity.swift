import CSodium

/// A reading's identity. It has the same bits on every hub forever, and is computed only from received data and not from derived data.
///
/// Written as a UUID of version 8 (RFC 9562): 48 bits of the nominal start in Unix milliseconds, then 12 and 62 bits of a keyed
/// hash.
///
///      0                   1                   2                   3
///     | milliseconds, high 32 bits                                   |
///     | milliseconds, low 16 bits     | 8 (4) | hash, high 12 bits   |
///     |10| hash, low 62 bits                                         |
///     |                                                              |
public struct SampleIdentity: Hashable, Comparable, Sendable {
    /// The milliseconds of the nominal start since 1970, 48 bits.
    public let milliseconds: UInt64
    /// The upper 12 bits of the hash.
    public let high: UInt16
    /// The lower 62 bits of the hash.
    public let low: UInt64

    /// Combines the parts of a UUID of version 8.
    @inlinable public init(milliseconds: UInt64, high: UInt16, low: UInt64) {
        self.milliseconds = milliseconds & 0xFFFF_FFFF_FFFF
        self.high = high & 0xFFF
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF
    }

    /// From a nominal start in microseconds and the hash.
    public init(nominalStart: Int64, high: UInt16, low: UInt64) {
        self.init(milliseconds: Self.milliseconds(nominalStart), high: high, low: low)
    }

    /// Numerical order of the UUIDs, which is the order of nominal starts.
    @inlinable public static func < (one: SampleIdentity, other: SampleIdentity) -> Bool {
        if one.milliseconds != other.milliseconds { return one.milliseconds < other.milliseconds }
        if one.high != other.high { return one.high < other.high }
        return one.low < other.low
    }
}

extension SampleIdentity {
    /// The 128 bits of the UUID.
    public var words: (upper: UInt64, lower: UInt64) {
        (milliseconds << 16 | 0x8000 | UInt64(high), 0x8000_0000_0000_0000 | low)
    }
}

extension SampleIdentity: CustomStringConvertible {
    /// Characters of a UUID's text.
    public static let textLength = 36

    /// The UUID in lower case, 36 characters.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { write(into: $0) }
    }

    /// Writes the UUID in lowercase and returns the number of characters.
    @discardableResult public func write(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let (upper, lower) = words
        var index = 0
        for word in [upper, lower] {
            for shift in stride(from: 60, through: 0, by: -4) {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    buffer[index] = UInt8(ascii: "-")
                    index += 1
                }
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                index += 1
            }
        }
        return index
    }

    /// Parses a UUID of version 8. Returns `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        // A native string passes its bytes, which is several times faster than its characters.
        let parsed = text.utf8.withContiguousStorageIfAvailable(Self.parsed)
        guard let identity = parsed ?? Array(text.utf8).withUnsafeBufferPointer(Self.parsed) else { return nil }
        self = identity
    }

    private static func parsed(_ text: UnsafeBufferPointer<UInt8>) -> SampleIdentity? {
        guard text.count == textLength else { return nil }
        var (upper, lower) = (UInt64(0), UInt64(0))
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            if index < 18 { upper = upper << 4 | UInt64(value) } else { lower = lower << 4 | UInt64(value) }
        }
        guard upper >> 12 & 0xF == 8, lower >> 62 == 2 else { return nil }
        return SampleIdentity(milliseconds: upper >> 16, high: UInt16(upper & 0xFFF), low: lower)
    }
}

/// The key of the hash for one series: the first 16 bytes of SHA-256 over `vitalgate-series-1`, subject, type, source id and device
/// key, each followed by a newline.
public struct SeriesKey: Hashable, Sendable {
    let first: UInt64
    let second: UInt64

    /// Prepares what all samples of a series have in common.
    public init(person: String, type: SampleType, source: String, device: String) {
        let text = ["vitalgate-series-1", person, type.id, source, device].map { $0 + "\n" }.joined()
        (first, second) = Digest.sha256(Array(text.utf8)).withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// SipHash-2-4 with 128 bits of output, from libsodium: a keyed hash made for short messages.
    func hash(_ message: UnsafeRawBufferPointer) -> (high: UInt16, low: UInt64) {
        var key = (first, second)
        var digest: (UInt64, UInt64) = (0, 0)
        withUnsafeBytes(of: &key) { key in
            withUnsafeMutableBytes(of: &digest) { digest in
                // The three pointers are never nil: tuples have storage, a message has at least its times.
                if let output = digest.bindMemory(to: UInt8.self).baseAddress,
                    let input = message.bindMemory(to: UInt8.self).baseAddress,
                    let key = key.bindMemory(to: UInt8.self).baseAddress
                {
                    _ = crypto_shorthash_siphashx24(output, input, UInt64(message.count), key)
                }
            }
        }
        return (UInt16(truncatingIfNeeded: digest.1.littleEndian) & 0xFFF, digest.0.littleEndian & 0x3FFF_FFFF_FFFF_FFFF)
    }
}

extension SampleIdentity {
    /// The identity of a reading without a maker's id.
    ///
    /// - Parameters:
    ///   - start, end: Nominal times in microseconds. These are the source's instants, or else its local time read as UTC, or else the time
    ///     of receipt.
    ///   - unit: The canonical UCUM code of the received unit.
    ///   - ordinal: Distinguishes equal readings of one frame, and the second pass of a repeated hour.
    ///   - method: The measuring method (``Metadata/method``), if known.
    public init(
        series: SeriesKey, start: Int64, end: Int64, numeral: Numeral, unit: Unit, ordinal: UInt32, method: [UInt8] = []
    ) {
        let code = unit.code
        let (high, low) = withUnsafeTemporaryAllocation(byteCount: 512 + method.count, alignment: 8) { buffer in
            buffer.storeBytes(of: start.littleEndian, toByteOffset: 0, as: Int64.self)
            buffer.storeBytes(of: end.littleEndian, toByteOffset: 8, as: Int64.self)
            buffer.storeBytes(of: ordinal.littleEndian, toByteOffset: 16, as: UInt32.self)
            var length = 20
            length += numeral.write(canonicalInto: UnsafeMutableRawBufferPointer(rebasing: buffer[length...]))
            buffer[length] = UInt8(ascii: " ")
            length += 1
            var code = code
            code.withUTF8 { bytes in
                let count = min(bytes.count, buffer.count - method.count - length)
                UnsafeMutableRawBufferPointer(rebasing: buffer[length..<length + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
                length += count
            }
            if !method.isEmpty {
                UnsafeMutableRawBufferPointer(rebasing: buffer[length..<length + method.count]).copyBytes(from: method)
                length += method.count
            }
            return series.hash(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
        }
        self.init(milliseconds: Self.milliseconds(start), high: high, low: low)
    }

    /// The identity of a reading with a record id. The id and its version replace time and value. For a record whose versions are not
    /// distinguished by their numbers alone (``RecordIdentifier/isOpen``), the value is part of it as well.
    public init(series: SeriesKey, start: Int64, record: RecordIdentifier, numeral: Numeral, unit: Unit) {
        guard record.isOpen else {
            self.init(series: series, start: start, record: record)
            return
        }
        self.init(
            series: series, start: start,
            message: "record\n\(record.id)\n\(record.number)\n\(numeral.canonicalText) \(unit.code)\n")
    }

    /// The identity of a reading with its maker's record id, whose versions have different numbers.
    public init(series: SeriesKey, start: Int64, record: RecordIdentifier) {
        self.init(series: series, start: start, message: "record\n\(record.id)\n\(record.version)\n")
    }

    /// The identity of a reading whose time and value a message replaces.
    init(series: SeriesKey, start: Int64, message: String) {
        let (high, low) = Array(message.utf8).withUnsafeBytes { series.hash($0) }
        self.init(milliseconds: Self.milliseconds(start), high: high, low: low)
    }

    @inline(__always) static func milliseconds(_ microseconds: Int64) -> UInt64 {
        // Each sample that is read passes here. The generic division is slow in a build that does not specialize it.
        let quotient = microseconds / 1000
        return UInt64(bitPattern: microseconds % 1000 < 0 ? quotient - 1 : quotient) & 0xFFFF_FFFF_FFFF
    }
}

/// Metadata have one of HealthKit's two sync keys without the other.
public struct UnpairedSyncKey: Error, Hashable, Sendable, CustomStringConvertible {
    /// HealthKit's string of the key that is missing or is not a number as required.
    public var missing: String
    public var description: String { "the metadata has no \(missing), which the other sync key requires" }
}

extension RecordIdentifier {
    /// The record with HealthKit's `HKMetadataKeySyncIdentifier` and `HKMetadataKeySyncVersion`, and the other metadata, for saving a
    /// sample. The two keys become part of its identity and are removed from its metadata.
    ///
    /// - Returns: The record, or `nil` without these keys, and the other metadata.
    /// - Throws: ``UnpairedSyncKey`` if only one key is present, because HealthKit requires both.
    public static func taken(from metadata: Metadata) throws(UnpairedSyncKey) -> (record: RecordIdentifier?, rest: Metadata) {
        let (idKey, versionKey) = ("HKMetadataKeySyncIdentifier", "HKMetadataKeySyncVersion")
        let (id, version) = (metadata.metadataValue(named: "syncIdentifier"), metadata.metadataValue(named: "syncVersion"))
        guard id != nil || version != nil else { return (nil, metadata) }
        guard case .string(let text)? = id, !text.isEmpty else { throw UnpairedSyncKey(missing: idKey) }
        guard case .number(let numeral)? = version, let number = Int64(numeral.canonicalText) else {
            throw UnpairedSyncKey(missing: versionKey)
        }
        let rest = metadata.entries.filter { !["syncIdentifier", "syncVersion", idKey, versionKey].contains($0.key) }
        return (RecordIdentifier(id: text, version: number), Metadata(rest.map { ($0.key, $0.value) }))
    }
}

/// A record id that its maker gave (HealthKit's sync identifier and sync version): a higher version replaces a lower one.
public struct RecordIdentifier: Hashable, Sendable {
    /// The record's id from its maker.
    public var id: String
    /// Which edition of the record.
    public var version: Int64

    /// The id of a later part of a record with several parts, such as a night with stages. The first part has the record's own id.
    public static func part(_ number: Int, of id: String) -> String { "\(id)\(partMark):\(number)" }

    /// Between which ids those of a record's later parts are.
    public static func parts(of id: String) -> Range<String> { "\(id)\(partMark):"..<"\(id)\(partMark);" }

    /// The id of the record that this is a later part of, or `nil` for a whole record and for the first part.
    public var whole: String? {
        guard let mark = id.firstRange(of: Self.partMark + ":"), Int(id[mark.upperBound...]) != nil else { return nil }
        return String(id[..<mark.lowerBound])
    }

    private static let partMark = "#part"

    /// A record whose source does not number its versions, or may write two with the same number, such as a day's total. If two versions
    /// with the same number have different values, the one that is imported later is the later version.
    ///
    /// - Parameters:
    ///   - number: The version in the source's data, from 0.
    ///   - isSentAgain: Whether the source sends the value of the time of sending again and again, such as an app on a phone. An earlier
    ///     value that arrives again after another one is then the latest version. Otherwise an old file was read again.
    public static func open(_ id: String, number: Int64, isSentAgain: Bool = false) -> RecordIdentifier {
        RecordIdentifier(
            id: id + (isSentAgain ? sentAgainMark : "") + openMark, version: min(max(0, number), .max >> countBits) << countBits)
    }

    /// Whether two versions with the same number may have different values.
    public var isOpen: Bool { id.hasSuffix(Self.openMark) }

    /// Whether it is the latest version also if an earlier one had the same value. This applies to a value as its source sends it. In a store,
    /// and in the store's export, its versions are counted from 1, so they are not the latest again.
    public var isSentAgain: Bool {
        id.hasSuffix(Self.sentAgainMark + Self.openMark) && version == number << Self.countBits
    }

    /// The version in the source's data.
    public var number: Int64 { isOpen ? version >> Self.countBits : version }

    /// Returns the version under which a value is stored if others with its number are known, or nil if it keeps its own.
    ///
    /// - Parameter highest: The highest of these versions, or nil for the first one.
    public func following(_ highest: Int64?) -> RecordIdentifier? {
        guard isOpen, let highest, highest >> Self.countBits == number else {
            return isSentAgain ? RecordIdentifier(id: id, version: version + 1) : nil
        }
        return RecordIdentifier(id: id, version: highest + 1)
    }

    private static let openMark = "#open"
    private static let sentAgainMark = "#latest"
    /// The lower bits of an open record's version count its versions with the same number, in the order of their import.
    private static let countBits: Int64 = 16

    /// Names an edition of a record.
    public init(id: String, version: Int64) {
        self.id = id
        self.version = version
    }
}

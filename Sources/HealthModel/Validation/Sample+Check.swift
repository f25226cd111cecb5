/// The checks that every object must pass to enter a store. ``SampleBody/check(as:deeply:)`` checks the content beyond its number.
extension Sample {
    /// Times that belong to an object lie within a century of its start, in microseconds.
    public static let reach: Int64 = 100 * 366 * 86_400_000_000
    /// The maximum size of its metadata as JSON, in bytes.
    public static let maximumMetadataLength = 64 << 10
    /// The first microsecond that the 48 bits of a UUID have no room for.
    private static let latestNominal = Int64(1) << 48 * 1000

    /// Checks its number and its times. If its clock is in doubt, the sample is quarantined and its times are not checked.
    public func checkNumbers() throws(InvalidObject) {
        guard value.isFinite, numeral.doubleValue.isFinite else { throw InvalidObject("value", "it is not a finite number") }
        let (first, last) = (start.microseconds, end.microseconds)
        guard last >= first else { throw InvalidObject("end", "it is before the start") }
        guard first >= 0, nominalStart >= 0, nominalStart < Self.latestNominal else {
            throw InvalidObject("start", "it is before 1970 or too far in the future")
        }
        guard last.subtractingReportingOverflow(first).partialValue <= Self.reach else {
            throw InvalidObject("end", "it is more than a century after the start")
        }
        guard zone.map({ abs($0.seconds) <= 18 * 3600 }) ?? true else {
            throw InvalidObject("zone", "the offset from UTC is too large")
        }
        if let record, record.id.isEmpty || !record.id.isFitName { throw InvalidObject("record", Self.badName) }
    }

    /// Checks its metadata.
    public func checkMetadata() throws(InvalidObject) {
        guard let metadata else { return }
        guard metadata.json.utf8.count <= Self.maximumMetadataLength else {
            throw InvalidObject("metadata", "it is longer than \(Self.maximumMetadataLength >> 10) KiB")
        }
        guard metadata.entries.allSatisfy({ !$0.key.isEmpty && !$0.key.utf8.contains(0) }) else {
            throw InvalidObject("metadata", "a key is empty or contains a NUL byte")
        }
    }

    static let badName = "it is empty, longer than \(String.maximumNameLength >> 10) KiB, or has a line break or a NUL"
}

extension Origin {
    /// Checks its person and its origin.
    public func check() throws(InvalidObject) {
        guard person == Self.unassigned || UUIDText.isValid(person) else {
            throw InvalidObject("subject", "it is neither a UUID nor unassigned")
        }
        guard !source.id.isEmpty, source.id.isFitName else { throw InvalidObject("source: id", Sample.badName) }
        guard source.name.isFitName else { throw InvalidObject("source: name", Sample.badName) }
        guard source.version?.isFitName ?? true else { throw InvalidObject("source: version", Sample.badName) }
        guard let device else { return }
        guard !device.key.isEmpty, device.key.isFitName else { throw InvalidObject("device: key", Sample.badName) }
        for (field, name) in [
            ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model), ("serial", device.serial),
            ("hardware", device.hardware), ("firmware", device.firmware), ("software", device.software), ("udi", device.udi),
        ] {
            guard name?.isFitName ?? true else { throw InvalidObject("device: \(field)", Sample.badName) }
        }
        guard device.name?.isEmpty != true else { throw InvalidObject("device: name", Sample.badName) }
    }
}

extension String {
    /// The maximum length of a name, in bytes.
    public static let maximumNameLength = 16 << 10

    /// Whether it can name something: a series' key ends its lines with a line feed, and C ends a text with a NUL.
    public var isFitName: Bool { utf8.count <= Self.maximumNameLength && !utf8.contains { $0 == 0 || $0 == 0x0A } }
}

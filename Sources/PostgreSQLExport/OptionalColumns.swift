import HealthModel
import Pipeline

/// The columns that a COPY leaves out if none of its rows has a value there. The server reads each column of each row by itself, so this saves
/// it a seventh of its time.
struct OptionalColumns: OptionSet, Sendable {
    let rawValue: UInt8

    static let zone = OptionalColumns(rawValue: 1 << 0)
    static let version = OptionalColumns(rawValue: 1 << 1)
    static let device = OptionalColumns(rawValue: 1 << 2)
    static let group = OptionalColumns(rawValue: 1 << 3)
    static let metadata = OptionalColumns(rawValue: 1 << 4)
    static let record = OptionalColumns(rawValue: 1 << 5)
    static let identity = OptionalColumns(rawValue: 1 << 6)

    static let all = OptionalColumns(names.map(\.columns))
    private static let names: [(columns: OptionalColumns, names: [String])] = [
        (.zone, ["zone_offset"]), (.version, ["source_version"]),
        (.device, ["device_key", "device_name", "device_manufacturer", "device_model", "device_serial"]), (.group, ["group_id"]),
        (.metadata, ["metadata"]), (.record, ["record_id", "record_version"]), (.identity, ["identity"]),
    ]

    /// Metadata without entries.
    static let noMetadata = "{}"

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Those in which one of the samples has a value.
    init(of samples: [Sample]) {
        self = []
        var latest: Origin?
        for sample in samples {
            if sample.zone != nil { insert(.zone) }
            if sample.group != nil { insert(.group) }
            if sample.metadata != nil { insert(.metadata) }
            if sample.record != nil { insert(.record) }
            if CopyRows.hasIdentity(sample) { insert(.identity) }
            // Neighbors are usually of one series.
            guard latest !== sample.origin else { continue }
            latest = sample.origin
            if sample.origin.source.version != nil { insert(.version) }
            if sample.origin.device != nil { insert(.device) }
        }
    }

    /// Those that the table of samples does not fill with what we expect if they are left out.
    static func required(_ connection: PostgreSQLConnection, _ schema: String) throws(DeliveryError) -> OptionalColumns {
        let empty = try connection.run(
            """
            SELECT attname FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = $1::regclass AND pg_get_expr(d.adbin, d.adrelid) IS NOT DISTINCT FROM
                CASE attname WHEN 'metadata' THEN '''\(noMetadata)''::jsonb' END
            """, ["\(schema).sample"])
        let names = Set(empty.compactMap { $0[0] })
        return OptionalColumns(Self.names.filter { !names.isSuperset(of: $0.names) }.map(\.columns))
    }

    /// The columns of quantities, in the order of their rows.
    var columns: [String] {
        let leftOut = Set(Self.names.filter { !contains($0.columns) }.flatMap(\.names))
        return CopyRows.columns.filter { !leftOut.contains($0) }
    }
}

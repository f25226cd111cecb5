/// The properties of the whole store by name. It has all SQL on ``Schema/setting``.
///
/// | Name | Value |
/// | --- | --- |
/// | `store`, `person`, `created`, `demo`, `holder` | identity of the store, and the owner that a person confirmed |
/// | `seq`, `longestChange`, `pruned` | numbers of the change log |
/// | `accepted`, `forgotten` | samples that the sums of the ledger do not count |
/// | `cases` | hash of the cases of all types, when quarantined readings were last compared with them |
/// | `exact N` | the import N compared its readings with no other source |
/// | `pending`, `erasing`, `erasures`, `promotedSamples`, `movedDecisions`, `unset clock`, `open clocks` | states of long changes |
///
/// Settings for a device, a type, a file, or a target begin with a prefix.
struct SettingTable {
    let connection: Connection

    /// SQL for the value of a setting in a larger statement.
    static func value(_ name: String) -> String { "(SELECT value FROM main.setting WHERE name = '\(name)')" }

    func text(_ name: String) throws(StoreError) -> String? {
        try connection.text("SELECT value FROM setting WHERE name = ?", .text(name))
    }

    func integer(_ name: String) throws(StoreError) -> Int64? {
        try connection.integer("SELECT value FROM setting WHERE name = ?", .text(name))
    }

    /// Returns the settings that begin with a prefix, which is not empty and ends in an ASCII character, in order of their names.
    func values(withPrefix prefix: String) throws(StoreError) -> [(name: String, text: String)] {
        try connection.list(
            "SELECT name, value FROM setting WHERE name > ? AND name < ? ORDER BY name",
            [.text(prefix), .text(Self.end(of: prefix))]
        ) { ($0.text(0), $0.text(1)) }
    }

    /// Returns the first text after all that begin with a prefix.
    private static func end(of prefix: String) -> String {
        String(decoding: prefix.utf8.dropLast() + [(prefix.utf8.last ?? 0) + 1], as: UTF8.self)
    }

    func set(_ name: String, to value: Value) throws(StoreError) {
        try connection.run(
            "INSERT INTO setting VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = excluded.value", .text(name), value)
    }

    /// Adds to a number, which is 0 before.
    func add(_ count: Int64, to name: String) throws(StoreError) {
        try connection.run(
            "INSERT INTO setting VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value", .text(name),
            .integer(count))
    }

    /// Sets a number unless it is higher already.
    func raise(_ name: String, to value: Int64) throws(StoreError) {
        try connection.run(
            "INSERT INTO setting VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)", .text(name),
            .integer(value))
    }

    private static let exact = "exact "

    /// Records that an import compared its readings with no other source.
    func setExact(_ ingest: Int64) throws(StoreError) { try set(Self.exact + "\(ingest)", to: .integer(1)) }

    /// Returns the imports that compared their readings with no other source.
    func exactImports() throws(StoreError) -> Set<Int64> {
        Set(try values(withPrefix: Self.exact).compactMap { Int64($0.name.dropFirst(Self.exact.count)) })
    }

    func remove(_ name: String) throws(StoreError) {
        try connection.run("DELETE FROM setting WHERE name = ?", .text(name))
    }

    func removeAll(withPrefix prefix: String) throws(StoreError) {
        try connection.run("DELETE FROM setting WHERE name > ? AND name < ?", .text(prefix), .text(Self.end(of: prefix)))
    }

    // MARK: The number of the last change

    func lastChange() throws(StoreError) -> Int64 { try integer("seq") ?? 0 }

    /// Stores the number of the last change. The update begins the epoch of this connection (``Epochs``).
    func setLastChange(_ number: Int64) throws(StoreError) {
        try connection.run("UPDATE setting SET value = ? WHERE name = 'seq'", .integer(number))
    }
}

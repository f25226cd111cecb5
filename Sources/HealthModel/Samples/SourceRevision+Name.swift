extension SourceRevision {
    /// The id of tables in the generic format that name no source.
    public static let genericTable = "file.generic-csv"

    /// The name to show to people. A source without a name has a name made of its id.
    ///
    ///     SourceRevision(id: "file.generic-csv", name: "file.generic-csv").displayName  // "CSV file"
    public var displayName: String { Self.displayName(ofID: id, name: name) }

    /// The name to show to people if only the id is known: `Scale` for `file.generic-csv.Scale`, `Omron connect` for
    /// `file.omron-connect`.
    public static func displayName(ofID id: String, name: String = "") -> String {
        guard name.isEmpty || name == id else { return name }
        if id == genericTable { return "CSV file" }
        if id.hasPrefix(appleHealthPrefix) { return String(id.dropFirst(appleHealthPrefix.count)) }
        guard let prefix = ["file.", "ble.", "serial."].first(where: { id.hasPrefix($0) && id != $0 }) else { return id }
        let rest = id.dropFirst(prefix.count)
        // A name from a file follows the id of its format.
        if let dot = rest.firstIndex(of: "."), rest.index(after: dot) < rest.endIndex {
            return String(rest[rest.index(after: dot)...])
        }
        let words = rest.replacing("-", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}

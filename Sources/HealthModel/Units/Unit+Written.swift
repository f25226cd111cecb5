extension Unit {
    /// Parses a unit as users write it: a UCUM code, or the counted object as printed in tables, such as `steps` for `1{steps}`.
    ///
    /// - Throws: The errors of ``init(ucum:)``.
    public init(written text: some StringProtocol) throws(UnitError) {
        if let counted = Self.counted[String(text)] {
            self = counted
            return
        }
        try self.init(ucum: text)
    }

    /// The unit's text in tables: its code, or the counted object for counts.
    public var writtenText: String { code.hasPrefix("1{") ? String(code.dropFirst(2).dropLast()) : code }

    private static let counted = Dictionary(
        SampleType.quantities.map(\.canonicalUnit).filter { $0.code.hasPrefix("1{") }.map { ($0.writtenText, $0) },
        uniquingKeysWith: { first, _ in first })
}

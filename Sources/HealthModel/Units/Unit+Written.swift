extension Unit {
    /// Reads a unit as a person writes it: a UCUM code, or what is counted as tables print it, such as `steps` for `1{steps}`.
    ///
    /// - Throws: as ``init(ucum:)``.
    public init(written text: some StringProtocol) throws(UnitError) {
        if let counted = Self.counted[String(text)] {
            self = counted
            return
        }
        try self.init(ucum: text)
    }

    /// What tables print for the unit: its code, or of a count what is counted.
    public var writtenText: String { code.hasPrefix("1{") ? String(code.dropFirst(2).dropLast()) : code }

    private static let counted = Dictionary(
        SampleType.quantities.map(\.canonicalUnit).filter { $0.code.hasPrefix("1{") }.map { ($0.writtenText, $0) },
        uniquingKeysWith: { first, _ in first })
}

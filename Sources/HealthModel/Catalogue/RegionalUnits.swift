/// In which units people of a region are used to see a type, as HealthKit's `preferredUnits(for:)` goes by the region that a phone is set to. Nothing is stored in them.
///
///     let units = RegionalUnits(locale: "en-US")
///     units?.unit(of: .bodyMass)          // [lb_av]
///
/// Source: CLDR 41, `common/supplemental/units.xml`, `unitPreferenceData`: `mass` and `length` of a `person`, `length` of a `road`, `speed`, `temperature`, `temperature` of
/// the `weather`, `blood-glucose`, `fluid` `volume`. Where it mixes two units (stone and pound), the first one stands alone; where it has a unit for each size, the one that
/// amounts of the type usually have.
public struct RegionalUnits: Hashable, Sendable {
    /// ISO 3166's two letters.
    public let region: String

    /// The units of a locale: `en-US`, `de_DE.UTF-8`, or the region alone; `nil` where it names no region.
    public init?(locale: String) {
        let parts = locale.prefix { $0 != "." && $0 != "@" }.split(
            omittingEmptySubsequences: false, whereSeparator: { "-_".contains($0) })
        let region = parts.dropFirst(parts.count > 1 ? 1 : 0).first { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        }
        guard let region else { return nil }
        self.region = region.uppercased()
    }

    /// The unit that people are used to; `nil` where that is the same everywhere, or in no table.
    public func unit(of type: SampleType) -> Unit? {
        guard let row = Self.byType[type.id] else { return nil }
        let code = row.regions.first { $0.regions.contains(region) }?.unit ?? row.others
        return try? Unit(ucum: code)
    }

    private struct Row: Sendable {
        var types: String
        var regions: [(regions: Set<String>, unit: String)]
        /// UCUM, of all other regions.
        var others: String

        init(_ types: String, _ regions: [String: String], others: String) {
            self.types = types
            self.regions = regions.map { unit, regions in (Set(regions.split(separator: " ").map(String.init)), unit) }
            self.others = others
        }
    }

    private static let rows = [
        Row("bodyMass leanBodyMass", ["[lb_av]": "US HK", "[stone_av]": "GB"], others: "kg"),
        Row("height waistCircumference", ["[in_i]": "CA GB IN US"], others: "cm"),
        Row(
            """
            distanceWalkingRunning distanceCycling distanceWheelchair distanceCrossCountrySkiing distanceDownhillSnowSports distancePaddleSports \
            distanceRowing distanceSkatingSports
            """, ["[mi_i]": "US GB"], others: "km"),
        Row(
            "walkingSpeed runningSpeed cyclingSpeed crossCountrySkiingSpeed paddleSportsSpeed rowingSpeed",
            ["[mi_i]/h": "GB US"], others: "km/h"),
        Row("bodyTemperature basalBodyTemperature appleSleepingWristTemperature", ["[degF]": "US"], others: "Cel"),
        Row("roomTemperature waterTemperature", ["[degF]": "BS BZ KY PR PW US"], others: "Cel"),
        Row("bloodGlucose", ["mmol/L": glucose], others: "mg/dL"),
        Row("dietaryWater", ["[foz_us]": "US", "[foz_br]": "GB"], others: "mL"),
    ]

    private static let glucose = """
        AG AI AO AU BA BG BH BM BN BW BY CA CH CM CN CZ DK DM EE FI FJ GB GD HK HR HU IE IM IS KE KN KW KZ \
        LC LI LT LU LV ME MG MK MO MS MT MU MY MZ NA NL NO NZ OM PG RS RU SE SG SI SK TC TO UA UG VC VG VN \
        VU ZA
        """

    private static let byType = Dictionary(
        rows.flatMap { row in row.types.split(separator: " ").map { (String($0), row) } }, uniquingKeysWith: { first, _ in first }
    )
}

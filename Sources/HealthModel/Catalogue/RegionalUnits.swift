/// The units that people of a region are used to, like HealthKit's `preferredUnits(for:)` for the region of a phone. Stored values do not
/// use them.
///
///     let units = RegionalUnits(locale: "en-US")
///     units?.unit(of: .bodyMass)          // [lb_av]
///
/// Source: CLDR 41, `common/supplemental/units.xml`, `unitPreferenceData`: `mass` and `length` of a `person`, `length` of a `road`,
/// `speed`, `temperature`, `temperature` of the `weather`, `blood-glucose`, `fluid` `volume`. If CLDR mixes two units (stone and pound),
/// only the first is used. If it has a unit for each size, the one for usual amounts of the type is used.
public struct RegionalUnits: Hashable, Sendable {
    /// The region as two letters of ISO 3166.
    public let region: String

    /// The units of a locale (`en-US`, `de_DE.UTF-8`) or of a region, or `nil` if the text does not contain a region.
    public init?(locale: String) {
        let parts = locale.prefix { $0 != "." && $0 != "@" }.split(
            omittingEmptySubsequences: false, whereSeparator: { "-_".contains($0) })
        let region = parts.dropFirst(parts.count > 1 ? 1 : 0).first { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        }
        guard let region else { return nil }
        self.region = region.uppercased()
    }

    /// The region's unit for a type, or `nil` if it is the same everywhere or unknown.
    public func unit(of type: SampleType) -> Unit? {
        guard let row = Self.byType[type.id] else { return nil }
        let code = row.regions.first { $0.regions.contains(region) }?.unit ?? row.others
        return try? Unit(ucum: code)
    }

    private struct Row: Sendable {
        var types: String
        var regions: [(regions: Set<String>, unit: String)]
        /// The UCUM code for all other regions.
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

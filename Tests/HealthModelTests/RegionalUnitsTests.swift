import Testing

@testable import HealthModel

/// Units that people of a region are used to.
@Suite struct RegionalUnitsTests {
    private static let codes: [String: [String]] = [
        "kilogram": ["kg"], "pound": ["[lb_av]"], "pound-and-ounce": ["[lb_av]"], "stone-and-pound": ["[stone_av]"],
        "centimeter": ["cm"], "inch": ["[in_i]"], "kilometer": ["km"], "mile": ["[mi_i]"], "kilometer-per-hour": ["km/h"],
        "mile-per-hour": ["[mi_i]/h"], "celsius": ["Cel"], "fahrenheit": ["[degF]"], "millimole-per-liter": ["mmol/L"],
        "milligram-ofglucose-per-deciliter": ["mg/dL"], "milliliter": ["mL"], "fluid-ounce": ["[foz_us]"],
        "fluid-ounce-imperial": ["[foz_br]"],
    ]

    /// Each region's unit is one that CLDR lists for it, or for the world if it lists none.
    @Test(arguments: [
        ("mass", "person", "bodyMass"), ("length", "person", "waistCircumference"), ("length", "road", "distanceCycling"),
        ("speed", "default", "runningSpeed"), ("temperature", "default", "bodyTemperature"),
        ("temperature", "weather", "roomTemperature"), ("concentration", "blood-glucose", "bloodGlucose"),
        ("volume", "fluid", "dietaryWater"),
    ])
    func unitsAreThoseOfTheSource(_ category: String, _ usage: String, _ name: String) throws {
        let facts = try TestFile.csv("Facts/unit-preferences.csv")
        let rows = facts.filter { $0["category"] == category && $0["usage"] == usage }
        #expect(!rows.isEmpty)
        let regions = Set(facts.flatMap { ($0["regions"] ?? "").split(separator: " ").map(String.init) }).union([
            "DE", "FR", "JP",
        ])
        let type = try #require(SampleType(name))
        for region in regions where region != "001" && !(category == "length" && usage == "road" && region == "SE") {
            var listed = rows.filter { ($0["regions"] ?? "").split(separator: " ").contains(Substring(region)) }
            if listed.isEmpty { listed = rows.filter { $0["regions"] == "001" } }
            let codes = listed.flatMap { Self.codes[$0["unit"] ?? ""] ?? [] }
            let unit = try #require(RegionalUnits(locale: region)?.unit(of: type))
            #expect(codes.contains(unit.code), "\(region): \(unit.code)")
        }
    }

    @Test func regionalUnitsFitTypes() throws {
        for region in ["US", "GB", "DE"] {
            let units = try #require(RegionalUnits(locale: region))
            var count = 0
            for type in SampleType.all where type.kind == .quantity {
                guard let unit = units.unit(of: type) else { continue }
                count += 1
                _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
            }
            #expect(count == 25, "a type of the table is none of the catalogue's")
        }
    }

    @Test(arguments: [
        ("en-US", "US"), ("en_US", "US"), ("de_AT.UTF-8@euro", "AT"), ("zh-Hant-HK", "HK"), ("gb", "GB"), ("sr_Latn_RS", "RS"),
    ])
    func aLocaleNamesARegion(_ locale: String, _ region: String) {
        #expect(RegionalUnits(locale: locale)?.region == region)
    }

    @Test(arguments: ["", "C", "POSIX", "english", "de-", "en-840", "en_Ü1"]) func othersNameNone(_ locale: String) {
        #expect(RegionalUnits(locale: locale) == nil)
    }
}

import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// Numbers, durations, units, and dates as the page shows them.
@Suite struct PageFormatTests {
    private let files: PageFiles
    private static let now = Instant(seconds: 1_800_000_000)

    init() throws { files = try PageFiles(folder: PageTests.folder) }

    private func values(_ language: String? = nil) -> PageValues { PageValues(texts: files.texts(language), units: { _ in nil }) }

    private func times(_ language: String? = nil) -> PageTimes {
        PageTimes(zone: TimeZoneRules(fixed: .utc), now: Self.now, texts: files.texts(language))
    }

    @Test func thousandsAreSeparated() {
        #expect(
            [0, 999, 1000, 3252, 18_586, 1_234_567].map(PageValues.grouped) == [
                "0", "999", "1,000", "3,252", "18,586", "1,234,567",
            ])
        PageLocale.language.withValue("de") { #expect(PageValues.text(3252) == "3.252" && PageValues.text(3.25) == "3,25") }
    }

    /// A scale and a thermometer have a decimal above 100, and a pulse has none.
    @Test func aDecimalAboveHundred() throws {
        let texts = try [("bodyMass", 104.6), ("bodyMass", 1000.4), ("heartRate", 104.6), ("bloodGlucose", 104.6)].map {
            values().amount($1, of: try #require(SampleType($0))).value
        }
        #expect(texts == ["104.6", "1,000", "105", "105"])
        let fahrenheit = PageValues(texts: files.texts(nil), units: { _ in try? Unit(written: "[degF]") })
        #expect(fahrenheit.amount(38.4, of: try #require(SampleType("bodyTemperature"))).value == "101.1")
    }

    @Test func aDurationHasNoZeros() {
        func text(_ minutes: Int64, _ language: String? = nil) -> String {
            values(language).duration(from: Self.now, to: Instant(microseconds: Self.now.microseconds + minutes * 60_000_000))
        }
        #expect([0, 5, 60, 65, 420].map { text($0) } == ["", "5\u{a0}min", "1\u{a0}h", "1\u{a0}h 5\u{a0}min", "7\u{a0}h"])
        #expect([60, 65].map { text($0, "de") } == ["1\u{a0}Std.", "1\u{a0}Std. 5\u{a0}Min."])
    }

    @Test func unitsHaveTheirUsualSigns() throws {
        let signs = [
            "[degF]": "°F", "Cel": "°C", "mm[Hg]": "mmHg", "kg": "kg", "mg/dL": "mg/dL", "[diop]": "D", "ug/L": "µg/L", "1": "",
            "%": "%",
            "m/s2": "m/s²", "10*3/uL": "10³/µL", "{beats}/min": "/min", "[iU]/L": "IU/L", "mL/(kg.min)": "ml/(kg·min)",
            "cm[H2O]": "cm[H2O]",
        ]
        for (code, sign) in signs { #expect(values().symbol(ofCode: code) == sign, "\(code)") }
        #expect(try PageValues.unit(typed: "°F").code == "[degF]")
        #expect(try PageValues.unit(typed: "[degF]").code == "[degF]")
        #expect(throws: UnitError.self) { try PageValues.unit(typed: "°X") }
    }

    /// Each type's unit has a sign without the brackets and braces of UCUM.
    @Test func noUnitOfATypeIsACode() {
        for type in SampleType.all where type.kind == .quantity {
            let sign = values().symbol(type.canonicalUnit)
            #expect(!sign.contains { "[]{}*".contains($0) }, "\(type.id): \(sign)")
        }
    }

    @Test func datesAreWritten() {
        let dates = [
            "2024-11-20", "2024-02-01", "2012-05", "2012", "noon", "2012-13-01", "1-2-3-4", "2027-01-15T06:31:00Z",
            "2024-11-20T06:31:00Z",
        ]
        #expect(
            dates.map { times().written($0) } == [
                "20 Nov 2024", "1 Feb 2024", "May 2012", "2012", "noon", "2012-13-01", "1-2-3-4", "06:31", "20 Nov 2024, 06:31",
            ])
        #expect(times("de").written("2024-11-20") == "20. Nov. 2024")
        #expect(times().day(Self.now) == "15 Jan" && times().dayAndTime(Self.now) == "15 Jan, 08:00")
        #expect(times().text(Self.now, hasSeconds: true) == "08:00:00")
    }

    /// What the page prints must not be read as another number: `10.000` is ten thousand in German.
    @Test(arguments: [
        ("en", "71.5", "71.5"), ("en", "71,5", "71.5"), ("en", "75.125", "75.125"), ("en", "10,000", nil), ("en", "1,000.5", nil),
        ("de", "71,5", "71.5"), ("de", "71.5", "71.5"), ("de", "75,125", "75.125"), ("de", "10.000", nil), ("de", "1.000,5", nil),
    ])
    func typedNumbers(language: String, typed: String, read: String?) {
        PageLocale.language.withValue(language) {
            #expect(EntryForm.numeral(typed).map(\.text) == read)
            if let read {
                #expect(EntryForm.numeral(PageValues.local(read))?.text == read, "what a form is filled with is read back")
            }
        }
    }
}

import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Beats, ears, eyes, and who the person is.
@Suite struct AppleHealthSeriesTests {
    // MARK: Beats

    private func variability(_ beats: [String], start: String, end: String) -> String {
        let list = beats.map { #"<InstantaneousBeatsPerMinute bpm="70" time="\#($0)"/>"# }.joined()
        return record(
            type: "HKQuantityTypeIdentifierHeartRateVariabilitySDNN", unit: "ms", value: "40", start: start, end: end,
            content: "<HeartRateVariabilityMetadataList>\(list)</HeartRateVariabilityMetadataList>")
    }

    /// Times as in published exports: 12 or 24 hours, with a comma or a point, across midnight. In the fourth and fifth (from published
    /// exports), an hour away from the record's own clock, which is in the other season.
    @Test(arguments: [
        (["3:10:02,11 AM", "3:10:03,00 AM"], "2025-10-20 03:10:00 -0500", "2025-10-20 03:11:00 -0500", ["2110000", "3000000"]),
        (["20:14:07.68"], "2025-10-20 20:14:07 +0200", "2025-10-20 20:15:00 +0200", ["680000"]),
        (
            ["11:59:59.5 PM", "12:00:00.25 AM"], "2025-10-20 23:59:30 +0000", "2025-10-21 00:00:30 +0000",
            ["29500000", "30250000"]
        ),
        (["6:14:48.94 PM", "6:14:49.58 PM"], "2017-11-22 19:14:47 -0400", "2017-11-22 19:15:52 -0400", ["1940000", "2580000"]),
        (["11:17:20.53 AM"], "2018-10-29 10:17:16 -0800", "2018-10-29 10:18:21 -0800", ["4530000"]),
        (["08:33:44,67", "08:33:48,87"], "2018-03-04 08:33:43 +0100", "2018-03-04 08:34:48 +0100", ["1670000", "5870000"]),
        // The forms of CLDR (timeFormats and dayPeriods) in Danish, Chinese, Korean, Spanish, Arabic, and Turkish.
        (["07.28.01,34", "07.28.02,31"], "2025-03-01 07:28:00 +0100", "2025-03-01 07:29:00 +0100", ["1340000", "2310000"]),
        (["上午7:28:01.34"], "2025-03-01 07:28:00 +0800", "2025-03-01 07:29:00 +0800", ["1340000"]),
        (["오후 7:28:01.34"], "2025-03-01 19:28:00 +0900", "2025-03-01 19:29:00 +0900", ["1340000"]),
        (["7:28:01,34 p. m."], "2025-03-01 19:28:00 +0100", "2025-03-01 19:29:00 +0100", ["1340000"]),
        (["٧:٢٨:٠١٫٣٤ م"], "2025-03-01 19:28:00 +0300", "2025-03-01 19:29:00 +0300", ["1340000"]),
        (["ÖS 7:28:01,34"], "2025-03-01 19:28:00 +0300", "2025-03-01 19:29:00 +0300", ["1340000"]),
    ])
    func timesOfBeats(times: [String], start: String, end: String, expected: [String]) throws {
        let export = ImportedExport(elements: variability(times, start: start, end: end))
        #expect(export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.origin.type.id) == ["heartRateVariabilitySDNN", "heartbeatSeries"])
        let (record, series) = (export.readings[0], export.readings[1])
        #expect(series.time == record.time && series.origin.source == record.origin.source && series.place == record.place)
        #expect(record.metadata?["instantaneousBeats"]?.json == "\(times.count)")
        #expect(try points(of: series) == expected.map { [$0, "-", "70"] })
    }

    /// Invalid times, and times outside the record, are counted by name and in the record's number of beats. They give no series.
    @Test(arguments: [
        ["not-a-time"], ["3:10:02 AM", ""], ["13:10:02 AM"], ["0:10:02 PM"], ["25:10:02"], ["3:60:02"], ["3:10"],
        ["上午3:10:02 AM"],
        ["3:14:02 AM"], ["3:10:02 vorm."], ["3:10:02 AM", "4:10:03 AM"], ["3:10:02.1234567 AM"],
    ])
    func noTimesOfBeats(times: [String]) {
        let export = ImportedExport(
            elements: variability(times, start: "2025-10-20 03:10:00 -0500", end: "2025-10-20 03:11:00 -0500"))
        #expect(export.readings.map(\.origin.type.id) == ["heartRateVariabilitySDNN"])
        #expect(export.readings.first?.metadata?["instantaneousBeats"]?.json == "\(times.count)")
        #expect(export.skipped == times.map { _ in "InstantaneousBeatsPerMinute" } && export.refused == [])
    }

    /// A record that is longer than the difference of clocks does not reveal the clock.
    @Test func beatsOfLongRecordUseOwnOffset() {
        let own = variability(["3:10:02 AM"], start: "2025-10-20 03:10:00 -0500", end: "2025-10-20 04:10:00 -0500")
        #expect(ImportedExport(elements: own).readings.count == 2)
        let other = variability(["4:50:02 AM"], start: "2025-10-20 03:10:00 -0500", end: "2025-10-20 04:10:00 -0500")
        #expect(ImportedExport(elements: other).readings.count == 1)
    }

    @Test func beatsHaveABound() {
        let many = variability(
            Array(repeating: "3:10:02 AM", count: 100_001), start: "2025-10-20 03:10:00 -0500", end: "2025-10-20 03:11:00 -0500")
        let export = ImportedExport(elements: many + record())
        #expect(export.readings.map(\.origin.type.id) == ["heartRateVariabilitySDNN", "heartRate"])
        #expect(export.refused == ["heartbeat series: the record has more than 100000 beats"])
    }

    // MARK: Ears

    private func audiogram(_ points: String) -> String {
        """
        <Audiogram type="HKAudiogramSampleType" sourceName="Ear" startDate="2025-10-20 06:00:00 +0100" \
        endDate="2025-10-20 06:05:00 +0100">\(points)</Audiogram>
        """
    }

    @Test func anAudiogram() throws {
        let plain = #"frequencyValue="1000" frequencyUnit="Hz" leftEarValue="12.50" leftEarUnit="dBHL""#
        let export = ImportedExport(
            elements: audiogram(
                """
                <MetadataEntry key="k" value="v"/>
                <SensitivityPoint \(plain) leftEarMasked="1" leftEarClampingRangeLowerBound="-10" leftEarClampingRangeUpperBound="85"/>
                <SensitivityPoint frequencyValue="2" frequencyUnit="kHz" rightEarValue="5" rightEarUnit="dBHL" rightEarMasked="false"/>
                """) + audiogram("<SensitivityPoint \(plain)/>"))
        #expect(export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.origin.type.id) == ["audiogram", "audiogram"])
        let reported = try #require(export.readings[0].body).decoded(as: Audiogram.self).sensitivity
        let level = try Unit(healthKit: "dBHL")
        #expect(try reported.count == 2 && reported[0].frequency == Amount(Numeral("1000"), Unit(ucum: "Hz")))
        #expect(try reported[0].left?.sensitivity == Amount(Numeral("12.50"), level) && reported[0].left?.masked == true)
        #expect(reported[0].left?.clampedBelow?.numeral.text == "-10" && reported[0].left?.clampedAbove?.numeral.text == "85")
        #expect(reported[0].right == nil && reported[1].left == nil && reported[1].right?.masked == false)
        #expect(export.readings[0].metadata?.entries.count == 1)
        // A later export contains more of the same test, which stays the same audiogram.
        let old = ImportedExport(elements: audiogram("<SensitivityPoint \(plain)/>")).readings.first
        let new = ImportedExport(elements: audiogram("<SensitivityPoint \(plain) leftEarMasked=\"0\"/>")).readings.first
        #expect(old?.ordinal == new?.ordinal && old?.ordinal != export.readings[0].ordinal)
    }

    @Test(arguments: [
        ("", "audiogram: it has no points"), ("<SensitivityPoint/>", "audiogram: a point has no frequency"),
        (
            #"<SensitivityPoint frequencyValue="1" frequencyUnit="dBHL"/>"#,
            "SensitivityPoint: the unit of frequencyValue measures something else"
        ),
        (
            #"<SensitivityPoint frequencyValue="1" frequencyUnit="Hz" leftEarValue="1" leftEarUnit="dBHL" leftEarMasked="maybe"/>"#,
            "SensitivityPoint: leftEarMasked is neither true nor false"
        ),
    ])
    func noAudiogram(points: String, reason: String) {
        #expect(ImportedExport(elements: audiogram(points)).refused == [reason])
    }

    // MARK: Eyes

    @Test func aVisionPrescription() throws {
        func prescription(_ type: String, sphere: String = "-1.25") -> String {
            """
            <VisionPrescription type="\(type)" dateIssued="2025-10-20 00:00:00 +0200" expirationDate="2025-10-21 00:00:00 +0200" brand="B">
            <RightEye sphere="\(sphere)" sphereUnit="D" cylinder="0.50" cylinderUnit="D" axis="90" axisUnit="deg" vertex="12" vertexUnit="mm"/>
            <LeftEye prismAmount="2" prismAmountUnit="pD" farPD="31.5" farPDUnit="mm"/><Attachment identifier="A"/><MetadataEntry key="k" value="v"/>
            </VisionPrescription>
            """
        }
        let export = ImportedExport(
            elements: ["HKVisionPrescriptionTypeGlasses", "contacts", "Glasses", "2", "monocle", "7"].map { prescription($0) }
                .joined())
        #expect(export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.numeral.text) == ["1", "2", "1", "2", "-1", "-1"])
        #expect(export.readings[4].ordinal != export.readings[5].ordinal)
        let reading = export.readings[0]
        #expect(reading.origin.type.id == "visionPrescription" && reading.origin.source.id == "apple-health")
        let reported = try #require(reading.body).decoded(as: VisionPrescription.self)
        #expect(reported.expiration == 86_400_000_000 && reported.brand == "B" && reported.attachments == ["A"])
        #expect(
            try reported.rightEye?["sphere"] == Amount(Numeral("-1.25"), Unit(healthKit: "D")) && reported.rightEye?.count == 4)
        #expect(
            try reported.leftEye?["prismAmount"] == Amount(Numeral("2"), Unit(healthKit: "pD")) && reported.leftEye?.count == 2)
        let other = ImportedExport(elements: prescription("glasses", sphere: "2")).readings.first
        #expect(other?.ordinal != reading.ordinal)
    }

    // MARK: Who the person is

    @Test func characteristics() throws {
        let export = ImportedExport(
            elements: """
                <Me HKCharacteristicTypeIdentifierDateOfBirth="1990-01-31" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale" \
                HKCharacteristicTypeIdentifierBloodType="HKBloodTypeABNegative" \
                HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeNotSet" \
                HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="HKCardioFitnessMedicationsUseBetaBlockers"/>
                <Me HKCharacteristicTypeIdentifierDateOfBirth="" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexOfTheFuture" \
                HKCharacteristicTypeIdentifierOfTheFuture="x" HKCharacteristicTypeIdentifierBloodType="HKBloodTypeOPositive"/>
                """)
        #expect(
            export.characteristics
                == [
                    Characteristic(.dateOfBirth, "1990-01-31"), Characteristic(.biologicalSex, "female"),
                    Characteristic(.bloodType, "HKBloodTypeABNegative"), Characteristic(.fitzpatrickSkinType, "notSet"),
                    Characteristic(.bloodType, "oPositive"),
                ].compactMap { $0 })
        #expect(export.characteristics.count == 5)
        #expect(export.refused == ["Me: biologicalSex has a value that no version known here has"])
        #expect(
            export.skipped == [
                "HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse", "HKCharacteristicTypeIdentifierOfTheFuture",
            ])
        #expect(export.readings.isEmpty)
    }
}

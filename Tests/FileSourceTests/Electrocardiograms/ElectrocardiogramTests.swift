import HealthModel
import Pipeline
import Testing

@testable import FileSource

@Suite struct ElectrocardiogramTests {
    /// As a phone in English writes it, and one in German (the header of a published test of another importer, with another birthday).
    private func english(
        _ voltages: String = "-59.461\n151.2\n-3.5\n", classification: String = "Sinus Rhythm", rate: String = "512 hertz",
        unit: String = "µV", symptoms: String = ""
    ) -> [UInt8] {
        Array(
            """
            Name,Somebody
            Date of Birth,"Jan 8, 1902"
            Recorded Date,2026-05-30 16:32:18 -0700
            Classification,\(classification)
            Symptoms,\(symptoms)
            Software Version,1.90
            Device,"Watch7,12"
            Sample Rate,\(rate)


            Lead,Lead I
            Unit,\(unit)

            \(voltages)
            """.utf8)
    }

    private let german = Array(
        """
        Name
        Geburtstag,"27.03.1907"
        Aufzeichnungsdatum,2020-07-31 22:48:19 +0200
        Klassifizierung,Sinusrhythmus
        Symptome,
        Softwareversion,1.13
        Gerät,"Watch4,2"
        Messrate,"511,562\u{A0}Hertz"


        Ableitung,Ableitung I
        Einheit,µV

        -180,596
        -199,83
        12
        """.utf8)

    @Test func inEnglish() throws {
        let file = try ImportedFile(electrocardiogram: english())
        #expect(file.error == nil && file.refused == [])
        let reading = try #require(file.readings.first)
        #expect(reading.origin.type.id == "electrocardiogram" && reading.numeral.text == "1")
        #expect(reading.record == RecordIdentifier(id: "1780183938000000 Watch7,12", version: 3))
        #expect(reading.origin.source.version == "1.90" && reading.origin.device?.hardware == "Watch7,12")
        let start = Instant(seconds: 1_780_183_938)
        #expect(
            reading.time
                == .instants(
                    start: start, end: Instant(microseconds: start.microseconds + 5859), offset: ZoneOffset(seconds: -25_200)))
        #expect(try points(of: reading) == [["-59.461"], ["151.2"], ["-3.5"]])
        let body = try #require(reading.body)
        let reported = try body.decoded(as: Electrocardiogram.self)
        #expect(try reported.lead == "Lead I" && reported.samplingFrequency == Amount(Numeral("512"), Unit(ucum: "Hz")))
        #expect(
            reported.points.columns == [Electrocardiogram.voltage] && reported.symptomsStatus == nil && reported.symptoms == [])
        // The name of the patient is not kept.
        let text = String(decoding: body.json, as: UTF8.self) + (reading.metadata?.json ?? "")
        #expect(!text.contains("Somebody") && !text.contains("1902"))
    }

    /// The lines are identified by their order, a comma separates decimals, and the original classification is kept in addition to
    /// HealthKit's case for unrecognized ones.
    @Test func inGerman() throws {
        let file = try ImportedFile(electrocardiogram: german)
        #expect(file.refused == [])
        let reading = try #require(file.readings.first)
        #expect(try points(of: reading) == [["-180.596"], ["-199.83"], ["12"]])
        let reported = try #require(reading.body).decoded(as: Electrocardiogram.self)
        #expect(reported.samplingFrequency?.numeral.text == "511.562" && reported.lead == "Ableitung I")
        #expect(reading.numeral.text == "100" && reading.record?.version == 3)
        #expect(reading.metadata?["classification"] == .string("Sinusrhythmus"))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: .test)
        #expect(samples.map(\.rule) == [nil])
    }

    @Test(arguments: [
        ("Sinus Rhythm", 1), ("Atrial Fibrillation", 2), ("HKElectrocardiogramClassificationInconclusiveOther", 6), ("", 0),
        ("Unrecognized", 100), ("Inconclusive", 6), ("Heart Rate Over 120", 4), ("Inconclusive: Heart Rate Over 150", 4),
        ("Heart Rate Under 50", 3), ("Poor Recording", 5), ("Rythme sinusal", 100), ("洞調律", 100),
    ])
    func classifications(name: String, number: Int64) throws {
        let file = try ImportedFile(electrocardiogram: english(classification: name))
        #expect(file.readings.first?.numeral == Numeral(coefficient: number))
        // Names longer or shorter than HealthKit's are kept.
        let isExact = [0, 1, 2].contains(number) || name.hasPrefix("HK") || name == "Unrecognized"
        #expect(file.readings.first?.metadata?["classification"] == (isExact ? nil : .string(name)))
    }

    @Test(arguments: [
        ("512 Hz", "512"), ("512.000 Hz", "512.000"), ("511,422 hertz", "511.422"), ("512Hz", "512"), ("512ヘルツ", "512"),
        ("512 赫兹", "512"), ("512\u{A0}헤르츠", "512"), ("511,5 герца", "511.5"), ("512 Гц", "512"),
        ("هرتز ٥١٢", "512"), ("\u{200F}٥١١٫٥ هرتز", "511.5"), ("de 512 hertz", nil), ("512 ヘルツ 3", nil), ("1.234,5 hertz", nil),
        ("512", nil), ("512 bpm", nil), ("0 Hz", nil), ("200000 Hz", nil), ("-1 Hz", nil),
    ])
    func rates(text: String, expected: String?) throws {
        let file = try ImportedFile(electrocardiogram: english(rate: "\"\(text)\""))
        let reported = try file.readings.first?.body?.decoded(as: Electrocardiogram.self)
        #expect(reported?.samplingFrequency?.numeral.text == expected)
        if expected == nil { #expect(file.refused.map(\.reason) == ["the electrocardiogram has no sample rate in hertz"]) }
    }

    @Test(arguments: [("µV", "uV"), ("μV", "uV"), ("uV", "uV"), ("mV", "mV"), ("V", nil), ("", nil)])
    func units(text: String, expected: String?) throws {
        let file = try ImportedFile(electrocardiogram: english(unit: text))
        let reported = try file.readings.first?.body?.decoded(as: Electrocardiogram.self)
        #expect(reported?.points.columns.first?.unit == expected)
        if expected == nil { #expect(file.refused.map(\.reason) == ["the unit of the voltages is neither µV nor mV"]) }
    }

    @Test(arguments: [
        ("1.5\n1,5", "a voltage has another decimal sign than those before it"),
        ("1.234,5", "a voltage has another decimal sign than those before it"),
        ("1\nwaveform", "a voltage is not a number"), ("1,2,3", "a voltage is not a number"),
        ("1\n-", "a voltage is not a number"),
        ("", "the electrocardiogram has no voltages"),
    ])
    func badVoltages(text: String, reason: String) throws {
        let file = try ImportedFile(electrocardiogram: english(text))
        #expect(file.readings.isEmpty && file.refused.map(\.reason) == [reason])
    }

    @Test func symptoms() throws {
        func reported(_ text: String) throws -> Electrocardiogram? {
            try ImportedFile(electrocardiogram: english(symptoms: text)).readings.first?.body?.decoded(as: Electrocardiogram.self)
        }
        let none = try reported("None")
        #expect(none?.symptomsStatus == "none" && none?.symptoms == [])
        let some = try reported("\"Skipped heartbeat, fatigue\"")
        #expect(some?.symptomsStatus == "present" && some?.symptoms == ["Skipped heartbeat, fatigue"])
    }

    @Test func recognised() throws {
        for text in [english(), german, [0xEF, 0xBB, 0xBF] + english(), english().flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }] {
            let file = TemporaryFile(text)
            #expect(ElectrocardiogramFile.recognises(try InputFile(path: file.path)))
            #expect(try points(of: ImportedFile(electrocardiogram: text).readings.first).count == 3)
        }
        for text in [
            "", "time,type,value,unit\n2026-05-30 16:32:18 -0700,heartRate,60,/min\n", "Date,2026-05-30 16:32:18 -0700\n1\n",
            "Name\n1\n", "a,512 Hz\nb,µV\n1\n",
        ] {
            let file = TemporaryFile(text.utf8)
            #expect(!ElectrocardiogramFile.recognises(try InputFile(path: file.path)))
        }
    }

    @Test func hasBounds() throws {
        let long = try ImportedFile(electrocardiogram: english(String(repeating: "1", count: 5000)))
        #expect(long.error?.reason == "a line is longer than 4096 bytes" && long.readings.isEmpty)
        let rows = try ImportedFile(electrocardiogram: Array((0..<100).map { "key,\($0) a\n" }.joined().utf8) + english())
        #expect(rows.refused.map(\.reason) == ["the electrocardiogram has too many lines above its voltages"])
        let text = english(String(repeating: "1\n", count: ElectrocardiogramInterpreter.maximumVoltages + 1))
        let file = try ImportedFile(electrocardiogram: text)
        #expect(file.readings.isEmpty && file.refused.map(\.reason) == ["the electrocardiogram is too long"])
    }

    /// Cut anywhere, there is a whole one of fewer voltages, or a reason.
    @Test func truncationGivesShorterRecordingOrReason() throws {
        let bytes = english()
        for cut in bytes.indices {
            let file = try ImportedFile(electrocardiogram: bytes[..<cut])
            #expect(file.readings.count + file.refused.count == 1, "cut at \(cut)")
        }
    }
}

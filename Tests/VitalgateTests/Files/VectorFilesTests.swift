import FoundationEssentials
import PipelineTesting
import Testing

/// The vendors' files through the program, each compared sample by sample with what independent readers found in it.
@Suite struct VectorFilesTests {
    static var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: Repository.files))?
            .filter { $0.hasSuffix(".csv") || $0.hasSuffix(".xml") || $0 == "fitbit_hr_json_2.json" }.sorted() ?? []
    }

    /// A sample in a form in which expectation and output can be compared as bags.
    struct Seen: Hashable, Comparable, CustomStringConvertible {
        var type: String
        var time: String
        var end: String
        /// Ten significant digits: percents of Apple Health are compared times 100.
        var value: String
        var unit: String
        var offset: String?
        var source: String?
        var metadata: [String: JSON]

        static func < (one: Seen, other: Seen) -> Bool { one.description < other.description }
        var description: String {
            "\(time)…\(end) \(type) \(value) \(unit) \(offset ?? "") \(source ?? "") \(metadata.sorted { $0.key < $1.key })"
        }

        static func digits(_ value: Double) -> String {
            guard value != 0 else { return "0" }
            var scale = 1.0
            while abs(value) * scale < 1e9 { scale *= 10 }
            return ((value * scale).rounded() / scale).description
        }
    }

    static func seen(_ sample: VendorExpectation.Sample, _ expected: VendorExpectation) throws -> Seen {
        var metadata: [String: JSON] = [:]
        if let method = sample.glucoseMethod { metadata["glucoseMethod"] = .string(method) }
        if let key = sample.clampedTo { metadata[key] = .boolean(true) }
        if let confidence = sample.confidence { metadata["confidence"] = .number(Double(confidence)) }
        if let entered = sample.userEntered { metadata["wasUserEntered"] = .boolean(entered) }
        if let meal = sample.meal { metadata["bloodGlucoseMealTime"] = .string(meal) }
        if let context = sample.motionContext {
            metadata["heartRateMotionContext"] = .string(context == "not_set" ? "notSet" : context)
        }
        return Seen(
            type: try #require(sample.type, "\(sample.code)"), time: sample.time,
            end: expected.lasts ? "" : sample.endTime ?? sample.time,
            value: Seen.digits(sample.value), unit: sample.unit, offset: sample.offset, source: sample.source, metadata: metadata)
    }

    /// The metadata keys in the expectations. The program keeps more.
    static let reported = [
        "glucoseMethod", "quantityClampedToLowerBound", "quantityClampedToUpperBound", "confidence", "wasUserEntered",
        "bloodGlucoseMealTime", "heartRateMotionContext",
    ]

    static func seen(_ line: JSON, _ expected: VendorExpectation) throws -> Seen {
        let zone = try #require(line["zone"].text)
        let numeral = try #require(line["original"]["value"].text.flatMap { Double($0) })
        let unit = try #require(line["original"]["unit"].text)
        // HealthKit's percent is the ratio.
        let isRatio = expected.isAppleHealth && unit == "1" && line["unit"].text == "%"
        return Seen(
            type: try #require(line["type"].text), time: try wall(line["start"], zone),
            end: expected.lasts ? "" : try wall(line["end"], zone),
            value: Seen.digits(isRatio ? numeral * 100 : numeral), unit: isRatio ? "%" : unit,
            offset: expected.samples.contains { $0.offset != nil } ? zone : nil,
            source: expected.isAppleHealth ? line["source"]["name"].text : nil,
            metadata: line["metadata"].object.filter { reported.contains($0.key) })
    }

    /// The wall-clock time of an instant at an offset, computed apart from the program.
    static func wall(_ instant: JSON, _ zone: String) throws -> String {
        let text = try #require(instant.text)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        func number(_ from: Int, _ length: Int, of text: String) throws -> Int {
            try #require(Int(String(decoding: Array(text.utf8)[from..<from + length], as: UTF8.self)))
        }
        let sign = zone.hasPrefix("-") ? -1 : 1
        let offset = sign * (try number(1, 2, of: zone) * 3600 + number(4, 2, of: zone) * 60)
        let components = DateComponents(
            year: try number(0, 4, of: text), month: try number(5, 2, of: text), day: try number(8, 2, of: text),
            hour: try number(11, 2, of: text), minute: try number(14, 2, of: text), second: try number(17, 2, of: text) + offset)
        let date = try #require(calendar.date(from: components))
        let local = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func padded(_ number: Int?, _ width: Int) -> String {
            let digits = "\(number ?? 0)"
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return
            "\(padded(local.year, 4))-\(padded(local.month, 2))-\(padded(local.day, 2))T\(padded(local.hour, 2)):\(padded(local.minute, 2)):\(padded(local.second, 2))"
    }

    @Test func thereAreFiles() { #expect(Self.files.count >= 24) }

    @Test(arguments: files) func importsExpectedSamples(file: String) throws {
        let folder = try TestFolder()
        let expected = try VendorExpectation(of: "\(Repository.files)/\(file)")
        let run = try folder.vitalgate(
            "import", "\(Repository.files)/\(file)", "--time-zone", expected.zone, "--format", "ndjson")
        let account = try Account(run.last)
        check(account, expected, run)
        let query = try folder.vitalgate("query", "all", "--kind", "quantity", "--format", "ndjson")
        #expect(query.status == 0)
        #expect(query.errors.isEmpty)
        let lines = try query.objects()
        let found = try lines.map { try Self.seen($0, expected) }.sorted()
        let wanted = try expected.samples.map { try Self.seen($0, expected) }.sorted()
        #expect(found.count == wanted.count)
        for missing in Self.difference(wanted, found) { Issue.record("missing: \(missing)") }
        for surplus in Self.difference(found, wanted) { Issue.record("not expected: \(surplus)") }
        try checkGroups(lines, expected)
        try checkAmbiguous(lines, expected)
        // Times only increase, every UUID occurs once, and the ledger matches the input.
        let starts = lines.compactMap { $0["start"].text }
        #expect(starts == starts.sorted())
        #expect(Set(lines.compactMap { $0["uuid"].text }).count == lines.count)
        #expect(lines.allSatisfy { $0["ingest"].integer == 1 && $0["subject"].text == "me" })
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    func check(_ account: Account, _ expected: VendorExpectation, _ run: Vitalgate.Run) {
        #expect(account.addsUp)
        // Categories are samples as well, although the authors of the expectations did not look for them. So are elements that are not
        // records: two correlations and a workout. The summary in a session's file is a workout.
        #expect(
            account.stored == expected.samples.count + expected.skipped("category, not a quantity")
                + expected.skipped("summary") + (expected.isAppleHealth ? 3 : 0) + expected.workouts)
        #expect(account.quarantined == 0)
        #expect(account.refused == expected.skipped("bad-value"))
        #expect(run.status == (account.refused > 0 ? 65 : 0), "\(run.errors)")
        #expect(account.duplicate >= expected.skipped("duplicate"))
        #expect((account.duplicate > 0) == (expected.skipped("duplicate") > 0))
        var skipped: [String: Int] = [:]
        for skip in expected.skipped {
            switch skip.reason {
            case "header", "preamble", "duplicate", "bad-value", "category, not a quantity", "summary": break
            // It makes a workout, if nothing else.
            case "no-value" where expected.lasts: break
            case "repeated inside Correlation": skipped["correlationRecord", default: 0] += 1
            case "patient_or_device_row": skipped["patientOrDeviceRow", default: 0] += 1
            default: skipped[skip.reason, default: 0] += 1
            }
        }
        // Columns that no rule reads, and beats outside their record, are counted by their names, of which the expectations do not speak.
        let reported = account.skipped.filter { !$0.key.hasPrefix("column ") && $0.key != "InstantaneousBeatsPerMinute" }
        #expect(reported == skipped)
        let isLocal = expected.samples.contains { $0.offset == nil } && account.zone != nil
        #expect(isLocal == run.errors.contains("local times are read in \(expected.zone)"), "\(run.errors)")
    }

    /// Samples of one row, or of one panel, are one correlation.
    func checkGroups(_ lines: [JSON], _ expected: VendorExpectation) throws {
        var sizes: [String: Int] = [:]
        for line in lines { if let group = line["group"].text { sizes[group, default: 0] += 1 } }
        var rows: [String: Int] = [:]
        if expected.isAppleHealth {
            for sample in expected.samples where sample.panel != nil {
                rows["\(sample.panel ?? "") \(sample.time)", default: 0] += 1
            }
        } else {
            for sample in expected.samples { rows["\(sample.row)", default: 0] += 1 }
        }
        #expect(sizes.values.sorted() == rows.values.filter { $0 > 1 }.sorted())
    }

    /// Where an hour occurs twice, the file's order settles it.
    func checkAmbiguous(_ lines: [JSON], _ expected: VendorExpectation) throws {
        guard expected.samples.contains(where: { $0.ambiguous == true }) else { return }
        let rows = expected.samples.filter { $0.ambiguous == true }.sorted { $0.row < $1.row }
        let times = Set(rows.map(\.time))
        let zones = lines.filter { line in
            guard let zone = line["zone"].text, let time = try? Self.wall(line["start"], zone) else { return false }
            return times.contains(time)
        }
        #expect(zones.count == rows.count)
        let offsets = zones.compactMap { $0["zone"].text }
        #expect(Set(offsets) == ["+02:00", "+01:00"])
        #expect(offsets == offsets.sorted(by: >))
    }

    static func difference(_ one: [Seen], _ other: [Seen]) -> [Seen] {
        var counts: [Seen: Int] = [:]
        for seen in other { counts[seen, default: 0] += 1 }
        return one.filter { seen in
            counts[seen, default: 0] -= 1
            return counts[seen, default: 0] < 0
        }
    }

    /// A phone's archive has the content of the file, with the same UUIDs.
    @Test func theArchiveIsTheFile() throws {
        let folder = try TestFolder()
        let person = ["--person", "11111111-2222-4333-8444-555555555555"]
        try folder.vitalgate(["import", "\(Repository.files)/apple_health_0.xml"] + person)
        let again = try folder.vitalgate(["import", "\(Repository.files)/apple_health_0.zip", "--format", "ndjson"] + person)
        let account = try Account(again.last)
        #expect(account.stored == 0)
        #expect(account.read == account.duplicate)
    }

    /// Everything at once, twice, then deleted, then once more: promises 2 and 4.
    @Test func importsOnceAndKeepsDeletions() throws {
        let folder = try TestFolder()
        let paths = Self.files.map { "\(Repository.files)/\($0)" }
        func importAll() throws -> [Account] {
            let run = try folder.vitalgate(["import"] + paths + ["--time-zone", "Europe/Berlin", "--format", "ndjson"])
            // One file holds one bad value.
            #expect(run.status == 65)
            #expect(run.lines.count == paths.count)
            return try run.lines.map { try Account($0) }
        }
        let first = try importAll()
        #expect(first.allSatisfy { $0.addsUp })
        let content = try folder.vitalgate("query", "all", "--format", "ndjson").output
        #expect(content.split(separator: "\n").count == first.map(\.stored).reduce(0, +))
        let second = try importAll()
        #expect(second.allSatisfy { $0.addsUp && $0.stored == 0 })
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output == content)
        for (one, other) in zip(first, second) {
            #expect(one.read - one.skipped.values.reduce(0, +) == other.read - other.skipped.values.reduce(0, +))
            #expect(one.refused == other.refused)
        }

        let deletion = try folder.vitalgate("delete", "--type", "all", "--yes")
        #expect(deletion.status == 0)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output.isEmpty)
        let third = try importAll()
        #expect(third.allSatisfy { $0.addsUp && $0.stored == 0 })
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output.isEmpty)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }
}

extension VendorExpectation {
    fileprivate var isAppleHealth: Bool { format == "apple_health" }
    /// An activity's values have its duration, of which the expectations do not speak.
    fileprivate var lasts: Bool { format == "garmin_activities" }
    /// Each row of a list of activities is one.
    fileprivate var workouts: Int { lasts ? Set(samples.map(\.row)).count + skipped("no-value") : 0 }
    fileprivate func skipped(_ reason: String) -> Int { skipped.count { $0.reason == reason } }
}

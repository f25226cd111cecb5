import HealthModel
import PipelineTesting
import Testing

/// Which reports are one measurement does not depend on the order of arrival.
@Suite struct ReportGroupingTests {
    private typealias Grouping = ReportGrouping<String>

    private struct Path {
        let source: String
        var maker: String?
        var serial: String?
        var isToMinutes = false
    }

    private static let scale = Path(source: "scale", maker: "Acme", serial: "1")
    private static let app = Path(source: "app", maker: "Acme", isToMinutes: true)
    private static let site = Path(source: "site", maker: "Acme", isToMinutes: true)
    private static let diary = Path(source: "diary")
    private static let bolt = Path(source: "bolt", maker: "Bolt", serial: "9")
    private static let paths = [scale, app, site, diary, bolt]

    private static func report(
        _ path: Path, _ text: String, _ code: String = "kg", at second: Int64, type: SampleType = .bodyMass,
        counts: Bool = true
    ) throws -> Grouping.Report {
        let device = path.maker.map {
            Device(key: [$0, path.serial].compactMap { $0 }.joined(separator: "-"), manufacturer: $0, serial: path.serial)
        }
        let origin = Origin(
            person: "me", type: type, source: SourceRevision(id: path.source, name: path.source), device: device)
        let (numeral, unit) = (try Numeral(text), try Unit(ucum: code))
        let conversion = try type.conversion(from: unit)
        let scale = conversion.isIdentity ? 1 : abs(conversion(1) - conversion(0))
        let start = 1_767_225_600_000_000 + second * 1_000_000
        return Grouping.Report(
            key: "\(path.source) \(second) \(text) \(code)", origin: origin,
            trace: ReadingTrace(
                start: start, duration: 0, timeResolution: path.isToMinutes ? 60 : 1, isArrival: false,
                value: conversion.convert(numeral), valueResolution: numeral.step * scale, scale: scale, zero: conversion(0)),
            unit: code,
            identity: SampleIdentity(
                series: origin.seriesKey, start: start, end: start, numeral: numeral, unit: unit, ordinal: 0, method: []),
            counts: counts)
    }

    /// The reports of each measurement, the representative first.
    private static func groups(_ reports: [Grouping.Report]) -> Set<[String]> {
        Set(Grouping(reports).groups.map { [$0.representative] + $0.others })
    }

    // MARK: Cases

    /// Each weighing is most alike one row of the app, although the row of the first minute agrees with two.
    @Test func pairsTheMostAlike() throws {
        let reports = try [
            Self.report(Self.scale, "80.10", at: 10), Self.report(Self.scale, "80.10", at: 50),
            Self.report(Self.scale, "80.10", at: 70), Self.report(Self.app, "80.1", at: 0), Self.report(Self.app, "80.1", at: 60),
        ]
        #expect(
            Self.groups(reports) == [
                ["scale 10 80.10 kg", "app 0 80.1 kg"], ["scale 50 80.10 kg"], ["scale 70 80.10 kg", "app 60 80.1 kg"],
            ])
    }

    /// Both rows of the app agree with the weighing. One is a measurement of its own.
    @Test func acceptsOneReportOfEachPath() throws {
        let reports = try [
            Self.report(Self.app, "80.1", at: 0), Self.report(Self.app, "80.2", at: 0), Self.report(Self.scale, "80.15", at: 24),
        ]
        #expect(Self.groups(reports) == [["scale 24 80.15 kg", "app 0 80.2 kg"], ["app 0 80.1 kg"]])
    }

    /// A rejected report joins the representative that it is less alike.
    @Test func rejectedReportChoosesAgain() throws {
        let reports = try [
            Self.report(Self.scale, "80.12", at: 10), Self.report(Self.scale, "80.16", at: 40),
            Self.report(Self.app, "80.1", at: 0), Self.report(Self.app, "80.2", at: 0), Self.report(Self.site, "80.1", at: 0),
        ]
        #expect(
            Self.groups(reports) == [
                ["scale 10 80.12 kg", "app 0 80.1 kg", "site 0 80.1 kg"], ["scale 40 80.16 kg", "app 0 80.2 kg"],
            ])
    }

    /// Two exact reports that differ are two measurements, although a coarse one agrees with both.
    @Test func otherReportsAgreeWithTheRepresentative() throws {
        let reports = try [
            Self.report(Self.scale, "80.15", at: 2), Self.report(Self.diary, "80.15", at: 50),
            Self.report(Self.app, "80.2", at: 0),
        ]
        #expect(Self.groups(reports) == [["scale 2 80.15 kg", "app 0 80.2 kg"], ["diary 50 80.15 kg"]])
    }

    /// Equally precise reports are ordered by content: named devices, other sources than the general table, the names.
    @Test func equallyPreciseReportsAreOrderedByContent() throws {
        func first(_ paths: [Path]) throws -> String? {
            let reports = try paths.map { try Self.report($0, "80.15", at: 24) }
            #expect(Self.groups(reports) == Self.groups(reports.reversed()))
            return Grouping(reports).groups.first?.representative
        }
        let table = Path(source: "file.generic-csv.Diary", maker: nil)
        #expect(try first([Self.diary, Self.scale]) == "scale 24 80.15 kg")
        #expect(try first([table, Path(source: "z")]) == "z 24 80.15 kg")
        #expect(try first([Path(source: "z"), Path(source: "y")]) == "y 24 80.15 kg")
        #expect(
            try first([Path(source: "file.generic-csv.B"), Path(source: "file.generic-csv")]) == "file.generic-csv 24 80.15 kg")
    }

    /// An undone report represents nothing and displaces nothing.
    @Test func reportsThatDoNotCountComeLast() throws {
        let undone = try Self.report(Self.scale, "80.15", at: 24, counts: false)
        let reports = try [undone, Self.report(Self.app, "80.2", at: 0), Self.report(Self.site, "80.1", at: 0)]
        #expect(Self.groups(reports).contains { $0.first == "app 0 80.2 kg" && $0.contains("scale 24 80.15 kg") })
        let other = try Self.report(Self.scale, "80.19", at: 30)
        #expect(Self.groups(reports + [other]).contains(["scale 30 80.19 kg", "app 0 80.2 kg"]))
    }

    /// A path that reports a reading in two units reports it once, and both belong to the measurement.
    @Test func unitsOfOnePathAreOneReading() throws {
        let reports = try [
            Self.report(Self.app, "80.2", at: 0), Self.report(Self.app, "176.7", "[lb_av]", at: 0),
            Self.report(Self.scale, "80.15", at: 24),
        ]
        #expect(Self.groups(reports) == [["scale 24 80.15 kg", "app 0 176.7 [lb_av]", "app 0 80.2 kg"]])
    }

    @Test func otherDevicesAreLinked() throws {
        let reports = try [
            Self.report(Self.scale, "80.15", at: 24), Self.report(Self.app, "80.2", at: 0),
            Self.report(Self.bolt, "80.15", at: 25),
        ]
        let grouping = Grouping(reports)
        #expect(grouping.groups.count == 2)
        #expect(grouping.links.map { Set([$0.key, $0.other]) } == [["scale 24 80.15 kg", "bolt 25 80.15 kg"]])
        #expect(grouping.links.map(\.rule) == [.spot])
    }

    // MARK: Properties

    private static func random(_ random: inout SeededGenerator) throws -> [Grouping.Report] {
        let values = [("80.15", "kg"), ("80.1", "kg"), ("80.2", "kg"), ("80.12", "kg"), ("176.7", "[lb_av]")]
        var reports: [String: Grouping.Report] = [:]
        for _ in 0..<(2 + Int.random(in: 0..<5, using: &random)) {
            let path = paths[Int.random(in: paths.indices, using: &random)]
            let second = path.isToMinutes ? [0, 60] : [2, 10, 40, 62] as [Int64]
            let (text, code) = values[Int.random(in: values.indices, using: &random)]
            let report = try report(
                path, text, code, at: second[Int.random(in: second.indices, using: &random)],
                counts: Int.random(in: 0..<5, using: &random) > 0)
            reports[report.key] = report
        }
        return reports.values.sorted { $0.key < $1.key }
    }

    private static func orders<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let one = rest.remove(at: index)
            return orders(rest).map { [one] + $0 }
        }
    }

    /// All orders of up to six reports give the same measurements.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func everyOrderGivesTheSame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let reports = try Self.random(&random)
            let expected = Grouping(reports)
            for order in Self.orders(reports) {
                let found = Grouping(order)
                #expect(found.groups == expected.groups && found.links == expected.links, "\(order.map(\.key))")
            }
        }
    }

    /// Each report is in one group, which its representative represents rightly, and no report could be in a better one.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func groupsAreStable(seed: UInt64) throws {
        var random = SeededGenerator(seed: 100 + seed)
        for _ in 0..<2000 {
            let reports = try Self.random(&random)
            let known = Dictionary(uniqueKeysWithValues: reports.map { ($0.key, $0) })
            let groups = Grouping(reports).groups.map { group in
                ([group.representative] + group.others).compactMap { known[$0] }
            }
            let comment: Comment = "\(groups.map { $0.map { "\($0.key)\($0.counts ? "" : " undone")" } })"
            #expect(groups.flatMap { $0.map(\.key) }.sorted() == reports.map(\.key), comment)
            for group in groups { Self.expectSound(group, comment) }
            for single in groups where single.count == 1 {
                // It has no place in the group of a report that comes before it.
                let free = groups.first { group in
                    Self.precedes(group[0], single[0]) && !group.contains { $0.precision.path == single[0].precision.path }
                        && group.contains { Self.isOne($0, single[0]) && $0.precision.path == group[0].precision.path }
                }
                #expect(free == nil, comment)
            }
        }
    }

    private static func precedes(_ one: Grouping.Report, _ other: Grouping.Report) -> Bool {
        one.counts != other.counts ? one.counts : one.precision < other.precision
    }

    private static func isOne(_ one: Grouping.Report, _ other: Grouping.Report) -> Bool {
        Grouping.similarity(one, other)?.verdict == .duplicate
    }

    private static func expectSound(_ group: [Grouping.Report], _ comment: Comment) {
        for (position, one) in group.enumerated() {
            if position > 0 { #expect(precedes(group[0], one), comment) }
            for other in group[..<position] where other.precision.path == one.precision.path {
                #expect(one.trace.scale != other.trace.scale && isOne(one, other), comment)
            }
            // It agrees with the representative, or its path does with the representative's.
            let own = group.filter { $0.precision.path == one.precision.path }
            let first = group.filter { $0.precision.path == group[0].precision.path }
            #expect(position == 0 || own.contains { own in first.contains { $0.key == own.key || isOne($0, own) } }, comment)
        }
    }
}

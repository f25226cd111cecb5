import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import Ingestion

/// Whose a weighing is, from the first day on.
@Suite struct PersonHistoryTests {
    private let story: FileStoryTests
    init() throws { story = try FileStoryTests() }

    /// A weighing at a day and minute.
    private func row(_ day: Int, _ minute: Int, _ weight: String) -> String {
        let date = Calendar.date(days: Calendar.days(year: 2017, month: 1, day: 1) + day)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day))T07:\(two(minute)):00Z,bodyMass,\(weight),kg"
    }

    /// Weights by person. Each row is a separate file, or all are one.
    private func weights(_ rows: [String], isOneFile: Bool) throws -> (own: [Double], unassigned: [Double]) {
        if isOneFile {
            try story.load([FileStoryTests.header] + rows)
        } else {
            for row in rows { try story.load([FileStoryTests.header, row]) }
        }
        let all = try story.samples(.bodyMass)
        #expect(try story.store.check() == [])
        return (
            all.filter { $0.origin.person != Origin.unassigned }.map(\.value),
            all.filter { $0.origin.person == Origin.unassigned }.map(\.value)
        )
    }

    @Test(arguments: [false, true]) func parentAndChildByTurns(isOneFile: Bool) throws {
        let rows = (0..<8).flatMap { [row($0, 0, "72.\($0)"), row($0, 5, "15.\($0)")] }
        let found = try weights(rows, isOneFile: isOneFile)
        #expect(found.own.count == 8 && found.own.allSatisfy { $0 > 70 })
        #expect(found.unassigned.count == 8)
    }

    /// The child stood on the scale first. The child's weights become unassigned when the parent uses the scale, which can be undone.
    @Test(arguments: [false, true]) func childBeforeParentBecomesUnassigned(isOneFile: Bool) throws {
        let found = try weights(
            [row(0, 0, "15.1"), row(0, 1, "72.1"), row(1, 0, "15.2"), row(1, 1, "72.2")], isOneFile: isOneFile)
        #expect(found.own == [72.1, 72.2])
        #expect(found.unassigned.sorted() == [15.1, 15.2])
        let repair = try #require(try story.store.repairs.all().last)
        #expect(repair.source == "weights" && repair.repaired == 2)
        try story.store.repairs.undo(repair.id, at: story.received)
        // Samples that a user assigned back stay.
        try story.load([FileStoryTests.header, row(2, 0, "72.3")])
        #expect(try story.samples(.bodyMass).filter { $0.origin.person != Origin.unassigned }.map(\.value).contains(15.1))
    }

    /// One weighing of a guest, or a wrong one, on the second day takes nothing from the person, and is given away when the picture is
    /// clear.
    @Test(arguments: [("131.0", false), ("131.0", true), ("300.0", false)]) func oneWeighingDecidesNothing(
        guest: String, isOneFile: Bool
    ) throws {
        var rows = (0..<8).map { row($0, 0, "62.\($0)") }
        rows.insert(row(1, 5, guest), at: 2)
        let found = try weights(rows, isOneFile: isOneFile)
        #expect(found.own.count == 8 && found.own.allSatisfy { $0 < 63 })
        #expect(found.unassigned.count == 1)
    }

    /// Real changes of a body: a newborn child, a child that is weighed twice a year, a diet, an operation, a pregnancy.
    @Test(arguments: [
        [(0, "3.2"), (3, "3.0"), (30, "4.1"), (150, "7.2"), (365, "9.9"), (730, "12.8")],
        [(0, "14"), (180, "16"), (360, "18"), (2000, "40"), (3000, "62")],
        [(0, "140"), (7, "137"), (14, "134"), (200, "90"), (300, "72")],
        [(0, "190"), (1, "189"), (2, "191"), (390, "92")],
        [(0, "3.1"), (40, "6.3"), (200, "9")],
    ]) func realChanges(weights days: [(Int, String)]) throws {
        let found = try weights(days.map { row($0.0, 0, $0.1) }, isOneFile: false)
        #expect(found.unassigned.isEmpty && found.own.count == days.count)
    }

    /// Pounds labeled as kilograms are not another person.
    @Test func anotherUnit() throws {
        let found = try weights([row(0, 0, "72.0"), row(1, 0, "158.7"), row(2, 0, "72.1")], isOneFile: false)
        #expect(found.unassigned.isEmpty)
    }

    /// A file that names the person of each row keeps them, also as "me".
    @Test(arguments: [false, true]) func fileNamingPersonIsTrusted(isMe: Bool) throws {
        let person = isMe ? "me" : "7f9c0000-0000-4000-8000-000000000001"
        let rows = (0..<4).map { row($0, 0, "72.\($0)") } + [row(4, 0, "15.1")]
        try story.load([FileStoryTests.header + ",subject"] + rows.map { $0 + "," + person })
        let all = try story.samples(.bodyMass)
        #expect(all.count == 5 && all.allSatisfy { $0.origin.person == (isMe ? story.store.owner : person) })
        // A row without a person is compared with them.
        try story.load([FileStoryTests.header + ",subject", row(5, 0, "16.1") + ","])
        let unassigned = try story.samples(.bodyMass).filter { $0.origin.person == Origin.unassigned }.map(\.value)
        #expect(unassigned == (isMe ? [16.1] : []))
    }
}

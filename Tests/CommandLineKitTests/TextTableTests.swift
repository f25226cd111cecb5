import CommandLineKit
import Testing

struct TextTableTests {
    private var readings: TextTable {
        var table = TextTable(columns: [
            .init("time"), .init("device"), .init("n", .right), .init("value", .decimal), .init("unit"),
        ])
        table.append(["2024-05-01T08:00:00Z", "Küche 体温計", "7", "36.65", "Cel"])
        table.append(["2024-05-01T09:30:00Z", "evil\u{1B}[2J\u{9B}31m\u{202E}name\r\nnew", "12", "101", "%"])
        table.append(["2024-05-02T09:30:00Z", "👩‍⚕️ e\u{301}", "1200", "-0.5", ""])
        return table
    }

    @Test func columnsAreAligned() throws {
        try Snapshot.expect(readings.rendered(), matches: "table.txt")
    }

    @Test func leftColumnsAreCutToTheTerminal() throws {
        let text = readings.rendered(width: 50)
        try Snapshot.expect(text, matches: "table-50.txt")
        #expect(text.split(separator: "\n").allSatisfy { TerminalText.width($0) <= 50 })
        #expect(!readings.rendered(width: 50, unicode: false).contains("…"))
    }

    @Test func numbersAreNeverCut() {
        var table = TextTable(columns: [.init("name", minimumWidth: 4), .init("value", .right)])
        table.append(["a long name", "1234567890"])
        #expect(table.rendered(width: 5) == "name       value\na l…  1234567890\n")
    }

    @Test func removesControlCharacters() {
        let scalars = readings.rendered().unicodeScalars
        #expect(scalars.allSatisfy { $0 == "\n" || ($0.properties.generalCategory != .control && $0 != "\u{202E}") })
    }

    @Test func rowsMayBeTooShortOrTooLong() {
        var table = TextTable(columns: [.init("a"), .init("b", .decimal)])
        #expect(table.isEmpty)
        table.append(["1"])
        table.append(["1", "2", "3"])
        #expect(table.rendered() == "a  b\n1\n1  2\n")
        #expect(TextTable(columns: []).rendered(width: 10) == "\n")
    }

    @Test(arguments: [
        (0.0, "    "), (1.0 / 32, "▏   "), (0.25, "█   "), (0.5, "██  "), (0.6, "██▍ "), (1, "████"), (7, "████"), (-1, "    "),
        (.nan, "    "), (.infinity, "████"),
    ])
    func barsGrowByEighths(fraction: Double, expected: String) {
        #expect(TextTable.bar(fraction, width: 4) == expected)
    }

    @Test func barsWithoutUnicode() {
        #expect(TextTable.bar(0.6, width: 5, unicode: false) == "###  ")
        #expect(TextTable.bar(0.6, width: 0) == "")
        #expect(TextTable.bar(0.6, width: -3, unicode: false) == "")
    }
}

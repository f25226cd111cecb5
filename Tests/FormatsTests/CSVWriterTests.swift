import Formats
import Testing

@Suite struct CSVWriterTests {
    @Test(arguments: [
        (["a", "b"], "a,b\n"), (["a,b", "c"], "\"a,b\",c\n"), (["say \"x\""], "\"say \"\"x\"\"\"\n"),
        (["a\nb", "c\r\nd", "e\rf"], "\"a\nb\",\"c\r\nd\",\"e\rf\"\n"), (["=1+1", "+1", "-0.4", "@x"], "=1+1,+1,-0.4,@x\n"),
        (["", ""], ",\n"), ([""], "\"\"\n"), ([], "\n"), ([" a "], " a \n"), (["Größe 体温"], "Größe 体温\n"),
    ])
    func csvIsQuotedWhereNeeded(row: [String], expected: String) {
        var buffer: [UInt8] = []
        CSVWriter().append(row: row, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
    }

    @Test func csvMayEndLinesAsOnTheWire() {
        var buffer: [UInt8] = []
        let writer = CSVWriter(lineEnding: .carriageReturnLineFeed)
        writer.append(row: ["a"], to: &buffer)
        writer.append(row: [""], to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == "a\r\n\"\"\r\n")
    }
}

import Testing

@testable import Hub

/// Names that programs use until a file is whole.
@Suite struct TemporaryNameTests {
    /// A name and that of its report have at most 255 bytes. The name of 244 bytes is made up for Vitalgate.
    @Test func longNamesAreShortened() {
        let long = String(repeating: "体重の記録", count: 16) + ".csv"
        #expect(long.utf8.count == 244)
        let short = InboxFolder.shortened(long)
        #expect(short.hasPrefix("体重の記録") && short.hasSuffix(".csv"))
        #expect(".\(InboxFolder.numbered(short, 100_000)).account.json".utf8.count <= 255)
        #expect(InboxFolder.shortened("weight.csv") == "weight.csv")
        #expect(InboxFolder.shortened(String(repeating: "a", count: 250)).utf8.count <= 240)
    }

    @Test(arguments: [
        "weight.csv.filepart", "weight.csv.part", "weight.csv.crdownload", "Unconfirmed 4711.crdownload", "weight.csv.opdownload",
        "weight.csv.download", "weight.csv.8f2a1b3c.partial", "weight.csv.tmp", "~RF1a2b.TMP", ".syncthing.a.csv.tmp",
        "~syncthing~b.csv.tmp", ".weight.csv.Xy12Za", ".weight.csv.ocTransferId1234.part", "weight.csv.ocTransferId1234.part",
        "._weight.csv", ".DS_Store", "~$weight.xlsx", "~WRL0001", "weight.csv~", ".weight.csv.swp", "#weight.csv#",
        ".#weight.csv",
        ".~lock.weight.csv#", "weight.csv.aria2", "weight.csv.!ut", "weight.csv.!Sync", "weight.csv.ffs_tmp", "Thumbs.db",
        "desktop.ini", "weight.csv-0195fb5a-1234-8000-8000-0123456789ab", "weight.csv.drivepart",
    ])
    func areLeftAlone(name: String) { #expect(TemporaryName.isOne(name)) }

    /// A complete file with such a name can be read under another name that describes it as well.
    @Test(
        arguments: [
            ("weight.csv.part", "weight.csv"), ("weight.csv.TMP", "weight.csv"), ("weight.csv~", "weight.csv"),
            ("#weight.csv#", "weight.csv"), ("weight.csv.part.crdownload", "weight.csv"), ("~$weight.xlsx", "weight.xlsx"),
            ("weight.csv-0195fb5a-1234-8000-8000-0123456789ab", "weight.csv"), ("weight.csv", "weight.csv"),
            (".weight.csv.swp", "weight.csv"),
            ("Thumbs.db", nil), ("~", nil), (".tmp", nil), ("desktop.ini.part", nil),
        ] as [(String, String?)])
    func haveANameToBeReadUnder(given: String, read: String?) {
        #expect(TemporaryName.read(as: given) == read)
        if let read { #expect(!TemporaryName.isOne(read)) }
    }

    @Test(arguments: [
        "weight.csv", "export.zip", "ride.fit", "part.csv", "tmp.csv", "#1.csv",
        "weight-0195fb5a-1234-8000-8000-0123456789ab.csv",
        "a~b.csv", "gewicht", "download.json", "BODY_1700000000.csv",
    ])
    func areRead(name: String) { #expect(!TemporaryName.isOne(name)) }
}

import FoundationEssentials
import Glibc
import Testing

/// The kinds of files that can be imported, whatever their names.
@Suite struct ImportInputTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let csv = "time,type,value,unit\n2026-03-28T07:30:00Z,heartRate,61,/min\n2026-03-28T07:31:00Z,heartRate,62,/min\n"

    /// Runs a line of bash, in which "$@" is the program with its options.
    func bash(_ line: String, input: String = "/dev/null") throws -> Vitalgate.Run {
        let command = ["/bin/bash", "-c", line, "bash", try Vitalgate.binary()] + (try folder.options())
        return try RunningVitalgate(command: command, environment: Vitalgate.environment(home: folder.root), input: input).wait()
    }

    // MARK: Files that have little or nothing in them

    @Test func aHeaderWithoutRows() throws {
        for text in ["time,type,value,unit\n", "time,type,value,unit"] {
            let run = try folder.vitalgate("import", try folder.write("header.csv", text), "--format", "ndjson")
            #expect(run.status == 0)
            #expect(try Account(run.last).read == 0)
            #expect(run.errors.contains("header.csv: no readings found"), "\(run.errors)")
        }
    }

    /// An empty file gives no draft.
    @Test func anEmptyFile() throws {
        let run = try folder.vitalgate("import", try folder.write("empty.csv", ""))
        #expect(run.status == 65)
        #expect(run.errors.hasSuffix("empty.csv: no profile reads this file: it is empty\n"), "\(run.errors)")
        let other = try folder.vitalgate("import", try folder.write("other.csv", "a,b\n1,2\n"))
        #expect(other.errors.contains("profile suggest"), "\(other.errors)")
    }

    @Test func aFolder() throws {
        let run = try folder.vitalgate("import", folder.root)
        #expect(run.status == 66)
        #expect(run.errors.contains("name the files in it"), "\(run.errors)")
    }

    /// The given sign is not the file's: no number is read in two ways, and the message names the wrong option.
    @Test func aPointWhereACommaWasNamed() throws {
        let rows =
            "time,type,value,unit\n2026-03-28T07:30:00Z,stepCount,1.200,steps\n2026-03-28T07:31:00Z,bodyTemperature,\"36,5\",Cel\n"
        let file = try folder.write("points.csv", rows)
        let run = try folder.vitalgate("import", file, "--decimal", "comma", "--format", "ndjson")
        #expect(run.status == 65)
        let account = try Account(run.last)
        #expect((account.stored, account.refused) == (1, 1))
        #expect(run.errors.contains("line 2: value: not a number with a decimal comma: it has a point"), "\(run.errors)")
        let point = try folder.vitalgate("import", file, "--decimal", "point")
        #expect(point.errors.contains("line 3: value: ") && !point.errors.contains("it has a point"), "\(point.errors)")
    }

    // MARK: Pipes

    @Test(arguments: ["import - --format ndjson", "import /dev/stdin --format ndjson"])
    func readsStandardInput(words: String) throws {
        let file = try folder.write("one.csv", Self.csv)
        let run = try bash("\"$@\" \(words)", input: file)
        #expect(try run.status == 0 && Account(run.last).stored == 2, "\(run.errors)")
        let piped = try bash("cat \(file) | \"$@\" \(words)")
        #expect(try piped.status == 0 && Account(piped.last).duplicate == 2, "\(piped.errors)")
    }

    @Test func readsAnArchiveFromAPipe() throws {
        let zip = "\(Repository.files)/apple_health_0.zip"
        let run = try bash("cat \(zip) | \"$@\" import - --format ndjson")
        #expect(try Account(run.last).profile == "apple-health-export", "\(run.errors)")
        let again = try bash("\"$@\" import \(zip) --format ndjson")
        #expect(try Account(again.last).stored == 0)
        #expect(try Account(again.last).read == Account(run.last).read)
    }

    @Test func readsPipes() throws {
        let file = try folder.write("one.csv", Self.csv)
        let run = try bash("\"$@\" import <(cat \(file)) <(sed s/2026/2025/ \(file)) --format ndjson")
        #expect(try run.lines.map { try Account($0).stored } == [2, 2], "\(run.errors)")
    }

    /// The order of the dates only follows from the whole file, which is read twice.
    @Test func readsPipeTwice() throws {
        let file = "\(Repository.files)/libreview_1.csv"
        let piped = try bash("cat \(file) | \"$@\" import - --time-zone Europe/Berlin --format ndjson")
        let again = try bash("\"$@\" import \(file) --time-zone Europe/Berlin --format ndjson")
        let (one, two) = (try Account(piped.last), try Account(again.last))
        #expect(one.stored > 0 && two.stored == 0 && two.duplicate == one.stored + one.duplicate, "\(piped.errors)")
    }

    /// A FIFO without a writer.
    @Test func waitingForFIFOIsInterruptible() throws {
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let program = try folder.start("import", path)
        let descriptors = "/proc/\(program.process)/fd"
        var isWaiting = false
        for _ in 0..<60_000 where !isWaiting {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
            isWaiting = names.contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")) == path
            }
            if !isWaiting { usleep(1000) }
        }
        #expect(isWaiting, "it opened it")
        program.signal(SIGINT)
        let run = try program.wait()
        #expect(run.status == 75, "\(run.errors)")
        #expect(run.errors.contains("interrupted"))
    }

    @Test func withoutLinksNothingButAFileIsRead() throws {
        let file = try folder.write("one.csv", Self.csv)
        symlink(file, folder.path("link.csv"))
        mkfifo(folder.path("pipe.csv"), 0o600)
        for name in ["link.csv", "pipe.csv"] {
            let run = try folder.vitalgate("import", "--no-links", folder.path(name))
            #expect(run.status == 66, "\(run.errors)")
            #expect(run.errors.contains("\(name): it is "), "\(run.errors)")
        }
        #expect(try folder.vitalgate("import", folder.path("link.csv")).status == 0)
        #expect(try folder.vitalgate("import", "--no-links", file).status == 0)
    }

    // MARK: Names

    /// Latin-1, as on an old disk, next to a name that is nearly the same.
    @Test func aNameMayBeNoUTF8() throws {
        try folder.write("one.csv", Self.csv)
        let run = try bash(
            """
            cd \(folder.root); mkdir odd; cp one.csv $'odd/gr\\xfc\\xdfe.csv'; sed s/2026/2025/ one.csv > $'odd/gr\\xfd\\xdee.csv'
            "$@" import odd/* --format ndjson
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.lines.map { try Account($0).stored } == [2, 2])
        #expect(try Account(run.last).file == "gr\u{FFFD}\u{FFFD}e.csv")
    }

    @Test func aNameForgesNoLine() throws {
        let file = try folder.write("a\nvitalgate: all is well\u{1B}[2J\r.csv", Self.csv + "noon,heartRate,61,/min\n")
        let missing = folder.path("b\nvitalgate: all is well")
        for format in ["ndjson", "table"] {
            let run = try folder.vitalgate("import", file, missing, "--format", format)
            #expect(!run.errors.split(separator: "\n").contains { $0.hasPrefix("vitalgate: all is well") }, "\(run.errors)")
            #expect(run.errors.contains("line 4: "))
            #expect(!run.errors.contains("\u{1B}"))
        }
        let account = try Account(try folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last)
        #expect(account.file?.unicodeScalars.contains { $0.properties.generalCategory == .control } == false)
        let csv = try folder.vitalgate("ledger", "list", "--format", "csv").output
        #expect(csv.split(separator: "\n").count == 3, "a header and a line for each")
    }

    // MARK: Options that a file has no use for

    @Test(arguments: [
        ("apple_health_0.xml", ["--decimal", "comma"]), ("apple_health_0.zip", ["--date-order", "DMY"]),
        ("apple_health_0.xml", ["--unit", "value=kg"]), ("fitbit_hr_json_2.json", ["--decimal", "comma"]),
        ("polar_0.csv", ["--unit", "nothing=kg"]),
    ])
    func refusesInapplicableOptions(file: String, options: [String]) throws {
        let run = try folder.vitalgate(["import", "\(Repository.files)/\(file)"] + options)
        #expect(run.status == 65, "\(run.errors)")
        #expect(run.errors.contains(options[0]), "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test func genericTableRefusesDateOrder() throws {
        let run = try folder.vitalgate("import", folder.write("one.csv", Self.csv), "--date-order", "MDY")
        #expect(run.status == 65)
        #expect(run.errors.contains("--date-order") && run.errors.contains("generic-csv"), "\(run.errors)")
    }

    @Test func theGenericTableMayHaveDecimalCommas() throws {
        let file = try folder.write(
            "comma.csv",
            "time;type;value;unit\n2026-03-28T07:30:00Z;bodyMass;61,5;kg\n2026-03-28T07:31:00Z;bodyMass;1,024;kg\n"
                + "2026-03-28T07:32:00Z;bodyMass;62;kg\n2026-03-28T07:33:00Z;bodyMass;61.5;kg\n")
        let refused = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(try Account(refused.last).refused == 2)
        #expect(refused.errors.contains("--decimal comma"), "\(refused.errors)")
        let other = folder.path("other.db")
        let run = try folder.vitalgate(["import", file, "--decimal", "comma", "--format", "ndjson"], store: other)
        #expect(try Account(run.last).refused == 1 && run.errors.contains("line 5"), "\(run.errors)")
        let samples = try folder.vitalgate(["query", "bodyMass", "--format", "ndjson"], store: other).objects()
        #expect(samples.compactMap { $0["value"].double } == [61.5, 1.024, 62])
        #expect(samples.compactMap { $0["original"]["value"].text } == ["61.5", "1.024", "62"])
    }

    // MARK: Which profile

    @Test func namesTheProfileItChose() throws {
        let run = try folder.vitalgate("import", "\(Repository.files)/withings_bp_0.csv")
        #expect(run.output.contains("withings-blood-pressure"), "\(run.output)")
    }

    @Test func namesTheProfileThatReadsNoRow() throws {
        let file = try folder.write("other.csv", "time,type,value,unit\nnoon,heartRate,61,/min\nnight,heartRate,62,/min\n")
        let run = try folder.vitalgate("import", file)
        #expect(run.status == 65)
        #expect(run.errors.contains("generic-csv") && run.errors.contains("profile suggest"), "\(run.errors)")
    }

    @Test(arguments: ["time,type,value,unit,value", "time,type,Value,value ,unit"])
    func refusesTwoColumnsOfOneName(header: String) throws {
        let file = try folder.write("double.csv", "\(header)\n2026-03-28T07:30:00Z,heartRate,61,/min,62\n")
        let run = try folder.vitalgate("import", file)
        #expect(run.status == 65)
        #expect(run.errors.lowercased().contains("two columns 'value'"), "\(run.errors)")
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.isEmpty)
    }

    // MARK: The hour that occurs twice

    /// It begins before clocks go back and ends after. Read in any other way it would end before it begins.
    @Test func takesAnIntervalOverTheHourThatOccursTwice() throws {
        let file = try folder.write(
            "autumn.csv",
            "time,type,value,unit,end\n2025-10-26T02:45:00,stepCount,61,1,2025-10-26T02:15:00\n2025-10-26T04:00:00,stepCount,5,1,2025-10-26T03:00:00\n"
        )
        let run = try folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "Europe/Berlin")
        #expect(try Account(run.last).stored == 1, "\(run.errors)")
        #expect(run.errors.contains("line 3"))
        let sample = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(sample["start"].text == "2025-10-26T00:45:00.000000Z")
        #expect(sample["end"].text == "2025-10-26T01:15:00.000000Z")
        #expect(
            try Account(folder.vitalgate("import", file, "--format", "ndjson", "--time-zone", "Europe/Berlin").last).duplicate
                == 1)
    }

    /// Rows before and after it are assigned as before.
    @Test func intervalInRepeatedHourDoesNotAffectOthers() throws {
        let times = ["01:30", "02:10", "02:40", "02:45", "02:05", "02:50", "03:10"]
        var text = "time,type,value,unit,end\n"
        for (index, time) in times.enumerated() {
            text += "2025-10-26T\(time):00,stepCount,\(index + 1),1,\(index == 3 ? "2025-10-26T02:02:00" : "")\n"
        }
        let run = try folder.vitalgate(
            "import", folder.write("autumn.csv", text), "--format", "ndjson", "--time-zone", "Europe/Berlin")
        #expect(try Account(run.last).stored == 7, "\(run.errors)")
        let starts = try folder.vitalgate("query", "all", "--format", "ndjson").objects().compactMap { $0["start"].text }
        #expect(
            starts.map { $0.dropFirst(11).prefix(5) }
                == ["23:30", "00:10", "00:40", "00:45", "01:05", "01:50", "02:10"])
    }

    // MARK: The ledger

    @Test func aKilledImportIsInterruptedAtOnce() throws {
        let file = try folder.write("big.csv", ProcessTests.rows(400_000))
        let program = try folder.start("import", file)
        for _ in 0..<60_000 {
            if try !folder.vitalgate("ledger", "list", "--format", "ndjson").lines.isEmpty { break }
            usleep(1000)
        }
        #expect(try Account(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last).state == "running")
        program.signal(SIGKILL)
        _ = try program.wait()
        #expect(try Account(folder.vitalgate("ledger", "list", "--format", "ndjson").last).state == "interrupted")
        #expect(try Account(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last).state == "interrupted")
    }
}

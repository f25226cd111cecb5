import FoundationEssentials
import Glibc
import HealthModel
import Hub
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// The user's settings, and the machine's defaults.
@Suite struct ConfigurationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func machine(_ environment: [String: String] = [:]) -> Machine {
        let now = FixedClock().now
        return Machine(
            environment: ["HOME": folder.path, "TZ": "Europe/Berlin"].merging(environment) { $1 }, now: { now },
            zoneDirectory: folder.file("zones"))
    }

    func read(_ text: String) throws -> Configuration {
        try folder.write(Array(text.utf8), to: "config.json5")
        return try Configuration(path: folder.file("config.json5"), machine: machine())
    }

    @Test func anEmptyFileIsTheDefault() throws {
        let configuration = try read("{}")
        #expect(configuration.timeZone == ZoneName("Europe/Berlin", from: .variable))
        #expect(configuration.person == nil)
        #expect(configuration.profiles.isEmpty)
    }

    /// A program that opens a pipe may wait for ever.
    @Test func refusesPipes() throws {
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: ConfigurationError("\(path): cannot be read")) { try Configuration(path: path, machine: machine()) }
        #expect(throws: DeliveryError.self) { try Secret.file(path).read() }
        _ = try Configuration(path: "/dev/null", machine: machine())
    }

    @Test func theHomeFolderIsWrittenAsInAShell() throws {
        let configuration = try read("{ store: '~/s.db', profiles: ['~/p', '/q~/r'], hub: { inbox: '~/inbox' } }")
        #expect(configuration.store == folder.path + "/s.db")
        #expect(configuration.profiles == [folder.path + "/p", "/q~/r"])
        #expect(configuration.hub.inbox == folder.path + "/inbox")
    }

    @Test func readsEveryKeyAndComments() throws {
        let configuration = try read(
            """
            {
                // where it all is
                store: "/var/lib/vitalgate/other.db",
                timeZone: 'Asia/Tokyo', subject: "11111111-2222-4333-8444-555555555555",
                profiles: ["/a", "/b",],
            }
            """)
        #expect(configuration.store == "/var/lib/vitalgate/other.db")
        #expect(configuration.timeZone == ZoneName("Asia/Tokyo", from: .configuration(folder.file("config.json5"))))
        #expect(configuration.person == "11111111-2222-4333-8444-555555555555")
        #expect(configuration.profiles == ["/a", "/b"])
    }

    @Test(arguments: ["[]", "{", "{ stor: 1 }", "{ store: 1 }", "{ profiles: 'x' }", "not json"])
    func refusesInvalidConfiguration(text: String) throws {
        #expect(throws: ConfigurationError.self) { try read(text) }
    }

    @Test(arguments: [
        ("{ hub: { readingsPerSecond: 0 } }", "'hub.readingsPerSecond': expected a whole number from 1 to 1000"),
        ("{ hub: { readingsPerSecond: 'a' } }", "'hub.readingsPerSecond': expected a number"),
        ("{ hub: { inbox: 'x' } }", "'hub.inbox': the folder's path must begin with / or ~/"),
        (
            "{ hub: { foo: 1 } }",
            "'hub.foo': unknown key, expected one of inbox, sources, readingsPerSecond, commitEvery, heartbeats"
        ),
        ("{ hub: { commitEvery: 0 } }", "'hub.commitEvery': expected a whole number of seconds from 1 to 60"),
        ("{ hub: { commitEvery: 61 } }", "'hub.commitEvery': expected a whole number of seconds from 1 to 60"),
        ("{ hub: { commitEvery: 'a' } }", "'hub.commitEvery': expected a number"),
        ("{ hub: { sources: { radio: 'no' } } }", "'hub.sources.radio': unknown policy, expected one of error, retry, ignore"),
    ])
    func errorNamesHubSetting(text: String, words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    @Test func readingsPerSecond() throws {
        #expect(try read("{ hub: { readingsPerSecond: 25 } }").hub.readingsPerSecond == 25)
        #expect(try read("{ hub: {} }").hub.readingsPerSecond == 10)
    }

    /// `{über: 1}` in Latin-1, on which Foundation's decoder ends the process, and a text of brackets only.
    @Test(arguments: [[0x7B, 0xFC, 0x62, 0x65, 0x72, 0x3A, 0x20, 0x31, 0x7D], [UInt8](repeating: 0x5B, count: 100_000)])
    func refusesInvalidUTF8(bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: folder.file("octets.json5")))
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(path: folder.file("octets.json5"), machine: machine())
        }
        #expect(error?.description.contains("line 1, column") == true)
    }

    @Test func errorNamesFile() throws {
        do {
            _ = try read("{ stor: 1 }")
            Issue.record("an unknown key is an error")
        } catch let error as ConfigurationError {
            #expect(error.description.contains(folder.file("config.json5")))
            #expect(error.description.contains("'stor'"))
        }
        #expect(throws: ConfigurationError.self) { try Configuration(path: folder.file("none.json5"), machine: machine()) }
    }

    @Test(arguments: [("UTC", "UTC"), (":Europe/Paris", "Europe/Paris"), ("Asia/Tokyo", "Asia/Tokyo")])
    func takesTheMachinesZone(variable: String, name: String) {
        #expect(machine(["TZ": variable]).zoneName == ZoneName(name, from: .variable))
    }

    /// A zone's name becomes part of a path, and must not lead out of the folder of zones.
    @Test(arguments: ["", "/etc/passwd", "../config.json5", "Mars/Base", "a b", "Europe/\u{0}", "."])
    func refusesInvalidZones(name: String) {
        #expect(throws: ConfigurationError.self) { try machine().zone(ZoneName(name, from: .option)) }
    }

    @Test(arguments: [("UTC", 0), ("+01:00", 3600), ("-03:30", -12_600), ("+14:00", 50_400)])
    func knowsOffsetsWithoutAnyFile(name: String, seconds: Int32) throws {
        #expect(try machine().zone(ZoneName(name, from: .option)).offset(at: Instant(seconds: 0)).seconds == seconds)
    }

    @Test func readsTheZoneFileThatTheVariableNames() throws {
        let bytes = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin"))
        try folder.write(Array(bytes), to: "localtime")
        let machine = machine(["TZ": ":" + folder.file("localtime")])
        let summer = try #require(Timestamp(iso8601: "2026-07-01T00:00:00Z").instant)
        #expect(try machine.zone(machine.zoneName).offset(at: summer).seconds == 7200)
    }

    /// Offsets in a POSIX rule count westwards. Without dates, daylight saving time has glibc's, and the identifier contains them.
    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", 7200), ("CET-1CEST", "CET-1CEST,M3.2.0,M11.1.0", 7200),
        ("<+0545>-5:45", "<+0545>-5:45", 20_700), ("UTC0", "UTC0", 0),
    ])
    func understandsPOSIXRules(variable: String, identifier: String, offset: Int32) throws {
        let machine = machine(["TZ": variable])
        let zone = try machine.zone(machine.zoneName)
        #expect(zone.identifier == identifier)
        let summer = try #require(Timestamp(iso8601: "2026-07-01T00:00:00Z").instant)
        #expect(zone.offset(at: summer).seconds == offset)
        // For a user, `UTC+3` is east of Greenwich, the opposite of POSIX. Only TZ is read in POSIX's way.
        #expect(throws: ConfigurationError.self) { try machine.zone(ZoneName(variable, from: .option)) }
    }

    @Test func errorNamesOriginOfZone() throws {
        for (origin, words) in [
            (ZoneName.Origin.option, "--time-zone"), (.variable, "TZ"),
            (.configuration("/some/config.json5"), "/some/config.json5"),
        ] {
            do {
                _ = try machine().zone(ZoneName("Mars/Base", from: origin))
                Issue.record("there is no base on Mars")
            } catch {
                #expect(error.description.contains(words))
            }
        }
    }

    // MARK: Folders

    @Test func ignoresRelativeAndEmptyFolders() throws {
        let configuration = try Configuration(path: nil, machine: machine(["XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": ""]))
        #expect(configuration.store == "\(folder.path)/.local/share/vitalgate/store.db")
    }

    @Test func errorWithoutHomeSuggestsOption() throws {
        let machine = machine(["HOME": ""])
        let access = StoreAccess(configuration: try Configuration(path: nil, machine: machine), machine: machine)
        do {
            _ = try access.openForWriting(creating: true)
            Issue.record("there is nowhere to make a store")
        } catch {
            #expect(error.description.contains("set HOME or use --store"))
        }
    }

    @Test(arguments: [
        ("{\n  store: 'x,\n}", "line 2, column 10"), ("{\n  store 'x'\n}", "line 2, column 9"),
        ("{ store: 'x' } y", "line 1, column 16"),
        ("{\n store: 'x'\n profiles: [] }", "line 3, column 2"), ("{ /* ", "line 1, column 3"),
        ("{ 'ä': tru }", "line 1, column 8"), ("{ store: 1e+ }", "line 1, column 10"),
    ])
    func errorNamesSyntaxPosition(text: String, place: String) throws {
        do {
            _ = try read(text)
            Issue.record("this is not JSON5")
        } catch let error as ConfigurationError {
            #expect(error.description.contains(place), "\(error)")
        }
    }

    // MARK: The store

    func access(_ path: String) throws -> StoreAccess {
        var configuration = try read("{}")
        configuration.store = folder.file(path)
        return StoreAccess(configuration: configuration, machine: machine())
    }

    @Test func createsStoreAndFolder() throws {
        let store = try access("new/deep/store.db").openForWriting(creating: true)
        #expect(UUIDText.isValid(store.owner))
        #expect(try access("new/deep/store.db").openForReading().owner == store.owner)
        #expect(try access("other.db").openForWriting(creating: true).owner != store.owner)
    }

    @Test func makesNoneUnlessAsked() throws {
        let kinds = [
            { try access("none.db").openForReading() }, { try access("none.db").openForWriting(creating: false) },
        ].map { open -> StoreError.Kind? in
            do {
                _ = try open()
                return nil
            } catch {
                return (error as? StoreError)?.kind
            }
        }
        #expect(kinds == [.missing, .missing])
    }

    /// A second hub of the same person is given that person's UUID.
    @Test func usesConfiguredPerson() throws {
        var access = try access("second.db")
        access.configuration.person = OneReadingTests.person
        #expect(try access.openForWriting(creating: true).owner == OneReadingTests.person)
    }

    @Test func resolvesPeople() throws {
        let store = try access("store.db").openForWriting(creating: true)
        #expect(try StoreAccess.person("me", in: store) == store.owner)
        #expect(try StoreAccess.person("unassigned", in: store) == "unassigned")
        #expect(
            try StoreAccess.person("AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE", in: store) == "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")
        for wrong in ["", "bob", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-55555555555g"] {
            #expect(throws: ConfigurationError.self) { try StoreAccess.person(wrong, in: store) }
        }
    }

    /// A broken profile is reported and left out, and the other files are read. The later folder overrides the earlier ones.
    @Test func loadsProfilesFolderByFolder() throws {
        try folder.write(Array("{ id: 'broken' ".utf8), to: "broken.json5")
        var configuration = try read("{}")
        configuration.profiles = [Checkout.profiles, folder.path]
        // The configuration is in the same folder and is not a profile.
        let (library, problems) = ProfileFolders(configuration: configuration, executable: "/nowhere/vitalgate").load()
        #expect(library["generic-csv"] != nil)
        #expect(library["broken"] == nil)
        #expect(problems.contains { $0.description.contains("broken.json5") })
    }
}

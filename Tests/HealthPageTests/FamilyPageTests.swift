import FoundationEssentials
import Glibc
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthPage

/// Reports, notes, goals, alerts, people, and uploads on the page.
@Suite struct FamilyPageTests {
    let served: ServedStore
    let inbox: TemporaryFolder
    private let ran = Ran()
    let cookie: String

    private final class Ran: Sendable {
        let words = Mutex<[[String]]>([])
        let files = Mutex<[String]>([])
        /// The longest time that a run had, in seconds.
        let seconds = Mutex(0)
    }

    init() throws {
        let (inbox, ran) = (try TemporaryFolder(), ran)
        self.inbox = inbox
        let folder = inbox.path
        served = try ServedStore(page: { settings in
            settings.hub = HubDoor(
                inbox: folder, devices: { (true, []) },
                run: { words, file, seconds in
                    ran.words.withLock { $0.append(words) }
                    ran.files.withLock { $0.append(file ?? "") }
                    ran.seconds.withLock { $0 = max($0, seconds) }
                    let line = #"{"ingest":1,"read":3,"stored":2,"duplicate":1,"quarantined":0,"refused":0}"#
                    return HubDoor.Outcome(code: 0, output: line + "\n", words: "")
                }, reload: {})
        })
        cookie = try PageTests.cookie(served)
    }

    private func get(_ target: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try #require(try served.client().get(target, cookie ?? self.cookie))
    }

    private func post(_ target: String, _ body: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try PageTests.post(served, target, body, cookie ?? self.cookie)
    }

    // MARK: Report

    private static let days = "from=2026-09-21&until=2026-09-22"

    /// Only the first piece of an upload creates a draft, so the number of drafts stays bounded.
    @Test func laterPiecesCreateNoDraft() throws {
        let inbox = try TemporaryFolder()
        let path = inbox.path
        let served = try ServedStore(page: { settings in
            settings.hub = HubDoor(
                inbox: path, devices: { (true, []) }, run: { _, _, _ in HubDoor.Outcome(code: 0, output: "", words: "") },
                reload: {})
        })
        let cookie = try PageTests.cookie(served, as: PageTests.other)
        func send(_ number: Int, at offset: Int) throws -> Int {
            let upload = "5b1f0000-0000-4000-8000-0000000000\(number)"
            return try PageTests.post(served, "/page/data/upload/\(upload)?name=x.csv&at=\(offset)", "x", cookie).status
        }
        for number in 10..<40 {
            for offset in [1, 2] { #expect(try send(number, at: offset) == 409) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        for number in 10..<40 { #expect(try send(number, at: 0) == 200) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 8)
    }

    @Test func reportHasSummaryChartAndReadings() throws {
        try served.add([61, 62, 66])
        #expect(try get("/page/report").text.contains("value=\"heartRate\""))
        let report = try get("/page/report?\(Self.days)&type=heartRate").text
        #expect(report.contains("<td>63</td><td>61</td><td>66</td><td>3</td><td>1</td>"))
        #expect(report.contains("<svg") && report.contains("class=\"dt\""))
        #expect(report.contains("21 Sep 2026, 14:13"))
        #expect(report.contains("/page/report/readings.csv?from=2026-09-21&amp;until=2026-09-22&amp;type=heartRate"))
        #expect(try get("/page/report?from=2026-09-22&until=2026-09-22&type=heartRate").text.contains("No data in this period."))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !get("/page/report?\(Self.days)&type=heartRate", theirs).text.contains("<td>61</td>"))
        for query in ["from=noon", "from=2026-09-22&until=2026-09-21", "from=0001-01-01", "type=nothing", "type=workout"] {
            #expect(try get("/page/report?\(query)").status == 400, "\(query)")
        }
    }

    @Test func aReportOfBloodPressurePairsThePressures() throws {
        _ = try post("/page/add", "type=bloodPressure&value=124&value2=79&at=2026-09-21T07%3A30&zone=Z")
        _ = try post("/page/add", "type=heartRate&value=64&at=2026-09-21T07%3A30&zone=Z")
        _ = try post("/page/add", "type=bloodPressure&value=130&value2=85&at=2026-09-21T20%3A30&zone=Z")
        let born = try #require(Characteristic(.dateOfBirth, "1990-01-16"))
        try served.store.people.set(.dateOfBirth, to: born, of: ServedStore.person, from: "1990-01-16", recorded: ServedStore.now)
        let report = try get("/page/report?\(Self.days)&type=bloodPressure").text
        #expect(
            report.contains("<td>124/79</td>") && report.contains("class=\"filled\"") && report.contains("class=\"hollow\"")
                && report.contains("<section class=\"vitals\">"))
        #expect(report.contains("Date of birth: 16 Jan 1990"))
        // The pulse of the same measurement, and the averages of mornings and evenings.
        #expect(report.contains("<td>124/79</td><td>64</td>") && report.contains("<td>130/85</td><td>–</td>"))
        #expect(report.contains("Morning (4:00 to 12:00)</th><td>124/79</td><td>1</td>"))
        #expect(report.contains("Evening (16:00 to 24:00)</th><td>130/85</td><td>1</td>"))
    }

    /// Two months of a morning and an evening a day: a row for each day, and limits at 135/85.
    @Test func aLongReportHasARowForEachDay() throws {
        for (type, value) in [("bloodPressureSystolic", 124), ("bloodPressureDiastolic", 79), ("heartRate", 64)] {
            try served.add(
                numerals: (0..<122).map { "\(value + $0 % 2 * 6)" }, of: type, from: 1_790_000_000 / 86_400 * 86_400 + 7 * 3600,
                every: 43_200)
        }
        let report = try get("/page/report?from=2026-09-20&until=2026-11-21&type=bloodPressure").text
        let rows = report.matches(of: #/<td>124\/79 \(64\)<\/td><td>130\/85 \(70\)<\/td>/#)
        #expect(rows.count == 61 && report.contains(">135</text>") && report.contains(">85</text>"))
        #expect(report.ranges(of: "class=\"filled\"").count == 122 && report.ranges(of: "class=\"hollow\"").count == 122)
    }

    /// `vitalgate import` reads the columns of the profile generic-csv.
    @Test func theTableHasTheColumnsOfTheGenericTable() throws {
        try served.add([61, 62])
        _ = try post("/page/add", "type=bodyTemperature&value=98.60&unit=%5BdegF%5D&at=2026-09-21T07%3A30&zone=Z")
        let answer = try get("/page/report/readings.csv?\(Self.days)&type=heartRate&type=bodyTemperature&zone=%2B02%3A00")
        #expect(answer.headers["content-type"] == "text/csv; charset=utf-8")
        #expect(answer.headers["content-disposition"] == "attachment; filename=\"readings-2026-09-21-2026-09-22.csv\"")
        #expect(
            answer.text == """
                time,type,value,unit,end,source,device\r
                2026-09-21T09:30:00+02:00,bodyTemperature,98.60,[degF],,Entered by hand,\r
                2026-09-21T16:13:20+02:00,heartRate,61,/min,,Strap,\r
                2026-09-21T16:14:20+02:00,heartRate,62,/min,,Strap,\r

                """)
        #expect(try get("/page/report/readings.csv?\(Self.days)").status == 400)
    }

    // MARK: Notes, goals, alerts

    @Test func aDayIsAnnotated() throws {
        #expect(try post("/page/notes", "do=add&day=2027-01-15&tags=flu%2C+fever%2Cflu&note=In+bed+%3Call%3E+day").status == 303)
        let page = try get("/page/notes").text
        #expect(
            page.contains(
                "<span class=\"tag\">flu</span> <span class=\"tag\">fever</span> <span class=\"text\">In bed &lt;all&gt; day</span>"
            ))
        #expect(try get("/page/").text.contains("In bed &lt;all&gt; day"))
        let from = ServedStore.now.microseconds / 1000 - 86_400_000
        let events = try get("/page/data/events?types=heartRate&from=\(from)&to=\(from + 2 * 86_400_000)").text
        #expect(events.contains("\"kind\":\"annotation\",\"name\":\"flu, fever, In bed "))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !get("/page/notes", theirs).text.contains("fever"))
        #expect(try post("/page/notes", "do=remove&id=1", theirs).status == 404)
        for (body, field) in [
            ("day=noon&note=x", "day"), ("day=2027-01-15", "tags"),
            ("day=2027-01-15&tags=\(String(repeating: "a", count: 60))", "tags"),
        ] {
            let answer = try post("/page/notes", "do=add&" + body)
            #expect(answer.status == 422 && answer.text.contains("id=\"\(field)-error\""), "\(body)")
        }
        #expect(try post("/page/notes", "do=remove&id=1").status == 303)
        #expect(try !get("/page/notes").text.contains("fever"))
    }

    @Test func goalIsShownOnCardAndChart() throws {
        try served.add([500], of: "stepCount")
        try served.add([72], of: "bodyMass")
        #expect(try post("/page/goals", "do=set&type=stepCount&value=10000&span=day").status == 303)
        #expect(try post("/page/goals", "do=set&type=bodyMass&value=70%2C5&span=week").status == 303)
        #expect(try get("/page/goals").text.contains("10,000 steps a day"))
        #expect(try get("/page/").text.contains("Goal: 10,000 steps a day"))
        #expect(try get("/page/type/bodyMass").text.contains("Goal: 70.5 kg"))
        #expect(try !get("/page/goals").text.contains("70.5 kg a week"))
        let frame = "from=1789000000000&to=1791592000000&width=360"
        #expect(try get("/page/data/series?types=bodyMass&\(frame)").text.contains("\"goal\":70.5"))
        #expect(try get("/page/data/series?types=stepCount&\(frame)").text.contains("\"goal\":10000"))
        // The bars of a year are not days.
        #expect(try !get("/page/data/series?types=stepCount&from=1600000000000&to=1791592000000&width=360").text.contains("goal"))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !get("/page/goals", theirs).text.contains("10,000"))
        #expect(try post("/page/goals", "do=set&type=stepCount&value=-1&span=day").status == 422)
        #expect(try post("/page/goals", "do=set&type=workout&value=1&span=day").status == 400)
        #expect(try post("/page/goals", "do=remove&type=stepCount").status == 303)
        #expect(try post("/page/goals", "do=remove&type=stepCount").status == 404)
        #expect(try !get("/page/").text.contains("Goal: 10,000"))
    }

    @Test func namesUnreachableReceiver() throws {
        var phone = try served.store.alerts.receiver(named: "phone")
        #expect(try !get("/page/alerts").text.contains("do not reach"))
        (phone.failing, phone.words) = (ServedStore.now, "HTTP 500")
        try served.store.alerts.save(phone)
        #expect(try get("/page/alerts").text.contains("Alerts do not reach phone, since "))
    }

    @Test func anAlertIsABanner() throws {
        #expect(try post("/page/alerts", "do=add&type=bloodGlucose&condition=below&bound=70&hold=0").status == 303)
        #expect(try post("/page/alerts", "do=add&type=bodyMass&condition=missing&bound=9999").status == 422)
        #expect(try post("/page/alerts", "do=add&type=workout&condition=above&bound=1").status == 400)
        #expect(try get("/page/alerts").text.contains("Blood Glucose below 70 mg/dL"))
        #expect(try !get("/page/").text.contains("role=\"alert\""))
        try served.add([65], of: "bloodGlucose", from: ServedStore.now.microseconds / 1_000_000)
        #expect(eventually { (try? get("/page/").text.contains("role=\"alert\"")) ?? false })
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !get("/page/", theirs).text.contains("role=\"alert\""))
        #expect(try post("/page/alerts", "do=remove&id=1", theirs).status == 404)
        try served.add([95], of: "bloodGlucose", from: ServedStore.now.microseconds / 1_000_000 + 60)
        #expect(eventually { (try? !get("/page/").text.contains("role=\"alert\"")) ?? false })
        // Today shows it until the person has seen it.
        #expect(try get("/page/").text.contains("Mark as seen"))
        #expect(try post("/page/alerts", "do=acknowledge&id=1&then=today", theirs).status == 303)
        #expect(try get("/page/").text.contains("Mark as seen"))
        #expect(try post("/page/alerts", "do=acknowledge&id=1&then=today").headers["location"] == "/page/?done=seen")
        #expect(try get("/page/?done=seen").text.contains("The alert is marked as seen."))
        #expect(try !get("/page/").text.contains("Mark as seen"))
        #expect(try post("/page/alerts", "do=remove&id=1").status == 303)
    }

    /// An alert about the silence of one of the person's devices.
    @Test func alertNamesTheDevice() throws {
        #expect(try !get("/page/alerts").text.contains("name=\"device\""))
        for (address, name, person) in [
            ("bluetooth:01", "Bedroom", ServedStore.person), ("bluetooth:02", "Hers", PageTests.other),
        ] {
            try served.store.devices.save(
                AdoptedDevice(address: address, key: address, profiles: ["p"], name: name, person: person, adopted: 0))
        }
        let form = try get("/page/alerts").text
        #expect(form.contains("<option value=\"bluetooth:01\">Bedroom</option>") && !form.contains("Hers"))
        let field = "do=add&type=bodyTemperature&bound=24&device=bluetooth%3A01&condition="
        #expect(try post("/page/alerts", field + "missing").status == 303)
        #expect(try post("/page/alerts", field + "above").status == 422)
        #expect(try post("/page/alerts", field.replacing("A01", with: "A02") + "missing").status == 400)
        #expect(try get("/page/alerts").text.contains("Body Temperature (Bedroom): no reading for 24 hours"))
        #expect(try served.store.alerts.all().map(\.device) == ["bluetooth:01"])
    }

    /// A scale that two people use as one is named where the owner assigns it.
    @Test func aScaleOfTwoPeopleIsNamed() throws {
        try served.store.devices.save(
            AdoptedDevice(
                address: "bluetooth:03", key: "scale", profiles: ["p"], name: "Scale", person: ServedStore.person, adopted: 0))
        #expect(try !get("/page/devices").text.contains("Two people use this scale"))
        for day in 0..<3 {
            let start = Int64(1_780_000_000 + 86_400 * day)
            try served.add([80], of: "bodyMass", from: start, device: Device(key: "scale", name: "Scale"))
            try served.add([62], of: "bodyMass", from: start + 600, device: Device(key: "scale", name: "Scale"))
        }
        #expect(try get("/page/devices").text.contains("Two people use this scale"))
    }

    // MARK: People and uploads

    @Test func ownerAddsPersonForLogin() throws {
        #expect(try post("/page/people", "do=add&name=Anna").status == 303)
        #expect(try post("/page/people", "do=add&name=Anna").status == 422)
        #expect(try post("/page/people", "do=add&name=me").status == 422)
        let anna = try #require(try served.store.people.all().first { $0.name == "Anna" })
        #expect(try post("/page/people", "do=rename&person=\(ServedStore.person)&newName=Anna").status == 422)
        #expect(try post("/page/people", "do=rename&person=\(ServedStore.person)&newName=me").status == 422)
        #expect(try post("/page/people", "do=rename&person=unassigned&newName=Mara").status == 400)
        #expect(try post("/page/people", "do=rename&person=\(ServedStore.person)&newName=Mara").status == 303)
        #expect(try get("/page/").text.contains("<title>Today · Mara · Vitalgate</title>"))
        let page = try post("/page/people", "do=invite&person=\(anna.id)").text
        let both = try post("/page/people", "do=add&name=Cleo&then=invite")
        #expect(both.status == 200 && both.text.contains("Login code for Cleo."))
        let code = try #require(page.firstMatch(of: #/<p class="value">([0-9A-Z-]{19})</p>/#)).output.1
        let login = try PageTests.post(served, "/page/login", "code=\(code)")
        #expect(login.status == 303)
        let theirs = "Cookie: \(try #require(login.headers["set-cookie"]).prefix { $0 != ";" })\r\n"
        #expect(try get("/page/people", theirs).status == 403)
        #expect(try post("/page/people", "do=add&name=Ben", theirs).status == 403)
        #expect(try post("/page/people", "do=invite&person=\(ServedStore.person)", theirs).status == 403)
        #expect(try post("/page/people", "do=invite&person=unassigned").status == 400)
        #expect(try post("/page/people/back", "", theirs).status == 403)
        // This browser shows Anna's data, without the keeper's rights, and returns.
        try served.add([61])
        #expect(try get("/page/").text.contains("data-type=\"heartRate\""))
        let people = try get("/page/people").text
        #expect(people.contains("<h2>Anna</h2>") && people.contains("<h2>Mara</h2>"))
        #expect(try post("/page/people", "do=switch&person=unassigned").status == 400)
        #expect(try post("/page/people", "do=switch&person=\(anna.id)").status == 303)
        let shown = try get("/page/").text
        #expect(shown.contains("<title>Today · Anna · Vitalgate</title>") && shown.contains("/page/people/back"))
        #expect(!shown.contains("data-type=\"heartRate\""))
        #expect(try get("/page/people").status == 403)
        #expect(try post("/page/people/back", "").headers["location"] == "/page/")
        #expect(try get("/page/people").status == 200)
        #expect(try get("/page/").text.contains("data-type=\"heartRate\""))
    }

    private func upload(_ cookie: String, person: String? = nil, name: String = "a.csv") throws -> Int {
        let target = "/page/data/upload/\(PageTests.other)?name=\(name)&at=0&whole=true" + (person.map { "&person=\($0)" } ?? "")
        let client = try served.client()
        client.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(cookie)Content-Length: 9\r\n\r\ntime,type")
        return try #require(client.answer()).status
    }

    /// A gigabyte that takes an hour to import is not cut off.
    @Test func aLargeFileHasMoreTimeToBeImported() {
        #expect(UploadPage.seconds(for: 9) == 200 && UploadPage.seconds(for: 1 << 30) == 200 + 32_768)
    }

    /// Files that were received completely are imported by the next server, except those of people whom the store does not know.
    @Test func importsFilesThatWaitedWhenTheServerEnded() throws {
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let (unknown, upload) = ("00000000-0000-4000-8000-000000000009", "5b1f0000-0000-4000-8000-00000000000")
        for (index, folder) in [
            "own-\(PageTests.other)-\(PageTests.other)", "all-\(PageTests.other)-\(ServedStore.person)",
            "own-\(unknown)-\(unknown)",
        ].enumerated() {
            let path = inbox.file(".page-upload-\(folder)-\(upload)\(index)")
            try #require(mkdir(path, 0o700) == 0)
            close(open("\(path)/left\(index).csv", O_CREAT | O_WRONLY, 0o600))
        }
        // A server that was killed can leave an empty folder.
        try #require(mkdir(inbox.file(".page-upload-own-\(PageTests.other)-\(PageTests.other)-\(upload)8"), 0o700) == 0)
        symlink("/etc/passwd", inbox.file(".page-upload-own-\(PageTests.other)-\(PageTests.other)-\(upload)9"))
        let next = try served.again()
        defer { next.stop() }
        #expect(eventually { Folder.names(inbox.path)?.count == 1 })
        let runs = Dictionary(zip(ran.files.withLock { $0 }, ran.words.withLock { $0 })) { $1 }
        #expect(runs.count == 2)
        for (file, words) in runs {
            #expect(file.hasPrefix(PageTests.other + "\0"))
            #expect(words.contains("--only-person") == file.hasSuffix("/left0.csv\0"))
        }
    }

    /// If an import stops because of the disk, the page shows it with the counts of what was imported.
    @Test func resultReportsNearlyFullDisk() throws {
        let inbox = try TemporaryFolder()
        let path = inbox.path
        let served = try ServedStore(page: { settings in
            settings.hub = HubDoor(
                inbox: path, devices: { (true, []) },
                run: { _, _, _ in
                    let line = #"{"ingest":1,"read":3,"stored":2,"duplicate":1,"quarantined":0,"refused":0,"diskFull":true}"#
                    return HubDoor.Outcome(code: 75, output: line + "\n", words: "")
                }, reload: {})
        })
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let cookie = try PageTests.cookie(served, as: PageTests.other)
        #expect(
            try PageTests.post(
                served, "/page/data/upload/\(PageTests.other)?name=a.csv&at=0&whole=true", "time,type", cookie
            ).status == 200)
        let client = try served.client()
        #expect(
            eventually {
                let text = client.get("/page/upload", cookie)?.text ?? ""
                return text.contains("2 saved") && text.contains("The rest was not imported because the disk is nearly full.")
            })
    }

    @Test func onlyOwnerUploadsForOthers() throws {
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try upload(theirs, person: ServedStore.person) == 403)
        #expect(try upload(theirs) == 200)
        #expect(eventually { (try? get("/page/upload", theirs).text.contains("2 saved, 1 duplicates")) ?? false })
        let words = try #require(ran.words.withLock { $0.first })
        // The name of a file and the person are not in the list of processes.
        #expect(Array(words.prefix(3)) == ["import", "--files-from", "-"] && !words.joined().contains("a.csv"))
        let input = try #require(ran.files.withLock { $0.first })
        #expect(input.hasPrefix(PageTests.other + "\0") && input.hasSuffix("/a.csv\0"))
        #expect(ran.seconds.withLock { $0 } == 200)
        // A member's file brings no readings of other people.
        #expect(Array(words[3...]) == ["--person", "-", "--format", "ndjson", "--leave-room", "--only-person"])
        #expect(try !get("/page/upload").text.contains("2 saved"))
        #expect(try get("/page/upload").text.contains(">Anna</option>"))
        #expect(try upload(cookie, person: PageTests.other) == 200)
        #expect(try upload(cookie, person: "unassigned") == 400)
        #expect(eventually { ran.words.withLock { $0.count } == 2 })
        #expect(ran.words.withLock { $0.last?.last } == "--leave-room")
        #expect(eventually { (try? FileManager.default.contentsOfDirectory(atPath: inbox.path).isEmpty) ?? false })
    }
}

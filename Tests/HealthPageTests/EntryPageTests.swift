import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// Readings that a person types, corrects, deletes, and restores on the page.
@Suite struct EntryPageTests {
    let served: ServedStore
    let cookie: String

    init() throws {
        served = try ServedStore(page: { _ in })
        cookie = try PageTests.cookie(served)
    }

    private func get(_ target: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try #require(try served.client().get(target, cookie ?? self.cookie))
    }

    private func post(_ target: String, _ body: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try PageTests.post(served, target, body, cookie ?? self.cookie)
    }

    private func samples(of person: String = ServedStore.person) throws -> [Sample] {
        let cursor = try served.store.samples.cursor(matching: SampleQuery(person: person))
        defer { cursor.close() }
        var found: [Sample] = []
        while let next = try cursor.next() { found.append(next.sample) }
        return found
    }

    @Test func aReadingIsTyped() throws {
        let form = try get("/page/add?type=bodyMass").text
        #expect(form.contains("name=\"value\"") && form.contains("<option value=\"[lb_av]\">lb</option>"))
        let body = "type=bodyMass&value=71%2C5&unit=kg&at=2026-11-20T07%3A30&zone=%2B01%3A00"
        let saved = try #require(try post("/page/add", body).headers["location"])
        let sample = try #require(try samples().first)
        #expect(saved == "/page/add?type=bodyMass&done=stored&sample=\(sample.identity)")
        #expect(
            sample.numeral.text == "71.5"
                && sample.start == Instant(written: "2026-11-20T06:30:00Z", now: ServedStore.now, zone: .init(fixed: .utc)))
        #expect(sample.zone == ZoneOffset("+01:00") && sample.origin.source.id == "vitalgate.hand")
        #expect(sample.metadata?["wasUserEntered"] == .boolean(true))
        // The same reading again is a duplicate of it.
        #expect(try post("/page/add", body).headers["location"] == "/page/add?type=bodyMass&done=duplicate")
        #expect(try samples().count == 1)
        #expect(try get("/page/add?type=bodyMass&done=duplicate").text.contains("Nothing was saved"))
        #expect(try get("/page/").text.contains("href=\"/page/add\""))
        #expect(try get("/page/add").text.contains("href=\"/page/add?type=bodyMass\""))
        #expect(try get("/page/add?type=workout").status == 404)
    }

    /// A saved reading is shown with its value, time, and person, and can be undone.
    @Test func aSavedReadingCanBeUndone() throws {
        let other = Person(id: PageTests.other, name: "Ben")
        try served.store.people.save(other)
        let body = "type=bodyMass&value=104.6&unit=kg&at=2026-11-20T07%3A30&zone=Z"
        let own = try #require(try post("/page/add", body).headers["location"])
        #expect(try get(own).text.contains("Saved: 104.6 kg, 20 Nov 2026, 07:30."))
        let bens = try #require(try post("/page/add", body + "&person=\(other.id)").headers["location"])
        #expect(try get(bens).text.contains("Saved for Ben: 104.6 kg, 20 Nov 2026, 07:30."))
        // Another person learns nothing about either, and cannot delete it.
        let theirs = try PageTests.cookie(served, as: other.id)
        #expect(try !get(own, theirs).text.contains("104.6"))
        let sample = try #require(try samples().first).identity.description
        let undo = "type=bodyMass&sample=\(sample)"
        #expect(try post("/page/add/undo", undo, theirs).status == 404)
        #expect(try post("/page/add/undo", undo + "&person=\(ServedStore.person)", theirs).status == 403)
        #expect(try samples().count == 1)
        #expect(try post("/page/add/undo", undo).headers["location"] == "/page/add?done=undone&type=bodyMass")
        #expect(try samples().isEmpty && samples(of: other.id).count == 1)
        #expect(try get("/page/add?done=undone&type=bodyMass").text.contains("The reading was deleted again."))
        #expect(try post("/page/add/undo", undo).status == 404)
    }

    @Test func anImpossibleValueIsQuarantined() throws {
        let body = "type=heartRate&value=9000&unit=/min&at=2026-11-20T07%3A30&zone=%2B01%3A00"
        #expect(try post("/page/add", body).headers["location"] == "/page/add?type=heartRate&done=quarantined")
        #expect(try samples().isEmpty && served.store.quarantine.all().count == 1)
    }

    @Test func aBloodPressureIsOneMeasurement() throws {
        let body = "type=bloodPressure&value=124&value2=79&at=2026-11-20T07%3A30&zone=Z"
        let saved = try #require(try post("/page/add", body).headers["location"])
        #expect(saved.hasPrefix("/page/add?type=bloodPressure&done=stored&sample="))
        #expect(try get(saved).text.contains("Saved: 124/79 mmHg, "))
        #expect(try get("/page/data/today").text.contains("\"value\":\"124/79\""))
        let systolic = try #require(try samples().first { $0.origin.type == .bloodPressureSystolic })
        let id = systolic.identity.description
        // Both are corrected together.
        #expect(try get("/page/sample/\(id)/correct").text.contains("name=\"value2\""))
        // Also if only one of them was wrong.
        let corrected = try post("/page/sample/\(id)/correct", "value=134&value2=79&at=2026-11-20T07%3A30&zone=Z")
        #expect(corrected.status == 303)
        #expect(try get("/page/data/today").text.contains("\"value\":\"134/79\""))
        #expect(try samples().count == 2)
        // And back to the first value, which was deleted.
        let again = try #require(corrected.headers["location"])
        #expect(try post("\(again)/correct", "value=124&value2=79&at=2026-11-20T07%3A30&zone=Z").status == 303)
        #expect(try get("/page/data/today").text.contains("\"value\":\"124/79\""))
    }

    /// A watch counts 169 steps from 17:30:26 to 17:40:01. They are corrected to 170.
    @Test func correctionChangesOnlyRequestedField() throws {
        let steps = try Reading(
            origin: Origin(
                person: ServedStore.person, type: .stepCount, source: SourceRevision(id: "watch", name: "Watch", version: "10"),
                device: Device(key: "watch-1", name: "Watch")),
            numeral: Numeral("169"), unit: SampleType.stepCount.canonicalUnit,
            time: .instants(
                start: Instant(seconds: 1_795_195_826), end: Instant(seconds: 1_795_196_401), offset: ZoneOffset("+01:00")),
            metadata: Metadata([("room", .string("kitchen"))]), place: Place(.line, 1))
        let old = try #require(try served.keep([steps]).first)
        let form = try get("/page/sample/\(old)/correct").text
        #expect(
            form.contains("value=\"2026-11-20T18:30:26\"") && form.contains("value=\"+01:00\"") && form.contains("step=\"1\""))
        let answer = try post("/page/sample/\(old)/correct", "value=170&at=2026-11-20T18%3A30%3A26&zone=%2B01%3A00")
        #expect(answer.status == 303)
        let new = try #require(try samples().first)
        #expect(try samples().count == 1 && new.value == 170 && new.corrected == old)
        #expect(new.start == Instant(seconds: 1_795_195_826) && new.end == Instant(seconds: 1_795_196_401))
        #expect(new.zone == ZoneOffset("+01:00"))
        #expect(new.origin.source.id == "watch" && new.origin.source.version == "10" && new.origin.device?.key == "watch-1")
        #expect(new.metadata?["room"] == .string("kitchen") && new.metadata?["wasUserEntered"] == .boolean(true))
        // Another time moves the end. A browser without seconds keeps them if the minute stays.
        let moved = try post("/page/sample/\(new.identity)/correct", "value=170&at=2026-11-20T18%3A20%3A26&zone=%2B01%3A00")
        #expect(moved.status == 303)
        #expect(try samples().map(\.end) == [Instant(seconds: 1_795_195_801)])
        let last = try #require(try samples().first).identity
        #expect(try post("/page/sample/\(last)/correct", "value=171&at=2026-11-20T18%3A20&zone=%2B01%3A00").status == 303)
        #expect(try samples().map(\.start) == [Instant(seconds: 1_795_195_226)])
        // Nothing is changed by a form without a change.
        let same = try #require(try samples().first).identity
        #expect(try post("/page/sample/\(same)/correct", "value=171&at=2026-11-20T18%3A20%3A26&zone=%2B01%3A00").status == 303)
        #expect(try samples().map(\.identity) == [same])
        #expect(try served.store.check(deep: true).isEmpty)
    }

    @Test func errorIsShownAtField() throws {
        let good = ["value": "71", "unit": "kg", "at": "2026-11-20T07%3A30", "zone": "Z"]
        for (field, value) in [
            ("value", "heavy"), ("value", "71,500"), ("value", ""), ("unit", "Cel"), ("at", "noon"), ("at", "2027-11-20T07%3A30"),
            ("zone", "Mars"),
        ] {
            var fields = good
            fields[field] = value
            let answer = try post("/page/add", "type=bodyMass&" + fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&"))
            #expect(answer.status == 422 && answer.text.contains("id=\"\(field)-error\""), "\(field)=\(value)")
            #expect(answer.text.contains("aria-describedby=\"\(field)-error\""), "\(field)=\(value)")
            // The typed text is still there.
            #expect(field == "at" || answer.text.contains("value=\"2026-11-20T07:30\""))
        }
        #expect(try samples().isEmpty)
    }

    @Test func memberEntersOnlyOwnData() throws {
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        let body = "type=bodyMass&value=71&unit=kg&at=2026-11-20T07%3A30&zone=Z"
        #expect(try post("/page/add", body + "&person=\(ServedStore.person)", theirs).status == 403)
        #expect(try post("/page/add", body, theirs).status == 303)
        #expect(try samples().isEmpty && samples(of: PageTests.other).count == 1)
        // The keeper chooses the person.
        #expect(try get("/page/add?type=bodyMass").text.contains("name=\"person\" value=\"\(PageTests.other)\">Save for Anna"))
        #expect(try !get("/page/add?type=bodyMass", theirs).text.contains("name=\"person\""))
        #expect(try post("/page/add", body.replacing("71", with: "72") + "&person=\(PageTests.other)").status == 303)
        #expect(try post("/page/add", body + "&person=unassigned").status == 400)
        #expect(try samples().isEmpty && samples(of: PageTests.other).count == 2)
        let foreign = try #require(try samples(of: PageTests.other).first).identity.description
        for path in ["delete", "correct", "restore", "uncorrect"] {
            let body = path == "correct" ? "value=1&at=2026-11-20T07%3A30&zone=Z" : ""
            #expect(try post("/page/sample/\(foreign)/\(path)", body).status == 404, "\(path)")
        }
        for path in ["delete", "correct"] { #expect(try get("/page/sample/\(foreign)/\(path)").status == 404, "\(path)") }
    }

    @Test func aReadingIsDeletedAndRestored() throws {
        let uuid = try #require(try served.add([61, 62]).first)
        #expect(try get("/page/deleted").text.contains("No readings are deleted."))
        #expect(try get("/page/sample/\(uuid)").text.contains("/page/sample/\(uuid)/delete"))
        #expect(try get("/page/sample/\(uuid)/delete").text.contains("Delete this reading?"))
        #expect(try samples().count == 2)
        #expect(try post("/page/sample/\(uuid)/delete", "").headers["location"] == "/page/deleted")
        #expect(try samples().map(\.value) == [62])
        #expect(try get("/page/deleted").text.contains("/page/sample/\(uuid)/restore"))
        #expect(try get("/page/sample/\(uuid)").text.contains("This reading is deleted."))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try !get("/page/deleted", theirs).text.contains("\(uuid)"))
        #expect(try post("/page/sample/\(uuid)/restore", "", theirs).status == 404)
        #expect(try post("/page/sample/\(uuid)/restore", "").status == 303)
        #expect(try samples().map(\.value) == [61, 62])
        #expect(try !get("/page/deleted").text.contains("\(uuid)"))
    }

    @Test func aCorrectionIsANewReadingAndIsUndone() throws {
        let old = try #require(try served.add([61]).first)
        #expect(try get("/page/sample/\(old)/correct").text.contains("value=\"61\""))
        let impossible = try post("/page/sample/\(old)/correct", "value=9000&at=2026-09-21T13%3A33&zone=Z")
        #expect(impossible.status == 422 && impossible.text.contains("This value cannot be right."))
        #expect(try samples().map(\.identity) == [old] && served.store.quarantine.all().isEmpty)
        let answer = try post("/page/sample/\(old)/correct", "value=71&at=2026-09-21T13%3A33&zone=Z")
        let new = try #require(try samples().first)
        #expect(answer.headers["location"] == "/page/sample/\(new.identity)" && new.value == 71 && new.corrected == old)
        #expect(try get("/page/sample/\(new.identity)").text.contains("href=\"/page/sample/\(old)\""))
        #expect(try get("/page/sample/\(old)").text.contains("href=\"/page/sample/\(new.identity)\""))
        #expect(try get("/page/deleted").text.contains("\(old)"))
        #expect(try post("/page/sample/\(new.identity)/uncorrect", "").headers["location"] == "/page/sample/\(old)")
        #expect(try samples().map(\.identity) == [old])
        #expect(try post("/page/sample/\(old)/uncorrect", "").status == 409)
    }
}

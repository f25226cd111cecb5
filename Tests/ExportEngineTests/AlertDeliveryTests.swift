import ExportTesting
import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import ExportEngine

/// Each event of an alert reaches a receiver, which fails as receivers do.
@Suite struct AlertDeliveryTests {
    private let test: ExportedStore
    private let sender = ScriptedSender()
    /// The start of the first sample of ``ExportedStore``.
    private static let start: Int64 = 1_790_000_000

    /// A receiver in memory.
    private final class ScriptedSender: AlertSender {
        private(set) var messages: [AlertMessage] = []
        private(set) var shown: [[AlertState]] = []
        var error: DeliveryError?
        /// The number of messages that the receiver refuses for good.
        var refusals = 0
        /// The number of messages that arrive, but whose acknowledgement is lost.
        var lostAnswers = 0

        func send(_ message: AlertMessage) throws(DeliveryError) {
            if let error { throw error }
            guard refusals == 0 else {
                refusals -= 1
                throw DeliveryError(.refused, "HTTP 422")
            }
            messages.append(message)
            guard lostAnswers == 0 else {
                lostAnswers -= 1
                throw DeliveryError(.unreachable, "no answer")
            }
        }

        func show(_ states: [AlertState]) throws(DeliveryError) {
            if let error { throw error }
            shown.append(states)
        }
    }

    /// The fields of a message.
    private struct Message: Decodable, Equatable {
        var event: String
        var id: String
        var alert: Int?
        var subject: String?
        var person: String?
        var type: String?
        var condition: String?
        var limit: Double?
        var unit: String?
        var value: Double?
        var time: String
        var text: String
    }

    init() throws {
        test = try ExportedStore()
        try test.store.alerts.add(
            of: test.store.owner, type: .heartRate, .above, bound: 100, at: Instant(seconds: Self.start - 10))
    }

    private func delivery(units: @escaping (SampleType) -> HealthModel.Unit? = { _ in nil }) throws -> AlertDelivery {
        try AlertDelivery(
            "phone", sender: sender, store: test.store, text: AlertText(test.store, unit: units),
            generator: SeededGenerator(seed: 1), now: { Instant(seconds: Self.start + 1000) })
    }

    /// Adds a reading and checks the alerts.
    private func add(_ value: Int, at second: Int) throws {
        try test.add([try test.sample(value, at: second)])
        _ = try test.store.alerts.check(at: Instant(seconds: Self.start + Int64(second)))
    }

    private func decoded(_ message: AlertMessage) throws -> Message {
        try JSONDecoder().decode(Message.self, from: Data(message.json))
    }

    @Test func messageDescribesEvent() throws {
        let delivery = try delivery()
        try add(120, at: 10)
        #expect(try delivery.step() == .upToDate)
        try add(80, at: 20)
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.map(\.event) == [.began, .ended])
        let prefix = test.store.identifier.filter { $0 != "-" }.prefix(8)
        #expect(
            try decoded(sender.messages[0])
                == Message(
                    event: "began", id: "\(prefix)-1", alert: 1, subject: "me", person: "me", type: "heartRate",
                    condition: "above",
                    limit: 100, unit: "/min", value: 120, time: "\(Instant(seconds: Self.start + 10))",
                    text: "Heart Rate is above 100 /min"))
        #expect(try decoded(sender.messages[1]).text == "Heart Rate is no longer above 100 /min")
        #expect(try decoded(sender.messages[1]).value == 80)
        // The states before, during and after it.
        #expect(
            sender.shown.map { $0.map { String(decoding: $0.json, as: UTF8.self).contains("\"state\":\"ON\"") } }
                == [[true], [false]])
        #expect(sender.shown.first?.first?.title == "Heart Rate above 100 /min")
    }

    @Test func anotherPersonIsNamed() throws {
        let anna = "99999999-2222-4333-8444-555555555555"
        try test.store.people.save(Person(id: anna, name: "Anna"))
        let id = try test.store.alerts.add(
            of: anna, type: try #require(SampleType("bodyMass")), .missing, bound: 1, at: Instant(seconds: Self.start))
        let delivery = try delivery()
        _ = try test.store.alerts.check(at: Instant(seconds: Self.start + 3600))
        #expect(try delivery.step() == .upToDate)
        let message = try decoded(try #require(sender.messages.first))
        #expect(message.text == "Anna: Weight: no reading for 1 hour" && message.person == "Anna" && message.subject == anna)
        #expect(message.unit == "h" && message.value == nil && message.alert == Int(id))
    }

    @Test func aSilentDeviceIsNamed() throws {
        try test.store.devices.save(
            AdoptedDevice(
                address: "bluetooth:01", key: "k", profiles: ["p"], name: "Bedroom", person: test.store.owner, adopted: 0))
        try test.store.alerts.add(
            of: test.store.owner, type: .bodyTemperature, .missing, bound: 24, device: "bluetooth:01",
            at: Instant(seconds: Self.start))
        let delivery = try delivery()
        _ = try test.store.alerts.check(at: Instant(seconds: Self.start + 86_400))
        #expect(try delivery.step() == .upToDate)
        let message = try #require(sender.messages.last)
        #expect(try decoded(message).text == "Body Temperature (Bedroom): no reading for 24 hours")
        #expect(String(decoding: message.json, as: UTF8.self).contains("\"device\":\"Bedroom\""))
        #expect(
            try AlertText(test.store).state(try #require(test.store.alerts.all().last)).title
                == "Body Temperature (Bedroom) missing for 24 hours")
    }

    @Test func unitsAreThoseOfTheUser() throws {
        let glucose = try #require(SampleType("bloodGlucose"))
        let unit = try Unit(ucum: glucose.canonicalUnit.code == "mg/dL" ? "mmol/L" : "mg/dL")
        let bound = try unit.conversion(to: glucose.canonicalUnit, molarMass: glucose.molarMass)(4.5)
        try test.store.alerts.add(of: test.store.owner, type: glucose, .below, bound: bound, at: Instant(seconds: Self.start))
        let states = try test.store.alerts.all().map(AlertText(test.store, unit: { $0 == glucose ? unit : nil }).state)
        #expect(states.last?.title == "Blood Glucose below 4.5 \(unit.code)")
    }

    /// The words of another language are in messages, and the fields for programs are the same.
    @Test func messagesAreInTheUsersLanguage() throws {
        let words = AlertWords(
            phrases: [.belowTitle: "{0} unter {1}", .belowBegan: "{0} ist unter {1}", .hours: "{0} Stunden"], decimal: ",",
            names: { $0.id == "bodyMass" ? "Gewicht" : $0.displayName }, symbols: { _ in "Kilo" })
        let mass = try #require(SampleType("bodyMass"))
        try test.store.alerts.add(of: test.store.owner, type: mass, .below, bound: 70.5, at: Instant(seconds: Self.start))
        let alert = try #require(try test.store.alerts.all().last)
        let state = try AlertText(test.store, words: words).state(alert)
        #expect(state.title == "Gewicht unter 70,5 Kilo")
        let fields = String(decoding: state.json, as: UTF8.self)
        #expect(fields.contains("\"limit\":70.5") && fields.contains("\"unit\":\"kg\"") && fields.contains("bodyMass"))
        #expect(words.hours(1.5) == "1,5 Stunden" && words.text(.hour) == "1 hour")
        #expect(words.text(.belowBegan, "{1}", "x") == "{1} ist unter x")
    }

    /// The page's files have each phrase in each language.
    @Test func phrasesAreInThePagesTexts() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        for language in ["en", "de"] {
            let file = URL(filePath: "\(root)/WebPage/texts/\(language).json")
            let texts = try JSONDecoder().decode([String: String].self, from: try Data(contentsOf: file))
            for phrase in AlertWords.Phrase.allCases {
                let text = try #require(texts["alerts.message." + phrase.rawValue], "\(language): \(phrase)")
                #expect(language != "en" || text == phrase.english)
                for place in ["{0}", "{1}"] { #expect(text.contains(place) == phrase.english.contains(place), "\(text)") }
            }
        }
    }

    @Test func aTestIsMarked() throws {
        let text = AlertText(test.store)
        let message = text.test(at: Instant(seconds: 0))
        let fields = try decoded(message)
        #expect(message.event == .test && fields.event == "test" && fields.value == nil && fields.alert == nil)
        #expect(fields.text.contains("test") && fields.id == message.id)
        #expect(text.test(at: Instant(seconds: 0)).id != message.id)
    }

    @Test func unreachableReceiverGetsMessagesLater() throws {
        let delivery = try delivery()
        sender.error = DeliveryError(.unreachable, "connection refused")
        try add(120, at: 10)
        try add(80, at: 20)
        var pauses: [Duration] = []
        for _ in 0..<12 {
            guard case .wait(let pause) = try delivery.step() else { continue }
            pauses.append(pause)
        }
        // The pauses grow, up to five minutes.
        #expect(pauses.count == 12 && pauses.allSatisfy { $0 <= .seconds(300) } && pauses.max() ?? .zero > .seconds(60))
        let known = try test.store.alerts.receiver(named: "phone")
        #expect(known.words == "connection refused" && known.failing == Instant(seconds: Self.start + 1000))
        sender.error = nil
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.map(\.event) == [.began, .ended])
        #expect(try test.store.alerts.receiver(named: "phone").failing == nil)
        // The delivery waits as long as the receiver asks.
        sender.error = DeliveryError(.busy(.seconds(900)), "HTTP 503")
        try add(120, at: 30)
        #expect(try delivery.step() == .wait(.seconds(900)))
    }

    /// After an outage, the receiver gets the alert that is raised, and one summary of the rest.
    @Test func manyWaitingEventsAreOneSummary() throws {
        let delivery = try delivery()
        sender.error = DeliveryError(.unreachable, "connection refused")
        for round in 0..<10 {
            try add(120, at: 20 * round)
            if round < 9 { try add(80, at: 20 * round + 10) }
        }
        #expect(try delivery.step() != .upToDate)
        sender.error = nil
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.map(\.event) == [.began, .summary])
        #expect(try decoded(sender.messages[0]).time == "\(Instant(seconds: Self.start + 180))")
        let summary = try decoded(sender.messages[1])
        #expect(summary.text == "Messages that could not be delivered: Heart Rate above 100 /min (10)")
        #expect(try test.store.alerts.history().allSatisfy { $0.receipts.map(\.receiver) == ["phone"] })
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.count == 2)
    }

    /// An event that the receiver refuses is visible, and the later ones arrive.
    @Test func aRefusedMessageDelaysNoOther() throws {
        let delivery = try delivery()
        sender.refusals = 1
        try add(120, at: 0)
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.isEmpty && delivery.receiver.words == "HTTP 422")
        #expect(try delivery.step() == .upToDate)
        #expect(delivery.receiver.words == "HTTP 422")
        try add(80, at: 10)
        #expect(try delivery.step() == .upToDate)
        #expect(try sender.messages.map { try decoded($0).event } == ["ended"])
        #expect(delivery.receiver.words == nil && delivery.receiver.failing == nil)
    }

    @Test func lostAnswerRepeatsMessageWithSameId() throws {
        let delivery = try delivery()
        try add(120, at: 10)
        sender.lostAnswers = 1
        #expect(try delivery.step() != .upToDate)
        #expect(try delivery.step() == .upToDate)
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.count == 2 && Set(sender.messages).count == 1)
    }

    /// A new process continues after the last acknowledged event.
    @Test func aRestartLosesAndRepeatsNothing() throws {
        let first = try delivery()
        try add(120, at: 10)
        try add(80, at: 20)
        #expect(try delivery().step() == .upToDate)
        #expect(sender.messages.count == 2)
        #expect(try first.step() == .upToDate)
        #expect(try delivery().step() == .upToDate)
        #expect(sender.messages.count == 2)
    }

    /// Readings that raised an alert are deleted, or replaced by correct ones.
    @Test func aCorrectionEndsAnAlert() throws {
        let delivery = try delivery()
        func check() throws {
            _ = try test.store.alerts.check(at: Instant(seconds: Self.start + 100))
            #expect(try delivery.step() == .upToDate)
        }
        let wrong = try [test.sample(180, at: 10), test.sample(190, at: 20)]
        try test.add(wrong)
        try check()
        #expect(sender.messages.map(\.event) == [.began])
        try test.delete(wrong[0])
        try check()
        #expect(sender.messages.map(\.event) == [.began])
        try test.delete(wrong[1])
        try check()
        #expect(sender.messages.map(\.event) == [.began, .ended])
        #expect(try decoded(sender.messages[1]).value == nil)
        let next = try test.sample(200, at: 30)
        try test.add([next])
        try check()
        try test.delete(next)
        try test.add([try test.sample(90, at: 30)])
        try check()
        #expect(sender.messages.map(\.event) == [.began, .ended, .began, .ended])
        #expect(try decoded(sender.messages[3]).value == 90)
    }

    @Test func aRemovedAlertIsNotShown() throws {
        let delivery = try delivery()
        try add(120, at: 10)
        try test.store.alerts.remove(1)
        #expect(try delivery.step() == .upToDate)
        #expect(sender.messages.isEmpty && sender.shown == [[]])
    }
}

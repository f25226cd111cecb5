import FileSource
import HealthModel
import Pipeline
import PipelineTesting
import Testing

/// Files of resources: a single one, a Bundle, one on each line. Complete and damaged.
@Suite struct ResourceFileTests {
    private let one = Resources.immunization
    private let two = Resources.observation

    @Test func refusesInvalidLineAndReadsNext() throws {
        let text = [one, #"{"resourceType":"Obs"#, "", two, "x", #"{"resourceType":"Patient","id":}"#, #"{"a":"b"}"#, one].joined(
            separator: "\n")
        let outcome = try Outcome(text)
        #expect(outcome.readings.map(\.place) == [Place(.line, 1), Place(.line, 4), Place(.line, 8)])
        #expect(outcome.refusals.map(\.place) == [2, 5, 6, 7].map { Place(.line, $0) })
        #expect(
            outcome.refusals.map(\.reason) == [
                "it ends early", "it is not a JSON object", "it is not JSON", "resourceType: is missing",
            ])
        #expect(outcome.failure == nil)
    }

    @Test func refusesOnlyTruncatedFirstLine() throws {
        for length in 1..<one.utf8.count {
            let text = String(decoding: Array(one.utf8)[..<length], as: UTF8.self) + "\n" + two + "\n" + one
            let outcome = try Outcome(text)
            // After a comma, a colon or a bracket, the next line may continue the resource. The whole is then refused at its error.
            let isCut = outcome.readings.count == 2 && outcome.refusals.count == 1
            let isBroken = outcome.readings.isEmpty && (outcome.failure != nil || outcome.refusals.count == 1)
            #expect(isCut || isBroken, "\(length)")
            if !"{[,:".contains(one.prefix(length).last ?? " ") { #expect(isCut, "\(length)") }
        }
    }

    @Test func aTextOfSeveralLinesIsOneResource() throws {
        let pretty = two.replacing(",", with: ",\r\n ").replacing("{", with: "{\n")
        let outcome = try Outcome("\u{FEFF}\n " + pretty + "\n\n" + pretty)
        #expect(outcome.readings.count == 2 && outcome.refusals.isEmpty)
        #expect(outcome.readings.first?.bytes == Array(pretty.utf8))
    }

    static let bundle = """
        {"resourceType":"Bundle","link":[{"url":"a]}"}],"entry":[{"fullUrl":"https://a.example/Immunization/imm-1","resource":\
        \(Resources.immunization),"search":{"mode":"match"}}, {"resource":\(Resources.observation)},{"request":{"method":"DELETE","url":"a"}},\
        {"resource":{"resourceType":"Patient","id":"1"},"resource":{"resourceType":"Patient","id":"2"}}],"total":4}
        """

    @Test func aBundlesEntriesComeOneByOne() throws {
        let outcome = try Outcome(Self.bundle)
        #expect(outcome.readings.map(\.bytes) == [Array(one.utf8), Array(two.utf8)])
        #expect(outcome.skipped == ["fhir.entry-without-resource"])
        #expect(outcome.refusals.map(\.reason) == ["the entry has two resources"])
        let file = Array(Self.bundle.utf8)
        for reading in outcome.readings { #expect(file[reading.place.number...].starts(with: reading.bytes)) }
    }

    @Test func readsBundlesOnLinesAndLateTypes() throws {
        let outcome = try Outcome([Self.bundle, one, Self.bundle].joined(separator: "\n"))
        #expect(outcome.readings.count == 5)
        let late = Self.bundle.replacing(#"{"resourceType":"Bundle","#, with: "{").replacing(
            #""total":4"#, with: #""resourceType":"Bundle""#)
        #expect(try Outcome(late).readings.count == 2)
        let list = #"{"resourceType":"List","entry":[{"item":{"reference":"Patient/1"}}]}"#
        #expect(try Outcome(list).text == "skipped fhir.List")
    }

    @Test func truncatedFileGivesPrefixOrReason() throws {
        for path in ["dstu2/argonaut-imm-1.json", "r4/uscore-temperature.json", "dstu2/smart-AllergyIntolerance-2.json"] {
            let file = try Files.bytes(path)
            let whole = try Outcome(file)
            for length in 0..<file.count {
                let outcome = try Outcome(Array(file[..<length]))
                if outcome.readings.isEmpty {
                    #expect(outcome.failure != nil || file[..<length].allSatisfy { $0 <= 0x20 }, "\(path) \(length)")
                } else {
                    #expect(outcome.readings.map(\.bytes) == whole.readings.map(\.bytes), "\(path) \(length)")
                }
            }
        }
        let file = Array(Self.bundle.utf8)
        for length in 0..<file.count {
            let outcome = try Outcome(Array(file[..<length]))
            #expect(outcome.failure != nil || length == 0, "\(length)")
            let whole = [Array(one.utf8), Array(two.utf8)]
            #expect(whole.starts(with: outcome.readings.map(\.bytes)), "\(length)")
        }
    }

    @Test func survivesChangedBytes() throws {
        var generator = SeededGenerator(seed: 17)
        let pieces = Array("{}[]\",:\\0x9e.-+\u{0}\n\tué".utf8)
        for path in [
            "dstu2/argonaut-imm-1.json", "r4/hl7r4-medicationdispense0301.json",
            "validator-cases/val-condition-extensions-on-pattern.json",
        ] {
            let file = try Files.bytes(path)
            for _ in 0..<400 {
                var changed = file
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let place = Int.random(in: 0..<changed.count, using: &generator)
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: changed[place] = pieces.randomElement(using: &generator) ?? 0
                    case 1: changed.insert(pieces.randomElement(using: &generator) ?? 0, at: place)
                    default: changed.removeSubrange(place..<min(changed.count, place + Int.random(in: 1...40, using: &generator)))
                    }
                }
                let outcome = try Outcome(changed)
                // Every reading is a part of the file, whatever the file contains.
                for reading in outcome.readings {
                    let bytes = reading.bytes
                    let first = changed.indices.first { changed[$0...].starts(with: bytes) }
                    #expect(first != nil)
                }
            }
        }
    }

    @Test func filesAreRecognisedByContent() {
        func recognises(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { ResourceFile.recognises($0) } }
        #expect(
            recognises(one) && recognises("\u{FEFF}\n  " + Self.bundle) && recognises(#"{"id":"a" , "resourceType" : "Patient"}"#)
        )
        #expect(
            !recognises(#"[{"resourceType":"Patient"}]"#) && !recognises(#"{"a":"resourceType"}"#) && !recognises("<Patient/>"))
        #expect(!recognises("") && !recognises("{\"resourceType\"") && !recognises("date,value\n"))
    }
}

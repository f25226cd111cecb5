import HealthModel
import Testing

@testable import HealthAPI

@Suite struct ConditionObjectTests {
    @Test(arguments: [
        (#"{"field":"value","is":">","value":38,"unit":"Cel"}"#, "value > 38 Cel"),
        (#"{"field":"value","is":">=","value":"38.60","unit":"Cel"}"#, "value >= 38.60 Cel"),
        (#"{"field":"source.name","is":"~","value":"Anna's Ear"}"#, "source.name ~ 'Anna''s Ear'"),
        (#"{"field":"metadata.wasUserEntered","is":"=","value":true}"#, "metadata.wasUserEntered = true"),
        (#"{"field":"metadata.a key","exists":true}"#, "metadata.'a key' = *"),
        (#"{"field":"metadata.mealTime","exists":false}"#, "not metadata.mealTime = *"),
        (#"{"field":"start","is":"<","value":"2026-11-20T06:30:00Z"}"#, "start < 2026-11-20T06:30:00Z"),
        (#"{"and":[]}"#, "everything"), (#"{"or":[]}"#, "nothing"),
        (
            #"{"and":[{"or":[{"field":"value","is":"<","value":1},{"field":"value","is":">","value":2.5}]},{"not":{"field":"device.firmware","is":"^=","value":"1."}}]}"#,
            "(value < 1 or value > 2.5) and not device.firmware ^= '1.'"
        ),
    ]) func objectEqualsParsedText(json: String, text: String) throws {
        let one = try SamplePredicate(try ConditionObject.text(of: json))
        #expect("\(one)" == "\(try SamplePredicate(text))")
    }

    @Test(arguments: [
        "{}", "{", #"{"field":"value"}"#, #"{"field":"value","is":"like","value":1}"#,
        #"{"field":"value or everything","is":"=","value":1}"#,
        #"{"field":"value","is":"=","value":[1]}"#, #"{"field":"value","is":"=","value":1,"unit":"kg or everything"}"#,
        #"{"field":"value","is":"=","value":1,"unit":"kg)"}"#, #"{"field":"value","is":"=","value":"1 or","unit":"kg"}"#,
        #"{"and":{"not":{}}}"#, #"{"and":[],"or":[]}"#, #"{"not":[]}"#,
        String(repeating: #"{"not":"#, count: 300), String(repeating: "[", count: 4000),
        String(repeating: #"{"not":"#, count: 100) + #"{"and":[]}"# + String(repeating: "}", count: 100),
        "{\"field\":\"" + String(repeating: "a", count: 5000) + "\"}",
    ]) func refusesInvalidConditions(json: String) {
        #expect(throws: (any Error).self) { _ = try SamplePredicate(try ConditionObject.text(of: json)) }
    }
}

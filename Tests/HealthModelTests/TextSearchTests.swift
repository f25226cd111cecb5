import PipelineTesting
import Testing

@testable import HealthModel

@Suite struct TextSearchTests {
    private final class Count { var comparisons = 0 }

    private struct Counted: Equatable {
        var value: Int
        var count: Count
        static func == (one: Counted, other: Counted) -> Bool {
            one.count.comparisons += 1
            return one.value == other.value
        }
    }

    /// Repetitions of one character, which a simple search compares for each pair.
    @Test func comparesLinearly() {
        let count = Count()
        let list = (0..<20_000).map { _ in Counted(value: 1, count: count) }
        let other = (0..<5000).map { Counted(value: $0 < 4999 ? 1 : 2, count: count) }
        #expect(!TextSearch.contains(list, other))
        #expect(count.comparisons < 4 * (list.count + other.count), "\(count.comparisons)")
    }

    /// A search at each place, character by character.
    private static func isContained(_ other: [Character], in own: [Character]) -> Bool {
        (0...own.count).contains { start in
            other.indices.allSatisfy { start + $0 < own.count && own[start + $0] == other[$0] }
        }
    }

    /// Texts of few characters, some of which combine with the one before.
    @Test func findsEachCharacter() {
        var generator = SeededGenerator(seed: 7)
        let alphabets: [[String]] = [["a", "b"], ["a", "\u{301}", "\u{E1}"], ["\r", "\n", "a"], ["👩", "\u{200D}", "👧"]]
        for alphabet in alphabets {
            for _ in 0..<2000 {
                func text(_ maximum: Int) -> String {
                    (0..<Int.random(in: 0...maximum, using: &generator)).map { _ in
                        alphabet.randomElement(using: &generator) ?? ""
                    }.joined()
                }
                let (own, other) = (text(12), text(3))
                let isThere = Self.isContained(Array(other), in: Array(own))
                #expect(TextSearch.contains(own, other) == isThere, "\(own.debugDescription) \(other.debugDescription)")
            }
        }
    }
}

@Suite struct ExcerptTests {
    @Test func cutsAtACharacter() {
        #expect("short".excerpt(maximum: 5) == "short")
        #expect("longer".excerpt(maximum: 5) == "lo…")
        #expect("ääää".excerpt(maximum: 7) == "ää…")
        #expect(String(repeating: "ä", count: 1 << 20).excerpt().utf8.count <= 200)
    }

    /// Errors that repeat a text of any length.
    @Test func boundsErrors() {
        let long = String(repeating: "x", count: 100_000)
        for ucum in [long, "Cel/" + long, "(" + long, long + "/mmol per liter"] {
            let error = #expect(throws: UnitError.self) { try Unit(ucum: ucum) }
            #expect(error.map { "\($0)".utf8.count < 600 } ?? false)
        }
        let unit = String(repeating: "y", count: 400)
        for condition in [
            "value > 3 \(unit)", "\(unit) = 3", "\(String(repeating: "y", count: 4000)) = 3", "start = '\(unit)'",
            "kind = \(unit)",
        ] {
            let error = #expect(throws: PredicateError.self) { try SamplePredicate(condition) }
            let reason = error?.reason ?? ""
            #expect(!reason.contains(String(repeating: "y", count: 250)), "\(reason)")
        }
    }

    @Test func boundsTextsInConditions() throws {
        let text = String(repeating: "a", count: SamplePredicate.maximumTextLength)
        _ = try SamplePredicate("source.name ~ '\(text)'")
        for condition in ["source.name ~ '\(text)a'", "source.name = \(text)a", "metadata.'\(text)a' = 1"] {
            let error = #expect(throws: PredicateError.self) { try SamplePredicate(condition) }
            #expect(error?.reason == "a text in a condition has at most 512 bytes")
        }
    }
}

import HealthModel
import Pipeline

/// Runs a profile's vectors, as `profile test` does.
///
/// The rows of a vector are split by the same source as a file's. Stages do not import one another, so the caller provides the source:
///
///     let failures = ProfileVectorRun(profile) { bytes, form in … DelimitedFileSource(bytes: bytes, …) … }.failures()
package struct ProfileVectorRun {
    package struct Outcome: Sendable {
        package var readings: [Reading] = []
        /// The kinds of skipped rows, by row.
        package var skipped: [Int: String] = [:]
        /// The reasons of refused rows, by row.
        package var refused: [Int: String] = [:]
        /// The number of values that no rule reads, by name.
        package var unread: [String: Int] = [:]
        /// Assumptions about the input.
        package var notes: [String] = []
        /// Creates an empty result.
        package init() {}
    }

    private let profile: Profile
    private let open: ([UInt8], ProfileMatch.Form) -> any FrameSource

    /// - Parameter open: makes the source that splits a vector's text into rows.
    package init(_ profile: Profile, open: @escaping ([UInt8], ProfileMatch.Form) -> any FrameSource) {
        self.profile = profile
        self.open = open
    }

    /// Returns the differences from the vectors. A profile without vectors fails.
    package func failures() -> [String] {
        if profile.vectors.isEmpty, profile.frameVectors.isEmpty { return ["\(profile.id): it has no vectors"] }
        return FrameVectorRun(profile).failures()
            + profile.vectors.enumerated().flatMap { index, vector in
                failures(of: vector).map { "\(profile.id): vectors[\(index)]: \($0)" }
            }
    }

    package func outcome(of text: String, options: InterpreterOptions) throws -> Outcome {
        var outcome = Outcome()
        if let database = profile.database, text.hasPrefix("CREATE TABLE") {
            let interpreter = try DatabaseInterpreter(database, registry: OriginRegistry(person: "me"), options: options)
            try walk(open(Array(text.utf8), .database(database.wanted)), interpreter, into: &outcome)
            outcome.notes = interpreter.notes
            return outcome
        }
        guard let match = profile.match(firstLines: text) else {
            throw ProfileErrors([ProfileProblem("", "the profile does not know this header")])
        }
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: "me"), options: options)
        let source = open(Array(text.utf8), match.form)
        try interpreter.survey(source)
        try walk(source, interpreter, into: &outcome)
        outcome.notes = interpreter.notes
        return outcome
    }

    private func walk(_ source: any FrameSource, _ interpreter: any FrameInterpreter, into outcome: inout Outcome) throws {
        defer {
            var unread = source.unread
            unread.add(interpreter.unread)
            outcome.unread = Dictionary(unread.counts.map { ($0.key.name, $0.value) }, uniquingKeysWith: +)
        }
        try source.forEachFrame { frame in
            do throws(Refusal) {
                if case .skipped(let kind) = try interpreter.interpret(frame, into: &outcome.readings) {
                    outcome.skipped[frame.place.number] = kind.name
                }
            } catch {
                outcome.refused[frame.place.number] = error.reason
            }
        }
    }

    private func failures(of vector: ProfileVector) -> [String] {
        let outcome: Outcome
        do {
            outcome = try self.outcome(of: vector.text, options: vector.options)
        } catch {
            return ["\(error)"]
        }
        var failures = Self.differences(of: outcome.readings.map(Self.described), from: vector.readings)
        for row in Set(outcome.skipped.keys).union(vector.skipped.keys).sorted() where outcome.skipped[row] != vector.skipped[row]
        {
            let must = vector.skipped[row].map { "must be skipped as '\($0)'" } ?? "must not be skipped"
            failures.append("row \(row) \(must); it is \(outcome.skipped[row].map { "skipped as '\($0)'" } ?? "not skipped")")
        }
        for (row, reason) in vector.refused.sorted(by: { $0.key < $1.key }) where outcome.refused[row]?.contains(reason) != true {
            failures.append(
                "row \(row) must be refused for '\(reason)'; it is "
                    + (outcome.refused[row].map { "refused: \($0)" } ?? "not refused")
            )
        }
        for (row, reason) in outcome.refused.sorted(by: { $0.key < $1.key }) where vector.refused[row] == nil {
            failures.append("row \(row) is refused: \(reason)")
        }
        if let unread = vector.unread, unread != outcome.unread {
            func text(_ counts: [String: Int]) -> String {
                counts.isEmpty
                    ? "nothing" : counts.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
            }
            failures.append("\(text(unread)) must be unread; it is \(text(outcome.unread))")
        }
        return failures
    }

    /// Returns the missing and the unexpected readings by row, in the form of a vector.
    private static func differences(of found: [ProfileVector.Expected], from expected: [ProfileVector.Expected]) -> [String] {
        var extra = found
        var missing: [ProfileVector.Expected] = []
        // The most specific expectations are matched first.
        func detail(_ reading: ProfileVector.Expected) -> Int {
            [reading.end, reading.metadata, reading.device].count { $0 != nil }
        }
        for reading in expected.sorted(by: { detail($0) > detail($1) }) {
            if let index = extra.firstIndex(where: { reading.allows($0) }) {
                extra.remove(at: index)
            } else {
                missing.append(reading)
            }
        }
        for index in extra.indices {
            if !expected.contains(where: { $0.metadata != nil }) { extra[index].metadata = nil }
            if !expected.contains(where: { $0.device != nil }) { extra[index].device = nil }
        }
        let lines = missing.map { (row: $0.row, text: "- \($0.json5)") } + extra.map { (row: $0.row, text: "+ \($0.json5)") }
        return lines.enumerated().sorted { ($0.element.row, $0.offset) < ($1.element.row, $1.offset) }.map(\.element.text)
    }

    private static func described(_ reading: Reading) -> ProfileVector.Expected {
        var start = ""
        var end: String?
        switch reading.time {
        case .instants(let first, let last, let offset):
            let zone = offset ?? .utc
            start = text(first.wallTime(at: zone)) + zone.description
            end = last == first ? nil : text(last.wallTime(at: zone)) + zone.description
        case .wall(let first, let last, _):
            start = text(first)
            end = last == first ? nil : text(last)
        case .added, .complete, .receipt: break
        }
        return ProfileVector.Expected(
            row: reading.place.number, type: reading.origin.type.id, value: reading.numeral.text, unit: reading.unit.code,
            start: start,
            end: end, metadata: reading.metadata?.json, device: reading.origin.device?.key)
    }

    /// Returns the time to the second, with a fraction only if there is one.
    private static func text(_ wall: WallTime) -> String {
        let text = wall.description
        return text.hasSuffix(".000000") ? String(text.dropLast(7)) : text
    }
}

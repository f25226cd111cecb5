import HealthModel
import Pipeline
import Wire

/// Runs the test vectors of a profile's binary channels.
struct FrameVectorRun {
    let profile: Profile

    init(_ profile: Profile) { self.profile = profile }

    /// Returns the differences from the vectors. Every channel needs a vector with fields.
    func failures() -> [String] {
        var failures: [String] = []
        for channel in profile.binaries where channel.kin == nil || channel.kin == channel.name {
            let names = channel.kin.map { kin in profile.binaries.filter { $0.kin == kin }.map(\.name) } ?? [channel.name]
            if profile.frameVectors.contains(where: { names.contains($0.channel) && $0.fields != nil }) { continue }
            failures.append("\(profile.id): \(channel.name) has no vectors with fields")
        }
        for (index, vector) in profile.frameVectors.enumerated() {
            failures += self.failures(of: vector).map { "\(profile.id): frame \(index) (\(vector.channel)): \($0)" }
        }
        return failures
    }

    private func failures(of vector: FrameVector) -> [String] {
        guard let match = profile.match(channel: vector.channel) else { return ["the profile has no such channel"] }
        let interpreter = BinaryInterpreter(match, registry: OriginRegistry(person: "me"), options: vector.options)
        var readings: [Reading] = []
        var outcome: FrameOutcome?
        var reason: String?
        vector.bytes.withUnsafeBytes { bytes in
            let frame = RawFrame(payload: .bytes(bytes), place: Place(.byte, 0), received: Instant(seconds: 1_900_000_000))
            do throws(Refusal) {
                outcome = try interpreter.interpret(frame, into: &readings)
            } catch {
                reason = error.reason
            }
        }
        var failures: [String] = []
        if reason == nil, vector.options.isStrict, !interpreter.decoder.plan.isOpenEnded {
            failures += prefixes(Array(vector.bytes.prefix(interpreter.frame.restAt ?? .max)), interpreter.decoder)
        }
        if let refused = vector.refused {
            guard let reason else { return ["must be refused for '\(refused)', but is accepted"] }
            if !reason.contains(refused) { failures.append("must be refused for '\(refused)', but is refused for: \(reason)") }
        } else if let reason {
            return ["is refused: \(reason)"]
        }
        if let fields = vector.fields {
            let printed = interpreter.fieldsJSON
            if let found = try? JSONValue.parse(json5: printed), !found.agrees(with: fields) {
                failures.append("its fields are \(String(decoding: printed, as: UTF8.self))")
            }
        }
        if case .skipped(let kind)? = outcome, kind.name != vector.skipped {
            failures.append("is skipped as \(kind)")
        } else if let skipped = vector.skipped, outcome == .readings {
            failures.append("must be skipped as \(skipped)")
        }
        let found = readings.map(Self.described)
        let agrees =
            found.count == vector.readings.count
            && zip(found, vector.readings).allSatisfy { found, expected in
                found.type == expected.type && found.value == expected.value && found.unit == expected.unit
                    && found.start == expected.start && (expected.metadata == nil || found.metadata == expected.metadata)
            }
        if !agrees { failures.append("gives \(found)") }
        return failures
    }

    /// Checks that no truncated part is accepted as a frame.
    private func prefixes(_ bytes: [UInt8], _ decoder: FrameDecoder) -> [String] {
        var frame = DecodedFrame()
        // The last line may lack its line end if the profile allows it.
        let end = bytes.withUnsafeBytes { bytes in
            if case .delimited(_, true)? = decoder.plan.framing?.form,
                case .success(let range)? = decoder.plan.framing?.content(of: bytes)
            {
                return range.upperBound
            }
            return bytes.count
        }
        return (0..<end).compactMap { length in
            bytes.withUnsafeBytes { bytes in
                do throws(FrameError) {
                    try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[..<length]), into: &frame)
                    return "its first \(length) bytes are read as a frame"
                } catch {
                    return nil
                }
            }
        }
    }

    private static func described(_ reading: Reading) -> FrameVector.Expected {
        var start: String?
        switch reading.time {
        case .wall(let wall, _, _): start = String(wall.description.dropLast(7))
        case .instants(let instant, _, let offset):
            let zone = offset ?? .utc
            start = String(instant.wallTime(at: zone).description.dropLast(7)) + zone.description
        case .added, .complete, .receipt: break
        }
        return FrameVector.Expected(
            type: reading.origin.type.id, value: reading.numeral.text, unit: reading.unit.code, start: start,
            metadata: reading.metadata?.json)
    }
}

extension JSONValue {
    /// Whether two documents are equal. Numbers are compared to nine digits.
    func agrees(with other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let one), .number(let other)): abs(one - other) <= 1e-9 * max(abs(one), abs(other))
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.agrees(with: $1) }
        case (.object(let one), .object(let other)):
            one.count == other.count && one.allSatisfy { key, value in other[key].map { value.agrees(with: $0) } ?? false }
        default: self == other
        }
    }
}

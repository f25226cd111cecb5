import FoundationEssentials
import HealthModel
import Pipeline

/// Parses points from the chunked answer to a query for UUIDs, values and units: JSON, one object on each line.
struct PointScanner {
    private struct Answer: Decodable {
        struct Result: Decodable {
            var series: [Series]?
            var error: String?
        }
        struct Series: Decodable {
            var values: [Row]
        }
        /// The time, UUID, value and unit.
        struct Row: Decodable {
            var uuid: String?
            var value: Double?
            var unit: String?

            init(from decoder: any Decoder) throws {
                var cells = try decoder.unkeyedContainer()
                _ = try? cells.decode(Skipped.self)
                uuid = try? cells.decodeIfPresent(String.self)
                value = try? cells.decodeIfPresent(Double.self)
                unit = try? cells.decodeIfPresent(String.self)
            }
        }
        struct Skipped: Decodable {
            init(from decoder: any Decoder) throws {}
        }
        var results: [Result]
    }

    private var lines = LineBuffer()

    static func print(value: Double, unit: String) -> UInt64 {
        var print = ContentPrint()
        print.add(value)
        print.add(unit)
        return print.value
    }

    mutating func scan(_ bytes: [UInt8]) throws -> [TargetSample] {
        lines.append(bytes[...])
        var found: [TargetSample] = []
        while let line = lines.next() {
            if !line.isEmpty { found += try Self.points(Data(line)) }
        }
        return found
    }

    private static func points(_ line: Data) throws -> [TargetSample] {
        var found: [TargetSample] = []
        for result in try JSONDecoder().decode(Answer.self, from: line).results {
            guard result.error == nil else { throw DeliveryError(.unreachable, "a query failed") }
            for row in (result.series ?? []).flatMap(\.values) {
                guard let uuid = row.uuid.flatMap({ SampleIdentity($0) }) else { continue }
                // A point that someone changed may have no value or no unit.
                found.append(TargetSample(uuid, print: print(value: row.value ?? .nan, unit: row.unit ?? "")))
            }
        }
        return found
    }
}

/// Finds UUIDs in chunks of bytes.
struct UUIDScanner {
    private var rest: [UInt8] = []

    mutating func scan(_ bytes: [UInt8]) -> [SampleIdentity] {
        rest += bytes
        var found: [SampleIdentity] = []
        var index = 0
        while index + 36 <= rest.count {
            if rest[index + 8] == 0x2D, rest[index + 13] == 0x2D, rest[index + 18] == 0x2D, rest[index + 23] == 0x2D,
                let uuid = SampleIdentity(String(decoding: rest[index..<index + 36], as: UTF8.self))
            {
                found.append(uuid)
                index += 36
            } else {
                index += 1
            }
        }
        rest.removeFirst(index)
        return found
    }
}

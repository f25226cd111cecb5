import PipelineTesting
import Testing

@testable import HealthModel

/// The packed content of a body is read back digit by digit. Changed content is rejected.
@Suite struct PointsTests {
    private static func points(_ rows: [[Numeral?]], columns: Int) throws -> (Points, PackedContent) {
        var writer = PointsWriter(columns: (0..<columns).map { Points.Column("column\($0)") })
        for row in rows { try writer.append(row) }
        let (points, content) = try writer.end()
        return (points, content)
    }

    private static func rows(_ points: Points, _ content: PackedContent) throws -> [[Numeral?]] {
        var reader = try PointsReader(points, content)
        var rows: [[Numeral?]] = []
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    @Test func randomNumbersComeBack() throws {
        var random = SeededGenerator(seed: 17)
        for round in 0..<200 {
            let columns = Int.random(in: 1...9, using: &random)
            let large = round % 7 == 0
            let rows = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                (0..<columns).map { _ -> Numeral? in
                    if Int.random(in: 0..<8, using: &random) == 0 { return nil }
                    let coefficient =
                        large
                        ? Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
                        : Int64.random(in: -3...3, using: &random)
                    return Numeral(coefficient: coefficient, exponent: Int16.random(in: -3...0, using: &random))
                }
            }
            let (points, content) = try Self.points(rows, columns: columns)
            #expect(points.count == rows.count)
            #expect(try Self.rows(points, content) == rows)
            let body = try SampleBody(encoding: WorkoutRoute(points: points), content: content)
            let again = SampleBody(bytes: body.bytes)
            #expect(again == body && again.digest == body.digest)
            #expect(try Self.rows(points, #require(again.content)) == rows)
        }
    }

    @Test func oddNumbers() throws {
        let written = try ["1e3", "1e-5", "12345678901234567890.5", "1e30", "-0", ".5", "007.10"].map { try Numeral($0) }
        let (points, content) = try Self.points(written.map { [$0] }, columns: 1)
        let read = try Self.rows(points, content)
        #expect(read.count == written.count)
        for (one, other) in zip(written, read) {
            guard let number = other[0] else {
                #expect(one.doubleValue.magnitude >= 1e18)
                continue
            }
            #expect(number.doubleValue == one.doubleValue)
        }
    }

    /// Half an hour of a run as in an export, with six decimals.
    @Test func aRouteIsSmall() throws {
        var random = SeededGenerator(seed: 5)
        var (latitude, longitude, altitude, course, speed) = (51_440_000, -2_600_000, 25_500_000, 120_000_000, 3_100_000)
        var accuracy = 4_700_000
        let rows = (0..<1800).map { second -> [Numeral?] in
            func walk(_ number: inout Int, _ step: Int) -> Numeral {
                number += Int.random(in: -step...step, using: &random)
                return Numeral(coefficient: Int64(number), exponent: -6)
            }
            return [
                Numeral(coefficient: Int64(second) * 1_000_000), walk(&latitude, 40), walk(&longitude, 40),
                walk(&altitude, 200_000), walk(&accuracy, 50_000), walk(&accuracy, 50_000), walk(&course, 3_000_000),
                walk(&speed, 200_000),
            ]
        }
        let (points, content) = try Self.points(rows, columns: 8)
        #expect(try Self.rows(points, content) == rows)
        #expect(content.packedLength <= 40_000, "\(content.packedLength)")
    }

    /// Thirty seconds of an ECG: microvolts with three decimals.
    @Test func anElectrocardiogramIsSmall() throws {
        var random = SeededGenerator(seed: 6)
        var (level, slope) = (0, 0)
        let rows = (0..<15_000).map { index -> [Numeral?] in
            // A wave that bends slowly, as filtered voltages do, and a beat now and then.
            slope += Int.random(in: -900...900, using: &random) - slope / 12 - level / 400
            level += slope + (index % 430 == 0 ? 60_000 : 0)
            return [Numeral(coefficient: Int64(level), exponent: -3)]
        }
        let (points, content) = try Self.points(rows, columns: 1)
        #expect(try Self.rows(points, content) == rows)
        #expect(content.packedLength <= 40_000, "\(content.packedLength)")
    }

    @Test func damageIsFound() throws {
        let (points, content) = try Self.points((0..<200).map { [Numeral(coefficient: $0 * $0), nil] }, columns: 2)
        let body = try SampleBody(encoding: WorkoutRoute(points: points), content: content)
        for index in body.json.count..<body.bytes.count {
            var bytes = body.bytes
            bytes[index] ^= 0x15
            let damaged = SampleBody(bytes: bytes)
            let rows = damaged.content.flatMap { try? Self.rows(points, $0) }
            #expect(rows == nil, "octet \(index)")
        }
        for length in body.json.count..<body.bytes.count {
            let cut = SampleBody(bytes: Array(body.bytes[..<length]))
            #expect(cut.content.flatMap { try? Self.rows(points, $0) } == nil, "cut at \(length)")
        }
        // More or fewer points than there are.
        for count in [0, 199, 201, Int.max] {
            #expect(throws: ContentError.damaged) { try Self.rows(Points(columns: points.columns, count: count), content) }
        }
    }

    /// A stream that unpacks endlessly stops at its declared length.
    @Test func limitsContentToDeclaredLength() throws {
        var writer = ContentWriter()
        for _ in 0..<32 { try writer.append([UInt8](repeating: 0, count: 1 << 20)) }
        #expect(throws: ContentError.tooLong) { try writer.append([0]) }
        let content = try PackedContent([UInt8](repeating: 7, count: 1 << 20))
        var stored: [UInt8] = []
        content.append(to: &stored)
        // Its length, after the digest.
        stored[33] = 0x81
        #expect(throws: ContentError.damaged) { try #require(PackedContent(stored: stored[...])).bytes() }
    }
}

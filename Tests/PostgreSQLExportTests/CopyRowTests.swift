import HealthModel
import Testing

@testable import PostgreSQLExport

@Suite struct CopyRowTests {
    /// PostgreSQL counts from 2000, and would accept the lowest and the highest number as infinite times.
    @Test(
        arguments: [
            (946_684_800_000_001, [0, 0, 0, 0, 0, 0, 0, 1]), (Int64.min, [0x80, 0, 0, 0, 0, 0, 0, 1]),
            (Int64.min + 946_684_800_000_000, [0x80, 0, 0, 0, 0, 0, 0, 1]),
        ] as [(Int64, [UInt8])])
    func times(microseconds: Int64, bytes: [UInt8]) {
        var row = CopyRow()
        row.add(Instant(microseconds: microseconds))
        #expect(row.bytes == [0, 0, 0, 8] + bytes)
    }
}

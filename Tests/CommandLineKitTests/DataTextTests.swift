import CommandLineKit
import Testing

struct DataTextTests {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_234_567, "1.2 MB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
            (-2048, "-2.0 kB"), (.max, "9.2 EB"), (.min, "-9.2 EB"),
        ] as [(Int, String)])
    func bytes(count: Int, expected: String) {
        #expect(Readable.bytes(count) == expected)
    }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-123_456, "-123,456"),
            (.min, "-9,223,372,036,854,775,808"),
        ] as [(Int, String)])
    func counts(count: Int, expected: String) {
        #expect(Readable.count(count) == expected)
    }

    @Test(
        arguments: [
            (3, 2_000_000_000, "1.5/s"), (24_690, 2_000_000_000, "12,345/s"), (995, 100_000_000_000, "10/s"), (5, 0, "–"),
            (0, 1, "0.0/s"), (.max, 1, "–"),
        ] as [(Int, UInt64, String)])
    func rates(count: Int, nanoseconds: UInt64, expected: String) {
        #expect(Readable.rate(count, inNanoseconds: nanoseconds) == expected)
    }

    @Test(
        arguments: [
            (0, "0 ms"), (850_400_000, "850 ms"), (999_600_000, "1.0 s"), (3_400_000_000, "3.4 s"), (59_949_000_000, "59.9 s"),
            (59_960_000_000, "1 min 00 s"), (125_000_000_000, "2 min 05 s"), (3_720_000_000_000, "1 h 02 min"),
            (273_600_000_000_000, "3 d 04 h"), (.max, "213503 d 23 h"),
        ] as [(UInt64, String)])
    func durations(nanoseconds: UInt64, expected: String) {
        #expect(Readable.duration(nanoseconds: nanoseconds) == expected)
    }
}

import Testing

@testable import SampleStore

/// The disk keeps room for the readings of devices, and each person and client has a share of the rest.
@Suite struct DiskRoomTests {
    private static let (mebibyte, gibibyte) = (1 << 20, 1 << 30)

    @Test(
        arguments: [
            // A tenth, at least 256 MiB, at most 2 GiB, and at most a quarter of a small disk.
            (free: 10 * gibibyte, whole: 16 * gibibyte, spare: 10 * gibibyte - 16 * gibibyte / 10),
            (free: gibibyte, whole: 2 * gibibyte, spare: gibibyte - 256 * mebibyte),
            (free: 40 * gibibyte, whole: 1000 * gibibyte, spare: 38 * gibibyte),
            (free: 60 * mebibyte, whole: 96 * mebibyte, spare: 36 * mebibyte),
            (free: 10 * mebibyte, whole: 96 * mebibyte, spare: -14 * mebibyte),
        ])
    func reservedPart(free: Int, whole: Int, spare: Int) { #expect(DiskRoom(free: free, whole: whole).spare == spare) }

    /// All together leave the reserved part, and the first one leaves half of the rest.
    @Test func sharesAddUp() {
        let (whole, reserved) = (8 * Self.gibibyte, 8 * Self.gibibyte / 10)
        var free = 4 * Self.gibibyte
        for user in 0..<20 {
            var own = 0
            while DiskRoom(free: free, whole: whole).isEnough(for: Self.mebibyte, having: own) {
                own += Self.mebibyte
                free -= Self.mebibyte
            }
            if user == 0 { #expect(abs(own - (4 * Self.gibibyte - reserved) / 2) <= Self.mebibyte) }
        }
        #expect(free >= reserved && free < reserved + 4 * Self.mebibyte)
        #expect(!DiskRoom(free: reserved - 1, whole: whole).isEnough(for: 1, having: 0))
    }

    @Test func aFolderHasADisk() throws {
        #expect(DiskRoom(of: "/") != nil && DiskRoom(of: "/no such folder") == nil)
    }
}

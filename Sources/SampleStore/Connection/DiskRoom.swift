import Glibc

/// The free space on a disk, without the part that is reserved for the readings of devices.
///
/// Uploads and saves stop before they use the reserved part, so that they never prevent a reading of a device from being stored.
public struct DiskRoom: Hashable, Sendable {
    /// The free bytes that are not reserved. It is negative if the reserved part is in use.
    public let spare: Int

    /// The reserved part is a tenth of the disk, within these bounds, but at most a quarter of a very small disk.
    private static let (least, maximum) = (256 << 20, 2 << 30)

    /// Measures the disk of a file or folder. `nil` if this fails.
    public init?(of path: String) {
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return nil }
        let block = Int(disk.f_frsize)
        self.init(free: Int(disk.f_bavail) * block, whole: Int(disk.f_blocks) * block)
    }

    /// Computes the room from the free bytes and all bytes of a disk.
    init(free: Int, whole: Int) {
        spare = free - min(max(Self.least, whole / 10), Self.maximum, whole / 4)
    }

    /// Whether one person or client may use more bytes. Each may use half of what all together may use.
    ///
    /// - Parameter own: The bytes that the person or client uses already.
    public func isEnough(for bytes: Int, having own: Int) -> Bool { own + bytes <= (spare + own) / 2 }
}

/// The share of the disk that one import may use: half of the room that is not reserved. A small file can contain much more than its size.
public struct ImportShare: Sendable {
    private let path: String
    private let before: Int

    /// The bytes that the next commits of the import may need.
    private static let ahead = 4 << 20

    /// Begins with the present size of a store.
    public init(ofStore path: String) { (self.path, before) = (path, SampleStore.bytes(at: path)) }

    /// The bytes that the store has grown by. Other changes at the same time are among them.
    public var used: Int { max(0, SampleStore.bytes(at: path) - before) }

    /// Whether the import has to stop, because others need the rest of the disk.
    public var isUsedUp: Bool {
        guard let room = DiskRoom(of: path) else { return false }
        return !room.isEnough(for: Self.ahead, having: used)
    }
}

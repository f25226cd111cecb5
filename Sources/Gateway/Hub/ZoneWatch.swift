import EventLoopKit

/// Notices that the machine's zone was set while the hub runs, as `timedatectl set-timezone` does.
///
/// The folder of `localtime` is watched: the file is replaced and not written.
public final class ZoneWatch {
    private var watch: FolderWatch?
    private var timer: EventLoop.Timer?

    /// A change is complete after so long.
    private static let pause = Duration.milliseconds(500)

    /// - Parameter handler: called a moment after a change, once for all changes of that moment. The zone may still be the same.
    /// - Returns: `nil` if the folder cannot be watched.
    public init?(loop: EventLoop, folder: String = "/etc", name: String = "localtime", handler: @escaping () -> Void) {
        let name = Array(name.utf8)
        do throws(SystemFailure) {
            watch = try FolderWatch(folder, [.created, .movedIn, .written, .deleted], loop: loop) { [weak self] event in
                guard let self, timer == nil, event == .entry(name) || event == .overflow else { return }
                timer = loop.after(Self.pause) { [weak self] in
                    self?.timer = nil
                    handler()
                }
            }
        } catch {
            return nil
        }
    }
}

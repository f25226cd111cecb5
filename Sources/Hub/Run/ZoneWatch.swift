import EventLoopKit

/// Detects a change of the machine's time zone while the hub runs, as by `timedatectl set-timezone`.
///
/// It watches the folder of `localtime` because the file is replaced and not written.
package final class ZoneWatch {
    private var watch: FolderWatch?
    private var timer: EventLoop.Timer?

    /// The time after which a change is complete.
    private static let pause = Duration.milliseconds(500)

    /// - Parameter handler: called shortly after a change, once for several changes. The zone may still be the same.
    /// - Returns: `nil` if the folder cannot be watched.
    package init?(loop: EventLoop, folder: String = "/etc", name: String = "localtime", handler: @escaping () -> Void) {
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

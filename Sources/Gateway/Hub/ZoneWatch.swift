import EventLoopKit
import Glibc

/// Notices that the machine's zone was set while the hub runs, as `timedatectl set-timezone` does. Costs nothing while nobody does.
///
/// inotify(7) on the folder of `localtime`: the file is replaced and not written.
public final class ZoneWatch {
    private let loop: EventLoop
    private let watch: Descriptor
    private var timer: EventLoop.Timer?
    /// Called a moment after a change, once for all changes of that moment. The zone may still be the same.
    private let handler: () -> Void

    /// A change is complete after so long.
    private static let pause = Duration.milliseconds(500)

    /// - Returns: `nil` if the folder cannot be watched.
    public init?(loop: EventLoop, folder: String = "/etc", name: String = "localtime", handler: @escaping () -> Void) {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { return nil }
        (self.loop, self.handler) = (loop, handler)
        watch = Descriptor(owning: number)
        let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_ONLYDIR)
        guard inotify_add_watch(number, folder, events) >= 0 else { return nil }
        loop.watch(number) { [weak self] _ in self?.read(for: Array(name.utf8)) }
    }

    deinit { loop.unwatch(watch.number) }

    /// `inotify_event` is 16 bytes and a name that ends with zeros.
    private func read(for name: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        var isMeant = false
        while true {
            let count = Glibc.read(watch.number, &buffer, buffer.count)
            guard count > 0 else { break }
            var offset = 0
            while offset + 16 <= count {
                let length = buffer[(offset + 12)..<(offset + 16)].reversed().reduce(0) { $0 << 8 | Int($1) }
                let end = min(offset + 16 + length, count)
                if buffer[(offset + 16)..<end].prefix(while: { $0 != 0 }).elementsEqual(name) { isMeant = true }
                offset += 16 + length
            }
        }
        guard isMeant, timer == nil else { return }
        timer = loop.after(Self.pause) { [weak self] in
            self?.timer = nil
            self?.handler()
        }
    }
}

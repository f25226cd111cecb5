import CSystemdDaemon
import EventLoopKit
import Glibc

/// What the hub tells the service manager that started it (sd_notify(3)): that it runs, reads its settings again, stops, and how it is
/// doing. Where none asked to be told, nothing is sent; where none keeps a watchdog, there is no timer.
///
///     let manager = ServiceManager(loop: loop)
///     manager.isWell = { !live.isStuck }
///     manager.ready("3 of 3 sources run")
///     loop.run()
///     manager.stopping()
///
/// The watchdog is fed from the loop, so that a loop that hangs feeds none, and only while ``isWell`` says so. Nothing has to come for that:
/// a hub at rest is well (story 12).
public final class ServiceManager {
    /// Whether anybody is told.
    public let isThere: Bool
    /// Asked each time before the watchdog is fed.
    public var isWell: () -> Bool = { true }
    private let loop: EventLoop
    private var status = ""
    private var timer: EventLoop.Timer?
    private var isHungry = false

    /// - Parameter loop: from which the watchdog is fed. Whether anybody is told is read from `NOTIFY_SOCKET`.
    public init(loop: EventLoop) {
        self.loop = loop
        isThere = getenv("NOTIFY_SOCKET") != nil
    }

    /// It has started, or read its settings again.
    /// - Parameter status: a line for `systemctl status`, with counts and never a value or a name.
    public func ready(_ status: String) {
        self.status = status
        send("READY=1\nSTATUS=\(status)")
        if timer == nil { watch() }
    }

    /// It reads its settings again; ``ready(_:)`` ends that.
    public func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)")
    }

    /// It stops: sends STOPPING=1 and feeds the watchdog no more.
    public func stopping() {
        timer?.cancel()
        timer = nil
        send("STOPPING=1")
    }

    /// Sends the status if it is another one than the last.
    public func tell(_ status: String) {
        if isHungry { feed() }
        guard isThere, status != self.status else { return }
        self.status = status
        send("STATUS=\(status)")
    }

    // MARK: The watchdog

    /// Twice in the interval, as sd_watchdog_enabled(3) advises.
    private func watch() {
        var interval: UInt64 = 0
        guard sd_watchdog_enabled(0, &interval) > 0, interval > 0 else { return }
        feed()
        timer = loop.after(.microseconds(Int64(clamping: interval / 2))) { [weak self] in self?.watch() }
    }

    private func feed() {
        isHungry = !isWell()
        if !isHungry { send("WATCHDOG=1") }
    }

    private func send(_ message: String) {
        guard isThere else { return }
        // A manager that cannot be reached has gone, or restarts itself: nothing that the hub could mend.
        sd_notify(0, message)
    }
}

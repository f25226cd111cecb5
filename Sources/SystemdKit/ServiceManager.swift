import CSystemd
import EventLoopKit
import Glibc

/// The notifications to the service manager that started the hub (sd_notify(3)): ready, reloading, stopping and the status.
/// Without a service manager nothing is sent, and without a watchdog there is no timer.
///
///     let manager = ServiceManager(loop: loop)
///     manager.isWell = { !live.isStuck }
///     manager.ready("3 of 3 sources run")
///     loop.run()
///     manager.stopping()
///
/// The watchdog is fed from the loop and only while ``isWell`` returns true, so a loop that hangs does not feed it. No readings
/// have to arrive: an idle hub is well (story 12).
package final class ServiceManager {
    package let isThere: Bool
    /// Called before each watchdog notification.
    package var isWell: () -> Bool = { true }
    private let loop: EventLoop
    private var status = ""
    private var timer: EventLoop.Timer?
    private var isHungry = false

    /// - Parameter loop: the loop that feeds the watchdog. `NOTIFY_SOCKET` determines whether a service manager listens.
    package init(loop: EventLoop) {
        self.loop = loop
        isThere = getenv("NOTIFY_SOCKET") != nil
    }

    /// Notifies that the hub has started or has reloaded its settings.
    /// - Parameter status: a line for `systemctl status`, with counts but without values or names.
    package func ready(_ status: String) {
        self.status = status
        send("READY=1\nSTATUS=\(status)")
        if timer == nil { watch() }
    }

    /// Notifies that the hub is reloading its settings. ``ready(_:)`` ends that.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)")
    }

    /// Sends STOPPING=1 and stops feeding the watchdog.
    package func stopping() {
        timer?.cancel()
        timer = nil
        send("STOPPING=1")
    }

    package func sendStatus(_ status: String) {
        if isHungry { feed() }
        guard isThere, status != self.status else { return }
        self.status = status
        send("STATUS=\(status)")
    }

    // MARK: The watchdog

    /// Feeds the watchdog twice in its interval, as sd_watchdog_enabled(3) recommends.
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
        // If the service manager cannot be reached, it has ended or is restarting. The hub cannot fix that.
        sd_notify(0, message)
    }
}

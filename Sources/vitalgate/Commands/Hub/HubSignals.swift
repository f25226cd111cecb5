import EventLoopKit
import Glibc

/// Turns signals into wakeups of the event loop.
enum HubSignals {
    // Signal handlers write these with plain stores, since only those and write(2) are allowed there. The only thread reads them.
    private nonisolated(unsafe) static var stop: sig_atomic_t = 0
    private nonisolated(unsafe) static var reload: sig_atomic_t = 0
    private nonisolated(unsafe) static var powerFailure: sig_atomic_t = 0
    private nonisolated(unsafe) static var bell: EventLoop.Bell?

    static var isStopAsked: Bool { stop != 0 }

    static func takeReload() -> Bool {
        defer { reload = 0 }
        return reload != 0
    }

    static func takePowerFailure() -> Bool {
        defer { powerFailure = 0 }
        return powerFailure != 0
    }

    /// Handles the hub's signals: stop, read the settings again, and commit before a power failure.
    static func watch(_ alarm: EventLoop.Bell) {
        watchStop(alarm)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            HubSignals.reload = 1
            HubSignals.bell?.ring()
        }
        sigaction(SIGHUP, &action, nil)
        action.__sigaction_handler.sa_handler = { _ in
            HubSignals.powerFailure = 1
            HubSignals.bell?.ring()
        }
        sigaction(SIGPWR, &action, nil)
    }

    /// Handles the signals of a page on a terminal: stop, hangup, and a new window size.
    static func watchView(_ alarm: EventLoop.Bell) {
        watchStop(alarm, SIGHUP)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in HubSignals.bell?.ring() }
        sigaction(SIGWINCH, &action, nil)
    }

    private static func watchStop(_ alarm: EventLoop.Bell, _ more: Int32...) {
        bell = alarm
        for number in [SIGINT, SIGTERM] + more {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                HubSignals.stop = 1
                HubSignals.bell?.ring()
            }
            // The first signal requests a stop, and the second one kills.
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }
}

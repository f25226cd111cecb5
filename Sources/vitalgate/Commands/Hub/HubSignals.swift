import EventLoopKit
import Glibc

/// Turns signals into rings of the loop's bell.
enum HubSignals {
    // Written by signal handlers, where nothing but plain stores and write(2) are allowed, and read by the one thread there is.
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

    /// For the hub: asked to stop, to read its settings again, or to write what waits, since the power is about to fail.
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

    /// For a page on a terminal: asked to stop, also by the terminal that goes away, or drawn anew where that has another size.
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
            // The first one asks, the second kills.
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }
}

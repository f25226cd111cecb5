import EventLoopKit
import HealthModel
import Pipeline

/// Devices on serial lines. The source passes on the frames of adopted devices while they are plugged in, and collects the memory of
/// meters.
///
///     let source = SerialSource(loop: loop, plugs: UdevPlugs(loop: loop))
///     source.delegate = gateway
///     source.adopt(oximeter)
///     source.start()
///     loop.run()
///
/// Everything runs on the loop's thread, and nothing blocks it. No timer runs while nothing is plugged in.
package final class SerialSource {
    /// The receiver of frames, states and notices. The reference is weak.
    package weak var delegate: (any SerialSourceDelegate)?
    let loop: EventLoop
    private let plugs: any PlugMonitor
    private var sessions: [String: SerialSession] = [:]
    private var isStarted = false

    /// - Parameter plugs: reports ports that are plugged in. The source starts and stops it.
    package init(loop: EventLoop, plugs: any PlugMonitor) {
        self.loop = loop
        self.plugs = plugs
    }

    /// - Throws: ``SourceError`` if plugs cannot be monitored.
    package func start() throws(SourceError) {
        guard !isStarted else { return }
        try plugs.start { [weak self] change in self?.handle(change) }
        isStarted = true
        for session in sessions.values { session.start() }
    }

    package func stop() {
        guard isStarted else { return }
        isStarted = false
        for session in sessions.values { session.stop() }
        plugs.stop()
    }

    /// Reads a device from now on. It replaces the device that was adopted under this path before.
    package func adopt(_ description: SerialDescription) {
        release(description.path)
        let session = SerialSession(description, source: self)
        sessions[description.path] = session
        if isStarted { session.start() }
    }

    package func release(_ path: String) { sessions.removeValue(forKey: path)?.stop() }

    /// Returns `live`, `unplugged`, or the reason for waiting.
    package func state(of path: String) -> String { sessions[path]?.state.rawValue ?? "unknown" }

    private func handle(_ change: PlugChange) {
        switch change {
        case .plugged(let plug):
            for session in sessions.values { session.plugged() }
            delegate?.plugged(plug)
        case .unplugged: break  // An open line says so itself; one that is not open has nothing to lose.
        }
    }
}

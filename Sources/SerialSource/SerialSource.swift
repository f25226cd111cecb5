import EventLoopKit
import HealthModel
import Pipeline

/// Devices on serial lines: hands on the frames of adopted devices while they are plugged in, and collects the memory of meters.
///
///     let source = SerialSource(loop: loop, plugs: UdevPlugs(loop: loop))
///     source.delegate = gateway
///     source.adopt(oximeter)
///     source.start()
///     loop.run()
///
/// One thread: everything is called on the loop's, and nothing blocks it. An adopted port that is not plugged in is looked for every ten seconds,
/// and at once when udev tells of a plug.
public final class SerialSource {
    /// Hears of frames, states and notices; it is not held.
    public weak var delegate: (any SerialSourceDelegate)?
    let loop: EventLoop
    private let plugs: any PlugMonitor
    private var sessions: [String: SerialSession] = [:]
    private var isStarted = false

    /// - Parameter plugs: tells what is plugged in; it is started and stopped with the source.
    public init(loop: EventLoop, plugs: any PlugMonitor) {
        self.loop = loop
        self.plugs = plugs
    }

    /// - Throws: ``SourceError`` where plugs cannot be heard of.
    public func start() throws(SourceError) {
        guard !isStarted else { return }
        try plugs.start { [weak self] change in self?.handle(change) }
        isStarted = true
        for session in sessions.values { session.start() }
    }

    /// Closes all lines.
    public func stop() {
        guard isStarted else { return }
        isStarted = false
        for session in sessions.values { session.stop() }
        plugs.stop()
    }

    /// Reads a device from now on; what was adopted under its path before is replaced.
    public func adopt(_ description: SerialDescription) {
        release(description.path)
        let session = SerialSession(description, source: self)
        sessions[description.path] = session
        if isStarted { session.start() }
    }

    /// Stops reading a device.
    public func release(_ path: String) { sessions.removeValue(forKey: path)?.stop() }

    /// `live`, `unplugged`, or what it waits for.
    public func state(of path: String) -> String { sessions[path]?.state.rawValue ?? "unknown" }

    private func handle(_ change: PlugChange) {
        switch change {
        case .plugged(let plug):
            for session in sessions.values { session.plugged() }
            delegate?.plugged(plug)
        case .unplugged: break  // An open line says so itself; one that is not open has nothing to lose.
        }
    }
}

import EventLoopKit
import Glibc
import Pipeline

/// Tells who asks how the hub is doing, over a local socket (``StatusSocket``, ``StatusMessage``).
///
///     let server = StatusServer(hub: hub, machine: machine)
///     server.onInterest = { isFollowed in hub.onChange = isFollowed ? { server.changed() } : nil }
///     try server.start()
///
/// Followers receive changes at most once a second. The server has no timer and observes nothing until a follower connects.
package final class StatusServer {
    private let hub: Hub
    private let loop: EventLoop
    private let path: String
    private var listener: Descriptor?
    private var connections: [Int32: StatusConnection] = [:]
    private var started = Duration.zero
    /// The last status that the followers received, and its line.
    private var lastSent: (status: HubStatus, line: [UInt8])?
    private var lastSentTime: Duration?
    private var timer: (at: Duration, timer: EventLoop.Timer)?
    private var pause: EventLoop.Timer?

    /// Called when the first follower has come, and when the last one has gone.
    package var onInterest: (Bool) -> Void = { _ in }
    /// Called when the first client wants commits within a second, and when the last one has gone.
    package var onHurry: (Bool) -> Void = { _ in }

    private var accepted = 0

    /// The maximum number of followers. Further ones are rejected as `busy`.
    package static let maximumFollowers = 8
    private static let maximumConnections = 24
    private static let interval = Duration.seconds(1)
    /// The maximum wait for a request.
    private static let requestTimeout = Duration.seconds(10)
    /// The time after which a client that accepts no data is disconnected.
    private static let stuckLimit = Duration.seconds(60)

    /// - Parameter machine: determines the path of the socket. ``start()`` creates it.
    package init(hub: Hub, machine: Machine) {
        self.hub = hub
        loop = hub.live.loop
        path = StatusSocket.path(store: hub.live.store.path, machine: machine)
    }

    /// Begins to listen.
    /// - Throws: ``SourceError`` where there can be no socket; the hub works without.
    package func start() throws(SourceError) {
        started = loop.clock.uptime
        do throws(SystemFailure) {
            let descriptor = Descriptor(owning: try StatusSocket.listen(path))
            listener = descriptor
            loop.watch(descriptor.number) { [weak self] _ in self?.accept() }
        } catch {
            throw SourceError(.inputOutput, "\(error)")
        }
    }

    /// Ends all connections, and removes the socket.
    package func stop() {
        guard let listener else { return }
        loop.unwatch(listener.number)
        self.listener = nil
        unlink(path)
        for connection in connections.values { drop(connection) }
        pause?.cancel()
    }

    /// Notifies the followers of a change soon.
    package func changed() {
        guard isFollowed else { return }
        let now = loop.clock.uptime
        guard let lastSentTime, now < lastSentTime + Self.interval else { return sendStatus() }
        wake(at: lastSentTime + Self.interval)
    }

    private var followers: [StatusConnection] { connections.values.filter(\.isFollower) }
    private var isFollowed: Bool { connections.values.contains(where: \.isFollower) }
    private var needsPromptCommits: Bool { connections.values.contains(where: \.isHurrying) }

    // MARK: Connections

    private func accept() {
        guard let listener else { return }
        while true {
            let descriptor = Glibc.accept(listener.number, nil, nil)
            guard descriptor >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                // Out of descriptors: the one that waits keeps waiting, and must not keep us awake.
                if errno != EAGAIN { rest(listener) }
                return
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            accepted += 1
            welcome(StatusConnection(owning: descriptor, number: accepted))
        }
    }

    private func rest(_ listener: Descriptor) {
        loop.unwatch(listener.number)
        pause = loop.after(Self.interval) { [weak self] in
            guard let self, let listener = self.listener else { return }
            loop.watch(listener.number) { [weak self] _ in self?.accept() }
        }
    }

    private func welcome(_ connection: StatusConnection) {
        guard connections.count < Self.maximumConnections || makeRoom() else {
            // Its buffer is empty, so it is taken whole or not wanted.
            _ = connection.send(StatusMessage.line(.init(kind: "busy", message: "too many requests at once")), thenClose: true)
            return
        }
        connections[connection.descriptor] = connection
        connection.deadline = loop.after(Self.requestTimeout) { [weak self, weak connection] in
            guard let connection else { return }
            self?.drop(connection)
        }
        watch(connection)
    }

    /// Disconnects the oldest client that has not sent a request, to make room for a new one.
    private func makeRoom() -> Bool {
        guard let idle = connections.values.filter({ !$0.hasAsked }).min(by: { $0.number < $1.number }) else { return false }
        drop(idle)
        return true
    }

    private func watch(_ connection: StatusConnection) {
        loop.watch(connection.descriptor, events: connection.interest) { [weak self, weak connection] events in
            guard let self, let connection else { return }
            serve(connection, events)
        }
    }

    private func drop(_ connection: StatusConnection) {
        loop.unwatch(connection.descriptor)
        connection.deadline?.cancel()
        connections[connection.descriptor] = nil
        if connection.isHurrying, !needsPromptCommits { onHurry(false) }
        guard connection.isFollower, !isFollowed else { return }
        timer?.timer.cancel()
        timer = nil
        lastSent = nil
        lastSentTime = nil
        onInterest(false)
    }

    private func serve(_ connection: StatusConnection, _ events: Int16) {
        if connection.isSending { follow(connection, connection.flush()) }
        guard connections[connection.descriptor] === connection, events & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return }
        // If a client disconnects during an answer, the write fails.
        guard !connection.isSending || connection.isFollower || connection.isHurrying else { return }
        do throws(StatusProblem) {
            let (state, line) = try connection.receive()
            if let line { return try answer(line, to: connection) }
            if state == .closed { drop(connection) }
        } catch {
            follow(connection, connection.send(StatusMessage.line(error.problem), thenClose: true))
        }
    }

    /// Handles the state of a connection after sending.
    private func follow(_ connection: StatusConnection, _ state: StatusConnection.State) {
        if state == .closed { return drop(connection) }
        if connection.isOutdated, !connection.isSending, let lastSent {
            connection.isOutdated = false
            return follow(connection, connection.send(lastSent.line))
        }
        if connection.isSending, connection.stuckSince == nil { connection.stuckSince = loop.clock.uptime }
        watch(connection)
    }

    // MARK: Answers

    private func answer(_ line: [UInt8], to connection: StatusConnection) throws(StatusProblem) {
        connection.deadline?.cancel()
        connection.hasAsked = true
        switch try StatusMessage.question(line) {
        case .status:
            let status = HubStatus(of: hub, started: started)
            follow(connection, connection.send(StatusMessage.line(status), thenClose: true))
        case .follow:
            guard followers.count < Self.maximumFollowers else {
                throw StatusProblem("busy", "too many clients follow the status already")
            }
            let isFirst = !isFollowed
            connection.isFollower = true
            if isFirst { onInterest(true) }
            sendStatus(newcomer: connection)
        case .hurry:
            guard connections.values.count(where: \.isHurrying) < Self.maximumFollowers else {
                throw StatusProblem("busy", "too many clients follow readings already")
            }
            let isFirst = !needsPromptCommits
            connection.isHurrying = true
            // Whose store it is shows whoever asks whether it asked the right hub.
            follow(connection, connection.send(StatusMessage.line(HubStatus(of: hub, started: started))))
            if isFirst, connections[connection.descriptor] === connection { onHurry(true) }
        }
    }

    /// Sends the status to the followers if it has changed, and always to a new one.
    private func sendStatus(newcomer: StatusConnection? = nil) {
        let now = loop.clock.uptime
        timer?.timer.cancel()
        timer = nil
        let status = HubStatus(of: hub, started: started)
        let hasChanged = lastSent.map { !status.hasSameContent(as: $0.status) } ?? true
        if hasChanged || newcomer != nil { (lastSent, lastSentTime) = ((status, StatusMessage.line(status)), now) }
        for follower in followers where hasChanged || follower === newcomer {
            guard !follower.isSending else {
                follower.isOutdated = true
                if let since = follower.stuckSince, now >= since + Self.stuckLimit { drop(follower) }
                continue
            }
            follow(follower, follower.send(lastSent?.line ?? []))
        }
        if isFollowed, let next = hub.nextTimedChange { wake(at: next) }
    }

    /// Schedules the next check, unless an earlier one is scheduled.
    private func wake(at time: Duration) {
        if let timer {
            guard time < timer.at else { return }
            timer.timer.cancel()
        }
        let delay = max(.zero, time - loop.clock.uptime)
        timer = (
            time,
            loop.after(delay) { [weak self] in
                self?.timer = nil
                self?.sendStatus()
            }
        )
    }
}

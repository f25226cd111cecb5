import BlueZSource
import Glibc
import HealthModel
import HomeAssistantKit
import Pipeline
import Synchronization

/// Listens to the advertisements of all radios of a Home Assistant, on a thread of its own.
///
///     let listener = AdvertListener(settings, clock: clock)
///     listener.listen(to: ["A4:C1:38:02:83:F4"])
///     listener.start()
///     loop.watch(listener.descriptor) { _ in for advert in listener.take().adverts { … } }
///
/// A broken connection is made again, after a pause that grows. A refused token is not tried again.
package final class AdvertListener: Sendable {
    package struct Clock: Sendable {
        package var uptime: @Sendable () -> Duration
        package var now: @Sendable () -> Instant

        package init(uptime: @escaping @Sendable () -> Duration, now: @escaping @Sendable () -> Instant) {
            (self.uptime, self.now) = (uptime, now)
        }
    }

    package enum State: Equatable, Sendable {
        case connecting
        /// Connected to this version, with these radios by address.
        case listening(version: String, radios: [String: String])
        /// Not connected, and trying again.
        case failed(String)
        /// The token was refused, and is not tried again.
        case refused(String)
    }

    /// Arrivals since the last call.
    package struct Batch: Sendable {
        package var adverts: [HomeAssistantAdvert]
        package var state: State
        /// The counts since the start.
        package var counts: AdvertCounts
    }

    private struct Shared {
        var addresses: Set<String>?
        var adverts: [HomeAssistantAdvert] = []
        var state = State.connecting
        /// Those of earlier connections, and those of this one.
        var counts = AdvertCounts()
        var current = AdvertCounts()
        var dropped = 0
        var isStopped = false
        /// Of the refused token.
        var refusedToken: Int?
    }

    /// The number of advertisements that wait for the hub.
    private static let maximumQueueLength = 4096
    /// The longest wait for an event. Pings are sent in between.
    private static let longWait = Duration.seconds(3600)

    private let settings: HomeAssistantSettings
    private let clock: Clock
    private let shared: Mutex<Shared>
    private let arrival: Signal
    private let stopping: Signal
    private let ended: Signal

    /// - Parameter addresses: the devices to read, or `nil` for all in range.
    package init(_ settings: HomeAssistantSettings, addresses: Set<String>? = [], clock: Clock) {
        (self.settings, self.clock) = (settings, clock)
        (arrival, stopping, ended) = (Signal(), Signal(), Signal())
        shared = Mutex(Shared(addresses: addresses))
    }

    /// Readable when ``take()`` has something new.
    package var descriptor: Int32 { arrival.descriptor }

    /// Whether the token has changed since it was refused.
    package var hasNewToken: Bool {
        guard let refused = shared.withLock({ $0.refusedToken }) else { return false }
        return (try? settings.token.read())?.hashValue != refused
    }

    /// Changes the devices to read.
    package func listen(to addresses: Set<String>) { shared.withLock { $0.addresses = addresses } }

    /// Returns the arrivals, and resets ``descriptor``.
    package func take() -> Batch {
        arrival.reset()
        return shared.withLock { shared in
            var counts = shared.counts
            counts += shared.current
            counts.dropped = shared.dropped
            defer { shared.adverts = [] }
            return Batch(adverts: shared.adverts, state: shared.state, counts: counts)
        }
    }

    package func start() {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<AdvertListener>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if code == 0 { pthread_detach(thread) } else { context.release() }
    }

    /// Ends the thread, and waits at most this long until it has closed its connection.
    package func stop(waiting limit: Duration = .zero) {
        shared.withLock { $0.isStopped = true }
        stopping.ring()
        if limit > .zero { ended.wait(limit) }
    }

    // MARK: The thread

    private var isStopped: Bool { shared.withLock { $0.isStopped } }

    private func run() {
        var (backoff, generator) = (Backoff(), SystemRandomNumberGenerator())
        while !isStopped {
            let error = listen { backoff.succeed() }
            guard !isStopped else { break }
            publish(error.kind == .token ? .refused(error.description) : .failed(error.description))
            guard error.kind != .token else { break }
            stopping.wait(backoff.pause(using: &generator))
        }
        ended.ring()
    }

    private func publish(_ state: State) {
        shared.withLock { $0.state = state }
        arrival.ring()
    }

    /// Listens until the connection ends or the thread is stopped.
    private func listen(onSuccess: () -> Void) -> HomeAssistantError {
        do throws(HomeAssistantError) {
            let token = try Self.read(settings.token)
            let client: HomeAssistantClient
            do throws(HomeAssistantError) {
                client = try HomeAssistantClient(
                    settings.address, token: token, certificateAuthority: settings.certificateAuthority)
            } catch {
                if error.kind == .token { shared.withLock { $0.refusedToken = token.hashValue } }
                throw error
            }
            defer { client.close() }
            try listen(with: client, onSuccess)
        } catch {
            return error
        }
        return HomeAssistantError(.unreachable, "stopped")
    }

    private func listen(with client: HomeAssistantClient, _ onSuccess: () -> Void) throws(HomeAssistantError) {
        let (adverts, radios) = try Self.subscribe(client)
        onSuccess()
        var reader = AdvertReader(
            addresses: shared.withLock { $0.addresses }, uptime: clock.uptime().seconds, now: clock.now().seconds)
        publish(.listening(version: client.version, radios: [:]))
        defer {
            shared.withLock {
                $0.counts += $0.current
                $0.counts.interruptions += 1
                $0.current = AdvertCounts()
            }
        }
        while !isStopped {
            guard let event = try client.nextEvent(within: Self.longWait, or: stopping.descriptor) else { continue }
            if event.subscription == radios {
                reader.readRadios(event.bytes)
                publish(.listening(version: client.version, radios: reader.radios))
            } else if event.subscription == adverts {
                reader.addresses = shared.withLock { $0.addresses }
                let found = reader.read(event.bytes, uptime: clock.uptime().seconds, now: clock.now().seconds)
                deliver(found, reader.counts)
            }
        }
    }

    private func deliver(_ adverts: [HomeAssistantAdvert], _ counts: AdvertCounts) {
        let isNew = shared.withLock {
            let isNew = $0.current != counts
            $0.current = counts
            let room = max(0, Self.maximumQueueLength - $0.adverts.count)
            $0.adverts += adverts.prefix(room)
            $0.dropped += max(0, adverts.count - room)
            return isNew
        }
        if isNew { arrival.ring() }
    }

    private static func read(_ token: Secret) throws(HomeAssistantError) -> String {
        do throws(DeliveryError) { return try token.read() } catch { throw HomeAssistantError(.address, "\(error)") }
    }

    private static func subscribe(
        _ client: HomeAssistantClient
    ) throws(HomeAssistantError) -> (adverts: HomeAssistantClient.Ticket, radios: HomeAssistantClient.Ticket) {
        do throws(HomeAssistantError) {
            // The radios first, so that their names are known.
            let radios = try client.subscribe("bluetooth/subscribe_scanner_details")
            return (try client.subscribe("bluetooth/subscribe_advertisements"), radios)
        } catch {
            guard case .command("unknown_command") = error.kind else { throw error }
            throw HomeAssistantError(
                .unfit,
                "Home Assistant has no Bluetooth: add the integration Bluetooth, or a Bluetooth proxy (Settings, Devices & services)"
            )
        }
    }

    // MARK: The test of a connection

    /// Connects once and returns the version and the names of the radios.
    ///
    /// - Throws: ``HomeAssistantError`` that names the remedy.
    package static func check(
        _ settings: HomeAssistantSettings
    ) throws(HomeAssistantError) -> (version: String, radios: [String]) {
        let client = try HomeAssistantClient(
            settings.address, token: try read(settings.token), certificateAuthority: settings.certificateAuthority)
        defer { client.close() }
        let (adverts, radios) = try subscribe(client)
        var reader = AdvertReader(addresses: [], uptime: 0, now: 0)
        let end = ContinuousClock.now + .seconds(5)
        // The first message of each subscription has everything that there is.
        var missing: Set = [adverts, radios]
        while !missing.isEmpty, let event = try client.nextEvent(within: end - .now) {
            missing.remove(event.subscription)
            if event.subscription == radios { reader.readRadios(event.bytes) }
        }
        return (client.version, reader.radios.values.sorted())
    }
}

/// A descriptor that is readable once it was rung, through a pipe(7).
private final class Signal: Sendable {
    let descriptor: Int32
    private let button: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, button) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(button)
    }

    func ring() {
        // A full pipe is readable already.
        var byte: UInt8 = 1
        _ = write(button, &byte, 1)
    }

    func reset() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while Glibc.read(descriptor, &bytes, bytes.count) == bytes.count {}
    }

    /// Waits until it was rung, at most for the limit.
    func wait(_ limit: Duration) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, Int32(clamping: Int64(limit.seconds * 1000)))
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension Instant {
    /// Seconds since 1970.
    fileprivate var seconds: Double { Double(microseconds) / 1e6 }
}

import CMicroHTTPD
import Glibc

/// An HTTP/1.1 server, with or without TLS, on libmicrohttpd's threads.
///
///     let server = try HTTPServer(ServerSettings(listening: .tcp(host: "127.0.0.1", port: 8642)), handler)
///     // … until it is asked to stop:
///     server.stop()
///
/// The server listens after `init`. ``ServerSettings`` limits the connections, bytes and time of clients. It logs nothing.
package final class HTTPServer {
    /// The address that it listens on, with the chosen port if 0 was requested.
    package let address: ListeningAddress
    private let core: ServerCore
    private let socket: ListeningSocket
    private var daemon: OpaquePointer?

    /// Whether libmicrohttpd accepts heads that other parsers read differently.
    static let readsHeadsLeniently = vitalgate_http_is_before_0_9_77() != 0

    /// Starts to listen.
    ///
    /// - Throws: ``ServerError`` if the address is not available, or is reachable from other machines without TLS.
    package init(_ settings: ServerSettings, _ handler: any HTTPHandler) throws(ServerError) {
        guard settings.listening.isLoopback || settings.identity != nil || settings.allowsPlain else {
            throw ServerError(
                "\(settings.listening) is reachable from other machines, so it needs a certificate and a key, or permission for plain HTTP"
            )
        }
        socket = try ListeningSocket(settings.listening)
        address = socket.address
        core = ServerCore(settings, hosts: HostGuard(address, names: settings.hosts, key: settings.hostsKey), handler)
        var options = vitalgate_http_options()
        options.listening = socket.descriptor
        // A thread pool needs at least two threads.
        options.threads = UInt32(max(2, settings.threads))
        options.connections = UInt32(settings.connections)
        // The server itself closes idle connections of an address with too many.
        options.connections_per_address = UInt32(settings.connections)
        options.idle_seconds = UInt32(settings.idleSeconds)
        options.connection_memory = settings.connectionMemory
        options.begin = ServerCore.begin
        options.accept = ServerCore.accept
        options.handle = ServerCore.handle
        options.complete = ServerCore.complete
        options.connect = ServerCore.connect
        options.context = Unmanaged.passUnretained(core).toOpaque()
        daemon = Self.started(&options, settings.identity)
        guard daemon != nil else {
            close(socket.descriptor)
            socket.remove()
            throw ServerError(
                settings.identity == nil
                    ? "\(address): cannot start the server" : "\(address): cannot use the certificate and the key"
            )
        }
        core.deadlines.start()
    }

    private static func started(
        _ options: inout vitalgate_http_options, _ identity: (certificate: String, key: String)?
    ) -> OpaquePointer? {
        guard let identity else { return vitalgate_http_start(&options) }
        // Both are read before the call returns.
        return identity.certificate.withCString { certificate in
            identity.key.withCString { key in
                options.certificate = certificate
                options.key = key
                return vitalgate_http_start(&options)
            }
        }
    }

    package var connections: Int {
        guard let daemon else { return 0 }
        return Int(vitalgate_http_connections(daemon))
    }

    /// The numbers of requests that were refused, and of idle connections that were closed, because a share or everything was in use.
    package var refusals: [LoadBound: Int] { core.refusals }

    /// Whether exactly this number of connections is suspended until a response is ready.
    func isAnswerAwaited(_ count: Int) -> Bool { core.sleepers.count == count }

    /// Accepts no further connections, gives responses in progress some time to finish, and stops.
    package func stop() {
        guard let daemon else { return }
        self.daemon = nil
        let listening = MHD_quiesce_daemon(daemon)
        socket.remove()
        core.wakeAll()
        let end = ContinuousClock.now + core.settings.drainTime
        while core.isAnswering, ContinuousClock.now < end {
            usleep(10_000)
            core.wakeAll()
        }
        core.wakeAll()
        while core.isAnswerAwaited { usleep(1000) }
        MHD_stop_daemon(daemon)
        core.deadlines.stop()
        if listening >= 0 { close(listening) }
    }

    deinit { stop() }
}

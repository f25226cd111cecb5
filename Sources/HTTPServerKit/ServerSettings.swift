/// The settings of a server: its address, its names, and the limits for its clients.
package struct ServerSettings: Sendable {
    package var listening: ListeningAddress
    /// Names accepted in `Host`, in addition to `localhost` and the server's address.
    package var hosts: [String] = []
    /// The key of the configuration with these names, for messages.
    package var hostsKey = "api.hosts"
    /// The IP address of a trusted reverse proxy, whose headers contain the address at which browsers see the server (``ProxiedAddress``).
    package var proxy: String?
    /// Whether connections from all other addresses are closed before anything is read from them.
    package var acceptsOnlyProxy = false
    /// A certificate with its chain, and its key, both as PEM. Without it there is no TLS.
    package var identity: (certificate: String, key: String)?
    /// Whether to listen without TLS on an address that is not loopback.
    package var allowsPlain = false
    /// The number of threads that serve connections.
    package var threads = 2
    /// The maximum number of connections.
    package var connections = 512
    /// The maximum number of connections from one address. If there are more, the oldest one that waits for a request is closed, because
    /// all clients of a reverse proxy have one address.
    package var connectionsPerAddress = 256
    /// The maximum number of live streams, and of those of one client or person.
    package var streams = 256
    package var streamsPerPayer = 16
    /// The memory of a connection in bytes. A request with a larger head is rejected with 431.
    package var connectionMemory = 32_768
    /// The maximum length of a request's target in bytes.
    package var maximumTargetLength = 8192
    /// The maximum number of headers in a request.
    package var maximumHeaders = 64
    /// The time for a request's head, counted from the connection or the previous response.
    package var headTime = Duration.seconds(20)
    /// The time until a request whose body does not continue is hung up.
    package var bodyIdleTime = Duration.seconds(30)
    /// The time for a request's whole body, counted from its head, in addition to the time of its bytes at ``slowestBody``.
    package var bodyTime = Duration.seconds(60)
    /// The rate in bytes a second at which a body may still arrive, as from a phone at the edge of the network.
    package var slowestBody = 2048
    /// The maximum number of bytes of bodies, for all requests together.
    package var bodyMemory = 64 << 20
    /// The maximum number of bytes of finished responses that are not sent yet, for all connections together.
    package var answerMemory = 64 << 20
    /// The maximum number of requests that wait for their responses.
    package var waitingRequests = 256
    /// The maximum number of requests of one client or person that wait for their responses.
    package var waitingRequestsPerPayer = 64
    /// Seconds until a client that reads nothing is dropped.
    package var idleSeconds = 30
    /// The maximum number of unread bytes of a live stream before more is sent.
    package var maximumUnread = 32_768
    /// The time until a client that leaves more unread is notified and dropped.
    package var slowTime = Duration.seconds(30)
    /// The time for responses in progress when the server stops.
    package var drainTime = Duration.seconds(5)

    /// Called at most once a second with the numbers of requests that were refused for load since the start.
    package var onRefusal: @Sendable ([LoadBound: Int]) -> Void = { _ in }

    /// Creates settings with limits that suit a home.
    package init(listening: ListeningAddress) { self.listening = listening }

    /// The maximum time for a body of a number of bytes.
    func bodyTime(for bytes: Int) -> Duration { bodyTime + .seconds(Double(bytes) / Double(max(1, slowestBody))) }
}

/// Answers the requests of a server. It is called on several threads at once.
package protocol HTTPHandler: Sendable {
    /// Finds the route of a request, once and before the body is read. Reject unauthorized clients here, before memory is reserved.
    ///
    /// - Throws: ``Problem`` to reject the request at once.
    func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest
}

/// A request whose route is known.
package struct ResolvedRequest: Sendable {
    /// The maximum size of the body and whose memory it counts against.
    package var body = BodyAllowance.none
    /// The queue for a request that may have to wait. Its connection is suspended until then. `nil` means at once, on the reading thread.
    package var queue: FairQueue?
    /// Returns whose share of memory, streams and turns the request uses.
    package var payer: @Sendable () -> Payer
    package var answer: @Sendable (HTTPRequest) -> HTTPResponse

    package init(
        body: BodyAllowance = .none, queue: FairQueue? = nil, payer: @escaping @Sendable () -> Payer = { .unauthenticated },
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        (self.body, self.queue, self.payer, self.answer) = (body, queue, payer, answer)
    }
}

/// The limit for the body of a request.
package struct BodyAllowance: Sendable {
    /// The maximum number of bytes.
    package var maximum: Int
    package var payer: Payer
    /// The folder for a large body, or `nil` if the body is kept in memory.
    package var folder: String?

    /// Creates a limit in bytes for a payer.
    package init(maximum: Int, payer: Payer, folder: String? = nil) {
        (self.maximum, self.payer, self.folder) = (maximum, payer, folder)
    }
    package static let none = BodyAllowance(maximum: 0, payer: .unauthenticated)
}

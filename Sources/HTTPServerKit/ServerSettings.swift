import Dispatch

/// What a server is started with: where it listens, by which names it goes, and the bounds of all that strangers may ask of it.
public struct ServerSettings: Sendable {
    /// Where it listens.
    public var listening: ListeningAddress
    /// Names beside `localhost` and its own address that requests may call it by.
    public var hosts: [String] = []
    /// A certificate with its chain and its key, both PEM; nothing: no TLS.
    public var identity: (certificate: String, key: String)?
    /// Whether another address than loopback may be served without TLS.
    public var allowsPlain = false
    /// Threads that answer.
    public var threads = 2
    /// Connections at once.
    public var connections = 512
    /// Connections at once from one address.
    public var connectionsPerAddress = 256
    /// What a connection may take up: the head of a request is less than that, else it is refused with 431.
    public var connectionMemory = 32_768
    /// Octets of a request's target.
    public var longestTarget = 8192
    /// Lines of a request's head.
    public var mostHeaders = 64
    /// Until a request's head has come, since the connection or its last answer.
    public var headTime = Duration.seconds(20)
    /// Until a request's body has come, since its head.
    public var bodyTime = Duration.seconds(60)
    /// Octets of bodies at once, of all requests together.
    public var bodyMemory = 64 << 20
    /// Octets of finished answers that are not sent yet, of all connections together.
    public var answerMemory = 64 << 20
    /// Requests at once whose answers are waited for.
    public var waitingRequests = 256
    /// Until a reader who takes nothing is dropped.
    public var idleSeconds = 30
    /// Octets of a live stream that its reader has not taken before it is told more.
    public var mostUntaken = 32_768
    /// Until a reader of a live stream that leaves so many is told so, and dropped.
    public var slowTime = Duration.seconds(30)
    /// What answers in progress get when the server stops.
    public var drainTime = Duration.seconds(5)

    /// A server at an address, with the bounds that suit a home.
    public init(listening: ListeningAddress) { self.listening = listening }
}

/// What a server asks of whoever knows the answers. It is asked on several threads at once.
public protocol HTTPHandler: Sendable {
    /// How many octets of body a request may have and whose memory they count against, asked before any of it is read. Who may not send
    /// is refused here, before memory is set aside.
    ///
    /// - Throws: ``Problem`` where it is to be refused at once.
    func bodyAllowance(of head: RequestHead) throws(Problem) -> BodyAllowance
    /// Whose memory a finished answer counts against.
    func payer(of head: RequestHead?) -> Payer
    /// Where a request is answered that may have to wait for something: its connection sleeps meanwhile. `nil`: at once, on the thread that reads.
    func queue(for head: RequestHead) -> DispatchQueue?
    /// The answer.
    func answer(_ request: HTTPRequest) -> HTTPResponse
}

/// How much may be sent with a request.
public struct BodyAllowance: Sendable {
    /// Octets.
    public var most: Int
    /// Whose memory they count against.
    public var payer: Payer

    /// So many octets for a payer.
    public init(most: Int, payer: Payer) { (self.most, self.payer) = (most, payer) }
    /// Nothing may be sent.
    public static let nothing = BodyAllowance(most: 0, payer: .stranger)
}

extension HTTPHandler {
    public func payer(of head: RequestHead?) -> Payer { .stranger }
    public func queue(for head: RequestHead) -> DispatchQueue? { nil }
}

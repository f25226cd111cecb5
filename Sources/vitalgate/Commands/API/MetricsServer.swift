import Dispatch
import EventLoopKit
import HTTPServerKit
import HealthModel
import HealthPage
import HealthServing
import Hub
import Pipeline
import SampleStore
import Synchronization

/// `GET /metrics` at an address of its own: the state of the hub for Prometheus.
///
/// The text is made at most once a second, on one thread, so that many requests cost no more than one.
final class MetricsServer: HTTPHandler {
    private let make: @Sendable () throws -> String
    private let token: [UInt8]?
    /// One payer cannot hold up another, because all get the same text.
    private let queue = FairQueue("vitalgate.metrics", lanes: 1)
    private let last = Mutex<(text: String, made: ContinuousClock.Instant)?>(nil)
    private static let interval = Duration.seconds(1)
    /// The delay of the response to a wrong token.
    private static let delay = Duration.seconds(1)
    private static let type = "text/plain; version=0.0.4; charset=utf-8"

    /// - Parameters:
    ///   - token: The token that requests must contain, or `nil` if they need none.
    ///   - make: Returns the text.
    init(token: String?, _ make: @escaping @Sendable () throws -> String) {
        self.token = token.map { Digest.sha256(Array($0.utf8)) }
        self.make = make
    }

    /// Starts the server, or returns `nil` if no metrics are configured.
    ///
    /// - Throws: ``ConfigurationError`` if a file cannot be read, ``ServerError`` if the address is not available.
    static func start(_ context: CommandContext) throws -> HTTPServer? {
        let configuration = try context.configuration()
        guard let metrics = configuration.metrics else { return nil }
        var settings = try ServerSettings(metrics.server, section: "metrics")
        settings.hostsKey = "metrics.hosts"
        // Few programs ask, and each gets a few kilobytes.
        (settings.connections, settings.connectionsPerAddress) = (32, 16)
        (settings.waitingRequests, settings.waitingRequestsPerPayer) = (16, 16)
        let token: String?
        do {
            token = try metrics.token?.read()
        } catch {
            throw ConfigurationError("'metrics.token': \(error.reason)")
        }
        let (path, targets, machine) = (configuration.store, configuration.targets, context.machine)
        let zone = try context.zone()
        return try HTTPServer(
            settings,
            MetricsServer(token: token) {
                let store = try SampleStore(path: path, access: .read)
                store.limit(to: Self.timeout)
                let now = machine.now()
                let status: HubStatus
                do throws(StatusClient.Failure) {
                    status = try StatusClient.ask(store: path, machine: machine, timeout: Self.timeout).status
                } catch {
                    guard case .noHub = error else { throw error }
                    status = try HubStatus(of: store, zone: zone, at: now)
                }
                return try HubMetrics(status, targets: targets, store: store, version: Program.version, at: now).text
            })
    }

    /// The time for the hub's answer and for each query.
    private static let timeout = Duration.seconds(2)

    func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        guard head.path == ["metrics"] else { throw Problem(404, "Path not found.") }
        guard head.method == "GET" || head.method == "HEAD" else {
            throw Problem(405, "The only methods are GET and HEAD.", headers: ["Allow": "GET, HEAD"])
        }
        if let token {
            let given = Digest.sha256(Array((head.bearer ?? "").utf8.prefix(4096)))
            // All bytes are compared, so that the time reveals nothing.
            guard zip(given, token).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else {
                var problem = Problem(401, "The token is missing or wrong.", headers: ["WWW-Authenticate": "Bearer"])
                problem.delay = Self.delay
                throw problem
            }
        }
        return ResolvedRequest(queue: queue) { [self] _ in
            do {
                return HTTPResponse(type: Self.type, Array(try text().utf8))
            } catch {
                let reason = (error as? StatusClient.Failure).map { _ in "The hub does not answer. Try again." }
                return Problem(503, reason ?? "The state of the hub cannot be read.", headers: ["Retry-After": "15"]).response
            }
        }
    }

    private func text() throws -> String {
        let now = ContinuousClock.now
        if let last = last.withLock({ $0 }), now - last.made < Self.interval { return last.text }
        let text = try make()
        last.withLock { $0 = (text, .now) }
        return text
    }
}

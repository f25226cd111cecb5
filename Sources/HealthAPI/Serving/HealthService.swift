import Dispatch
import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

/// The settings of a service.
public struct ServiceSettings: Sendable {
    /// The path of the store's file.
    public var store: String
    /// The listening address and the limits of the server.
    public var server: ServerSettings
    /// The time zone of requests that name none.
    public var zone: TimeZoneRules
    /// Returns the rules of a zone by name, or `nil` if the name is unknown.
    public var zones: @Sendable (String) -> TimeZoneRules?
    /// Source and device ids or names, the best first.
    public var priority: [String]
    /// The clock.
    public var now: @Sendable () -> Instant
    /// The interval between heartbeats of a live stream without news.
    public var heartbeat = Duration.seconds(15)

    /// Returns the delay of the answer to an invalid token, from the number of invalid tokens within the last minute.
    public var delayOfGuess: @Sendable (Int) -> Duration = { GuessCounter.usualDelay(of: $0) }

    /// Called with the address that sent an invalid page code, at most once a second.
    public var onWrongCode: @Sendable (_ address: String) -> Void = { _ in }

    /// Called after each invalid token or code with their number since the start.
    public var onWrongToken: @Sendable (Int) -> Void = { _ in }

    /// Called serially with whether there are live listeners: when the first one starts, when the last one ends, and after each
    /// commit in between. The writer can then commit early.
    public var following: @Sendable (Bool) -> Void = { _ in }

    /// The page's files, or `nil` to serve no page.
    public var page: PageFiles?
    /// The page's interface to the hub. Without it, the page shows no devices.
    public var hub: HubDoor?
    /// Returns the preferred unit of a type, or `nil` if none is set.
    public var units: @Sendable (SampleType) -> Unit? = { _ in nil }

    /// Creates the settings of a service for a store.
    public init(
        store: String, server: ServerSettings, zone: TimeZoneRules, zones: @escaping @Sendable (String) -> TimeZoneRules?,
        priority: [String], now: @escaping @Sendable () -> Instant
    ) {
        (self.store, self.server, self.zone, self.zones) = (store, server, zone, zones)
        (self.priority, self.now) = (priority, now)
    }
}

/// The HTTP service of a store, with access control. It has its own threads and readers, so that writers never wait for it.
///
///     let service = try HealthService(settings)
///     // … until it is asked to stop:
///     service.stop()
public final class HealthService {
    let server: HTTPServer
    let core: ServiceCore

    /// Starts listening.
    ///
    /// - Throws: `StoreError`, `ServerError`.
    public init(_ settings: ServiceSettings) throws {
        // This fails if there is no store.
        let store = try SampleStore(path: settings.store, access: .read)
        if let inbox = settings.hub?.inbox { FilesPage.removeDrafts(of: inbox, at: settings.now()) }
        core = try ServiceCore(settings, keeper: store.subject)
        server = try HTTPServer(settings.server, Router(core: core))
    }

    /// The listening address, with the actual port if a free one was requested.
    public var address: ListeningAddress { server.address }
    /// The number of open connections.
    public var connections: Int { server.connections }
    /// The number of requests with invalid tokens or codes.
    public var wrongTokens: Int { core.guesses.count }
    /// The number of lent readers.
    var readers: Int { core.readers.lent }

    /// Ends live streams, gives other answers some time to finish, and stops.
    public func stop() {
        server.stop()
        core.summarizer.stop()
        core.tally.enter()
    }
}

/// The state that all routes share.
final class ServiceCore: Sendable {
    let settings: ServiceSettings
    let readers: ReaderPool
    let tally: ReadTally
    let anchors: AnchorSeal
    let bell: CommitBell
    let grants: GrantWatch
    let writer: ClientWriter
    let summarizer: Summarizer
    let guesses = GuessCounter()
    private let lastReport = Mutex<ContinuousClock.Instant?>(nil)
    /// The person that the store belongs to.
    let keeper: String
    /// The page's cookie. Its name depends on the store, so that two hubs on one host do not overwrite each other's.
    let pageCookie: PageCookie
    let hubWork = HubWork()
    /// The queue for slow API reads. It is concurrent.
    let lookQueue = DispatchQueue(label: "vitalgate.looks", attributes: .concurrent)
    /// The queue for quick API reads, which do not wait for slow ones.
    let quickQueue = DispatchQueue(label: "vitalgate.quick-looks", attributes: .concurrent)
    /// The queue for slow reads of the page. It is separate from the API, and being serial it always gets a thread.
    let pageQueue = DispatchQueue(label: "vitalgate.page-looks")
    /// The queue for quick reads of the page, which do not wait for slow ones.
    let quickPageQueue = DispatchQueue(label: "vitalgate.page")

    init(_ settings: ServiceSettings, keeper: String) throws {
        (self.settings, self.keeper) = (settings, keeper)
        pageCookie = PageCookie(store: settings.store, keeper: keeper, isSecure: settings.server.identity != nil)
        let (zone, now) = (settings.zone, settings.now)
        tally = ReadTally(path: settings.store) { zone.date(of: now()) }
        readers = ReaderPool(path: settings.store, tally: tally)
        anchors = try AnchorSeal(store: settings.store)
        grants = GrantWatch(path: settings.store, now: now)
        writer = ClientWriter(path: settings.store)
        summarizer = Summarizer(path: settings.store)
        bell = try CommitBell(store: settings.store, following: settings.following)
    }

    /// The client that sent a token.
    ///
    /// - Throws: ``Problem`` 401 if the token is missing, unknown or expired. The error is the same for unknown and expired tokens.
    func caller(bearing token: String?) throws -> Caller {
        var problem = Problem(
            401, "A client token is required. Send it as 'Authorization: Bearer TOKEN'.", headers: ["WWW-Authenticate": "Bearer"])
        guard let token else { throw problem }
        guard let caller = try client(bearing: token) else {
            problem.delay = delayOfWrongToken()
            throw problem
        }
        return caller
    }

    /// Counts an invalid token or code and returns the delay of its answer.
    func delayOfWrongToken() -> Duration {
        let recent = guesses.add(at: .now)
        settings.onWrongToken(guesses.count)
        return settings.delayOfGuess(recent)
    }

    /// Reports an invalid page code, at most once a second, so that the log cannot fill the disk.
    func report(wrongCodeFrom address: String) {
        let isDue = lastReport.withLock { last in
            let now = ContinuousClock.now
            if let earlier = last, now - earlier < .seconds(1) { return false }
            last = now
            return true
        }
        if isDue { settings.onWrongCode(address) }
    }

    /// The client of a token, or `nil` if the token is invalid.
    func client(bearing token: String) throws -> Caller? {
        let reader = try readers.lend(to: nil)
        // A reader returns to the pool when its last reference ends, which may be before its last query has finished.
        let client = try withExtendedLifetime(reader) { try reader.store.client(bearing: token, at: settings.now()) }
        return client.map { Caller(client: $0, token: token) }
    }

    /// A reader that shows the data that a caller may read.
    func reader(for caller: Caller) throws -> Reader { try readers.lend(to: caller.client) }
}

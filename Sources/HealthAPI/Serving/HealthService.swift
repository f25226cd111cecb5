import Dispatch
import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

/// What a service is started with.
public struct ServiceSettings: Sendable {
    /// The store's file.
    public var store: String
    /// Where it listens, and its bounds.
    public var server: ServerSettings
    /// Whose clocks count where a request names no zone.
    public var zone: TimeZoneRules
    /// The rules of a zone by its name; `nil` where there is none.
    public var zones: @Sendable (String) -> TimeZoneRules?
    /// Sources and devices, the best first.
    public var priority: [String]
    /// The clock.
    public var now: @Sendable () -> Instant
    /// Until a live stream that has no news says that it is there.
    public var heartbeat = Duration.seconds(15)

    /// How long an answer to a wrong token is held back, by how many there were within the last minute.
    public var delayOfGuess: @Sendable (Int) -> Duration = { GuessCounter.usualDelay(of: $0) }

    /// Told from which address a wrong code of the page came, at most once a second.
    public var onWrongCode: @Sendable (_ address: String) -> Void = { _ in }

    /// Told how many tokens and codes were wrong since the start, with each that is.
    public var onWrongToken: @Sendable (Int) -> Void = { _ in }

    /// Told, one call at a time, whether anybody follows live: when that begins and ends, and behind each commit meanwhile. Whoever writes may hurry then.
    public var following: @Sendable (Bool) -> Void = { _ in }

    /// What the page consists of; there is none without it.
    public var page: PageFiles?
    /// What the page asks of the hub; it shows no devices without.
    public var hub: HubDoor?
    /// The unit in which the person prefers to see a type; `nil` where they did not say.
    public var units: @Sendable (SampleType) -> Unit? = { _ in nil }

    /// Serves a store.
    public init(
        store: String, server: ServerSettings, zone: TimeZoneRules, zones: @escaping @Sendable (String) -> TimeZoneRules?,
        priority: [String], now: @escaping @Sendable () -> Instant
    ) {
        (self.store, self.server, self.zone, self.zones) = (store, server, zone, zones)
        (self.priority, self.now) = (priority, now)
    }
}

/// The store's answers over HTTP, to those who may have them. Its threads and readers are its own: whoever writes to the store waits for none of them.
///
///     let service = try HealthService(settings)
///     // … until it is asked to stop:
///     service.stop()
public final class HealthService {
    let server: HTTPServer
    let core: ServiceCore

    /// Begins to listen.
    ///
    /// - Throws: `StoreError`, `ServerError`.
    public init(_ settings: ServiceSettings) throws {
        // Also says that there is a store.
        let store = try SampleStore(path: settings.store, access: .read)
        if let inbox = settings.hub?.inbox { FilesPage.removeDrafts(of: inbox, at: settings.now()) }
        core = try ServiceCore(settings, keeper: store.subject)
        server = try HTTPServer(settings.server, Router(core: core))
    }

    /// Where it listens, with the port that a free one got.
    public var address: ListeningAddress { server.address }
    /// Connections that are open.
    public var connections: Int { server.connections }
    /// Requests with a token that nobody has.
    public var wrongTokens: Int { core.guesses.count }
    /// Readers of the store that are in use.
    var readers: Int { core.readers.lent }

    /// Ends live streams, lets other answers end for some time, and ends.
    public func stop() {
        server.stop()
        core.summarizer.stop()
        core.tally.enter()
    }
}

/// What routes share.
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
    /// The person whose store it is.
    let keeper: String
    /// The page's cookie, named after the store, so that two hubs on one host do not overwrite each other's.
    let pageCookie: PageCookie
    let hubWork = HubWork()
    /// Where much is read for programs: as much at once as there are processors.
    let lookQueue = DispatchQueue(label: "vitalgate.looks", attributes: .concurrent)
    /// Where little is read for programs, which waits for none of that.
    let quickQueue = DispatchQueue(label: "vitalgate.quick-looks", attributes: .concurrent)
    /// And for the page, which waits for no program: a serial queue gets a thread whatever the others do.
    let pageQueue = DispatchQueue(label: "vitalgate.page-looks")
    /// For views of the page that take little, which wait for none of those that take long.
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

    /// Who asks.
    ///
    /// - Throws: ``Problem`` 401 where there is no token, or one that nobody has, or no more: the same for all.
    func caller(bearing token: String?) throws -> Caller {
        var problem = Problem(
            401, "this needs a client's token, as Authorization: Bearer TOKEN", headers: ["WWW-Authenticate": "Bearer"])
        guard let token else { throw problem }
        guard let caller = try client(bearing: token) else {
            problem.delay = delayOfWrongToken()
            throw problem
        }
        return caller
    }

    /// Counts a wrong token or code, and says how long its answer is held back.
    func delayOfWrongToken() -> Duration {
        let recent = guesses.add(at: .now)
        settings.onWrongToken(guesses.count)
        return settings.delayOfGuess(recent)
    }

    /// Reports a wrong code of the page, at most once a second: a log is no place to fill a disk.
    func report(wrongCodeFrom address: String) {
        let isDue = lastReport.withLock { last in
            let now = ContinuousClock.now
            if let earlier = last, now - earlier < .seconds(1) { return false }
            last = now
            return true
        }
        if isDue { settings.onWrongCode(address) }
    }

    /// The client of a token; `nil` if no client has it now.
    func client(bearing token: String) throws -> Caller? {
        let reader = try readers.lend(to: nil)
        // A reader is given back once nothing holds it, which may be before its last question is answered.
        let client = try withExtendedLifetime(reader) { try reader.store.client(bearing: token, at: settings.now()) }
        return client.map { Caller(client: $0, token: token) }
    }

    /// A reader that shows what a caller may read.
    func reader(for caller: Caller) throws -> Reader { try readers.lend(to: caller.client) }
}

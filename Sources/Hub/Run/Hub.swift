import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// Runs the sources side by side: each is started, watched over and started again on its own, so that one that fails takes no other with
/// it. All of them deliver into one ``LiveIngest``.
///
///     let hub = Hub(live: live)
///     hub.add(radio, policy: .retry)
///     hub.apply(settings)
///     try hub.start()
///     loop.run()
///     try hub.stop()
///
/// Sources start in the order in which they were added and stop in the reverse order. The ingest is closed last.
package final class Hub: HubSourceHost {
    /// The ingest that stores the readings of all sources.
    package let live: LiveIngest
    /// The sources in the order in which they were added and are started.
    package private(set) var sources: [SupervisedSource] = []
    private var isRunning = false
    private var isChanged = false

    /// The states of the processes beside the hub that report theirs.
    package var processes: () -> [HubStatus.ProcessState] = { [] }

    /// Called with notices for the log.
    package var onNotice: (SourceNotice) -> Void = { _ in }
    /// Called after a visible change, once for all changes in one turn of the loop. `nil` while no client watches.
    package var onChange: (() -> Void)?

    /// - Parameter live: the ingest of the sources. ``stop()`` ends it.
    package init(live: LiveIngest) { self.live = live }

    package func add(_ source: any HubSource, policy: StartPolicy) {
        source.host = self
        let added = SupervisedSource(source, policy: policy)
        sources.append(added)
        guard isRunning else { return }
        do throws(SourceError) { try added.start(live.loop.clock) } catch { putOff(added, error) }
        changed()
    }

    package func apply(_ settings: HubSettings) {
        if isRunning, live.zone != settings.zone {
            let text = "local times are now read in \(settings.zone.identifier) instead of \(live.zone.identifier)"
            didReceive(SourceNotice(.information, "zone", text))
        }
        live.use(zone: settings.zone)
        live.commitEvery = .seconds(settings.commitEvery)
        live.estimates = settings.estimates
        for each in sources { each.source.apply(settings) }
    }

    /// Starts the sources.
    /// - Throws: the ``SourceError`` of a required source that cannot start. The sources before it have been stopped.
    package func start() throws {
        isRunning = true
        for each in sources {
            do throws(SourceError) {
                try each.start(live.loop.clock)
            } catch {
                guard each.policy != .error else {
                    stopSources()
                    throw error
                }
                couldNotStart(each, error)
            }
        }
        changed()
    }

    /// Stops the sources, last first, and commits the remaining readings.
    package func stop() throws {
        stopSources()
        try live.stop()
    }

    /// Whether all expected readings have been delivered. Ignored sources are not waited for.
    package var isDone: Bool { sources.allSatisfy { $0.state == .ignored || ($0.state == .running && $0.source.isDone) } }

    /// Returns one line for the service manager, with counts but without values or names.
    package func summary(devices: Int) -> String {
        let running = sources.count { $0.state == .running }
        let line =
            "\(running) of \(sources.count) sources running, \(devices) \(devices == 1 ? "device" : "devices") adopted, "
            + "\(live.delivered.count) heard since the start"
        guard live.failures > 0 else { return line }
        return "\(line), the store cannot be written: failed attempts \(live.failures), waiting samples \(live.waitingSamples)"
    }

    private func stopSources() {
        isRunning = false
        for each in sources.reversed() { each.stop(.stopped) }
    }

    /// Handles a failed start for a policy other than `error`.
    private func couldNotStart(_ each: SupervisedSource, _ error: SourceError) {
        guard each.policy == .ignore else { return putOff(each, error) }
        each.stop(.ignored, error)
        didReceive(SourceNotice(.warning, each.source.name, "\(error), the hub runs without it"))
    }

    private func putOff(_ each: SupervisedSource, _ error: SourceError) {
        let delay = each.nextDelay(at: live.loop.clock.uptime)
        each.stop(.waiting, error)
        didReceive(SourceNotice(.warning, each.source.name, "\(error), retrying in \(delay.components.seconds) s"))
        each.retriesAt = live.loop.clock.uptime + delay
        each.retry = live.loop.after(delay) { [weak self, weak each] in
            guard let self, let each, isRunning else { return }
            startAgain(each)
        }
    }

    private func startAgain(_ each: SupervisedSource) {
        do throws(SourceError) {
            try each.start(live.loop.clock)
            didReceive(SourceNotice(.information, each.source.name, "it works again"))
        } catch {
            putOff(each, error)
        }
        changed()
    }

    // MARK: Events of sources

    /// Passes a source's notice to ``onNotice``.
    package func didReceive(_ notice: SourceNotice) { onNotice(notice) }

    /// Restarts a failed source later. A source that has run is always retried because the policy is only for the first start.
    package func failed(_ source: any HubSource, _ error: SourceError) {
        guard isRunning, let each = sources.first(where: { $0.source === source }), each.state == .running else { return }
        putOff(each, error)
        changed()
    }

    /// Calls ``onChange`` in the next turn of the loop, once for all changes until then.
    package func changed(_ source: any HubSource) { changed() }

    /// Notes that the status has changed.
    package func changed() {
        guard onChange != nil, !isChanged else { return }
        isChanged = true
        live.loop.after(.zero) { [weak self] in
            self?.isChanged = false
            self?.onChange?()
        }
    }
}

package final class SupervisedSource {
    /// The state. Its raw values appear in the status: `stopped`, `running`, `waiting`, `ignored`.
    package enum State: String, Sendable {
        /// Not started or stopped again by the hub; or started, and no failure since.
        case stopped, running
        /// It failed, and is tried again.
        case waiting
        /// It could not start, and its policy is to ignore that.
        case ignored
    }

    /// The source that is started and stopped.
    package let source: any HubSource
    /// The policy if the source cannot start together with the hub.
    package let policy: StartPolicy
    /// The current state, `stopped` before the hub's start.
    package private(set) var state = State.stopped
    package private(set) var started: Instant?
    /// The reason why it does not run.
    package private(set) var error: SourceError?
    /// The uptime of the next attempt, or `nil` if it does not wait.
    package fileprivate(set) var retriesAt: Duration?
    fileprivate var retry: EventLoop.Timer?
    private var attempts = 0
    private var startedAt: Duration?

    fileprivate init(_ source: any HubSource, policy: StartPolicy) {
        self.source = source
        self.policy = policy
    }

    fileprivate func start(_ clock: any SourceClock) throws(SourceError) {
        cancelRetry()
        try source.start()
        state = .running
        started = clock.now
        startedAt = clock.uptime
        error = nil
    }

    private func cancelRetry() {
        retry?.cancel()
        retry = nil
        retriesAt = nil
    }

    fileprivate func stop(_ state: State, _ error: SourceError? = nil) {
        cancelRetry()
        if self.state == .running { source.stop() }
        self.state = state
        self.error = error
    }

    /// Returns the next delay: 1, 2, 4 … 256 seconds. Most failures end within seconds or need the user. A source that has run
    /// for five minutes starts at 1 again.
    fileprivate func nextDelay(at uptime: Duration) -> Duration {
        if state == .running, let startedAt, uptime - startedAt > .seconds(300) { attempts = 0 }
        defer { attempts += 1 }
        return .seconds(1 << min(attempts, 8))
    }
}
